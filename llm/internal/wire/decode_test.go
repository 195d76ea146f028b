package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzInto holds the decoder of answers to the standard library's: the same bodies are refused, and the others say the
// same. Servers of all makers are read by it, and what one of them writes oddly was tried with the standard library.
func FuzzInto(f *testing.F) {
	for _, body := range []string{
		`{"text":"Paris","values":[-0.5,null,1e-3],"n":3,"more":{"a":[true]}}`,
		`{"TEXT":"by another case","values":null}`,
		`{"text":"twice","text":"the last counts","more":{"a":1},"more":{"b":2}}`,
		"{\"text\":\"no UTF-8 \xff\xfe, and half of a pair \\ud83d\"}",
		`{"values":[1e999]}`, `{"values":[-0]}`, `{"n":1.0}`, `{"n":"3"}`, `{"n":9223372036854775808}`,
		`{"text":null}`, `{"text":3}`, `[]`, `null`, ``, ` {} `, `{} {}`, `{"text":"cut`, `{"values":[1,]}`, `NaN`,
		"{\"text\":\"a line\nfeed\"}", "\ufeff{}",
		strings.Repeat(`{"more":`, 50) + "1" + strings.Repeat("}", 50),
		strings.Repeat("[", 20_000),
	} {
		f.Add([]byte(body))
	}
	type answer struct {
		Text   *string    `json:"text"`
		Values []*float64 `json:"values"`
		N      int        `json:"n"`
		More   any        `json:"more"`
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var got, want answer
		err := Into(&got)(body)
		wantErr := json.Unmarshal(body, &want)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: %v, the standard library says %v", body, err, wantErr)
		}
		if diff := cmp.Diff(want, got); err == nil && diff != "" {
			t.Errorf("%q is read otherwise (- standard library):\n%s", body, diff)
		}
		if err != nil && err.Error() == "" {
			t.Errorf("%q is refused without a word", body)
		}
	})
}
