package report

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"

	"github.com/credence-lab/credence/internal/chart"
	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/validation"
)

// WriteValidationHTML writes a validation as a page in the manner of [WriteHTML].
func WriteValidationHTML(w io.Writer, p ValidationPage) error {
	r := p.Result
	view := validationView{Notes: p.Notes, Likeness: likenessChart(r), Strips: stripsOf(r), Families: familiesOf(r)}
	if r.Fits != nil {
		view.Posterior = posteriorChart(r)
	}
	for _, g := range validationGroups {
		group := validationGroup{ID: "tables-" + g.name, Title: g.title}
		for _, t := range validationTables(r, true, true) {
			if t.Name == g.name {
				group.Tables = append(group.Tables, validationTable{t.view.Caption, len(group.Tables) < g.open, t.view})
			}
		}
		if len(group.Tables) > 0 {
			view.Groups = append(view.Groups, group)
		}
	}
	return execute(w, "page", pageView{
		Title:      p.Title,
		Lead:       fmt.Sprintf("%s, %s, %s; people's labels: %s.", plural(r.N, "item"), plural(len(r.Quantifiers), "quantifier"), plural(len(r.Judges), "judge"), termsafe.String(r.Reference)),
		Verdict:    verdict{Points: validationWords(p), Warnings: validationWarnings(r)},
		Validation: &view,
		Glossary:   validationTerms(),
	})
}

// validationGroups are the sections of tables, by the name of their tables; the first few of each are open.
var validationGroups = []struct {
	name, title string
	open        int
}{
	{"judges", "Every judge", 1},
	{"places", "Best, medium and worst quantifier", 2},
	{"matrix", "Every quantifier under every judge", 1},
	{"effects", "Which errors move an AUROC", 0},
	{"subsamples", "Ranks from few items", 0},
	{"side-by-side", "Person by person", 0},
	{"scopes", "Who is fitted together", 0},
	{"agreement", "Agreement of people", 0},
	{"tradeoffs", "Error trade-offs in numbers", 0},
}

type validationView struct {
	Notes               []string
	Posterior, Likeness template.HTML
	Families            []familyView
	Groups              []validationGroup
	Strips              []stripsView
}

type familyView struct {
	Name   string
	Series int
}

type validationGroup struct {
	ID, Title string
	Tables    []validationTable
}

type validationTable struct {
	Heading string
	Open    bool
	Table   tableView
}

// stripsView are the trade-offs of one judge.
type stripsView struct {
	Judge       string
	Open        bool
	Quantifiers []stripsQuantifier
}

type stripsQuantifier struct {
	Name   string
	Charts []stripsChart
}

type stripsChart struct {
	Says  string
	Chart template.HTML
}

// familyOf is the family of a judge, or its own name.
func familyOf(j validation.JudgeResult) string {
	if j.Family != "" {
		return j.Family
	}
	return j.Name
}

func familiesOf(r *validation.Result) []familyView {
	var list []familyView
	for _, j := range r.Judges {
		if name := familyOf(j); !slices.ContainsFunc(list, func(f familyView) bool { return f.Name == name }) {
			list = append(list, familyView{name, len(list)})
		}
	}
	return list
}

func seriesOf(r *validation.Result, judge string) int {
	for _, j := range r.Judges {
		if j.Name == judge {
			return slices.IndexFunc(familiesOf(r), func(f familyView) bool { return f.Name == familyOf(j) })
		}
	}
	return 0 // a person
}

func posteriorChart(r *validation.Result) template.HTML {
	c := chart.Forest{
		Head:   chart.Head{ID: "posterior-f1", Title: "Posterior F1 of judges and people", Desc: "One row each, sorted by median; all fitted together."},
		XLabel: "F1",
	}
	for _, p := range byMedian(r.Fits) {
		e := p.Figure()
		row := chart.ForestRow{Label: p.Judge, Series: seriesOf(r, p.Judge), Value: math.NaN(), OuterLower: math.NaN(), OuterUpper: math.NaN(), InnerLower: math.NaN(), InnerUpper: math.NaN()}
		if x, ok := e.Median.Get(); ok {
			row.Value = x
		} else {
			row.Why = string(e.Median.Reason())
		}
		if iv := e.Median.Interval; iv != nil {
			row.OuterLower, row.OuterUpper = iv.Lower, iv.Upper
		}
		if e.Half != nil {
			row.InnerLower, row.InnerUpper = e.Half.Lower, e.Half.Upper
		}
		row.Hover = p.Judge + ": " + Estimate(e.Median)
		c.Rows = append(c.Rows, row)
	}
	return c.SVG()
}

func likenessChart(r *validation.Result) template.HTML {
	c := chart.Scatter{
		Head:   chart.Head{ID: "likeness", Title: "F1 against rank-biased overlap", Desc: "One mark for each judge; judges of like F1 may rank quantifiers very differently."},
		XLabel: "F1", YLabel: "rank-biased overlap",
	}
	for j, l := range r.Likeness {
		x, hasX := r.Judges[j].F1.Get()
		y, hasY := l.RBO.Get()
		if hasX && hasY {
			c.Points = append(c.Points, chart.ScatterPoint{Series: seriesOf(r, l.Judge), X: x, Y: y, Hover: fmt.Sprintf("%s: F1 %s, RBO %s, τ %s", l.Judge, Number(x), Number(y), Estimate(l.Kendall))})
		}
	}
	return c.SVG()
}

