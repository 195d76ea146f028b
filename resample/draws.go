package resample

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
)

// Term is one summand of a contrast: Weight times the statistic with index Stat of the score with
// index Score, in the order in which [Paired] got them.
type Term struct {
	Score, Stat int
	Weight      float64
}

// N is the number of resamples drawn; 0 if there were no items.
func (d *Draws) N() int { return d.options.N }

// Value is a statistic of a score with its interval of the given level in (0,1). Beyond the warnings
// of [metric.Statistic.On] it may have these:
//
//	undefined-draws      the statistic had no value on more than one resample in twenty
//	degenerate-interval  all resamples gave the same value, so that the interval has no width
//	no-interval          the value has no interval, with the reason
//
// It panics if an index or the level is out of range.
func (d *Draws) Value(score, stat int, level float64) measure.Value {
	term := Term{score, stat, 1}
	c := d.cell(term)
	v := d.stats[stat].Dress(d.scores[score], d.point[c].x, d.point[c].why)
	return d.distribution([]Term{term}).interval(v, d.options, level)
}

// Contrast is a weighted sum of statistics on the same draws, such as a difference of two scores or a
// difference of such differences, with its interval; id names it. Undefined if one of them is, with
// its reason; a draw counts only if all are defined on it. Warnings and panics as for [Draws.Value].
func (d *Draws) Contrast(id string, level float64, terms ...Term) measure.Value {
	dist := d.distribution(terms)
	v := measure.Of(id, dist.point.x, d.units.items)
	if dist.point.why != "" {
		v = measure.Undefined(id, dist.point.why, d.units.items)
	}
	return dist.interval(v.Leaving(d.scores[0].LeftOut()), d.options, level)
}

// Resampled returns the values of a contrast on the resamples where it is defined, in the order of
// drawing.
func (d *Draws) Resampled(terms ...Term) []float64 { return defined(d.distribution(terms).draws) }

func (d *Draws) cell(t Term) int {
	if t.Score < 0 || t.Score >= len(d.scores) || t.Stat < 0 || t.Stat >= len(d.stats) {
		panic(fmt.Sprintf("resample: no statistic %d of score %d; there are %d of %d", t.Stat, t.Score, len(d.stats), len(d.scores)))
	}
	return t.Score*len(d.stats) + t.Stat
}

// distribution is a quantity with its resampled values.
type distribution struct {
	point     outcome
	draws     []float64 // NaN where undefined
	influence []float64 // of each unit; nil but for BCa
}

func (d *Draws) distribution(terms []Term) distribution {
	if len(terms) == 0 {
		panic("resample: a contrast without terms")
	}
	sum := distribution{draws: make([]float64, d.options.N)}
	if d.jackknife != nil {
		sum.influence = make([]float64, d.units.n)
	}
	for _, t := range terms {
		c := d.cell(t)
		if sum.point.why == "" {
			sum.point.why = d.point[c].why
		}
		sum.point.x += t.Weight * d.point[c].x
		for r, x := range d.values[c] {
			sum.draws[r] += t.Weight * x
		}
		for unit := range sum.influence {
			sum.influence[unit] += t.Weight * d.without(c, unit)
		}
	}
	centre(sum.influence)
	return sum
}

// centre turns leave-one-out values into the influence of what was left out.
func centre(values []float64) {
	n, mean := float64(len(values)), 0.
	for _, x := range values {
		mean += x / n
	}
	for i, x := range values {
		values[i] = (n - 1) / n * (mean - x)
	}
}

// interval puts the interval and its warnings beside v.
func (d distribution) interval(v measure.Value, o Options, level float64) measure.Value {
	if !(level > 0 && level < 1) {
		panic(fmt.Sprintf("resample: level %v is not in (0,1)", level))
	}
	x, ok := v.Get()
	if !ok {
		return v
	}
	sorted := defined(d.draws)
	if len(sorted) == 0 {
		return v.Warn("no-interval", "%s", measure.NoDraws)
	}
	slices.Sort(sorted)
	lower, upper, ok := o.Method.bounds(x, sorted, d.influence, level)
	if !ok {
		return v.Warn("no-interval", "%s does not exist: the value lies outside all resamples, or is undefined without some item", BCa)
	}
	undefined := len(d.draws) - len(sorted)
	v = v.With(measure.Interval{
		Lower: lower, Upper: upper, Level: level, Method: string(o.Method),
		Resamples: len(d.draws), Undefined: undefined,
	})
	if undefined*20 > len(d.draws) {
		v = v.Warn("undefined-draws", "undefined on %d of %d resamples, which the interval leaves out", undefined, len(d.draws))
	}
	if sorted[0] == sorted[len(sorted)-1] {
		v = v.Warn("degenerate-interval", "every resample gave %v: the interval understates what is not known", sorted[0])
	}
	return v
}

func defined(draws []float64) []float64 {
	kept := make([]float64, 0, len(draws))
	for _, x := range draws {
		if !math.IsNaN(x) {
			kept = append(kept, x)
		}
	}
	return kept
}

// leaveOneOut fills the jackknife. Items of one atom are alike, so that without clusters the values
// are per atom.
func (d *Draws) leaveOneOut(ctx context.Context) error {
	d.jackknife = make([][]float64, len(d.point))
	for s, p := range d.scores {
		n, task := p.Atoms(), (*worker).withoutAtom
		if d.units.of != nil {
			n, task = d.units.n, (*worker).withoutUnit
		}
		for k := range d.stats {
			d.jackknife[s*len(d.stats)+k] = make([]float64, n)
		}
		if d.units.n < 2 {
			continue
		}
		if err := d.inParallel(ctx, n, nil, func(w *worker, i int) { task(w, s, i) }); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) withoutAtom(s, atom int) {
	copy(w.atoms[s], w.draws.scores[s].Counts())
	w.atoms[s][atom]--
	w.keep(s, atom)
}

func (w *worker) withoutUnit(s, unit int) {
	for item, u := range w.draws.units.of {
		w.items[item] = 1
		if int(u) == unit {
			w.items[item] = 0
		}
	}
	w.draws.scores[s].Collapse(w.atoms[s], w.items)
	w.keep(s, unit)
}

func (w *worker) keep(s, i int) {
	for k := range w.draws.stats {
		cell := s*len(w.draws.stats) + k
		w.draws.jackknife[cell][i] = w.at(cell, w.atoms[s]).float()
	}
}

// without is the value in a cell when a unit is left out.
func (d *Draws) without(cell, unit int) float64 {
	if d.units.of == nil {
		unit = d.scores[cell/len(d.stats)].AtomOf(unit)
	}
	return d.jackknife[cell][unit]
}
