package metric

import (
	"fmt"
	"math"

	"github.com/credence-lab/credence/measure"
)

// DebiasedECE is the ECE over bins of equal mass less an estimate of its bias: even a calibrated score
// has |quality_b − confidence_b| > 0 in a bin by chance. The mean quality of a bin is taken as normal
// with the variance of its qualities over n_b, for which the expected excess of the absolute gap has a
// closed form. Nearer to 0 is better. It may fall below 0 where a score is calibrated. Source: Kumar,
// Liang and Ma 2019, section 5 (there by simulation). It panics if bins is not in 1..2^20.
func DebiasedECE(bins int) Statistic { return must(debiasedECE.statistic(bins)) }

// DebiasedRMSCE is the root mean square of the gaps of bins of equal mass, less its bias: √ max(0, Σ_b
// n_b/n (gap_b² − v_b/(n_b − 1))), v_b the variance of the qualities of bin b; at least 0, lower is
// better. It is undefined with TooFew where a bin has one item. Source: Kumar, Liang and Ma 2019,
// section 4. It panics if bins is not in 1..2^20.
func DebiasedRMSCE(bins int) Statistic { return must(debiasedRMSCE.statistic(bins)) }

// debiased is a sum over bins, each weighing as many as its items, and what is made of the mean.
type debiased struct {
	prefix, definition, source string
	of                         func(n, gap, variance float64) float64
	finish                     func(mean float64) (float64, measure.Reason)
}

var debiasedECE = debiased{
	prefix:     "ece.debiased",
	definition: "ECE less its expected excess over the true gaps if the mean quality of a bin is normal.",
	source:     "Kumar, Liang and Ma 2019, section 5",
	of: func(n, gap, variance float64) float64 {
		return 2*math.Abs(gap) - meanAbsolute(gap, math.Sqrt(variance/n))
	},
	finish: func(mean float64) (float64, measure.Reason) { return mean, "" },
}

var debiasedRMSCE = debiased{
	prefix:     "rmsce.debiased",
	definition: "Root mean square of the gaps of the bins, each square less the variance of its mean quality; 0 if that is negative.",
	source:     "Kumar, Liang and Ma 2019, section 4",
	of: func(n, gap, variance float64) float64 {
		if n < 2 {
			return math.NaN()
		}
		return gap*gap - variance/(n-1)
	},
	finish: func(mean float64) (float64, measure.Reason) {
		if math.IsNaN(mean) {
			return 0, measure.TooFew
		}
		return math.Sqrt(max(0, mean)), ""
	},
}

// meanAbsolute is the mean of |X| for a normal X.
func meanAbsolute(mean, sd float64) float64 {
	if sd == 0 {
		return math.Abs(mean)
	}
	u := mean / sd
	return 2*sd*normalDensity(u) + mean*math.Erf(u/math.Sqrt2)
}

func (by debiased) statistic(bins int) (Statistic, error) {
	return Statistic{
		ID:         fmt.Sprintf("%s.equal-mass.%d", by.prefix, bins),
		Definition: fmt.Sprintf("%s %d bins of equal numbers of items; equal confidences share a bin.", by.definition, bins),
		Source:     by.source, Better: Nearer, Needs: Probability, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator {
			cuts := equalMass(p, bins)
			return func(counts []uint32) (float64, measure.Reason) {
				n, sum := 0., 0.
				for _, s := range cuts(counts) {
					if b := p.moments(counts, s); b.n > 0 {
						variance := max(0, b.qq/b.n-b.q/b.n*b.q/b.n)
						n, sum = n+b.n, sum+b.n*by.of(b.n, (b.q-b.c)/b.n, variance)
					}
				}
				return by.finish(sum / n)
			}
		},
	}, checkBins(bins)
}

func (by debiased) family() Family {
	return Family{
		Prefix: by.prefix + ".equal-mass", Parameters: "{bins}", Usual: []string{"10"},
		New: func(parameters string) (Statistic, error) {
			bins, err := number(parameters, "bins")
			if err != nil {
				return Statistic{}, err
			}
			return by.statistic(bins)
		},
	}
}
