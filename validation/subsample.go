package validation

import (
	"math"
	"math/rand/v2"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
)

// Subsampling says how ranks are taken from small subsamples of the items.
type Subsampling struct {
	// Runs is the number of subsamples; 0 makes none. Size is the number of items in each, drawn without
	// replacement from those with a label of the reference; fewer where there are not as many.
	Runs int `json:"runs"`
	Size int `json:"size"`
	// Tolerance within which two mean AUROCs share a rank.
	Tolerance float64 `json:"tolerance"`
}

// PaperSubsampling is that of "A Tale of Two Error Categories", appendix D.3.
func PaperSubsampling() Subsampling { return Subsampling{Runs: 10, Size: 20, Tolerance: .025} }

// Subsampled are the quantifiers under one judge over the subsamples, a row of Figures 15 to 20.
type Subsampled struct {
	// Judge is its name, or that of the reference.
	Judge string `json:"judge"`
	// F1 is the mean over runs.
	F1    measure.Value    `json:"f1"`
	Cells []SubsampledCell `json:"cells"`
}

// SubsampledCell is one quantifier. N counts runs; those without an AUROC are left out.
type SubsampledCell struct {
	Mean measure.Value `json:"mean"`
	// SD is the standard deviation over runs, divisor n − 1.
	SD measure.Value `json:"sd"`
	// Rank is that of the means, within the tolerance.
	Rank measure.Value `json:"rank"`
}

// subsampled evaluates the reference and every judge on the same subsamples.
func (e evaluation) subsampled(s Subsampling) []Subsampled {
	if s.Runs == 0 {
		return nil
	}
	runs := e.runs(s)
	list := []Subsampled{e.subsampledRow(labelled{e.reference.name, e.reference.weights}, runs, s.Tolerance)}
	for _, j := range e.judges {
		list = append(list, e.subsampledRow(j, runs, s.Tolerance))
	}
	return list
}

// runs are the items of each subsample.
func (e evaluation) runs(s Subsampling) [][]int {
	var usable []int
	for i, w := range e.reference.weights {
		if !math.IsNaN(w) {
			usable = append(usable, i)
		}
	}
	seed := e.options.seed("subsamples")
	draw := rand.New(rand.NewPCG(seed, seed))
	runs := make([][]int, s.Runs)
	for r := range runs {
		order := draw.Perm(len(usable))
		for _, k := range order[:min(s.Size, len(order))] {
			runs[r] = append(runs[r], usable[k])
		}
	}
	return runs
}

func (e evaluation) subsampledRow(l labelled, runs [][]int, tolerance float64) Subsampled {
	row := Subsampled{Judge: l.name}
	var f1 moments
	for _, run := range runs {
		f1.add(confusionOf(pick(e.reference.weights, run), pick(l.weights, run)).F1())
	}
	row.F1, _ = f1.values("f1.mean", "f1.sd")
	means := make([]float64, len(e.scores))
	for q, s := range e.scores {
		var m moments
		confidence := Quantifier{Scores: s.Values, Orientation: s.Orientation}.confidences()
		for _, run := range runs {
			m.add(weightedAUROC(pick(confidence, run), pick(l.weights, run)))
		}
		var c SubsampledCell
		c.Mean, c.SD = m.values("auroc.mean", "auroc.sd")
		x, ok := c.Mean.Get()
		if !ok {
			x = math.NaN()
		}
		means[q] = x
		row.Cells = append(row.Cells, c)
	}
	for q, rank := range metric.Ranks(means, metric.Higher, tolerance) {
		if mean := row.Cells[q].Mean; !mean.Defined() {
			row.Cells[q].Rank = measure.Undefined("rank", mean.Reason(), 0)
		} else {
			row.Cells[q].Rank = measure.Of("rank", rank, len(means))
		}
	}
	return row
}

func pick(values []float64, items []int) []float64 {
	list := make([]float64, len(items))
	for k, i := range items {
		list[k] = values[i]
	}
	return list
}

// weightedAUROC is the AUROC of labels that may be ½.
func weightedAUROC(confidence, labels []float64) measure.Value {
	items := classified(confidence, labels, labels)
	wins := winsOf(items)
	var correct, incorrect, own float64
	for _, x := range items {
		w := x.class[tp] + x.class[fn]
		correct += w
		incorrect += 1 - w
	}
	for _, x := range []int{tp, fn} {
		for _, y := range []int{tn, fp} {
			own += wins[x][y] - wins[y][x]
		}
	}
	if correct == 0 || incorrect == 0 {
		return measure.Undefined("auroc", measure.OneClass, len(items))
	}
	return measure.Of("auroc", .5+own/(2*correct*incorrect), len(items))
}

// moments collects values, and the reasons of those that are undefined.
type moments struct {
	list []float64
	out  map[string]int
}

func (m *moments) add(v measure.Value) {
	x, ok := v.Get()
	if !ok {
		if m.out == nil {
			m.out = map[string]int{}
		}
		m.out["runs: "+string(v.Reason())]++
		return
	}
	m.list = append(m.list, x)
}

// values are mean and standard deviation.
func (m *moments) values(mean, sd string) (measure.Value, measure.Value) {
	n := len(m.list)
	if n == 0 {
		return measure.Undefined(mean, measure.NoDraws, 0).Leaving(m.out), measure.Undefined(sd, measure.NoDraws, 0).Leaving(m.out)
	}
	sum := 0.0
	for _, x := range m.list {
		sum += x
	}
	centre, squares := sum/float64(n), 0.0
	for _, x := range m.list {
		squares += (x - centre) * (x - centre)
	}
	if n == 1 {
		return measure.Of(mean, centre, n).Leaving(m.out), measure.Undefined(sd, measure.TooFew, n).Leaving(m.out)
	}
	return measure.Of(mean, centre, n).Leaving(m.out), measure.Of(sd, math.Sqrt(squares/float64(n-1)), n).Leaving(m.out)
}
