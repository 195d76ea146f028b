package metric

import (
	"math"

	"github.com/credence-lab/credence/measure"
)

// KS is the Kolmogorov–Smirnov calibration error: items sorted by confidence, the largest absolute
// cumulated confidence − quality, divided by n; in [0,1]. It is read at the ends of groups of equal
// confidence, so that the order within a group does not matter. Lower is better. Source: Gupta et al.
// 2021, section 3.
func KS() Statistic {
	return Statistic{
		ID:         "ks",
		Definition: "Largest |Σ (confidence − quality)| / n over the items up to each distinct confidence.",
		Source:     "Gupta et al. 2021, section 3",
		Better:     Lower, Needs: Probability, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator {
			excessOf := p.excess()
			return func(counts []uint32) (float64, measure.Reason) {
				items, sum, largest := int64(0), 0., 0.
				// Equal confidences are summed from the lowest up, as the definition has it.
				for g := len(p.groups) - 1; g >= 0; g-- {
					from, to := p.groupStart(g), p.groups[g]
					n, s := sumBin(counts[from:to], excessOf[from:to])
					items, sum = items+n, sum+s
					largest = max(largest, math.Abs(sum))
				}
				return largest / float64(items), ""
			}
		},
	}
}
