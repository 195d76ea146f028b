package llamacpp

import (
	"math"
	"slices"

	"github.com/credence-lab/credence/llm"
)

// tell keeps what is wanted of a position besides its token.
func (g *generation) tell(logits []float32, sum float64) {
	if g.wanted.Alternatives > 0 {
		g.told.Alternatives = append(g.told.Alternatives, mostProbable(logits, sum, g.wanted.Alternatives))
	}
	if g.wanted.Entropy {
		g.told.Entropies = append(g.told.Entropies, entropy(logits, sum))
	}
}

// tellEnd keeps what is wanted of the position at which the turn ended.
func (g *generation) tellEnd(logits []float32, sum float64, end int32) error {
	if !g.wanted.End {
		return nil
	}
	lp, err := logProb(logits, sum, end)
	if err != nil {
		return err
	}
	g.told.End = &llm.EndOfTurn{LogProb: lp}
	if g.wanted.Alternatives > 0 {
		g.told.End.Alternatives = mostProbable(logits, sum, g.wanted.Alternatives)
	}
	if g.wanted.Entropy {
		g.told.End.Entropy = entropy(logits, sum)
	}
	return nil
}

// mostProbable are the log-probabilities of the n most probable tokens, in descending order.
func mostProbable(logits []float32, sum float64, n int) []float64 {
	top := make([]float32, 0, n)
	for _, x := range logits {
		if len(top) == n && x <= top[n-1] {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, x, func(have, x float32) int {
			if have >= x { // descending
				return -1
			}
			return 1
		})
		if len(top) < n {
			top = append(top, 0)
		}
		copy(top[at+1:], top[at:])
		top[at] = x
	}
	out := make([]float64, len(top))
	for i, x := range top {
		out[i] = min(float64(x)-sum, 0)
	}
	return out
}

// entropy is that of the next token over the whole vocabulary, in nats. The order of summation is fixed.
func entropy(logits []float32, sum float64) float64 {
	h := 0.
	for _, x := range logits {
		lp := float64(x) - sum
		if lp > lowest {
			h -= exp(lp) * lp
		}
	}
	return math.Max(h, 0)
}
