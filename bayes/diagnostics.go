package bayes

import (
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
)

// Diagnostics of convergence, by Vehtari, Gelman, Simpson, Carpenter and Bürkner, "Rank-normalization,
// folding, and localization: an improved R-hat for assessing convergence of MCMC" (2021).

// Frozen says that a chain gave the same number at every draw: it did not move, and nothing can be
// said of what it should have explored.
const Frozen measure.Reason = "a chain stands still"

// RHat is the rank-normalised split R-hat: the larger of that of the ranks and that of the ranks of
// the distances from the median, each chain cut in half. At least about 1; 1 if the chains agree in
// location and scale; above 1.01 they do not. Undefined with fewer than 4 draws a chain, and where
// a chain stands still.
func RHat(s Series) measure.Value {
	r, _, _, _ := diagnose(s, s.order())
	return r
}

// BulkESS is the number of independent draws that would say as much about the middle of the
// distribution: that of the rank-normalised draws.
func BulkESS(s Series) measure.Value {
	_, b, _, _ := diagnose(s, s.order())
	return b
}

// TailESS is the number of independent draws that would say as much about its tails: the smaller of
// those for the 5 % and the 95 % quantile.
func TailESS(s Series) measure.Value {
	_, _, t, _ := diagnose(s, s.order())
	return t
}

// MCSE is the Monte-Carlo standard error of the mean.
func MCSE(s Series) measure.Value {
	_, _, _, m := diagnose(s, s.order())
	return m
}

// ClassicRHat is R-hat as Gelman and Rubin defined it, on the numbers themselves: of whole chains, or
// of chains cut in half. Whole, it needs two chains, and hides what all of them have in common, such
// as a trend.
func ClassicRHat(s Series, split bool) measure.Value {
	method := "r-hat.classic"
	if split {
		s, method = s.halves(), "r-hat.classic.split"
	}
	if len(s) < 2 || len(s[0]) < 2 {
		return measure.Undefined(method, measure.TooFew, s.Len())
	}
	if s.frozen() {
		return measure.Undefined(method, Frozen, s.Len())
	}
	return measure.Of(method, potentialScale(s), s.Len())
}

// diagnose computes R-hat, bulk ESS, tail ESS and MCSE. sorted are the pooled draws.
func diagnose(s Series, sorted []placed) (rhat, bulk, tail, mcse measure.Value) {
	n := s.Len()
	fail := func(why measure.Reason) (a, b, c, d measure.Value) {
		return measure.Undefined("r-hat.rank.split", why, n), measure.Undefined("ess.bulk", why, n),
			measure.Undefined("ess.tail", why, n), measure.Undefined("mcse.mean", why, n)
	}
	if n == 0 || len(s[0]) < 4 {
		return fail(measure.TooFew)
	}
	if !finite(sorted[0].x) || !finite(sorted[n-1].x) {
		return fail(measure.Infinite)
	}
	halves := s.halves()
	if halves.frozen() {
		return fail(Frozen)
	}
	inHalves := withoutMiddles(sorted, len(s[0]))
	scores := normalScores(len(inHalves))
	ranked := ranks(inHalves, halves, scores)
	folded := ranks(fold(inHalves), halves, scores)
	rhat = measure.Of("r-hat.rank.split", max(potentialScale(ranked), potentialScale(folded)), n)
	bulk = measure.Of("ess.bulk", effective(ranked), n)
	low, high := quantile(values(sorted), .05), quantile(values(sorted), .95)
	tail = measure.Of("ess.tail", min(effectiveBelow(halves, low), effectiveBelow(halves, high)), n)
	_, sd := meanSD(values(sorted))
	mcse = measure.Of("mcse.mean", sd/math.Sqrt(effective(halves)), n)
	return rhat, bulk, tail, mcse
}

// halves cuts each chain in two, without the middle draw if their number is odd.
func (s Series) halves() Series {
	var out Series
	for _, chain := range s {
		h := len(chain) / 2
		out = append(out, chain[:h], chain[len(chain)-h:])
	}
	return out
}

func (s Series) mapped(f func(float64) float64) Series {
	out := make(Series, len(s))
	for c, chain := range s {
		out[c] = make([]float64, len(chain))
		for t, x := range chain {
			out[c][t] = f(x)
		}
	}
	return out
}

// potentialScale is the square root of the variance between and within chains over that within.
func potentialScale(s Series) float64 {
	n := float64(len(s[0]))
	means := make([]float64, len(s))
	within := 0.0
	for c, chain := range s {
		mean, sd := meanSD(chain)
		means[c] = mean
		within += sd * sd / float64(len(s))
	}
	_, between := meanSD(means)
	return math.Sqrt(between*between/within + (n-1)/n)
}

// effectiveBelow is the effective number of draws behind the share of draws up to x. It is infinite,
// and so never the smaller one, if all draws are.
func effectiveBelow(s Series, x float64) float64 {
	indicator := s.mapped(func(v float64) float64 {
		if v <= x {
			return 1
		}
		return 0
	})
	if all := indicator.pooled(); slices.Min(all) == slices.Max(all) {
		return math.Inf(1)
	}
	return effective(indicator)
}

// effective is the number of draws over the autocorrelation time, from the initial monotone sequence
// of pairs of autocorrelations (Geyer 1992), combined over chains.
func effective(s Series) float64 {
	chains, n := float64(len(s)), len(s[0])
	correlation := correlations(s)
	// Sums of two neighbouring autocorrelations are positive and fall with the lag; what does not is noise.
	sum, half := 0.0, 0.0
	previous := math.Inf(1)
	for lag := 0; lag < n-2; lag += 2 {
		even, odd := correlation(lag), correlation(lag+1)
		// Of the last pair only the first half counts, which lowers the time where draws alternate.
		half = max(0, even)
		if lag > 0 && !(even+odd > 0) || lag+2 >= n-2 {
			break
		}
		previous = min(previous, even+odd)
		sum += previous
	}
	total := chains * float64(n)
	time := max(2*sum-1+half, 1/math.Log10(total))
	return total / time
}

// correlations returns the autocorrelation at a lag, of all chains together: what is left of the
// variance within and between them.
func correlations(s Series) func(lag int) float64 {
	n := float64(len(s[0]))
	means := make([]float64, len(s))
	within := 0.0
	centred := make(Series, len(s))
	for c, chain := range s {
		mean, sd := meanSD(chain)
		means[c] = mean
		within += sd * sd / float64(len(s))
		centred[c] = make([]float64, len(chain))
		for t, x := range chain {
			centred[c][t] = x - mean
		}
	}
	total := within * (n - 1) / n
	if len(s) > 1 {
		_, between := meanSD(means)
		total += between * between
	}
	return func(lag int) float64 {
		if lag == 0 {
			return 1
		}
		covariance := 0.0
		for _, chain := range centred {
			ahead := chain[lag:]
			for t, x := range ahead {
				covariance += x * chain[t]
			}
		}
		return 1 - (within-covariance/n/float64(len(s)))/total
	}
}

// ebfmi is the mean squared change of the energy over its variance.
func ebfmi(energy []float64) measure.Value {
	_, sd := meanSD(energy)
	if !(sd > 0) {
		return measure.Undefined("e-bfmi", measure.Constant, len(energy))
	}
	change := 0.0
	for t := 1; t < len(energy); t++ {
		d := energy[t] - energy[t-1]
		change += d * d
	}
	return measure.Of("e-bfmi", change/float64(len(energy)-1)/(sd*sd), len(energy))
}
