package openai

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/credence-lab/credence/llm"
)

func TestLogProbValues(t *testing.T) {
	t.Parallel()
	at := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		x    *float64
		want float64
		err  error
	}{
		{at(-1.25), -1.25, nil},
		{at(0), 0, nil},
		{at(1e-6), 0, nil},
		{at(-100), -100, nil},
		{at(-9999), 0, llm.ErrNoLogProb},
		{at(-9999.0001), 0, llm.ErrNoLogProb},
		{at(-3.4028e38), 0, llm.ErrNoLogProb},
		{nil, 0, llm.ErrNoLogProb},
	} {
		if got, err := logProb(c.x); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%v: %v, %v; want %v, %v", c.x, got, err, c.want, c.err)
		}
	}
	if _, err := logProb(at(.7)); err == nil || errors.Is(err, llm.ErrNoLogProb) {
		t.Errorf("0.7 is no log-probability: %v", err)
	}
}

// The pieces add up to the text however its bytes were cut into tokens, and clear texts keep their place.
func TestAlignAddsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab \n東京🌍é"))).Draw(t, "text")
		var texts []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(4, len(rest))).Draw(t, "n")
			piece := rest[:n]
			shown := strings.ToValidUTF8(piece, "\uFFFD")
			if shown != piece && rapid.Bool().Draw(t, "silent") {
				shown = ""
			}
			texts, rest = append(texts, shown), rest[n:]
		}
		pieces, ok := align(text, texts)
		if !ok { // texts that say too little: the tokens are then left out, or the first has all bytes
			return
		}
		var joined []byte
		for _, p := range pieces {
			joined = append(joined, p...)
		}
		if string(joined) != text {
			t.Fatalf("%q as %q: pieces join to %q", text, texts, joined)
		}
	})
}

func TestAlignRefusesOtherTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		texts []string
		ok    bool
	}{
		{"Oslo", []string{"Os", "lo"}, true},
		{"Oslo", []string{"Os"}, false},         // the rest has no token (L10)
		{"Oslo", []string{"Os", "la"}, false},   // another text
		{"Os", []string{"Os", "lo", "!"}, true}, // cut before a stop string
		{"Oslo", nil, false},                    // no token at all
		{"", nil, true},                         //
		{"x🌊", []string{"x", "", "", ""}, true}, // byte tokens without text (L03)
		{"🌍aa", []string{"\uFFFD", "\uFFFDa", "a"}, true},
		{"東東", []string{"\uFFFD", "\uFFFD", "東"}, true},
		{"東東", []string{"", "東", "", "東"}, true},
	} {
		if _, ok := align(c.text, c.texts); ok != c.ok {
			t.Errorf("%q as %q: %t", c.text, c.texts, ok)
		}
	}
}

func TestAlternativesKeepDoubles(t *testing.T) {
	t.Parallel()
	var a alternatives
	if err := json.Unmarshal([]byte(`{"5":{"logprob":-1},"7":{"logprob":null}}`), &a); err != nil || len(a) != 2 || a[7].LogProb != nil {
		t.Errorf("%v, %v", a, err)
	}
	for _, bad := range []string{`{"5":{"logprob":-1},"5":{"logprob":-2}}`, `[]`, `{"x":{}}`, `{"5":{"logprob":"x"}}`, `{"99999999999":{}}`} {
		if err := json.Unmarshal([]byte(bad), &a); err == nil {
			t.Errorf("%s was read as %v", bad, a)
		}
	}
}

