package report

import (
	"fmt"
	"io"

	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/protocol"
)

// WriteComparison writes one setting's comparison as text of at most width columns: what was used, the
// level and quality of both scores, gaps and shifts, then the verdict in words.
func WriteComparison(w io.Writer, width int, c *protocol.Comparison) error {
	p := newPrinter(w, width)
	p.comparison(c)
	return p.err
}

func (p *printer) comparison(c *protocol.Comparison) {
	p.wrapped(fmt.Sprintf("%s, answers graded by %s", termsafe.String(c.Setting.String()), c.Choice.Judge), "  ")
	p.wrapped(fmt.Sprintf("%d asked, %d used, left out: %s", c.Asked, c.Used, LeftOut(c.LeftOut)), "  ")
	p.wrapped(fmt.Sprintf("parse rate %s, accuracy %s", Estimate(c.ParseRate), Estimate(c.Accuracy)), "  ")
	for _, text := range Warnings(c) {
		p.wrapped("! "+text, "  ")
	}
	if c.Used == 0 {
		p.line("")
		p.wrapped("- "+Words(c)[0], "  ")
		return
	}
	p.line("")
	p.table(scoreTable(c))
	p.wrapped("Lower is better for ECE and AURC, higher for AUROC; brackets are intervals.", "")
	p.line("")
	p.wrapped(fmt.Sprintf("gap g = stated - token. Above 0 the token score is better by ECE and AURC, the stated one by AUROC. shift = g - g(%s).", c.Choice.Contexts[0]), "")
	p.table(gapTable(c))
	p.line("")
	for _, sentence := range Words(c) {
		p.wrapped("- "+sentence, "  ")
	}
}

func scoreTable(c *protocol.Comparison) *table {
	t := &table{}
	t.row(append([]string{"score", "mean"}, metricTitles(c.Verbalised.Metrics)...)...)
	t.row(scoreRow("stated", c.Verbalised)...)
	for _, context := range c.Contexts {
		t.row(scoreRow("token, "+context.Name, context.Token)...)
	}
	return t
}

func scoreRow(name string, s protocol.Score) []string {
	cells := []string{name, short(s.Mean)}
	for _, m := range s.Metrics {
		cells = append(cells, Estimate(m))
	}
	return cells
}

// short is the value without its interval, for a column that only gives the level.
func short(v measure.Value) string {
	v.Interval = nil
	return Estimate(v)
}

func gapTable(c *protocol.Comparison) *table {
	t := &table{}
	t.row(append([]string{"context"}, metricTitles(c.Verbalised.Metrics)...)...)
	for i, context := range c.Contexts {
		gaps := []string{context.Name}
		shifts := []string{"  shift"}
		for _, g := range context.Gaps {
			gaps = append(gaps, SignedEstimate(g.Gap))
			if g.Shift != nil {
				shifts = append(shifts, SignedEstimate(*g.Shift))
			}
		}
		t.row(gaps...)
		if i > 0 {
			t.row(shifts...)
		}
	}
	return t
}

func metricTitles(values []measure.Value) []string {
	titles := make([]string, len(values))
	for i, v := range values {
		titles[i] = Title(v.Method)
	}
	return titles
}

// Warnings are the warnings of all values of a comparison, one line a code: the first value that has
// it, and how many others have it too.
func Warnings(c *protocol.Comparison) []string {
	var codes []string
	first := map[string]string{}
	more := map[string]int{}
	for _, v := range values(c) {
		for _, warning := range v.Warnings {
			if _, known := first[warning.Code]; known {
				more[warning.Code]++
				continue
			}
			codes = append(codes, warning.Code)
			first[warning.Code] = Title(v.Method) + ": " + warning.Text
		}
	}
	lines := make([]string, len(codes))
	for i, code := range codes {
		lines[i] = first[code]
		if n := more[code]; n > 0 {
			lines[i] += fmt.Sprintf(" (and %d other values)", n)
		}
	}
	return lines
}

// values lists every value of a comparison in the order of the tables.
func values(c *protocol.Comparison) []measure.Value {
	list := []measure.Value{c.ParseRate, c.FallbackRate, c.Accuracy, c.Verbalised.Mean}
	list = append(list, c.Verbalised.Metrics...)
	for _, context := range c.Contexts {
		list = append(list, context.Token.Mean)
		list = append(list, context.Token.Metrics...)
		for _, g := range context.Gaps {
			list = append(list, g.Gap)
			if g.Shift != nil {
				list = append(list, *g.Shift)
			}
		}
	}
	return list
}
