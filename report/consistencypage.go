package report

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/internal/chart"
	"github.com/credence-lab/credence/internal/termsafe"
)

type consistencyView struct {
	Points   []point
	Warnings []string
	// Figures are large, Panels small.
	Figures []consistencyFigure
	Panels  []consistencyFigure
	Tables  []validationTable
}

type consistencyFigure struct {
	About string // what a panel is of; empty of a large figure
	Says  string
	Chart template.HTML
	Keys  []familyView
}

// openTables are those that the page shows unfolded.
var openTables = []string{"c3-baselines", "diagnosis", "neutrality"}

func consistencyViewOf(s *consistency.Survey) *consistencyView {
	v := &consistencyView{Points: consistencyPoints(s), Warnings: consistencyWarnings(s)}
	v.Figures = append(convergenceFigures(s), trendFigures(s)...)
	v.Figures = slices.Insert(v.Figures, 0, quadrants(s.Diagnosis))
	v.Panels = append(neutralityFigures(s), diversityFigures(s)...)
	for _, t := range ConsistencyTables(s) {
		v.Tables = append(v.Tables, validationTable{t.short(), slices.Contains(openTables, t.Name), t.view})
	}
	return v
}

// consistencyPoints says in a few lines what the survey found.
func consistencyPoints(s *consistency.Survey) []point {
	var list []point
	for _, e := range s.Evaluations {
		if e.Over != "baselines" {
			continue
		}
		for _, b := range e.Means {
			list = append(list, point{About: "C3 on " + b.Benchmark, Says: againstWords(e, b)})
		}
	}
	for _, b := range s.Diagnosis.Benchmarks {
		var parts []string
		for _, r := range b.Regions {
			parts = append(parts, fmt.Sprintf("%d %s", r.Items, r.Region))
		}
		list = append(list, point{About: "Items of " + b.Benchmark, Term: "regions", Says: strings.Join(parts, ", ") + ". Saturation " + Estimate(b.Saturation) + ", leakage " + Estimate(b.Leakage) + "."})
	}
	return append(list, point{About: "Perturbations that leak or mislead", Term: "leak", Says: effectsWords(s) + "."})
}

// againstWords compares C3 with the baselines by AUROC.
func againstWords(e consistency.NamedEvaluation, b consistency.Block) string {
	for _, row := range b.Metrics {
		if consistencyMetric(row.Metric) != "AUROC ↑" {
			continue
		}
		words := fmt.Sprintf("AUROC %s", Estimate(row.Values[0]))
		for k, score := range e.Scores[1:] {
			words += fmt.Sprintf("; %s over %s", SignedEstimate(row.Differences[k]), score.Name)
		}
		return words + fmt.Sprintf(". Undetermined: %s.", plural(b.Undetermined, "item"))
	}
	return ""
}

// consistencyWarnings are what a reader must not overlook, each once.
func consistencyWarnings(s *consistency.Survey) []string {
	var list []string
	for _, c := range s.Main() {
		if c.Undetermined > 0 {
			list = append(list, fmt.Sprintf("%s on %s: of %s %d have answers that agree in nothing, so that their C3 is undetermined.", c.Model, c.Benchmark, plural(c.Items, "item"), c.Undetermined))
		}
	}
	for _, c := range s.States {
		if c.Missing > 0 && c.Estimator == s.Design.Estimators[0] {
			list = append(list, fmt.Sprintf("%s on %s, %s, %s: of %s %d have no C3.", c.Model, c.Benchmark, c.Source, c.Kernel, plural(c.Items, "item"), c.Missing))
		}
	}
	for _, f := range s.Sources {
		if f.Fewest < f.Wanted {
			list = append(list, fmt.Sprintf("%s on %s: some items have %d of %d perturbations.", f.Source, f.Benchmark, f.Fewest, f.Wanted))
		}
	}
	for _, n := range s.Neutrality {
		if iv := n.Averaged.Mean.Interval; iv != nil && (iv.Lower > 0 || iv.Upper < 0) {
			list = append(list, fmt.Sprintf("Perturbations of %s move performance on %s by %s: they are not neutral.", n.Source, n.Benchmark, SignedEstimate(n.Averaged.Mean)))
		}
	}
	for _, w := range append(slices.Clone(s.Diagnosis.MedianPerformance.Warnings), s.Diagnosis.MedianC3.Warnings...) {
		list = append(list, "Diagnosis: "+w.Text)
	}
	return list
}

