package card

import (
	"strings"
	"testing"
)

func TestHostileTextStaysInItsPlace(t *testing.T) {
	t.Parallel()
	c := &Card{
		Study:    "hostile",
		Models:   []Model{{Name: "a`b|c\n# head"}},
		Prompts:  []Prompt{{Name: "bare", Text: "x\n```\n# not a heading\n````\n"}},
		Settings: []Setting{{Setting: "m|d/`x`", Judge: "j"}},
	}
	text := c.Markdown()
	if strings.Contains(text, "\n# head") {
		t.Error("a model's name starts a heading")
	}
	if !strings.Contains(text, "`````\nx\n```\n") {
		t.Errorf("the fence is not longer than the one inside the prompt:\n%s", text)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| ``") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 8 {
			t.Errorf("a setting's name breaks the table: %s", line)
		}
	}
}

func TestCodeSpan(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain":   "`plain`",
		"a`b":     "``a`b``",
		"`a`":     "`` `a` ``",
		"a\n\tb ": "`a b`",
	} {
		if got := code(in); got != want {
			t.Errorf("code(%q) = %s, want %s", in, got, want)
		}
	}
}
