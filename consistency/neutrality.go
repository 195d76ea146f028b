package consistency

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

// Trial is one judged answer.
type Trial struct {
	Model, Item string
	// Perturbation names the context put before the question; empty for the original prompt.
	Perturbation string
	// Correct is 0 or 1, or a quality between, of which at least .5 counts as correct where counts are meant.
	Correct record.Number
}

// Neutrality says whether perturbations help or mislead as a whole (Wu, Jiang and Aragam 2026, appendix
// A.3). It cannot show that each of them is neutral; [FindLeaks] looks for those that are not.
type Neutrality struct {
	// PerModel is sorted by model. Averaged takes the mean Δ of each item over its models first, so that
	// items are independent; its counts are sums.
	PerModel []Shift `json:"per_model"`
	Averaged Shift   `json:"averaged"`
}

// Shift is the change of performance by perturbation over the items of one model.
type Shift struct {
	Model string `json:"model,omitempty"`
	// Deltas are sorted by item.
	Deltas []Delta `json:"deltas"`
	// Mean is the mean Δ as a share of trials, in [-1,1], positive where perturbations help, with a
	// percentile interval over items. Items with trials of one kind only are left out.
	Mean measure.Value `json:"mean"`
	// Better, Worse and Equal count items by the sign of Δ.
	Better int `json:"better"`
	Worse  int `json:"worse"`
	Equal  int `json:"equal"`
	// SignP is the two-sided exact p value of the sign test, in (0,1]: are better and worse equally likely?
	// Items with Δ = 0 take no part. Undefined where all are.
	SignP measure.Value `json:"sign_p"`
}

// Delta is the change in one item.
type Delta struct {
	Item string `json:"item"`
	// Share is the share correct of the perturbed trials minus that of the original ones, in [-1,1].
	Share float64 `json:"share"`
	// Correct of Trials under the original prompt, PerturbedCorrect of PerturbedTrials under perturbed ones.
	// Where there are equally many trials, the difference of the counts is the paper's Δ.
	Correct          int `json:"correct"`
	Trials           int `json:"trials"`
	PerturbedCorrect int `json:"perturbed_correct"`
	PerturbedTrials  int `json:"perturbed_trials"`
}

// CheckNeutrality compares performance with and without perturbation. Trials without a verdict are left out
// and counted; r gives the bootstrap over items.
func CheckNeutrality(trials []Trial, r Resampling) (*Neutrality, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	perModel, unjudged, err := tally(trials)
	if err != nil {
		return nil, err
	}
	n := &Neutrality{}
	items := map[string]*itemMean{}
	sums, leftOut := map[string]Delta{}, map[string]int{}
	for _, model := range sortedKeys(perModel) {
		s := Shift{Model: model}
		out := unjudged[model]
		for _, item := range sortedKeys(perModel[model]) {
			d := perModel[model][item].delta(item)
			if d.Trials == 0 || d.PerturbedTrials == 0 {
				out = merge(out, "item with trials of one kind only", 1)
				continue
			}
			s.Deltas = append(s.Deltas, d)
			if items[item] == nil {
				items[item] = &itemMean{}
			}
			items[item].add(d.Share)
			sums[item] = sums[item].plus(d)
		}
		for why, k := range out {
			leftOut[why] += k
		}
		s.summarise(out, r)
		n.PerModel = append(n.PerModel, s)
	}
	for _, item := range sortedKeys(items) {
		d := sums[item]
		d.Item, d.Share = item, items[item].mean()
		n.Averaged.Deltas = append(n.Averaged.Deltas, d)
	}
	n.Averaged.summarise(leftOut, r)
	return n, nil
}

func (s *Shift) summarise(leftOut map[string]int, r Resampling) {
	shares := make([]float64, len(s.Deltas))
	for i, d := range s.Deltas {
		shares[i] = d.Share
		switch {
		case d.Share > 0:
			s.Better++
		case d.Share < 0:
			s.Worse++
		default:
			s.Equal++
		}
	}
	s.Mean = meanOfItems("neutrality.delta", shares, r).Leaving(leftOut)
	s.SignP = signTest(s.Better, s.Worse)
}

