package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/credence-lab/credence/card"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/report"
)

// A model or a data set may have any name, a prompt may say anything. A terminal must show it, and not
// obey it.
func TestNothingMovesTheCursor(t *testing.T) {
	t.Parallel()
	hostile := "\x1b[2J\x1b]0;taken\a\u202e\u009bevil\r"
	c := *compare(t, 400, 1, 0, 2)
	c.Setting = record.Setting{Model: hostile, Dataset: hostile}
	other := c
	other.Setting.Model += "2"
	says := hostile + "\nsecond line"
	for name, write := range map[string]func(*bytes.Buffer) error{
		"setting":   func(b *bytes.Buffer) error { return report.WriteSetting(b, 80, []*protocol.Comparison{&c, &c}) },
		"headlines": func(b *bytes.Buffer) error { return report.WriteHeadlines(b, 80, []*protocol.Comparison{&c, &other}) },
		"plan":      func(b *bytes.Buffer) error { return report.WritePlan(b, 80, []report.PlanRow{{Setting: hostile}}) },
		"narrow":    func(b *bytes.Buffer) error { return report.WriteSetting(b, 40, []*protocol.Comparison{&c}) },
		"cards": func(b *bytes.Buffer) error {
			return report.WriteCardDiff(b, 80, hostile, hostile, card.Diff{Differences: []card.Difference{{About: hostile, Choice: hostile, A: &says}}})
		},
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexAny(b.String(), "\x1b\a\r\u202e\u009b"); i >= 0 {
			t.Errorf("%s: a terminal would obey %q", name, b.String()[i:min(i+20, b.Len())])
		}
		if !strings.Contains(b.String(), `\x1b[2J`) {
			t.Errorf("%s does not show the name:\n%s", name, b.String())
		}
	}
}