// quadrants draws every item, each region in the look of its place among [consistency.Regions].
func quadrants(d *consistency.Diagnosis) consistencyFigure {
	performance, _ := d.MedianPerformance.Get()
	c3, ok := d.MedianC3.Get()
	plot := chart.Scatter{
		Head:   chart.Head{ID: "quadrants", Title: "Performance and C3 of every item, averaged over models", Desc: "Lines at the medians part the items into mastered, brittle, biased and unlearned. Undetermined items have a mark of their own."},
		XLabel: "C3, clipped", YLabel: "performance",
	}
	if ok {
		plot.Cross = &chart.Point{X: min(1, max(0, c3)), Y: performance}
	}
	f := consistencyFigure{Says: "Items by C3 and performance, cut at the medians (Figure 4)"}
	for k, region := range consistency.Regions() {
		n := 0
		for _, p := range d.Items {
			if p.Region != region {
				continue
			}
			n++
			plot.Points = append(plot.Points, chart.ScatterPoint{
				Series: k, X: min(1, max(0, p.C3)), Y: p.Performance,
				Hover: fmt.Sprintf("%s, %s: %s, performance %s, C3 %s", termsafe.String(p.Item), termsafe.String(p.Benchmark), p.Region, Number(p.Performance), Number(p.C3)),
			})
		}
		f.Keys = append(f.Keys, familyView{fmt.Sprintf("%s (%d)", region, n), k})
	}
	f.Chart = plot.SVG()
	return f
}

// mostCurves bounds the curves of a chart; of more, the table has them all.
const mostCurves = 6

func convergenceFigures(s *consistency.Survey) []consistencyFigure {
	if len(s.Convergence) == 0 {
		return nil
	}
	plot := chart.Curves{Head: chart.Head{ID: "convergence", Title: "Change of C3 to its last value as trials are added", Desc: "The mean over items of the absolute difference from C3 after all trials."}, YLabel: "mean change of C3"}
	f := consistencyFigure{Says: "How C3 settles as trials are added (Figure 7)"}
	for k, c := range s.Convergence[:min(len(s.Convergence), mostCurves)] {
		last := c.Points[len(c.Points)-1].Trials
		plot.XLabel = fmt.Sprintf("share of %d trials", last)
		name := c.Model + " on " + c.Benchmark
		curve := chart.Curve{Name: name, Series: k, Hover: name}
		for _, p := range c.Points {
			if x, ok := p.Change.Get(); ok {
				curve.Points = append(curve.Points, chart.Point{X: float64(p.Trials) / float64(last), Y: x})
			}
		}
		plot.Curves = append(plot.Curves, curve)
		stable := "not shown to be stable"
		if c.Stable > 0 {
			stable = fmt.Sprintf("stable from %d", c.Stable)
		}
		f.Keys = append(f.Keys, familyView{fmt.Sprintf("%s, %s (%s, %d undetermined)", name, stable, plural(c.Points[0].Mean.N, "item"), undetermined(s, s.Design.Sources[0], c.Benchmark, c.Model)), k})
	}
	if more := len(s.Convergence) - mostCurves; more > 0 {
		f.Says += fmt.Sprintf("; %d more in the table", more)
	}
	f.Chart = plot.SVG()
	return []consistencyFigure{f}
}

// trendFigures draw the mean C3 of every model by month of release (Figure 1), and how well its C3 tells
// performance by size (Figure 2).
func trendFigures(s *consistency.Survey) []consistencyFigure {
	var list []consistencyFigure
	for _, kind := range []trendKind{
		{by: "release", means: true, says: "Mean C3 of each model by month of release (Figure 1)", x: "month of release", y: "mean C3, clipped", place: monthWords},
		{by: "parameters", says: "ECE and AUROC of the C3 of each model by size (Figure 2)", x: "thousands of millions of parameters", y: "ECE ↓, AUROC ↑", place: Number},
	} {
		var of []consistency.NamedTrend
		var places []float64
		for _, n := range s.Trends {
			if n.By != kind.by || (n.Value == meanC3) != kind.means {
				continue
			}
			of = append(of, n)
			for _, p := range n.Points {
				places = append(places, p.At)
			}
		}
		if len(places) > 0 && slices.Min(places) < slices.Max(places) {
			list = append(list, kind.figure(s, of, slices.Min(places), slices.Max(places)))
		}
	}
	return list
}

