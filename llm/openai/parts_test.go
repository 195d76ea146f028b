package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/credence-lab/credence/llm"
)

func TestRetryAfterInEveryForm(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		ms, seconds string
		want        time.Duration
		ok          bool
	}{
		{"", "20", 20 * time.Second, true},
		{"", "0", 0, true},
		{"", "1.5", 1500 * time.Millisecond, true},
		{"250", "20", 250 * time.Millisecond, true},
		{"", "", 0, false},
		// What cannot be used does not hide the other header (P01).
		{"soon", "20", 20 * time.Second, true},
		{" ", "20", 20 * time.Second, true},
		{"-1", "20", 20 * time.Second, true},
		// A date, ahead and past (P02).
		{"", date(30 * time.Second), 30 * time.Second, true},
		{"", date(-time.Hour), 0, true},
		{"", now.Add(time.Minute).Format(time.RFC850), time.Minute, true},
		// Neither negative nor beyond what a duration holds (P04).
		{"", "-5", 0, false},
		{"", "99999999999999999999", 0, false},
		{"", "nan", 0, false},
		{"", "inf", 0, false},
		{"", "1e300", 0, false},
		{"", date(48 * time.Hour), 48 * time.Hour, false},
		{"", "tomorrow", 0, false},
	} {
		h := http.Header{}
		h.Set("Retry-After-Ms", c.ms)
		h.Set("Retry-After", c.seconds)
		if got, ok := retryAfter(h, now); ok != c.ok || ok && got != c.want {
			t.Errorf("retry-after-ms %q, Retry-After %q: %v, %t; want %v, %t", c.ms, c.seconds, got, ok, c.want, c.ok)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"20", "-5", "nan", "1e18", "Mon, 30 Nov 2026 12:00:00 GMT"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, ms, seconds string) {
		h := http.Header{"Retry-After": {seconds}, "Retry-After-Ms": {ms}}
		if d, ok := retryAfter(h, time.Unix(1_790_000_000, 0)); ok && (d < 0 || d > maxAfter) {
			t.Errorf("wait %v", d)
		}
	})
}

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

func TestFiniteLeavesTextsAlone(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":NaN,"b":[-Infinity,Infinity,-1.5]}`: `{"a":null,"b":[null,null,-1.5]}`,
		`{"a":"NaN \" -Infinity"}`:                `{"a":"NaN \" -Infinity"}`,
		`{"a":"\\","b":NaN}`:                      `{"a":"\\","b":null}`,
		`{"a":1}`:                                 `{"a":1}`,
	} {
		if got := string(finite([]byte(in))); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}

func FuzzFinite(f *testing.F) {
	f.Add(`{"a":NaN,"b":"NaN"}`)
	f.Fuzz(func(t *testing.T, s string) {
		if json.Valid([]byte(s)) && string(finite([]byte(s))) != s {
			t.Errorf("valid JSON %q was changed", s)
		}
	})
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

// P10 and P11: line ends, events without a blank, comments, and characters split anywhere.
func TestStreamsOfEveryLineEnd(t *testing.T) {
	t.Parallel()
	chunk := func(text, finish string) string {
		return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q},"finish_reason":%s,"logprobs":{"content":[{"token":%q,"logprob":-1}]}}]}`, text, finish, text)
	}
	var want chatAnswer
	for i, end := range []string{"\n", "\r\n", "\r"} {
		for _, colon := range []string{"data: ", "data:"} {
			stream := ": PROCESSING" + end + end + colon + chunk("東", "null") + end + end + "event: ping" + end + end +
				colon + chunk("京", `"stop"`) + end + end + colon + "[DONE]" + end + end
			joined, err := joinStream([]byte(stream))
			if err != nil {
				t.Fatal(err)
			}
			var got chatAnswer
			if err := json.Unmarshal(joined, &got); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				want = got
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("lines ending in %q: %s", end, d)
			}
			said, err := got.completion()
			if err != nil || said.text != "東京" || len(said.tokens) != 2 {
				t.Errorf("%+v, %v", said, err)
			}
		}
	}
	for _, bad := range []string{"", ": nothing\n\n", "data: {\n\n", "data: " + chunk("a", "null") + "\n\n"} {
		if got, err := joinStream([]byte(bad)); err == nil {
			t.Errorf("%q became %s", bad, got)
		}
	}
}

func FuzzJoinStream(f *testing.F) {
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if joined, err := joinStream(body); err == nil && !json.Valid(joined) {
			t.Errorf("%q became %q", body, joined)
		}
	})
}

func TestKeysDoNotPrint(t *testing.T) {
	t.Parallel()
	k, err := newKey("sk-secret-0123456789", "test")
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(Config{URL: "http://x", Key: k})
	if err == nil {
		t.Log(string(out))
	}
	for _, text := range []string{fmt.Sprint(k), fmt.Sprintf("%v %+v %#v %s %q %x", k, k, k, k, k, k), fmt.Sprintf("%+v", Config{Key: k}), fmt.Sprintf("%#v", Config{Key: k}), string(out)} {
		if strings.Contains(text, "secret") || strings.Contains(text, "736563726574") {
			t.Errorf("a key in %q", text)
		}
	}
	if err := json.Unmarshal([]byte(`"sk-1"`), &k); err == nil {
		t.Error("a key was read from JSON")
	}
}

func TestConfigsThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{
		{}, {URL: "127.0.0.1:8000"}, {URL: "ftp://x"}, {URL: "http://user:secret@x"}, {URL: "http://x/?key=secret"}, {URL: "http://x\x7f/secret"},
		{URL: "http://x", Dialect: "oracle"}, {URL: "http://x", Thinking: "perhaps"}, {URL: "http://x", Attempts: -1}, {URL: "http://x", Concurrency: 1 << 20},
	} {
		_, _, err := c.settle()
		var wrong *ConfigError
		if !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", c, err)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error repeats a credential: %v", err)
		}
	}
	for in, want := range map[string]string{"http://x:1/v1/": "http://x:1", "https://x/proxy/v1": "https://x/proxy", "http://x": "http://x"} {
		if u, err := baseURL(in); err != nil || u.String() != want {
			t.Errorf("%s became %v, %v", in, u, err)
		}
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