// The values of k most probable tokens by their texts: two of one text are one entry, which is noticed, also where the
// chosen token is told beside the k.
func TestAlternativesByText(t *testing.T) {
	t.Parallel()
	chosen := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		told    string
		k       int
		chosen  *float64
		besides bool
		want    []float64
	}{
		{`{"a":-2,"b":-0.5,"c":-1}`, 3, chosen(-.5), true, []float64{-.5, -1, -2}},
		{`{"x":-7,"a":-2,"b":-0.5,"c":-1}`, 3, chosen(-7), true, []float64{-.5, -1, -2, -7}}, // cut when it is told
		{`{"x":-7,"b":-0.5,"c":-1}`, 3, chosen(-7), true, nil},                               // x is the third, or one of three is lost
		{`{"a":-2,"b":-0.5,"c":-1}`, 3, chosen(-7), true, []float64{-.5, -1, -2}},            // x reads as one of the three, whose value stays
		{`{"a":-2,"b":-0.5}`, 3, chosen(-.5), true, nil},
		{`{"a":-2,"b":-0.5,"c":-1}`, 3, nil, false, []float64{-.5, -1, -2}},
		{`{"x":-7,"b":-0.5}`, 3, nil, false, nil},
		{`{"a":-2,"b":null,"c":-1}`, 3, chosen(-1), true, nil},
		{`{"a":-2,"b":-9999,"c":-1}`, 3, chosen(-1), true, nil},
		{`{"a":-2,"b":0.5,"c":-1}`, 3, chosen(-1), true, nil},
		{`null`, 3, chosen(-1), true, nil},
		{`{}`, 3, chosen(-1), true, nil},
	} {
		var b byText
		if err := json.Unmarshal([]byte(c.told), &b); err != nil {
			t.Errorf("%s: %v", c.told, err)
		}
		if got := b.whole(c.k, c.chosen, c.besides); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.told, got, c.want)
		}
	}
	for _, bad := range []string{`[]`, `"x"`, `{"a":"b"}`, `{"a":{}}`} {
		var b byText
		if err := json.Unmarshal([]byte(bad), &b); err == nil {
			t.Errorf("%s was read as %v", bad, b)
		}
	}
	x := -1.
	if list := (triples{{&x, 5, ""}, {&x, 5, ""}}).top(); list != nil {
		t.Errorf("one token twice: %v", list)
	}
	if list := (triples{{&x, 5, ""}, {&x, 6, ""}}).top(); len(list) != 2 {
		t.Errorf("two tokens of one value: %v", list)
	}
}

func TestReasoningWithoutAnswer(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"choices":[{"message":{"content":null,"reasoning_content":"so the answer is B"},"finish_reason":"stop"}]}`: "<think>so the answer is B</think>",
		`{"choices":[{"message":{"content":"","reasoning":"so"},"finish_reason":"length"}]}`:                         "<think>so",
		`{"choices":[{"message":{"content":null,"reasoning_content":null},"finish_reason":"length"}]}`:               "",
		`{"choices":[{"message":{"content":"B","reasoning_content":"so"},"finish_reason":"stop"}]}`:                  "B",
	} {
		var a chatAnswer
		if err := json.Unmarshal([]byte(body), &a); err != nil {
			t.Fatal(err)
		}
		if got, err := a.completion(); err != nil || got.text != want {
			t.Errorf("%s: %q, %v; want %q", body, got.text, err, want)
		}
	}
}

// L01: four tokens whose bytes are all U+FFFD make one emoji; their log-probabilities stay four.
func TestTokensWithoutBytes(t *testing.T) {
	t.Parallel()
	body := `{"choices":[{"message":{"content":"🧑"},"finish_reason":"stop","logprobs":{"content":[
		{"token":"\ufffd","bytes":[239,191,189],"logprob":-0.0260833},{"token":"\ufffd","bytes":[239,191,189],"logprob":-0.0000832},
		{"token":"\ufffd","bytes":[239,191,189],"logprob":-0.4043496},{"token":"\ufffd","bytes":[239,191,189],"logprob":-0.0221568}]}}]}`
	var a chatAnswer
	if err := json.Unmarshal([]byte(body), &a); err != nil {
		t.Fatal(err)
	}
	got, err := a.completion()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.
	for _, tok := range got.tokens {
		sum += tok.LogProb
	}
	if len(got.tokens) != 4 || string(joined(got.tokens)) != "🧑" || sum > -.45267 || sum < -.45268 {
		t.Errorf("%d tokens %q, sum %v, %s", len(got.tokens), joined(got.tokens), sum, got.why)
	}
}

func TestSettingsThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{{URL: "http://x", Dialect: "oracle"}, {URL: "http://x", Thinking: "perhaps"}, {URL: "http://x", ContextTokens: -1}, {}} {
		if _, err := c.open(t.Context()); err == nil {
			t.Errorf("%+v: accepted", c)
		}
	}
}

// Alternatives stay a list, whatever their texts: two that read alike are two (L03, L04), and one whose value is
// none leaves the position without alternatives rather than with a wrong mass (L09).
func TestAlternativesAreAList(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][]float64{
		`[{"token":"\ufffd","logprob":-0.5},{"token":"\ufffd","logprob":-3.0},{"token":"x","logprob":-1.2}]`: {-.5, -1.2, -3},
		`[{"token":"","logprob":-0.7},{"token":"","logprob":-0.9}]`:                                          {-.7, -.9},
		`[{"token":"a","logprob":0},{"token":"b","logprob":-9999.0}]`:                                        nil,
		`[{"token":"a","logprob":0},{"token":"b","logprob":null}]`:                                           nil,
	} {
		var token chatToken
		if err := json.Unmarshal([]byte(`{"token":"x","logprob":-0.5,"top_logprobs":`+raw+`}`), &token); err != nil {
			t.Fatal(err)
		}
		if got := token.top(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", raw, got, want)
		}
	}
}
