package judge

import (
	"math"

	"github.com/credence-lab/credence/internal/text"
	"github.com/credence-lab/credence/record"
)

// sacreEntries are the sentence BLEU that sacrebleu prints, divided by 100.
func sacreEntries() []Entry {
	entry := func(suffix, title string, by text.Tokeniser) Entry {
		return Entry{
			ID: "bleu.sacrebleu" + suffix, Title: "BLEU, sacrebleu" + title,
			Definition: "BP · exp(mean of ln p_n, n from 1 to 4 or to the answer's length), all references at once; the k-th count of 0 becomes 1/2^k; signs are words (tokeniser 13a); sacrebleu prints it times 100",
			High:       1, Cut: MustCut, Needs: []Need{References},
			Source: "Post 2018; sacrebleu 2.6 with effective_order",
			measure: func(c *comparison) record.Number {
				words := c.cut(by)
				return record.Known(c.sacrebleu(words.answer, words.references))
			},
		}
	}
	return []Entry{entry("", "", text.MTEval), entry(".lower", " in lower case", text.MTEvalLowered)}
}

func (c *comparison) sacrebleu(answer []int32, references [][]int32) float64 {
	counts := c.precisions(answer, references, longestRun)
	if counts[0].found == 0 {
		return 0
	}
	longest := min(longestRun, len(answer))
	sum, zeros := 0.0, 0
	for _, p := range counts[:longest] {
		x := p.value()
		if p.found == 0 {
			zeros++
			x = 1 / (math.Ldexp(1, zeros) * float64(p.runs))
		}
		sum += math.Log(x)
	}
	return brevity(len(answer), references) * math.Exp(sum/float64(longest))
}
