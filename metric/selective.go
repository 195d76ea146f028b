package metric

import (
	"github.com/credence-lab/credence/measure"
)

// Statistics of selective prediction: answers are given most confident first, the rest withheld. With
// l_(j) the loss 1 − quality of the answer at rank j, and L_k the sum of the first k, most of them
// are linear in the losses, Σ_j w_j l_(j), and differ only in the weights. Over the random order of a
// group of equal confidences the expected loss at each of its ranks is the group's mean loss, so that
// the expectation is Σ_g l̄_g Σ_{j in g} w_j: exact, and one difference of cumulated weights a group.

// AURC is the area under the risk–coverage curve, (1/n) Σ_k L_k/k: the mean over k of the risk among
// the k most confident, expected over the order of ties; in [0,1].
// Sources: Geifman and El-Yaniv 2017; "Same Answer, Different Confidence", Appendix A.
func AURC() Statistic {
	return Statistic{
		ID:         "aurc.expected",
		Definition: "(1/n) Σ_k L_k/k, L_k the loss of the k most confident; expectation over the order of ties.",
		Source:     "Geifman and El-Yaniv 2017",
		Better:     Lower, Needs: AnyScore, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator {
			model, weights := p.expectedLoss(), aurcWeights()
			return func(counts []uint32) (float64, measure.Reason) {
				return model(counts, weights.of(int(total(counts)))), ""
			}
		},
	}
}

// weights are cumulated rank weights: of(n)[i] = w_1 + … + w_i for a sample of n items.
type weights struct {
	cumulated []float64
	fill      func(cumulated []float64) // cumulated[0] is 0, its length is n+1
}

func (w *weights) of(n int) []float64 {
	if len(w.cumulated) != n+1 {
		if cap(w.cumulated) < n+1 {
			w.cumulated = make([]float64, n+1)
		}
		w.cumulated = w.cumulated[:n+1]
		w.fill(w.cumulated)
	}
	return w.cumulated
}

// aurcWeights: w_j = (1/n) Σ_{k=j..n} 1/k, since the loss at rank j is in every L_k from k = j on.
func aurcWeights() *weights {
	return &weights{fill: func(cumulated []float64) {
		n := len(cumulated) - 1
		w := 0.
		for j := n; j > 0; j-- {
			w += 1 / float64(j)
			cumulated[j] = w / float64(n)
		}
		accumulate(cumulated)
	}}
}

func accumulate(values []float64) {
	for i := 1; i < len(values); i++ {
		values[i] += values[i-1]
	}
}

// lossSum is Σ_j w_j l_(j) for one way of ordering the answers.
type lossSum func(counts []uint32, cumulated []float64) float64

// expectedLoss orders by confidence and averages over the order of ties.
func (p *Prepared) expectedLoss() lossSum {
	loss := p.loss()
	return func(counts []uint32, cumulated []float64) float64 {
		var sum, before float64 // before = cumulated[n]
		n := 0
		for _, r := range p.runs {
			losses, run := loss[r.from:r.to], counts[r.from:r.to]
			if !r.tied {
				for i, m := range run {
					n += int(m)
					after := cumulated[n]
					sum += losses[i] * (after - before)
					before = after
				}
				continue
			}
			var items, lost float64
			for i, m := range run {
				items += float64(m)
				lost += float64(m) * losses[i]
			}
			if items > 0 {
				n += int(items)
				after := cumulated[n]
				sum += lost / items * (after - before)
				before = after
			}
		}
		return sum
	}
}

func (p *Prepared) loss() []float64 {
	loss := make([]float64, len(p.quality))
	for a, q := range p.quality {
		loss[a] = 1 - q
	}
	return loss
}

func selectiveFamilies() []Family { return []Family{single(AURC())} }
func rankingFamilies() []Family   { return []Family{single(AUROC())} }
func binnedFamilies() []Family {
	return []Family{equalWidthFamily(ece).family("10.left-closed", "10.right-closed", "15.left-closed")}
}
