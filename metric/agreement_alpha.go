package metric

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/credence-lab/credence/measure"
)

// MeasurementScale says what the distance of two ratings means in [KrippendorffAlpha].
type MeasurementScale uint8

const (
	// Nominal: ratings are equal or not.
	Nominal MeasurementScale = iota
	// Ordinal: ratings are apart by how many ratings lie between them.
	Ordinal
	// IntervalScale: by the square of their difference.
	IntervalScale
	// RatioScale: by the square of their difference over their sum; ratings are not negative.
	RatioScale
)

// String returns the part of a method id that names the scale.
func (s MeasurementScale) String() string {
	return [...]string{"nominal", "ordinal", "interval", "ratio"}[s]
}

// KrippendorffAlpha is Krippendorff's alpha of any number of raters, with missing ratings:
// 1 - D/E, with D the observed disagreement of pairs within items and E that of all pairs of
// ratings (Krippendorff, "Content Analysis", 3rd edition, section 11.3). Range up to 1, 0 at chance;
// negative at systematic disagreement. Items with fewer than two ratings drop out.
// Method alpha.krippendorff.nominal, .ordinal, .interval, .ratio.
//
// It is undefined with [OneCategory] where the paired ratings are all of one category. The interval
// is bootstrap.percentile: items are drawn with replacement by a generator seeded with ci.Seed;
// draws of one category are counted as undefined.
//
// It is an error if the scale asks more of the ratings than they have: order of labels for ordinal,
// numbers for interval, numbers that are not negative for ratio.
func KrippendorffAlpha(r Ratings, scale MeasurementScale, ci AgreementInterval) (Agreement, error) {
	if err := ci.check(); err != nil {
		return Agreement{}, err
	}
	if err := r.allows(scale); err != nil {
		return Agreement{}, err
	}
	id := idOf("alpha", "krippendorff", scale.String())
	list, of := r.patterns()
	of = slices.DeleteFunc(of, func(p int) bool { return p == absent || list[p].ratings < 2 })
	n := len(of)
	out := map[string]int{lonely: r.Items() - n}
	a := Agreement{Raw: r.rawAgreement(ci.Level)}
	observed, expected := r.alphaTerms(list, timesOf(list), scale)
	if why := alphaReason(n, expected); why != "" {
		a.Coefficient = measure.Undefined(id, why, n).Leaving(out)
		a.Chance = measure.Undefined(chanceOfAlpha, why, n)
		return a, nil
	}
	// Written with one division, whole numbers of disagreement give the exact alpha.
	a.Coefficient = measure.Of(id, (expected-observed)/expected, n).Leaving(out)
	a.Chance = measure.Of(chanceOfAlpha, chanceOfPairs(list, r.size), n)
	if ci.Level > 0 && ci.Resamples > 0 {
		a.Coefficient = r.alphaBootstrap(a.Coefficient, list, of, scale, ci)
	}
	return a, nil
}

const chanceOfAlpha = "agreement.chance.krippendorff"

func (r Ratings) allows(scale MeasurementScale) error {
	switch {
	case scale > RatioScale:
		return fmt.Errorf("metric: unknown measurement scale %d of alpha", uint8(scale))
	case scale == Ordinal && !r.ordered:
		return fmt.Errorf("metric: ordinal alpha needs ordered categories: declare the labels in their order")
	case scale >= IntervalScale && r.values == nil:
		return fmt.Errorf("metric: %s alpha needs numbers, not labels", scale)
	case scale == RatioScale && len(r.values) > 0 && r.values[0] < 0:
		return fmt.Errorf("metric: ratio alpha needs ratings of 0 or more, got %v: use the interval scale", r.values[0])
	}
	return nil
}

func alphaReason(n int, expected float64) measure.Reason {
	switch {
	case n == 0:
		return measure.NoItems
	case expected == 0:
		return OneCategory
	}
	return ""
}

// timesOf is how often each pattern occurs in the data.
func timesOf(list []pattern) []int {
	times := make([]int, len(list))
	for p := range list {
		times[p] = list[p].items
	}
	return times
}

// totals is the number of ratings of each category in items with at least two, pattern p occurring
// times[p] times, and their sum.
func totals(list []pattern, times []int, categories int) (perCategory []float64, all float64) {
	perCategory = make([]float64, categories)
	for p, t := range times {
		if list[p].ratings < 2 || t == 0 {
			continue
		}
		for k, n := range list[p].votes {
			perCategory[k] += float64(t * n)
		}
		all += float64(t * list[p].ratings)
	}
	return perCategory, all
}

