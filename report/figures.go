package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/credence-lab/credence/internal/chart"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/protocol"
)

// Series are numbered alike in all charts of a setting: 0 is the stated score, 1+i the token score in
// context i.

// gapView is the chart of one metric.
type gapView struct {
	Title, Term, Asks string
	Chart             template.HTML
}

// gapFigures are the gaps with their intervals, a chart for each metric and a row for each context.
func gapFigures(id string, c *protocol.Comparison) []gapView {
	var charts []gapView
	for m, v := range c.Verbalised.Metrics {
		title := Title(v.Method)
		plot := chart.Intervals{
			Head: chart.Head{
				ID:    fmt.Sprintf("%s-g%d", id, m),
				Title: title + ": stated minus token, by context",
				Desc:  metricWords(c, m),
			},
			Below: "stated better", Above: "token better",
		}
		if s, err := metric.ByID(v.Method); err == nil && s.Better == metric.Higher {
			plot.Below, plot.Above = plot.Above, plot.Below
		}
		for i, context := range c.Contexts {
			plot.Rows = append(plot.Rows, intervalRow(context.Name, 1+i, context.Gaps[m]))
		}
		about, _ := heading(title)
		charts = append(charts, gapView{title, termOf(v.Method), about, plot.SVG()})
	}
	return charts
}

func intervalRow(label string, series int, g protocol.Gap) chart.IntervalRow {
	row := chart.IntervalRow{Label: label, Series: series, Lower: math.NaN(), Upper: math.NaN(), Clear: g.Resolved}
	x, ok := g.Gap.Get()
	if !ok {
		row.Why = string(g.Gap.Reason())
		row.Hover = fmt.Sprintf("%s: undefined, %s", label, row.Why)
		return row
	}
	row.Value = x
	row.Hover = fmt.Sprintf("%s: gap %s, n %d, %s better", label, SignedEstimate(g.Gap), g.Gap.N, betterWord(g))
	if !g.Resolved {
		row.Hover += ", within chance"
	}
	if iv := g.Gap.Interval; iv != nil {
		row.Lower, row.Upper = iv.Lower, iv.Upper
	}
	return row
}

// panelView is one score: its reliability, its values by label, and the first in numbers.
type panelView struct {
	Series      int
	Name, Says  string
	Reliability template.HTML
	Histogram   template.HTML
	Table       *tableView
}

const (
	// mostAtoms is how many values a score may take to be shown value by value, if there are two answers
	// to a value.
	mostAtoms = 20
	// tableBins are those of the ECE that signals are compared by.
	tableBins     = 10
	histogramBins = 20
)

func panelsOf(id string, c *protocol.Comparison, scores []*metric.Prepared) ([]panelView, error) {
	var panels []panelView
	for i, label := range scoreLabels(c) {
		p, err := panelOf(fmt.Sprintf("%s-p%d", id, i), c.Setting.String(), label, i, scores[i], intervalLevel(c.ParseRate))
		if err != nil {
			return nil, err
		}
		p.Says = panelWords(scoreOf(c, i).Metrics)
		panels = append(panels, p)
	}
	return panels, nil
}

// scoreOf is the score of a series.
func scoreOf(c *protocol.Comparison, series int) protocol.Score {
	if series == 0 {
		return c.Verbalised
	}
	return c.Contexts[series-1].Token
}

// panelWords says how well calibrated a score is and how well it ranks.
func panelWords(values []measure.Value) string {
	var said []string
	for _, v := range values {
		if title := Title(v.Method); v.Defined() && (title == "ECE" || title == "AUROC") && len(said) < 2 {
			said = append(said, title+" "+short(v))
		}
	}
	return strings.Join(said, " · ")
}

func panelOf(id, of, label string, series int, score *metric.Prepared, level float64) (panelView, error) {
	p := panelView{Series: series, Name: label}
	rows, what, err := reliabilityRows(score, level)
	if err != nil {
		return p, err
	}
	if rows != nil {
		p.Reliability = reliabilityChart(id, label, series, rows)
		t := reliabilityTable(of, label, what, rows)
		p.Table = &t
	}
	p.Histogram = histogramChart(id, label, series, score)
	return p, nil
}

// reliabilityRows are by value where a score takes few of them, else by bins of equal width; none where
// the score is no confidence in [0,1].
func reliabilityRows(score *metric.Prepared, level float64) (rows []metric.ReliabilityRow, what string, err error) {
	if score.N() == 0 || metric.ECE(tableBins, metric.LeftClosed).On(score).Reason() == measure.OutOfRange {
		return nil, "", nil
	}
	if score.Distinct() <= mostAtoms && 2*score.Distinct() <= score.N() {
		rows, err = metric.AtomTable(score, level)
		return rows, "a row for each value", err
	}
	rows, err = metric.ReliabilityEqualWidth(score, tableBins, metric.LeftClosed, level)
	return rows, "ten bins of equal width", err
}

