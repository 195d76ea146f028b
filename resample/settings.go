package resample

import (
	"fmt"
	"math"

	"github.com/credence-lab/credence/measure"
)

// MeanOverSettings is the mean of a contrast over settings, each weighing the same, with the interval
// of "Same Answer, Different Confidence", Appendix A: the r-th resamples of all settings are averaged,
// and the interval is taken from the averages. id names it.
//
// A setting in which the contrast is undefined is left out of the mean, which a warning with the code
// "settings-left-out" says; the mean is undefined if all are. A resample on which some remaining
// setting is undefined is left out and counted.
//
// The value's N is the number of items of all settings used. It is an error if the settings differ in
// their number of resamples or method, or if two share a seed, since their draws would not be
// independent. Panics as [Draws.Value] does.
func MeanOverSettings(id string, level float64, settings []*Draws, terms ...Term) (measure.Value, error) {
	used, n, leftOut, why := usable(settings, terms)
	if err := independent(used); err != nil {
		return measure.Value{}, err
	}
	if len(used) == 0 {
		if why == "" {
			why = measure.NoItems
		}
		return measure.Undefined(id, why, 0).Leaving(leftOut), nil
	}
	v, o := measure.Value{}, used[0].options
	mean := distribution{draws: make([]float64, o.N)}
	share := 1 / float64(len(used))
	for _, d := range used {
		dist := d.distribution(terms)
		mean.point.x += share * dist.point.x
		for r, x := range dist.draws {
			mean.draws[r] += share * x
		}
		for _, l := range dist.influence {
			mean.influence = append(mean.influence, share*l)
		}
	}
	v = measure.Of(id, mean.point.x, n).Leaving(leftOut)
	if k := len(settings) - len(used); k > 0 {
		v = v.Warn("settings-left-out", "%d of %d settings are left out of the mean, the first because of: %s", k, len(settings), why)
	}
	return mean.interval(v, o, level), nil
}

// usable picks the settings in which the contrast is defined; why is the reason of the first that it
// is not.
func usable(settings []*Draws, terms []Term) (used []*Draws, n int, leftOut map[string]int, why measure.Reason) {
	leftOut = map[string]int{}
	for _, d := range settings {
		var undefined measure.Reason
		for _, t := range terms {
			if reason := d.point[d.cell(t)].why; reason != "" && undefined == "" {
				undefined = reason
			}
		}
		for reason, k := range d.scores[0].LeftOut() {
			leftOut[reason] += k
		}
		if undefined == "" {
			used, n = append(used, d), n+d.units.items
			continue
		}
		leftOut["setting undefined: "+string(undefined)] += d.units.items
		if why == "" {
			why = undefined
		}
	}
	return used, n, leftOut, why
}

func independent(settings []*Draws) error {
	seeds := map[uint64]bool{}
	for _, d := range settings {
		o, first := d.options, settings[0].options
		if o.N != first.N || o.Method != first.Method {
			return fmt.Errorf("resample: a setting has %d resamples by %s, another %d by %s; they cannot be averaged", first.N, first.Method, o.N, o.Method)
		}
		if seeds[o.Seed] && d.units.n > 1 {
			return fmt.Errorf("resample: two settings were drawn with the seed %d; derive one for each with SettingSeed", o.Seed)
		}
		seeds[o.Seed] = true
	}
	return nil
}

// PValue is the two-sided p value of a contrast being 0, by inverting the percentile interval: twice
// the smaller share of resampled values at or beyond 0, counting the sample itself as one resample
// (Davison and Hinkley 1997, section 4.2), so that it is never 0. Its method is
// "p.bootstrap.two-sided".
func (d *Draws) PValue(terms ...Term) measure.Value {
	const id = "p.bootstrap.two-sided"
	dist := d.distribution(terms)
	draws := defined(dist.draws)
	switch {
	case dist.point.why != "":
		return measure.Undefined(id, dist.point.why, d.units.items)
	case len(draws) == 0:
		return measure.Undefined(id, measure.NoDraws, d.units.items)
	}
	below, above := 1, 1
	for _, x := range draws {
		if x <= 0 {
			below++
		}
		if x >= 0 {
			above++
		}
	}
	p := 2 * float64(min(below, above)) / float64(len(draws)+1)
	return measure.Of(id, math.Min(p, 1), d.units.items).Leaving(d.scores[0].LeftOut())
}
