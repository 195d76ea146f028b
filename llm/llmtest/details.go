package llmtest

import (
	"cmp"
	"math"
	"slices"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// endLogProb is what the scripted model gives the end of its turn.
const endLogProb = -.125

// told is what was asked for besides the tokens: each token of log-probability l has beside it others that share
// the rest in halves, and the entropy is that of l and all the rest as one.
func told(wanted llm.Details, tokens []record.Token, finish llm.Finish) *llm.Told {
	if wanted == (llm.Details{}) {
		return nil
	}
	t := &llm.Told{}
	for _, token := range tokens {
		if wanted.Alternatives > 0 {
			t.Alternatives = append(t.Alternatives, halves(token.LogProb, wanted.Alternatives))
		}
		if wanted.Entropy {
			t.Entropies = append(t.Entropies, binaryEntropy(token.LogProb))
		}
	}
	if wanted.End && finish == llm.FinishEnd {
		t.End = &llm.EndOfTurn{LogProb: endLogProb}
		if wanted.Alternatives > 0 {
			t.End.Alternatives = halves(endLogProb, wanted.Alternatives)
		}
		if wanted.Entropy {
			t.End.Entropy = binaryEntropy(endLogProb)
		}
	}
	return t
}

func halves(first float64, n int) []float64 {
	list := []float64{first}
	rest := math.Log1p(-math.Exp(min(first, -1e-9)))
	for len(list) < n {
		rest -= math.Ln2
		list = append(list, rest)
	}
	slices.SortFunc(list, func(a, b float64) int { return cmp.Compare(b, a) })
	return list
}

func binaryEntropy(l float64) float64 {
	p := math.Exp(min(l, -1e-9))
	return -p*math.Log(p) - (1-p)*math.Log1p(-p)
}
