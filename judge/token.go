package judge

import (
	"github.com/credence-lab/credence/internal/overlap"
	"github.com/credence-lab/credence/internal/text"
	"github.com/credence-lab/credence/record"
)

// tokenEntries compare words in any order.
func tokenEntries() []Entry {
	const formula = "2PR/(P+R), P and R the common words over those of answer and of reference, counted as often as in both; highest over references"
	f1 := func(by text.Tokeniser, bothEmpty float64) func(*comparison) record.Number {
		return func(c *comparison) record.Number {
			return c.best(by, func(answer, reference []int32) float64 {
				if len(answer) == 0 && len(reference) == 0 {
					return bothEmpty
				}
				return overlap.Of(c.counter.Common(answer, reference), len(answer), len(reference)).F1
			})
		}
	}
	entries := []Entry{
		{
			ID: "token-f1", Title: "token F1", Definition: formula + "; words are lower case split at blanks",
			Source: secondPaper, measure: f1(text.Lowercase, 0),
		},
		{
			ID: "token-f1.squad", Title: "token F1, SQuAD 2.0",
			Definition: formula + "; words after SQuAD's normalisation; without a word on either side 1, on one side 0",
			Source:     "Rajpurkar et al. 2018, evaluation script", measure: f1(text.SQuAD, 1),
		},
		{
			ID: "token-f1.squad-1.1", Title: "token F1, SQuAD 1.1",
			Definition: formula + "; words after SQuAD's normalisation; without a word on a side 0",
			Source:     "Rajpurkar et al. 2016, evaluation script", measure: f1(text.SQuAD, 0),
		},
		{
			ID: "token-f1.unicode", Title: "token F1, Unicode words",
			Definition: formula + "; words are runs of letters, marks and numbers of every script after NFC and case folding, and single characters in scripts without blanks between words",
			Source:     "this project", measure: f1(text.Unicode, 0),
		},
	}
	for i := range entries {
		entries[i].High, entries[i].Cut, entries[i].Needs = 1, MustCut, []Need{References}
	}
	return entries
}
