package report

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/protocol"
)

// WriteSetting writes the comparisons of one setting: the first in full, of the others the gaps and
// the words that differ under that correctness rule or aggregation.
func WriteSetting(w io.Writer, width int, comparisons []*protocol.Comparison) error {
	p := newPrinter(w, width)
	for i, c := range comparisons {
		if i == 0 {
			p.comparison(c)
		} else {
			p.other(comparisons[0], c)
		}
	}
	p.line("")
	return p.err
}

// other writes what another comparison than the first shows.
func (p *printer) other(first, c *protocol.Comparison) {
	p.line("")
	p.wrapped(fmt.Sprintf("graded by %s, %s: %d used, accuracy %s", c.Choice.Judge, c.Choice.Aggregation, c.Used, Estimate(c.Accuracy)), "  ")
	if c.Used > 0 {
		p.table(gapTable(c))
		p.line("")
	}
	differences := Differences(first, c)
	for _, sentence := range differences {
		p.wrapped("- "+sentence, "  ")
	}
	if len(differences) == 0 {
		p.line("- The verdict in words is the same.")
	}
}

// End is what is said when a run is over.
type End struct {
	Made, Reused int64
	Took         time.Duration
	Folder       string
	// Tables says that the study has tables over its settings.
	Tables bool
	// Next is the command to go on with, and Why what it is for.
	Next, Why string
}

// WriteEnd says what the run cost, where it lies and what to do next.
func WriteEnd(w io.Writer, width int, e End) error {
	p := newPrinter(w, width)
	p.wrapped(fmt.Sprintf("reused %d calls, made %d, in %s", e.Reused, e.Made, e.Took.Round(time.Second)), "  ")
	p.wrapped(fmt.Sprintf("wrote %s: report.html, results.json, card.md, run.json, tables (*.parquet), ledger.db", e.Folder), "  ")
	if e.Tables {
		p.wrapped("tables over all settings: credence tables "+e.Folder, "  ")
	}
	p.wrapped(fmt.Sprintf("read: %s/report.html in a browser", e.Folder), "  ")
	p.wrapped("next: "+e.Why, "  ")
	p.line("  %s", e.Next)
	return p.err
}

// PlanRow is one setting of a plan.
type PlanRow struct {
	Setting                       string
	Items                         int
	Calls, Known                  int64
	PromptTokens, GeneratedTokens int64
	Seconds                       float64
	SpeedOf, Note                 string
	// Money in Currency; nil without a price.
	Money    *float64
	Currency string
}

// money is what the calls cost in words; "none" for a model without a price.
func (r PlanRow) money() string {
	if r.Money == nil {
		return "none"
	}
	return fmt.Sprintf("~%.4f %s", *r.Money, termsafe.String(r.Currency))
}

func (r *PlanRow) addMoney(other PlanRow) {
	sum := *other.Money
	if r.Money != nil {
		sum += *r.Money
	}
	r.Money, r.Currency = &sum, other.Currency
}

// WritePlan writes a plan with its totals.
func WritePlan(w io.Writer, width int, rows []PlanRow) error {
	t := &table{}
	priced := slices.ContainsFunc(rows, func(r PlanRow) bool { return r.Money != nil })
	row := func(cells []string, money string) {
		if priced {
			cells = append(cells, money)
		}
		t.row(cells...)
	}
	row([]string{"setting", "items", "calls", "known", "prompt tokens", "generated", "time"}, "money")
	var total PlanRow
	timed := true
	for _, r := range rows {
		row([]string{termsafe.String(r.Setting), fmt.Sprint(r.Items), fmt.Sprint(r.Calls), fmt.Sprint(r.Known), about(r.PromptTokens), about(r.GeneratedTokens), duration(r.Seconds, r.Calls)}, r.money())
		if r.Money != nil {
			total.addMoney(r)
		}
		total.Items += r.Items
		total.Calls += r.Calls
		total.Known += r.Known
		total.PromptTokens += r.PromptTokens
		total.GeneratedTokens += r.GeneratedTokens
		total.Seconds += r.Seconds
		timed = timed && (r.Seconds > 0 || r.Calls == 0)
	}
	if len(rows) > 1 {
		if !timed {
			total.Seconds = 0
		}
		row([]string{"total", fmt.Sprint(total.Items), fmt.Sprint(total.Calls), fmt.Sprint(total.Known), about(total.PromptTokens), about(total.GeneratedTokens), duration(total.Seconds, total.Calls)}, total.money())
	}
	p := newPrinter(w, width)
	p.table(t)
	seen := map[string]bool{}
	for _, r := range rows {
		for _, line := range []string{note(r.SpeedOf, "time at most, at the speed measured on "+r.SpeedOf), note(r.Note, r.Note)} {
			if line != "" && !seen[line] {
				seen[line] = true
				p.wrapped(line, "  ")
			}
		}
	}
	p.line("nothing was sent, fetched or written")
	return p.err
}

func note(given, line string) string {
	if given == "" {
		return ""
	}
	return line
}

func about(n int64) string { return fmt.Sprintf("~%d", n) }

func duration(seconds float64, calls int64) string {
	switch {
	case calls == 0:
		return "0s"
	case seconds == 0:
		return "unknown"
	}
	return "~" + (time.Duration(seconds) * time.Second).String()
}
