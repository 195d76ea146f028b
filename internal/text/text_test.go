package text

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

var all = []Tokeniser{Whitespace, Lowercase, SQuAD, Rouge, RougeStemmed, MTEval, MTEvalLowered, Unicode}

// TestStem holds the stemmer to stems that NLTK's PorterStemmer gave.
func TestStem(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/stems.json")
	if err != nil {
		t.Fatal(err)
	}
	var stems map[string]string
	if err := json.Unmarshal(data, &stems); err != nil {
		t.Fatal(err)
	}
	for word, want := range stems {
		if got := Stem(word); got != want {
			t.Errorf("%s: got %s, want %s", word, got, want)
		}
	}
	if len(stems) < 100 {
		t.Errorf("only %d words", len(stems))
	}
}

func TestLower(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"Paris":     "paris",
		"İstanbul":  "i\u0307stanbul",
		"ΟΔΥΣΣΕΥΣ":  "οδυσσευς",
		"ΣΑΣ Σ ΑΣ.": "σας σ ας.",
		"K":         "k",
		"Straße":    "straße",
	} {
		if got := Lower(s); got != want {
			t.Errorf("%s: got %+q, want %+q", s, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tokeniser Tokeniser
		text      string
		want      string // joined by |
	}{
		{Whitespace, " The  cat.\u00a0sat\x1con ", "The|cat.|sat|on"},
		{Lowercase, "The cat.\u2028SAT", "the|cat.|sat"},
		{SQuAD, "The state-of-the-art, a U.S. cat", "stateoftheart|us|cat"},
		{SQuAD, "the the a", ""},
		{SQuAD, "thé “the” answer", "thé|“|”|answer"},
		{SQuAD, "北京", "北京"},
		{SQuAD, "b\tthe\x01x\nan", "b|\x01x"},
		{Rouge, "Don't stop-5 cafés", "don|t|stop|5|caf|s"},
		{Rouge, "北京 İx", "i|x"},
		{RougeStemmed, "The dying cats enjoyed skies", "the|die|cat|enjoy|sky"},
		{RougeStemmed, "news his goes", "news|his|goe"}, // three letters stay
		{MTEval, "The U.S. paid $1,000.50, (or 5-6) &amp; <skipped>well-\nmade", "The|U|.|S|.|paid|$|1,000.50|,|(|or|5|-|6|)|&|wellmade"},
		{MTEval, "&amp;lt; &quot;", "<|\""},
		{MTEvalLowered, "The END.", "the|end|."},
		{Unicode, "Don't stop-5 Cafe\u0301s", "don|t|stop|5|cafés"},
		{Unicode, "Straße STRASSE", "strasse|strasse"},
		{Unicode, "北京市は東京 Tokyo2020", "北|京|市|は|東|京|tokyo2020"},
		{Unicode, "iPhone東京5", "iphone|東|京|5"},
		{Unicode, "ที่นี่", "ที่|นี่"},
		{Unicode, "किताब पढ़ो", "किताब|पढ़ो"},
		{Unicode, "서울 특별시", "서울|특별시"},
		{Unicode, "co\u00adoperate \u200bx", "cooperate|x"},
		{Unicode, "?! #", "?!|#"},
	} {
		want := norm.NFC.String(test.want)
		if got := strings.Join(test.tokeniser.Words(test.text), "|"); got != want {
			t.Errorf("%s of %q: got %q, want %q", test.tokeniser, test.text, got, want)
		}
	}
}

// pieces tempt a tokeniser: letters that become several, marks without a letter, bytes that are none.
var pieces = rapid.Map(rapid.SliceOf(rapid.OneOf(
	rapid.SampledFrom([]string{
		"a", "The", "an", " ", "\u00a0", "\x1c", ".", "-", "“", "İ", "ß", "Σ", "é", "e\u0301", "\u0301", "\u00ad",
		"東", "は", "ก", "ี", "5", "½", "\xff", "_", "s",
	}),
	rapid.Map(rapid.Rune(), func(r rune) string { return string(r) }),
)), func(parts []string) string { return strings.Join(parts, "") })

func TestWordsProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := pieces.Draw(t, "s")
		for _, tokeniser := range all {
			checkWords(t, tokeniser, s)
		}
	})
}

func checkWords(t interface{ Fatalf(string, ...any) }, tokeniser Tokeniser, s string) {
	words := tokeniser.Words(s)
	for _, w := range words {
		if w == "" || strings.ContainsFunc(w, IsBlank) {
			t.Fatalf("%s of %+q: word %+q", tokeniser, s, w)
		}
		if utf8.ValidString(s) && !utf8.ValidString(w) {
			t.Fatalf("%s of %+q: word %+q cuts a character", tokeniser, s, w)
		}
	}
	switch tokeniser {
	case RougeStemmed, MTEval, MTEvalLowered: // A stem can have a stem, and blanks around a hyphen undo an entity.
	default:
		if again := tokeniser.Words(strings.Join(words, " ")); !slices.Equal(words, again) {
			t.Fatalf("%s of %+q: %+q, and of those %+q", tokeniser, s, words, again)
		}
	}
	if got := tokeniser.Append([]string{"x"}, s); got[0] != "x" || !slices.Equal(got[1:], words) {
		t.Fatalf("%s of %+q appended: %+q", tokeniser, s, got)
	}
}

func FuzzWords(f *testing.F) {
	f.Add("The state-of-the-art, İ 東京")
	f.Add("“the”\xff\u0301ก")
	f.Fuzz(func(t *testing.T, s string) {
		for _, tokeniser := range all {
			checkWords(t, tokeniser, s)
		}
	})
}

func BenchmarkWords(b *testing.B) {
	for _, tokeniser := range all {
		b.Run(tokeniser.String(), func(b *testing.B) {
			b.ReportAllocs()
			var words []string
			for b.Loop() {
				words = tokeniser.Append(words[:0], "The River Mount William Running.")
			}
		})
	}
}