// meanC3 is what [consistency.NamedTrend] calls the mean C3; other values are metrics of it.
const meanC3 = "mean c3"

// trendKind is one figure of values over models.
type trendKind struct {
	by         string
	means      bool
	says, x, y string
	place      func(float64) string // what stands at a place of the axis
}

func (k trendKind) figure(s *consistency.Survey, of []consistency.NamedTrend, from, to float64) consistencyFigure {
	plot := chart.Scatter{
		Head:   chart.Head{ID: "trend-" + k.by, Title: k.says, Desc: "A mark for each model and data set. Undetermined items are in no mean C3, and are counted."},
		XLabel: k.x, YLabel: k.y, Ends: [2]string{k.place(from), k.place(to)},
	}
	f := consistencyFigure{Says: k.says}
	for series, n := range of {
		name, out := "C3", 0
		if n.Value != meanC3 {
			name = consistencyMetric(n.Value)
		}
		name += " on " + n.Benchmark
		for _, p := range n.Points {
			x, ok := p.Value.Get()
			if !ok {
				continue
			}
			undetermined := undetermined(s, s.Design.Sources[0], n.Benchmark, p.Model)
			out += undetermined
			plot.Points = append(plot.Points, chart.ScatterPoint{
				Series: series, X: (p.At - from) / (to - from), Y: min(1, max(0, x)),
				Hover: fmt.Sprintf("%s, %s: %s %s, %d undetermined", termsafe.String(p.Model), k.place(p.At), termsafe.String(name), Estimate(p.Value), undetermined),
			})
		}
		f.Keys = append(f.Keys, familyView{fmt.Sprintf("%s (%s, correlation %s, %d undetermined)", name, plural(len(n.Points), "model"), SignedEstimate(n.Correlation), out), series})
	}
	f.Chart = plot.SVG()
	return f
}

// monthWords is a month as [consistency.Month] gives it.
func monthWords(at float64) string {
	month := int(math.Round(at))
	return fmt.Sprintf("%04d-%02d", month/12, month%12+1)
}

// deltaBins of the distribution of Δ over [-1,1].
const deltaBins = 21

func neutralityFigures(s *consistency.Survey) []consistencyFigure {
	var list []consistencyFigure
	for i, n := range s.Neutrality {
		bins := make([]chart.HistogramBin, deltaBins)
		for k := range bins {
			bins[k].From, bins[k].To = -1+2*float64(k)/deltaBins, -1+2*float64(k+1)/deltaBins
		}
		for _, d := range n.Averaged.Deltas {
			bins[consistency.Bin(d.Share, deltaBins)].Correct++
		}
		for k := range bins {
			bins[k].Hover = fmt.Sprintf("%s to %s: %s", Signed(bins[k].From), Signed(bins[k].To), plural(bins[k].Correct, "item"))
		}
		plot := chart.Histogram{
			Head:   chart.Head{ID: fmt.Sprintf("neutrality-%d", i), Title: "Change of performance by perturbation", Desc: "Items by the share correct after perturbations minus that without."},
			Series: 1, Bins: bins, Says: plural(len(n.Averaged.Deltas), "item"), At: []float64{0},
		}
		list = append(list, consistencyFigure{
			About: fmt.Sprintf("Δ of %s on %s", n.Source, n.Benchmark), Chart: plot.SVG(),
			Says: fmt.Sprintf("mean %s; %d better, %d equal, %d worse; among them undetermined: %d", SignedEstimate(n.Averaged.Mean), n.Averaged.Better, n.Averaged.Equal, n.Averaged.Worse, undetermined(s, n.Source, n.Benchmark, "")),
		})
	}
	return list
}