// signTest is twice the smaller tail of a fair coin, at most 1.
func signTest(better, worse int) measure.Value {
	const id = "p.sign.two-sided"
	n := better + worse
	if n == 0 {
		return measure.Undefined(id, measure.Constant, 0)
	}
	tail := distuv.Binomial{N: float64(n), P: .5}.CDF(float64(min(better, worse)))
	return measure.Of(id, math.Min(1, 2*tail), n)
}

// meanOfItems is a mean with its percentile interval over items.
func meanOfItems(id string, values []float64, r Resampling) measure.Value {
	if len(values) == 0 {
		return measure.Undefined(id, measure.NoItems, 0)
	}
	v := measure.Of(id, mean(values), len(values))
	if len(values) == 1 {
		return v.Warn("no-interval", "there is one item, and an interval draws items")
	}
	random, draws := r.random(streamItems), make([]float64, r.N)
	for i := range draws {
		for range values {
			draws[i] += values[random.IntN(len(values))] / float64(len(values))
		}
	}
	return percentile(v, draws, 0, r)
}

func mean(values []float64) float64 {
	sum := 0.
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}

// cell is what is known of one item with one model.
type cell struct{ original, perturbed tallied }

// tallied sums the judged trials of one kind.
type tallied struct {
	n, correct int
	quality    float64
}

func (t *tallied) add(quality float64) {
	t.n++
	t.quality += quality
	if quality >= .5 {
		t.correct++
	}
}

func (c *cell) delta(item string) Delta {
	d := Delta{
		Item: item, Correct: c.original.correct, Trials: c.original.n,
		PerturbedCorrect: c.perturbed.correct, PerturbedTrials: c.perturbed.n,
	}
	if d.Trials > 0 && d.PerturbedTrials > 0 {
		d.Share = c.perturbed.quality/float64(c.perturbed.n) - c.original.quality/float64(c.original.n)
	}
	return d
}

func (d Delta) plus(e Delta) Delta {
	d.Correct += e.Correct
	d.Trials += e.Trials
	d.PerturbedCorrect += e.PerturbedCorrect
	d.PerturbedTrials += e.PerturbedTrials
	return d
}

type itemMean struct {
	sum float64
	n   int
}

func (m *itemMean) add(x float64) { m.sum, m.n = m.sum+x, m.n+1 }

func (m *itemMean) mean() float64 { return m.sum / float64(m.n) }

// tally counts trials by model and item, and those without a verdict by model and reason.
func tally(trials []Trial) (cells map[string]map[string]*cell, unjudged map[string]map[string]int, err error) {
	cells, unjudged = map[string]map[string]*cell{}, map[string]map[string]int{}
	for i, t := range trials {
		if cells[t.Model] == nil {
			cells[t.Model] = map[string]*cell{}
		}
		if cells[t.Model][t.Item] == nil {
			cells[t.Model][t.Item] = &cell{}
		}
		quality, ok := t.Correct.Get()
		switch {
		case !ok:
			unjudged[t.Model] = merge(unjudged[t.Model], "trial: "+string(reasonOf(t.Correct)), 1)
			continue
		case !(quality >= 0 && quality <= 1):
			return nil, nil, fmt.Errorf("consistency: trial %d, model %q, item %q: correctness %v is not in [0,1]", i, t.Model, t.Item, quality)
		}
		if t.Perturbation == "" {
			cells[t.Model][t.Item].original.add(quality)
		} else {
			cells[t.Model][t.Item].perturbed.add(quality)
		}
	}
	return cells, unjudged, nil
}

func merge(counts map[string]int, why string, n int) map[string]int {
	if counts == nil {
		counts = map[string]int{}
	}
	counts[why] += n
	return counts
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, cmp.Compare)
	return keys
}
