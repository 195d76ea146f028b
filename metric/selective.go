package metric

import (
	"slices"

	"github.com/credence-lab/credence/measure"
)

// Statistics of selective prediction: answers are given most confident first, the rest withheld. With
// l_(j) the loss 1 − quality of the answer at rank j and L_k the sum of the first k, they are sums
// Σ_k v_k L_k = Σ_j w_j l_(j) with w_j = Σ_{k≥j} v_k, and differ only in the v_k. Over the random
// order of a group of equal confidences the expected loss at each of its ranks is the mean loss of the
// group, so that the expectation is Σ_g l̄_g Σ_{j in g} w_j: exact, and one difference of cumulated
// weights a group.

// rankWeights sets v[k] to v_k for the ranks k from 1 to n = len(v) − 1.
type rankWeights func(v []float64)

// weights are cumulated rank weights, cumulated[i] = w_1 + … + w_i, for the sample size seen last.
type weights struct {
	of        rankWeights
	cumulated []float64
	common    bool // cumulated belongs to all statistics of the score
}

type perItemKey struct{}

// perItemOf starts from the weights of all items of p, which many statistics share.
func perItemOf(p *Prepared) *weights {
	all := remember(p, perItemKey{}, func() []float64 {
		cumulated := make([]float64, p.n+1)
		cumulate(cumulated, perItem)
		return cumulated
	})
	return &weights{of: perItem, cumulated: all, common: true}
}

// sum is Σ_j w_j l_(j). Nearly all samples that one evaluator sees have one size, so that it is tried
// first.
func (w *weights) sum(by lossSum, counts []uint32) float64 {
	if sum, n := by(counts, w.cumulated); n == len(w.cumulated)-1 {
		return sum
	}
	n := int(total(counts))
	if w.common {
		w.cumulated, w.common = nil, false
	}
	w.cumulated = slices.Grow(w.cumulated[:0], n+1)[:n+1]
	cumulate(w.cumulated, w.of)
	sum, _ := by(counts, w.cumulated)
	return sum
}

// cumulate sets cumulated[i] to w_1 + … + w_i.
func cumulate(cumulated []float64, of rankWeights) {
	of(cumulated)
	w := 0.
	for j := len(cumulated) - 1; j > 0; j-- {
		w += cumulated[j]
		cumulated[j] = w
	}
	sum := 0.
	cumulated[0] = 0
	for j, w := range cumulated {
		sum += w
		cumulated[j] = sum
	}
}

// lossSum is Σ_j w_j l_(j) for one way of ordering the answers, and their number n. If there are more
// than the weights are for, it gives up with n = 0.
type lossSum func(counts []uint32, cumulated []float64) (sum float64, n int)

// expectedLoss orders by confidence and takes the expectation over the order of ties.
func (p *Prepared) expectedLoss() lossSum {
	loss := p.loss()
	return func(counts []uint32, cumulated []float64) (float64, int) {
		var sum, before float64 // before = cumulated[n]
		n := 0
		for _, r := range p.runs {
			losses, run := loss[r.from:r.to], counts[r.from:r.to]
			if !r.tied {
				losses = losses[:len(run)]
				for i, m := range run {
					n += int(m)
					if n >= len(cumulated) {
						return 0, 0
					}
					after := cumulated[n]
					sum += losses[i] * (after - before)
					before = after
				}
				continue
			}
			items, lost := sumBin(run, losses)
			if items == 0 {
				continue
			}
			n += int(items)
			if n >= len(cumulated) {
				return 0, 0
			}
			after := cumulated[n]
			sum += lost / float64(items) * (after - before)
			before = after
		}
		return sum, n
	}
}

// lossIn takes the atoms in the given order, which leaves no ties between different losses.
func (p *Prepared) lossIn(order []int32) lossSum {
	loss := p.loss()
	return func(counts []uint32, cumulated []float64) (float64, int) {
		var sum, before float64
		n := 0
		for _, a := range order {
			n += int(counts[a])
			if n >= len(cumulated) {
				return 0, 0
			}
			after := cumulated[n]
			sum += loss[a] * (after - before)
			before = after
		}
		return sum, n
	}
}

// kindTies is the order in which every group of equal confidences has its best answers first.
func (p *Prepared) kindTies() []int32 {
	order := make([]int32, len(p.quality))
	for a := range order {
		order[a] = int32(a)
	}
	return order
}

// unkindTies is the order in which every group has its worst answers first.
func (p *Prepared) unkindTies() []int32 {
	order := p.kindTies()
	for g, end := range p.groups {
		slices.Reverse(order[p.groupStart(g):end])
	}
	return order
}

// oracle is the order of a score that knows every answer's quality. Nobody may change it.
func (p *Prepared) oracle() []int32 {
	return remember(p, oracleKey{}, func() []int32 {
		order := p.kindTies()
		slices.SortFunc(order, func(a, b int32) int { return int(p.levelOf[a]) - int(p.levelOf[b]) })
		return order
	})
}

func (p *Prepared) loss() []float64 {
	return remember(p, lossKey{}, func() []float64 {
		loss := make([]float64, len(p.quality))
		for a, q := range p.quality {
			loss[a] = 1 - q
		}
		return loss
	})
}

type (
	oracleKey struct{}
	lossKey   struct{}
)

// ordering is one way of ordering the answers.
type ordering struct {
	name  string
	bring func(p *Prepared) lossSum
}

var (
	byConfidence = ordering{"expected", (*Prepared).expectedLoss}
	bestTies     = ordering{"tie-min", func(p *Prepared) lossSum { return p.lossIn(p.kindTies()) }}
	worstTies    = ordering{"tie-max", func(p *Prepared) lossSum { return p.lossIn(p.unkindTies()) }}
	byQuality    = ordering{"oracle", func(p *Prepared) lossSum { return p.lossIn(p.oracle()) }}
)

// area evaluates Σ_k v_k L_k by confidence.
func area(of rankWeights) func(p *Prepared) Evaluator {
	return func(p *Prepared) Evaluator {
		w, by := &weights{of: of}, p.expectedLoss()
		return func(counts []uint32) (float64, measure.Reason) { return w.sum(by, counts), "" }
	}
}

// areaPerItem evaluates Σ_k v_k L_k with the weights perItem.
func areaPerItem(order ordering) func(p *Prepared) Evaluator {
	return func(p *Prepared) Evaluator {
		w, by := perItemOf(p), order.bring(p)
		area := sharing(p, perItemArea(order.name), func(counts []uint32) float64 { return w.sum(by, counts) })
		return func(counts []uint32) (float64, measure.Reason) { return area(counts), "" }
	}
}

// perItemArea is the name of an ordering.
type perItemArea string

// meanLoss is the loss of a random answer, and so what a score that knows nothing is expected to have
// at every coverage.
func meanLoss(p *Prepared) float64 { return 1 - meanQuality(p.counts, p.quality) }

func meanQuality(counts []uint32, quality []float64) float64 {
	items, sum := sumBin(counts, quality)
	return sum / float64(items)
}
