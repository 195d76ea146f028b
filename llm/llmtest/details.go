package llmtest

import (
	"cmp"
	"math"
	"slices"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// EndLogProb is what the scripted model gives the end of its turn, in nats.
const EndLogProb = -.125

// told is what was asked for besides the tokens: the most probable tokens are those of [Alternatives], and
// the entropy is that of the token and all the rest as one.
func told(wanted llm.Details, tokens []record.Token, finish llm.Finish) *llm.Told {
	if wanted == (llm.Details{}) {
		return nil
	}
	t := &llm.Told{}
	for _, token := range tokens {
		if wanted.Alternatives > 0 {
			t.Alternatives = append(t.Alternatives, Alternatives(token.LogProb, wanted.Alternatives))
		}
		if wanted.Entropy {
			t.Entropies = append(t.Entropies, binaryEntropy(token.LogProb))
		}
	}
	if wanted.End && finish == llm.FinishEnd {
		t.End = &llm.EndOfTurn{LogProb: EndLogProb}
		if wanted.Alternatives > 0 {
			t.End.Alternatives = Alternatives(EndLogProb, wanted.Alternatives)
		}
		if wanted.Entropy {
			t.End.Entropy = binaryEntropy(EndLogProb)
		}
	}
	return t
}

// Alternatives are the log-probabilities of the n most probable tokens, in descending order, where the scripted
// model gives a token l: that token, and others that share the rest in halves. Among few it may be none of them.
func Alternatives(l float64, n int) []float64 {
	list := append(Others(l, n), l)
	slices.SortFunc(list, func(a, b float64) int { return cmp.Compare(b, a) })
	return list[:n]
}

// Others are the n most probable tokens besides one of log-probability l: half of the rest, a quarter of it, and so on.
func Others(l float64, n int) []float64 {
	list := make([]float64, n)
	rest := math.Log1p(-math.Exp(min(l, -1e-9)))
	for i := range list {
		rest -= math.Ln2
		list[i] = rest
	}
	return list
}

func binaryEntropy(l float64) float64 {
	p := math.Exp(min(l, -1e-9))
	return -p*math.Log(p) - (1-p)*math.Log1p(-p)
}
