package llamacpp

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/credence-lab/credence/llm"
)

// The wanted texts are Jinja2's (3.1.6), with the environment that the transformers library gives
// chat templates.
func TestTemplatesRenderAsInTransformers(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/templates.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Name, Source, Want string }
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	messages := []llm.Message{{Role: llm.User, Content: " Hi there "}, {Role: llm.Assistant, Content: "ok"}}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			tmpl, err := compileTemplate(shape{template: c.Source, bosText: "<s>", eosText: "</s>"})
			if err != nil {
				t.Fatal(err)
			}
			got, err := tmpl.render(messages)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.Want {
				t.Errorf("got  %q\nwant %q", got, c.Want)
			}
		})
	}
}

// TestTemplateThatMakesTooMuch: the template comes with the weights, and what it makes goes to a
// tokeniser that ends the process when it runs out of memory.
func TestTemplateThatMakesTooMuch(t *testing.T) {
	t.Parallel()
	tmpl, err := compileTemplate(shape{template: `{{ "x" * 67108865 }}`})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tmpl.render(nil); err == nil || !strings.Contains(err.Error(), "67108865 bytes of a prompt") {
		t.Errorf("got %v", err)
	}
}

func FuzzTrimBlocks(f *testing.F) {
	for _, s := range []string{"", "{", "{%", "{%+", "{%+%}", "{#+#}\n", "a\n {{ '}}", "{% if x +%}\n\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := trimBlocks(s); len(got) > len(s) {
			t.Errorf("%q grew to %q", s, got)
		}
	})
}
