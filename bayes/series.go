package bayes

import (
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
)

// A Series holds the draws of one quantity: one slice for each chain, all of one length, in the order
// in which they were drawn.
type Series [][]float64

// Len is the number of draws over all chains.
func (s Series) Len() int {
	if len(s) == 0 {
		return 0
	}
	return len(s) * len(s[0])
}

// pooled are the draws of all chains in one new slice.
func (s Series) pooled() []float64 { return slices.Concat(s...) }

// frozen reports whether a chain stands still.
func (s Series) frozen() bool {
	return slices.ContainsFunc(s, func(chain []float64) bool {
		return len(chain) > 0 && slices.Min(chain) == slices.Max(chain)
	})
}

// An Estimate is the posterior of one quantity: its location, its spread, and how well the draws
// know them. Every value carries the warnings of the fit that it comes from, so that none can be
// shown without them. N is the number of items behind the fit.
type Estimate struct {
	// Mean has the highest-density interval of 95 %: the shortest that holds this share of the draws, whose
	// number is its Resamples.
	Mean measure.Value `json:"mean"`
	// Median has the same interval as the mean.
	Median measure.Value `json:"median"`
	// SD is the standard deviation of the posterior.
	SD measure.Value `json:"sd"`
	// Half is the highest-density interval of 50 %; nil where there is no mean.
	Half *measure.Interval `json:"half,omitempty"`
	// MCSE is the Monte-Carlo standard error of the mean.
	MCSE measure.Value `json:"mcse"`
	// RHat, BulkESS and TailESS are the diagnostics of [RHat], [BulkESS] and [TailESS].
	RHat    measure.Value `json:"r_hat"`
	BulkESS measure.Value `json:"bulk_ess"`
	TailESS measure.Value `json:"tail_ess"`
}

// Summarise describes the draws of one quantity of a fit on n items; method names quantity and fit,
// such as "judge-model.nuts.f1". Convergence is judged by [Assess].
func Summarise(method string, s Series, n int) Estimate {
	sorted := s.order()
	x := values(sorted)
	mean, sd := meanSD(x)
	e := Estimate{
		Mean:   measure.Of(method+".mean", mean, n),
		Median: measure.Of(method+".median", quantile(x, .5), n),
		SD:     measure.Of(method+".sd", sd, n),
	}
	if len(x) > 0 && finite(mean) {
		wide, half := highestDensity(x, .95), highestDensity(x, .5)
		e.Mean, e.Median, e.Half = e.Mean.With(wide), e.Median.With(wide), &half
	}
	e.RHat, e.BulkESS, e.TailESS, e.MCSE = diagnose(s, sorted)
	return e
}

// mirrored is the estimate of 1 minus the quantity.
func (e Estimate) mirrored(method string) Estimate {
	flip := func(iv measure.Interval) measure.Interval {
		iv.Lower, iv.Upper = 1-iv.Upper, 1-iv.Lower
		return iv
	}
	turn := func(v measure.Value, what string) measure.Value {
		x, ok := v.Get()
		if !ok {
			v.Method = method + what
			return v
		}
		turned := measure.Of(method+what, 1-x, v.N)
		turned.Warnings = v.Warnings
		if v.Interval != nil {
			turned = turned.With(flip(*v.Interval))
		}
		return turned
	}
	e.Mean, e.Median, e.SD.Method = turn(e.Mean, ".mean"), turn(e.Median, ".median"), method+".sd"
	if e.Half != nil {
		half := flip(*e.Half)
		e.Half = &half
	}
	return e
}

// meanSD returns mean and standard deviation with divisor n−1.
func meanSD(x []float64) (mean, sd float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v
	}
	mean /= n
	for _, v := range x {
		sd += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sd / (n - 1))
}

// quantile interpolates between order statistics (type 7 of Hyndman and Fan 1996, as R and numpy).
func quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := p * float64(len(sorted)-1)
	low := int(at)
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}

// highestDensity is the shortest interval that holds the share of the sorted draws.
func highestDensity(sorted []float64, share float64) measure.Interval {
	reach := min(int(share*float64(len(sorted))), len(sorted)-1)
	best := 0
	for i := range len(sorted) - reach {
		if sorted[i+reach]-sorted[i] < sorted[best+reach]-sorted[best] {
			best = i
		}
	}
	return measure.Interval{
		Lower: sorted[best], Upper: sorted[best+reach],
		Level: share, Method: "posterior.highest-density", Resamples: len(sorted),
	}
}