// chanceOfPairs is the share of equal pairs among all pairs of ratings.
func chanceOfPairs(list []pattern, categories int) float64 {
	perCategory, all := totals(list, timesOf(list), categories)
	var equal float64
	for _, n := range perCategory {
		equal += n * (n - 1)
	}
	return equal / (all * (all - 1))
}

// alphaTerms gives observed and expected disagreement on a common scale: alpha is
// (expected - observed) / expected.
func (r Ratings) alphaTerms(list []pattern, times []int, scale MeasurementScale) (observed, expected float64) {
	perCategory, all := totals(list, times, r.size)
	distance := r.distances(perCategory, scale)
	// Sums are kept apart by the number of ratings, so that what is whole stays whole until divided.
	within := make([]float64, r.Raters()+1)
	for p, t := range times {
		if m := list[p].ratings; m >= 2 && t > 0 {
			within[m] += float64(t) * pairsApart(distance, func(k int) float64 { return float64(list[p].votes[k]) })
		}
	}
	for m, sum := range within {
		if sum > 0 {
			observed += sum / float64(m-1)
		}
	}
	expected = pairsApart(distance, func(k int) float64 { return perCategory[k] })
	return observed * (all - 1), expected
}

// pairsApart sums the distance over pairs of categories, each weighted by its two numbers.
func pairsApart(distance [][]float64, number func(int) float64) float64 {
	var sum float64
	for c := range distance {
		nc := number(c)
		if nc == 0 {
			continue
		}
		for k := range c {
			sum += nc * number(k) * distance[c][k]
		}
	}
	return sum
}

// distances gives the squared distance of categories c > k in row c.
func (r Ratings) distances(perCategory []float64, scale MeasurementScale) [][]float64 {
	d := make([][]float64, r.size)
	for c := range d {
		d[c] = make([]float64, c)
		between := 0.0 // ratings of categories strictly between k and c
		for k := c - 1; k >= 0; k-- {
			d[c][k] = 1
			switch scale {
			case Ordinal:
				apart := 2*between + perCategory[c] + perCategory[k]
				d[c][k] = apart * apart
			case IntervalScale:
				d[c][k] = (r.values[c] - r.values[k]) * (r.values[c] - r.values[k])
			case RatioScale:
				relative := (r.values[c] - r.values[k]) / (r.values[c] + r.values[k])
				d[c][k] = relative * relative
			}
			between += perCategory[k]
		}
	}
	return d
}

// alphaBootstrap puts the percentile interval beside v. of has the pattern of each item.
func (r Ratings) alphaBootstrap(v measure.Value, list []pattern, of []int, scale MeasurementScale, ci AgreementInterval) measure.Value {
	// Patterns come in an order of their own; without it a shuffled table would draw other items.
	slices.Sort(of)
	draws := rand.New(rand.NewPCG(ci.Seed, 0))
	values := make([]float64, 0, ci.Resamples)
	times := make([]int, len(list))
	for range ci.Resamples {
		clear(times)
		for range of {
			times[of[draws.IntN(len(of))]]++
		}
		if observed, expected := r.alphaTerms(list, times, scale); expected > 0 {
			values = append(values, (expected-observed)/expected)
		}
	}
	undefined := ci.Resamples - len(values)
	if len(values) == 0 {
		return v.Warn("no-interval", "no resample has two categories")
	}
	if undefined > 0 {
		v = v.Warn("undefined-draws", "%d of %d resamples have one category only and are not in the interval", undefined, ci.Resamples)
	}
	slices.Sort(values)
	return withoutSpread(v.With(measure.Interval{
		Lower:     percentile(values, (1-ci.Level)/2),
		Upper:     percentile(values, (1+ci.Level)/2),
		Level:     ci.Level,
		Method:    "bootstrap.percentile",
		Resamples: ci.Resamples,
		Undefined: undefined,
	}))
}

// percentile is the p-quantile of sorted values by linear interpolation between order statistics
// (type 7 of Hyndman and Fan 1996, numpy's default). It needs at least one value.
func percentile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	below := int(math.Floor(at))
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}
