package metric

import (
	"fmt"
	"math"
	"strings"

	"github.com/credence-lab/credence/measure"
)

// ECE is the expected calibration error over bins of equal width: Σ_b n_b/n |quality_b −
// confidence_b|, means within bin b, in [0,1]. Lower is better. Source: Naeini, Cooper and Hauskrecht
// 2015. Ten left-closed bins are the rule of "Same Answer, Different Confidence", Appendix A. It
// panics if bins is not in 1..2^20.
func ECE(bins int, edges Edges) Statistic { return must(equalWidthStatistic(ece, bins, edges)) }

// norm reduces what is known of the bins to one number: the items n[b] > 0 of a bin, and excess[b], the
// sum of confidence minus quality over them.
type norm struct {
	prefix     string
	definition string
	source     string
	better     Direction
	reduce     func(n, excess []float64) (float64, measure.Reason)
}

var ece = norm{
	prefix:     "ece",
	definition: "Σ_b n_b/n |quality_b − confidence_b|: the gap between mean confidence and mean quality of a bin, averaged over items.",
	source:     "Naeini, Cooper and Hauskrecht 2015",
	better:     Lower,
	reduce: func(n, excess []float64) (float64, measure.Reason) {
		items, sum := 0., 0.
		for b, x := range excess {
			items, sum = items+n[b], sum+math.Abs(x)
		}
		return sum / items, ""
	},
}

var rmsce = norm{
	prefix:     "rmsce",
	definition: "√ Σ_b n_b/n (quality_b − confidence_b)²: the root mean square of the gaps of the bins.",
	source:     "Hendrycks, Mazeika and Dietterich 2019, section 4",
	better:     Lower,
	reduce: func(n, excess []float64) (float64, measure.Reason) {
		items, sum := 0., 0.
		for b, x := range excess {
			items, sum = items+n[b], sum+x*x/n[b]
		}
		return math.Sqrt(sum / items), ""
	},
}

var ace = norm{
	prefix:     "ace",
	definition: "Mean over non-empty bins of |quality_b − confidence_b|, every bin weighing the same.",
	source:     "Nixon et al. 2019 with bins of equal mass; Neumann, Zisserman and Vedaldi 2018 with bins of equal width",
	better:     Lower,
	reduce: func(n, excess []float64) (float64, measure.Reason) {
		sum := 0.
		for b, x := range excess {
			sum += math.Abs(x) / n[b]
		}
		return sum / float64(len(n)), ""
	},
}

var over = norm{
	prefix:     "overconfidence",
	definition: "Σ_b n_b/n max(confidence_b − quality_b, 0): the part of ECE that comes from bins with too much confidence.",
	source:     "after Naeini, Cooper and Hauskrecht 2015",
	better:     Lower,
	reduce:     oneSided(1),
}

var under = norm{
	prefix:     "underconfidence",
	definition: "Σ_b n_b/n max(quality_b − confidence_b, 0): the part of ECE that comes from bins with too little confidence.",
	source:     "after Naeini, Cooper and Hauskrecht 2015",
	better:     Lower,
	reduce:     oneSided(-1),
}

func oneSided(sign float64) func(n, excess []float64) (float64, measure.Reason) {
	return func(n, excess []float64) (float64, measure.Reason) {
		items, sum := 0., 0.
		for b, x := range excess {
			items, sum = items+n[b], sum+max(sign*x, 0)
		}
		return sum / items, ""
	}
}

// mce looks only at bins of at least atLeast items.
func mce(atLeast int) norm {
	return norm{
		prefix:     "mce",
		definition: fmt.Sprintf("Largest |quality_b − confidence_b| of a bin of at least %d items.", atLeast),
		source:     "Naeini, Cooper and Hauskrecht 2015",
		better:     Lower,
		reduce: func(n, excess []float64) (float64, measure.Reason) {
			largest, why := 0., measure.TooFew
			for b, x := range excess {
				if n[b] >= float64(atLeast) {
					largest, why = max(largest, math.Abs(x)/n[b]), ""
				}
			}
			return largest, why
		},
	}
}

// skipLast counts the items of the last bin but not its gap.
func skipLast(by norm) norm {
	reduce := by.reduce
	by.reduce = func(n, excess []float64) (float64, measure.Reason) {
		excess[len(excess)-1] = 0
		return reduce(n, excess)
	}
	return by
}

// NetOverconfidence is mean confidence minus mean quality, in [-1,1]: above 0 where the score claims
// too much. It needs no bins. Nearer to 0 is better. Source: Lichtenstein, Fischhoff and Phillips
// 1982.
func NetOverconfidence() Statistic {
	return Statistic{
		ID: "overconfidence.net", Definition: "Mean confidence − mean quality.", Source: "Lichtenstein, Fischhoff and Phillips 1982",
		Better: Nearer, Needs: Probability, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator {
			excess := p.excess()
			return func(counts []uint32) (float64, measure.Reason) {
				items, sum := sumBin(counts, excess)
				return sum / float64(items), ""
			}
		},
	}
}

type excessKey struct{}

// excess is confidence minus quality of each atom. Nobody may change it.
func (p *Prepared) excess() []float64 {
	return remember(p, excessKey{}, func() []float64 {
		excess := make([]float64, len(p.confidence))
		for a, c := range p.confidence {
			excess[a] = c - p.quality[a]
		}
		return excess
	})
}

// binSums are, of the bins that are not empty, the items and their excess.
type binSums struct{ n, excess []float64 }

// binsKey is the part of an id that names the bins.
type binsKey string

// binned is the statistic that reduces the bins of a partition by a norm.
func binned(id, how string, by norm, cut func(*Prepared) partition) Statistic {
	key := binsKey(strings.TrimPrefix(id, by.prefix)) // norms of the same bins share their sums
	return Statistic{
		ID: id, Definition: by.definition + " " + how, Source: by.source,
		Better: by.better, Needs: Probability, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator {
			excessOf, cuts := p.excess(), cut(p)
			sums := func(s binSums, counts []uint32) binSums {
				s.n, s.excess = s.n[:0], s.excess[:0]
				for _, bin := range cuts(counts) {
					items, sum := sumBin(counts[bin.from:bin.to], excessOf[bin.from:bin.to])
					if items > 0 {
						s.n, s.excess = append(s.n, float64(items)), append(s.excess, sum)
					}
				}
				return s
			}
			var s binSums
			return func(counts []uint32) (float64, measure.Reason) {
				if p.asPrepared(counts) {
					all := remember(p, key, func() binSums { return sums(binSums{}, counts) })
					// A norm may write on what it is given.
					s.n, s.excess = append(s.n[:0], all.n...), append(s.excess[:0], all.excess...)
				} else {
					s = sums(s, counts)
				}
				if len(s.n) == 0 {
					return 0, EdgesCoincide
				}
				return by.reduce(s.n, s.excess)
			}
		},
	}
}

// sumBin counts the items and adds up their values. Two sums side by side take half the time of one,
// in which every addition waits for the one before.
func sumBin(counts []uint32, values []float64) (items int64, sum float64) {
	values = values[:len(counts)]
	odd := 0.
	i := 0
	for ; i+1 < len(counts); i += 2 {
		m, k := counts[i], counts[i+1]
		items += int64(m) + int64(k)
		sum += float64(m) * values[i]
		odd += float64(k) * values[i+1]
	}
	if i < len(counts) {
		items += int64(counts[i])
		sum += float64(counts[i]) * values[i]
	}
	return items, sum + odd
}
