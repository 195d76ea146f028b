package resample

import (
	"fmt"
	"math"

	"github.com/credence-lab/credence/measure"
)

// Quantity is a number of one setting with its resampled values: a contrast, or what becomes of one by
// [Quantity.Minus] and [Quantity.Abs]. Quantities of equal seeds on equally many items are paired,
// also where they come from different draws: the r-th resample holds the same items in all of them.
// The zero Quantity is undefined.
type Quantity struct {
	point   outcome
	draws   []float64 // NaN where undefined; nil without resamples
	n       int
	leftOut map[string]int
	options Options
}

// Quantity returns the contrast with its resampled values. It panics as [Draws.Value] does.
func (d *Draws) Quantity(terms ...Term) Quantity {
	dist := d.distribution(terms)
	return Quantity{dist.point, dist.draws, d.units.items, d.scores[0].LeftOut(), d.options}
}

// Point is a quantity without resamples: a mean over settings has it, but no interval.
func Point(v measure.Value) Quantity {
	q := Quantity{n: v.N, leftOut: map[string]int{}}
	var ok bool
	if q.point.x, ok = v.Get(); !ok {
		q.point.why = v.Reason()
	}
	for _, e := range v.LeftOut {
		q.leftOut[e.Reason] += e.N
	}
	return q
}

// Get returns the number and whether there is one.
func (q Quantity) Get() (float64, bool) { return q.point.x, q.point.why == "" }

// PairedWith reports whether the two rest on the same resamples, so that [Quantity.Minus] works.
func (q Quantity) PairedWith(p Quantity) bool {
	return q.n == p.n && len(q.draws) == len(p.draws) && q.options.Seed == p.options.Seed
}

// Minus is the paired difference. It panics if the two do not rest on the same resamples.
func (q Quantity) Minus(p Quantity) Quantity {
	if !q.PairedWith(p) {
		panic(fmt.Sprintf("resample: a difference of quantities that are not paired: %d and %d items, %d and %d resamples, seeds %d and %d",
			q.n, p.n, len(q.draws), len(p.draws), q.options.Seed, p.options.Seed))
	}
	d := q
	d.point.x -= p.point.x
	if d.point.why == "" {
		d.point.why = p.point.why
	}
	d.draws = make([]float64, len(q.draws))
	for r := range d.draws {
		d.draws[r] = q.draws[r] - p.draws[r]
	}
	return d
}

// Abs is the absolute value, in every resample too. Where the quantity is near 0 its interval lies
// above the value, since noise has no sign there.
func (q Quantity) Abs() Quantity {
	a := q
	a.point.x = math.Abs(q.point.x)
	a.draws = make([]float64, len(q.draws))
	for r, x := range q.draws {
		a.draws[r] = math.Abs(x)
	}
	return a
}

// Value gives the quantity a name and its interval of the given level in (0,1), with the warnings of
// [Draws.Value].
func (q Quantity) Value(id string, level float64) measure.Value {
	v := measure.Of(id, q.point.x, q.n)
	if q.point.why != "" {
		v = measure.Undefined(id, q.point.why, q.n)
	}
	v = v.Leaving(q.leftOut)
	if len(q.draws) == 0 {
		return v
	}
	return distribution{point: q.point, draws: q.draws}.interval(v, q.percentile(), level)
}

// percentile is the only method for what is no plain contrast.
func (q Quantity) percentile() Options {
	o := q.options
	o.Method = Percentile
	return o
}

// Mean accumulates the mean of a quantity over settings, each weighing the same, with the interval of
// "Same Answer, Different Confidence", Appendix A: the r-th resamples of all settings are averaged, and
// percentiles are taken of the averages. Its memory does not grow with the number of settings.
type Mean struct {
	sum      float64
	draws    []float64
	n        int
	settings int
	skipped  int
	leftOut  map[string]int
	why      measure.Reason
	seeds    map[uint64]bool
	largest  float64
}

// Add takes one setting in. A setting in which the quantity is undefined is left out and counted. It
// is an error if the setting has another number of resamples than those before, or the seed of one of
// them, since their draws would not be independent.
func (m *Mean) Add(q Quantity) error {
	if m.leftOut == nil {
		m.leftOut, m.seeds = map[string]int{}, map[uint64]bool{}
	}
	for reason, k := range q.leftOut {
		m.leftOut[reason] += k
	}
	if q.point.why != "" {
		m.skip(q)
		return nil
	}
	if m.settings > 0 && len(q.draws) != len(m.draws) {
		return fmt.Errorf("resample: a setting has %d resamples, another %d; they cannot be averaged", len(m.draws), len(q.draws))
	}
	if len(q.draws) > 0 && q.n > 1 {
		if m.seeds[q.options.Seed] {
			return fmt.Errorf("resample: two settings were drawn with the seed %d; derive one for each with SettingSeed", q.options.Seed)
		}
		m.seeds[q.options.Seed] = true
	}
	if m.settings == 0 {
		m.draws = make([]float64, len(q.draws))
	}
	m.settings, m.n = m.settings+1, m.n+q.n
	m.sum += q.point.x
	m.largest = max(m.largest, math.Abs(q.point.x))
	for r, x := range q.draws {
		m.draws[r] += x
	}
	return nil
}

func (m *Mean) skip(q Quantity) {
	m.skipped++
	m.leftOut["setting undefined: "+string(q.point.why)] += q.n
	if m.why == "" {
		m.why = q.point.why
	}
}

// Settings is the number of settings in the mean.
func (m *Mean) Settings() int { return m.settings }

// Largest is the greatest absolute value of any setting; 0 without settings.
func (m *Mean) Largest() float64 { return m.largest }

// Value is the mean so far, named id, with its interval of the given level in (0,1). Its N is the number
// of items of all settings used. Undefined if no setting is in it. Beyond the warnings of [Draws.Value]
// it may have "settings-left-out".
func (m *Mean) Value(id string, level float64) measure.Value {
	if m.settings == 0 {
		why := m.why
		if why == "" {
			why = measure.NoItems
		}
		return measure.Undefined(id, why, 0).Leaving(m.leftOut)
	}
	share := 1 / float64(m.settings)
	v := measure.Of(id, m.sum*share, m.n).Leaving(m.leftOut)
	if m.skipped > 0 {
		v = v.Warn("settings-left-out", "%d of %d settings are left out of the mean, the first because of: %s", m.skipped, m.skipped+m.settings, m.why)
	}
	if len(m.draws) == 0 {
		return v
	}
	draws := make([]float64, len(m.draws))
	for r, x := range m.draws {
		draws[r] = x * share
	}
	return distribution{draws: draws}.interval(v, Options{Method: Percentile}, level)
}