func reliabilityChart(id, label string, series int, rows []metric.ReliabilityRow) template.HTML {
	plot := chart.Reliability{Series: series, Head: chart.Head{
		ID:    id + "r",
		Title: "Reliability of the score: " + label,
		Desc:  reliabilityWords(rows),
	}}
	for _, r := range rows {
		bin := chart.ReliabilityBin{Confidence: r.Confidence, N: r.N, Lower: math.NaN(), Upper: math.NaN(), Share: math.NaN()}
		if x, ok := r.Quality.Get(); ok {
			bin.Share = x
		}
		if iv := r.Quality.Interval; iv != nil {
			bin.Lower, bin.Upper = iv.Lower, iv.Upper
		}
		bin.Hover = fmt.Sprintf("confidence %s: %s right, n %d", Number(r.Confidence), Estimate(r.Quality), r.N)
		plot.Bins = append(plot.Bins, bin)
	}
	return plot.SVG()
}

// reliabilityWords says on which side of the diagonal the answers lie.
func reliabilityWords(rows []metric.ReliabilityRow) string {
	over, under, all := 0, 0, 0
	for _, r := range rows {
		all += r.N
		switch iv := r.Quality.Interval; {
		case iv == nil:
		case r.Confidence > iv.Upper:
			over += r.N
		case r.Confidence < iv.Lower:
			under += r.N
		}
	}
	return fmt.Sprintf("Of %s, %d lie where confidence is above the interval of the share right, %d where it is below.", plural(all, "answer"), over, under)
}

func reliabilityTable(of, label, what string, rows []metric.ReliabilityRow) tableView {
	t := tableView{
		Name:    "reliability-" + of + "-" + label,
		Caption: label + ": " + what,
		Narrow:  true,
		Head: []headView{
			{Text: "confidence", Term: "reliability", Number: true}, {Text: "n", Term: "n", Number: true},
			{Text: "share right", Term: "reliability", Number: true, Values: true},
		},
	}
	bins := slices.ContainsFunc(rows, func(r metric.ReliabilityRow) bool { return r.From != r.To })
	if bins {
		t.Head = append([]headView{{Text: "from", Term: "atoms", Number: true}, {Text: "to", Number: true}}, t.Head...)
	}
	for _, r := range rows {
		row := []cellView{numberCell(r.Confidence), countCell(r.N), valueCell(r.Quality)}
		if bins {
			row = append([]cellView{numberCell(r.From), numberCell(r.To)}, row...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func histogramChart(id, label string, series int, score *metric.Prepared) template.HTML {
	plot := chart.Histogram{Series: series, Head: chart.Head{ID: id + "h", Title: "Values of the score by label: " + label}}
	right, wrong := 0, 0
	for _, b := range metric.Histogram(score, histogramBins) {
		plot.Bins = append(plot.Bins, chart.HistogramBin{From: b.From, To: b.To, Correct: b.Correct, Incorrect: b.Incorrect})
		right, wrong = right+b.Correct, wrong+b.Incorrect
	}
	plot.Desc = fmt.Sprintf("%d right answers upwards, %d wrong ones downwards.", right, wrong)
	return plot.SVG()
}

// curvesView are the curves of all scores of a setting, with one legend.
type curvesView struct {
	Legend []legendEntry
	Risk   template.HTML
	ROC    template.HTML
}

type legendEntry struct {
	Series int
	Name   string
	// Risk and ROC are the areas.
	Risk, ROC cellView
}

// curvesOf draws the curves of scores. known has the values of score i that were computed already, with
// intervals; an area that is not among them is computed here, without.
func curvesOf(id string, labels []string, scores []*metric.Prepared, known func(i int) []measure.Value) curvesView {
	risk := chart.Curves{XLabel: "coverage", YLabel: "risk", Head: chart.Head{ID: id + "-rc", Title: "Risk against coverage"}}
	roc := chart.Curves{XLabel: "wrong answers above", YLabel: "right answers above", YMax: 1, Diagonal: true, Head: chart.Head{ID: id + "-roc", Title: "Receiver operating characteristic"}}
	var view curvesView
	for i, score := range scores {
		aurc, auroc := areaOf(metric.AURC(), score, known(i)), areaOf(metric.AUROC(), score, known(i))
		entry := legendEntry{i, labels[i], valueCell(aurc), valueCell(auroc)}
		aboutRisk, aboutROC := labels[i]+": AURC "+Estimate(aurc), labels[i]+": AUROC "+Estimate(auroc)
		risk.Desc += aboutRisk + ". "
		roc.Desc += aboutROC + ". "
		view.Legend = append(view.Legend, entry)
		points, _ := metric.RiskCoverage(score)
		risk.Curves = append(risk.Curves, chart.Curve{Name: entry.Name, Series: i, Hover: aboutRisk, Points: chartPoints(points)})
		points, _ = metric.ROC(score)
		roc.Curves = append(roc.Curves, chart.Curve{Name: entry.Name, Series: i, Hover: aboutROC, Points: chartPoints(points)})
	}
	view.Risk, view.ROC = risk.SVG(), roc.SVG()
	return view
}

func areaOf(s metric.Statistic, score *metric.Prepared, known []measure.Value) measure.Value {
	for _, v := range known {
		if v.Method == s.ID {
			return v
		}
	}
	return s.On(score)
}

func chartPoints(points []metric.CurvePoint) []chart.Point {
	list := make([]chart.Point, len(points))
	for i, p := range points {
		list[i] = chart.Point(p)
	}
	return list
}
