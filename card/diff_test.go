package card_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/card"
)

func TestACardIsEqualToItself(t *testing.T) {
	t.Parallel()
	d := card.Compare(whole(), whole())
	if len(d.Differences) != 0 || d.Equal < 15 {
		t.Errorf("%d equal, differing: %+v", d.Equal, d.Differences)
	}
}

func TestEachChoiceThatDiffersIsNamedOnce(t *testing.T) {
	t.Parallel()
	a, b := whole(), whole()
	b.Parser = card.Rule{ID: "lenient", What: "first number"}
	b.Models[0].Name, b.Models[0].Identity.Mode = "other", "fast"
	b.Generation[0] = "other: greedy, at most 32 tokens, no repetition penalty"
	b.Contexts = append(b.Contexts, card.Context{Name: "guess-slot", What: "after Guess:"})
	a.Correctness = append(a.Correctness, card.Rule{ID: "containment.ascii", What: "a part of it"})
	var got []string
	for _, x := range card.Compare(a, b).Differences {
		side := map[bool]string{true: "-", false: "+"}
		got = append(got, x.About+"/"+x.Choice+side[x.A == nil]+side[x.B == nil])
	}
	want := []string{"model/identity++", "parser/rule++", "correctness/containment.ascii+-", "context/guess-slot-+"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if there, back := card.Compare(a, b), card.Compare(b, a); len(there.Differences) != len(back.Differences) || there.Equal != back.Equal {
		t.Errorf("%d and %d differences the one way and the other", len(there.Differences), len(back.Differences))
	}
}

// What came of a protocol is no part of it.
func TestResultsAreNotCompared(t *testing.T) {
	t.Parallel()
	a, b := whole(), whole()
	b.Settings[0].Used, b.Agreement[0].Both, b.Study = 3, 1, "another"
	a.Check()
	if d := card.Compare(a, b); len(d.Differences) != 0 {
		t.Errorf("%+v", d.Differences)
	}
}

func TestHostileChoicesStayInTheirCells(t *testing.T) {
	t.Parallel()
	a, b := whole(), whole()
	b.Prompts[0].Text = "x | y\n```\n# head\n<script>"
	b.Contexts[0].Name = "a|b`c\n# head"
	b.Imported = []card.Import{{Name: "g", File: "a|b\n# file", SHA256: "00", Notes: []string{"columns not read: `\n# file"}}}
	if text := b.Markdown(); strings.Contains(text, "\n# file") {
		t.Errorf("a heading of a file's name:\n%s", text)
	}
	text := card.Compare(a, b).Markdown("runs/a", "runs/|b")
	if strings.Contains(text, "\n# head") {
		t.Errorf("a heading of a prompt's:\n%s", text)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "|") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 5 {
			t.Errorf("a row that is torn: %s", line)
		}
	}
}
