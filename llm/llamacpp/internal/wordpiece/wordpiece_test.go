package wordpiece

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// small is a vocabulary in the form of a GGUF file.
func small(t testing.TB, o Options) *Vocabulary {
	t.Helper()
	v, err := New([]string{
		"[PAD]", "[UNK]", "[CLS]", "[SEP]", // 0 … 3
		"▁un", "aff", "able", "▁aff", "▁a", "▁.", "▁東", "▁京", "▁ᄒ", "ᅡ", "ᆫ", "▁[", "▁]", "▁sep", "▁É", "▁é",
	}, Marks{Begin: 2, End: 3, Unknown: 1}, o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var uncased = Options{Lower: true, StripAccents: true}

func TestTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int32{
		"":                                      {},
		" \t\n\u00a0\u3000":                     {},
		"unaffable":                             {4, 5, 6},
		"UNAFFABLE.":                            {4, 5, 6, 9},
		"aff unaff":                             {7, 4, 5},
		"able":                                  {1}, // it goes on in a word and begins none
		"unable unx a":                          {4, 6, 1, 8},
		"a東京a":                                  {8, 10, 11, 8},
		"한":                                     {12, 13, 14}, // Hangul is taken apart by normalisation
		"á à a\u0301":                           {8, 8, 8},
		"a\u200bff a\x00ff a\uE000ff a\u0085ff": {7, 7, 7, 7}, // format, control and private characters go
		"a\uFFFDff a\xffff":                     {7, 7},
		"[SEP]":                                 {15, 17, 16},
		strings.Repeat("a", 101):                {1},
	} {
		want = append(append([]int32{2}, want...), 3)
		if d := cmp.Diff(want, small(t, uncased).Tokens(text)); d != "" {
			t.Errorf("%q (-want +got):\n%s", text, d)
		}
	}
}

func TestCasedVocabulariesKeepCaseAndAccents(t *testing.T) {
	t.Parallel()
	for o, want := range map[Options][]int32{
		{}:                   {2, 18, 19, 3},
		{Lower: true}:        {2, 19, 19, 3},
		{StripAccents: true}: {2, 1, 1, 3},
	} {
		if d := cmp.Diff(want, small(t, o).Tokens("É é")); d != "" {
			t.Errorf("%+v (-want +got):\n%s", o, d)
		}
	}
}

// The words are those of the tokenizers library 0.23.3 (BertNormalizer, BertPreTokenizer).
func TestWordsAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Don't panic!":          {"don", "'", "t", "panic", "!"},
		"3*x^2 = ~0.5$":         {"3", "*", "x", "^", "2", "=", "~", "0", ".", "5", "$"},
		"a…b—c«d»":              {"a", "…", "b", "—", "c", "«", "d", "»"},
		"a€b+c©d":               {"a€b", "+", "c©d"},
		"नदी पुल":               {"नदी", "पल"}, // marks that take no room go, others stay
		"İstanbul ﬁn ẞ Σίσυφος": {"istanbul", "ﬁn", "ß", "σισυφος"},
		"👩‍👩‍👧 ok":              {"👩👩👧", "ok"},
		"㐀𠀀":                    {"㐀", "𠀀"},
		"x\u00adyz\u2028w":      {"xyz", "w"},
	} {
		if d := cmp.Diff(want, words(uncased.normalise(text))); d != "" {
			t.Errorf("%q (-want +got):\n%s", text, d)
		}
	}
}

func TestVocabulariesThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tokens []string
		marks  Marks
	}{
		"no such id":   {[]string{"▁a", "b"}, Marks{0, 1, 2}},
		"negative":     {[]string{"▁a", "b"}, Marks{-1, 1, 0}},
		"no beginning": {[]string{"a", "b", "c", "d"}, Marks{0, 1, 2}},
		"nothing":      {nil, Marks{}},
	} {
		if _, err := New(tt.tokens, tt.marks, uncased); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzTokens(f *testing.F) {
	f.Add("unaffable 東京 한국 a\u0301 [SEP]")
	f.Add("\xff\x00\u200d")
	f.Fuzz(func(t *testing.T, text string) {
		v := small(t, uncased)
		ids := v.Tokens(text)
		if ids[0] != 2 || ids[len(ids)-1] != 3 {
			t.Fatalf("no marks around %v", ids)
		}
		for _, id := range ids[1 : len(ids)-1] {
			if id == 2 || id == 3 || id == 0 {
				t.Fatalf("the text %q spells the special token %d", text, id)
			}
		}
		// Every character becomes at most three letters of Hangul or a few of another script.
		if n := 20 * (utf8.RuneCountInString(text) + 1); len(ids) > n {
			t.Fatalf("%d tokens of %d characters", len(ids), utf8.RuneCountInString(text))
		}
		if blank := strings.Join(strings.Fields(text), " "); utf8.ValidString(text) && !cmp.Equal(ids, v.Tokens(blank)) && !strings.ContainsAny(text, "\v\f\u0085") {
			t.Fatalf("blanks matter in %q", text)
		}
	})
}