// stripsOf draws the trade-offs of the judges that the figures of the paper would show.
func stripsOf(r *validation.Result) []stripsView {
	if r.Confidences == nil {
		return nil
	}
	var list []stripsView
	for k, j := range shownJudges(r) {
		view := stripsView{Judge: r.Judges[j].Name, Open: k == 0}
		for _, t := range r.Tradeoffs {
			if t.Judge != view.Judge {
				continue
			}
			q := slices.IndexFunc(r.Quantifiers, func(i validation.QuantifierInfo) bool { return i.Name == t.Quantifier })
			s := strips{id: fmt.Sprintf("strip-%d-%d", j, q), series: q, outcomes: r.Outcomes[j], confidences: r.Confidences.Quantifiers[q].Items}
			view.Quantifiers = append(view.Quantifiers, stripsQuantifier{t.Quantifier, s.charts(t)})
		}
		list = append(list, view)
	}
	return list
}

// strips is one judge and quantifier to be drawn.
type strips struct {
	id          string
	series      int
	outcomes    []validation.Outcome
	confidences []measure.Value
}

func (s strips) charts(t validation.Tradeoff) []stripsChart {
	fixed := s.chart("t", t.Fixed.Threshold, validation.NoOutcome, func(o validation.Outcome) (below, above chart.Region) {
		switch o {
		case validation.FalsePositive:
			return chart.Penalty, chart.Reward
		case validation.FalseNegative:
			return chart.Reward, chart.Penalty
		}
		return chart.Plain, chart.Plain
	})
	list := []stripsChart{{fmt.Sprintf("threshold %v: net %s", t.Fixed.Threshold, SignedEstimate(t.Fixed.Net)), fixed}}
	if t.FN != nil {
		list = append(list, stripsChart{"A in FN: net " + SignedEstimate(t.FN.Net), s.chart("n", t.FN.At, validation.FalseNegative, around(validation.FalseNegative, chart.Penalty, chart.Reward))})
	}
	if t.FP != nil {
		list = append(list, stripsChart{"A in FP: net " + SignedEstimate(t.FP.Net), s.chart("p", t.FP.At, validation.FalsePositive, around(validation.FalsePositive, chart.Reward, chart.Penalty))})
	}
	return list
}

// around gives every class but A's own the same regions.
func around(own validation.Outcome, below, above chart.Region) func(validation.Outcome) (chart.Region, chart.Region) {
	return func(o validation.Outcome) (chart.Region, chart.Region) {
		if o == own {
			return chart.Plain, chart.Plain
		}
		return below, above
	}
}

func (s strips) chart(suffix string, at float64, cross validation.Outcome, regions func(validation.Outcome) (below, above chart.Region)) template.HTML {
	c := chart.Strips{
		Head:   chart.Head{ID: s.id + suffix, Title: "Confidences by outcome", Desc: "A row for each outcome, a point for each answer."},
		XLabel: "confidence", Series: s.series, At: at, CrossRow: slices.Index(validation.Outcomes, cross),
	}
	for _, o := range validation.Outcomes {
		row := chart.StripRow{Label: string(o)}
		row.Below, row.Above = regions(o)
		for i, v := range s.confidences {
			if x, ok := v.Get(); ok && s.outcomes[i] == o {
				row.Points = append(row.Points, x)
			}
		}
		row.Hover = fmt.Sprintf("%s: %s", o, plural(len(row.Points), "item"))
		c.Rows = append(c.Rows, row)
	}
	return c.SVG()
}

// validationTerms are the terms of the page.
func validationTerms() []term {
	return []term{
		{"f1", "F1", "2 TP/(2 TP + FP + FN) of a judge against people: 1 if it accepts what they accept and nothing else."},
		{"group", "Good, medium, bad", "F1 above .7, from .3 to .7, below .3. A judge that accepts everything or nothing has no AUROC: it is counted and stays out of averages."},
		{"scopes", "Alone, per family, all", "Which judges the Bayesian model was fitted to at once: each by itself, one threshold of every family, or all. The model takes judges to be independent, which thresholds of one score are not, so that many of them outvote people."},
		{"rbo", "RBO, τ", "How like people's ranking of the quantifiers a judge's is: rank-biased overlap with persistence .9, which weighs the top most, and Kendall's τ-b. 1 is the same ranking."},
		{"shift-auroc", "Shift", "The mean, over quantifiers, of how far the AUROC under the judge lies from that under people."},
		{"effect-terms", "FN, FP, FN×FP, weights", "The difference of two AUROCs in exact terms: pairs that a wrongly rejected answer adds and takes away, pairs of a wrongly accepted one, pairs of one of each, which change sides, and the pairs that both see, which weigh another share of all."},
		{"tradeoff", "Net", "Unfair rewards minus unfair penalties among the answers counted. At the threshold it is exactly the accuracy of the selection under the judge minus that under people."},
	}
}
