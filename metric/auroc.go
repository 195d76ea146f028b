package metric

import "github.com/credence-lab/credence/measure"

// AUROC is the probability that a correct answer has more confidence than an incorrect one, a tie
// counting one half; in [0,1], .5 for a score that knows nothing. Higher is better. Undefined on one
// class. It equals the area under the receiver operating characteristic. Source: Hanley and McNeil
// 1982.
func AUROC() Statistic {
	return Statistic{
		ID:         "auroc",
		Definition: "P(s⁺ > s⁻) + ½ P(s⁺ = s⁻) of a correct and an incorrect answer's confidence.",
		Source:     "Hanley and McNeil 1982",
		Better:     Higher, Needs: AnyScore, Labels: Classes,
		Chance: func(*Prepared) float64 { return .5 },
		Bind:   bindAUROC,
	}
}

func bindAUROC(p *Prepared) Evaluator {
	correct := p.correctMask()
	return func(counts []uint32) (float64, measure.Reason) {
		var above, below uint64 // correct and incorrect items passed so far
		var pairs2 uint64       // twice the pairs in the right order, so that ties stay whole
		for _, r := range p.runs {
			if r.tied {
				hits, misses := split(counts[r.from:r.to], correct[r.from:r.to])
				pairs2 += misses * (2*above + hits)
				above, below = above+hits, below+misses
				continue
			}
			run := counts[r.from:r.to]
			is := correct[r.from:r.to][:len(run)]
			for i, m := range run {
				hits := m & is[i]
				misses := uint64(m - hits)
				pairs2 += 2 * misses * above
				above += uint64(hits)
				below += misses
			}
		}
		if above == 0 || below == 0 {
			return 0, measure.OneClass
		}
		return float64(pairs2) / (2 * float64(above) * float64(below)), ""
	}
}

// correctMask has all bits set for atoms that count as correct, so that m&mask is the number of
// correct items without a branch that the processor would have to guess. Nobody may change it.
func (p *Prepared) correctMask() []uint32 {
	return remember(p, correctKey{}, func() []uint32 {
		mask := make([]uint32, len(p.quality))
		for a, q := range p.quality {
			if q >= threshold {
				mask[a] = ^uint32(0)
			}
		}
		return mask
	})
}

type correctKey struct{}

// split counts correct and incorrect items.
func split(counts, correct []uint32) (hits, misses uint64) {
	correct = correct[:len(counts)]
	for i, m := range counts {
		hits += uint64(m & correct[i])
		misses += uint64(m &^ correct[i])
	}
	return hits, misses
}
