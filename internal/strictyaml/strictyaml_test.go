package strictyaml_test

import (
	"strings"
	"testing"

	"github.com/credence-lab/credence/internal/strictyaml"
)

type form struct {
	Models []string `yaml:"models"`
}

func TestUnmarshal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"models: [a, b]":     "",
		"modls: [a]":         `unknown field "modls"`,
		"models: !00000 000": "another form than is wanted",
		"models: {a: b}":     "mapping was used where sequence is expected",
		"models: [a":         "']'",
	} {
		var f form
		err := strictyaml.Unmarshal([]byte(text), &f)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
