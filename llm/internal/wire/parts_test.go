package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
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

// P10 and P11: line ends, events without a blank, comments, and characters split anywhere.
func TestStreamsOfEveryLineEnd(t *testing.T) {
	t.Parallel()
	chunk := func(text, finish string) string {
		return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q},"finish_reason":%s,"logprobs":{"content":[{"token":%q,"logprob":-1}]}}]}`, text, finish, text)
	}
	type answer struct {
		Choices []struct {
			Message  struct{ Content string }
			Finish   string `json:"finish_reason"`
			LogProbs struct{ Content []struct{ Token string } }
		}
	}
	for _, end := range []string{"\n", "\r\n", "\r"} {
		for _, colon := range []string{"data: ", "data:"} {
			stream := ": PROCESSING" + end + end + colon + chunk("東", "null") + end + end + "event: ping" + end + end +
				colon + chunk("京", `"stop"`) + end + end + colon + "[DONE]" + end + end
			joined, err := joinStream([]byte(stream))
			if err != nil {
				t.Fatal(err)
			}
			var got answer
			if err := json.Unmarshal(joined, &got); err != nil {
				t.Fatal(err)
			}
			if c := got.Choices; len(c) != 1 || c[0].Message.Content != "東京" || c[0].Finish != "stop" || len(c[0].LogProbs.Content) != 2 {
				t.Errorf("lines ending in %q: %s", end, joined)
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
	out, err := json.Marshal(struct{ Key Key }{k})
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
		{URL: "http://x", Attempts: -1}, {URL: "http://x", Concurrency: 1 << 20},
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