func diversityFigures(s *consistency.Survey) []consistencyFigure {
	var list []consistencyFigure
	for i, c := range s.Calibrations {
		k, _ := c.K.Get()
		list = append(list, consistencyFigure{
			About: "Calibration of diversity",
			Says:  fmt.Sprintf("cosines of paraphrases of one statement by %s under %s; k = %s, the line", c.Sampler, c.Embeddings, Estimate(c.K)),
			Chart: cosines(fmt.Sprintf("calibration-%d", i), "Cosines of paraphrases of one statement", c.Histogram, k, fmt.Sprintf("%d pairs", c.K.N)),
		})
	}
	for i, f := range s.Sources {
		compared := 0
		for _, n := range f.Nearest {
			compared += n
		}
		if compared == 0 {
			continue
		}
		at := f.K
		if f.KFrom == "" {
			at = math.NaN()
		}
		list = append(list, consistencyFigure{
			About: fmt.Sprintf("Diversity of %s on %s", f.Source, f.Benchmark),
			Says:  diversityWords(f),
			Chart: cosines(fmt.Sprintf("diversity-%d", i), "Cosine with the nearest context", f.Nearest, at, plural(compared, "candidate")),
		})
	}
	return list
}

func diversityWords(f consistency.SourceFacts) string {
	words := "cosine of each candidate with the nearest kept before"
	if f.KFrom != "" {
		words += fmt.Sprintf("; k = %s, the line", Number(f.K))
	}
	return words
}

// undetermined counts the items, of each model on its own, whose main C3 after perturbations of a source is
// undetermined; of all models where none is named.
func undetermined(s *consistency.Survey, source, benchmark, model string) int {
	n := 0
	for _, c := range s.States {
		if c.Source == source && c.Benchmark == benchmark && (model == "" || c.Model == model) && c.Kernel == s.Design.Kernels[0] && c.Estimator == s.Design.Estimators[0] {
			n += c.Undetermined
		}
	}
	return n
}

// cosines draws counts over [-1,1], from 0 on where nothing lies below, with a line at k.
func cosines(id, title string, counts []int, k float64, says string) template.HTML {
	plot := chart.Histogram{Head: chart.Head{ID: id, Title: title, Desc: "The line is the threshold k."}, Series: 2, Says: says, At: []float64{k}}
	from := 0
	for from < len(counts)/2 && counts[from] == 0 {
		from++
	}
	if from == len(counts)/2 {
		counts = counts[from:]
	} else {
		from = 0
	}
	width := 2 / float64(len(counts)+from)
	for i, n := range counts {
		low := -1 + width*float64(from+i)
		plot.Bins = append(plot.Bins, chart.HistogramBin{From: low, To: low + width, Correct: n, Hover: fmt.Sprintf("%s to %s: %d", Number(low), Number(low+width), n)})
	}
	return plot.SVG()
}

// WriteConsistency writes what a survey found as text of at most width columns: C3 against the baselines, and
// where the items lie.
func WriteConsistency(w io.Writer, width int, s *consistency.Survey) error {
	for _, t := range ConsistencyTables(s) {
		if t.Name == "c3-baselines" || t.Name == "diagnosis" {
			if err := t.WriteText(w, width); err != nil {
				return err
			}
		}
	}
	p := &printer{w: w, width: max(width, minWidth)}
	for _, warning := range consistencyWarnings(s) {
		p.wrapped(termsafe.String(warning), "  ")
	}
	p.wrapped("Perturbations: "+termsafe.String(effectsWords(s))+".", "  ")
	p.line("")
	return p.err
}

// consistencyTerms are the terms of consistency.
func consistencyTerms() []term {
	return []term{
		{"c3", "C3", "Cross-contextual consistency: 1 − MMD²/2 between the answers to a question as it stands and after short contexts that should not matter. 1: nothing shifts; 0: the answers have nothing in common. It knows nothing of correctness. The unbiased estimate leaves [0,1] at times; raw values are kept."},
		{"undetermined", "Undetermined", "All answers of an item differ, with and without context. Its C3 is 1 by the formula and says nothing, so it is counted apart."},
		{"performance", "Performance", "The mean correctness of an item's answers to the question as it stands."},
		{"regions", "Mastered, brittle, biased, unlearned", "High performance and C3; high performance and low C3 (right, but not for long: perhaps memorised); low performance and high C3 (consistently wrong); both low. High is from the median over all items on. Saturation is the share mastered, leakage the share brittle among items of high performance, misconception the share biased among those of low performance: indications, not proofs."},
		{"neutral", "Neutral", "A perturbation should change the surroundings and not the task. Δ is what it does to performance."},
		{"leak", "Leak", "A perturbation after which answers are correct more often than the other answers to the same questions make likely. One that is used once can hardly be found out."},
		{"diversity", "Diversity", "A candidate is used only if its cosine with every one that is used is below k, the 5th percentile of the cosines of paraphrases."},
	}
}
