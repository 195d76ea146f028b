package termsafe_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/credence-lab/credence/internal/termsafe"
)

func TestString(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain \"text\" \\": "plain \"text\" \\",
		"Où est 東京? สวัสดี 👩‍🔬 \ufffd":  "Où est 東京? สวัสดี 👩‍🔬 \ufffd",
		"\x1b[2J\x1b]0;title\a":         `\x1b[2J\x1b]0;title\a`,
		"a\u202egnp.exe":                `a\u202egnp.exe`,
		"a\r\nb\tc\x00\x7f":             `a\r\nb\tc\x00\x7f`,
		"caf\xe9 \xff":                  `caf\xe9 \xff`,
		"\u009b31m":                     `\u009b31m`, // a C1 control sequence introducer
		"tag \U000e0041 and \u2066 iso": `tag \U000e0041 and \u2066 iso`,
	} {
		if got := termsafe.String(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
	if got, want := termsafe.Text("a\r\nb\tc\rd\x1b"), "a\nb\tc\\rd\\x1b"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	said := []string{"\u202e \u009b31m \x7f \U000e0041 é 東京 👩\u200d🔬 \u2028 \x1b\n"}
	plain, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	safe := termsafe.JSON(plain)
	if strings.ContainsAny(string(safe), "\u202e\u009b\x7f\U000e0041\x1b\n") || !strings.Contains(string(safe), "é 東京 👩") {
		t.Errorf("%s", safe)
	}
	var got []string
	if err := json.Unmarshal(safe, &got); err != nil || got[0] != said[0] {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzString(f *testing.F) {
	f.Add("\x1b[31m\u202e\xff\n")
	f.Fuzz(func(t *testing.T, s string) {
		for name, got := range map[string]string{"string": termsafe.String(s), "text": termsafe.Text(s)} {
			if !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\x00\a\b\r\u009b\u202e\u2066") {
				t.Errorf("%s %q", name, got)
			}
		}
		if strings.Contains(termsafe.String(s), "\n") {
			t.Error("more than a line")
		}
	})
}
