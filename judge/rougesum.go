package judge

import (
	"strings"

	"github.com/credence-lab/credence/internal/text"
	"github.com/credence-lab/credence/record"
)

// TooLong: a text is too long for the judge.
const TooLong record.Missing = "text too long for the judge"

// summaryEntries are ROUGE-L of texts of several lines.
func summaryEntries() []Entry {
	entry := func(suffix, title string, by text.Tokeniser, words string) Entry {
		return Entry{
			ID: "rouge-lsum" + suffix, Title: "ROUGE-Lsum" + title,
			Definition: "as rouge-l, line by line: of each line of the reference count the words on a longest common subsequence with any line of the answer; highest over references; " + words,
			High:       1, Cut: MustCut, Needs: []Need{References}, Source: "Lin 2004; rouge_score 0.1.2",
			measure: func(c *comparison) record.Number {
				if c.unreadable(by) {
					return record.Absent(NoWords)
				}
				best := 0.0
				for i := range c.references {
					answer, reference := c.lines(by, c.answer), c.lines(by, c.references[i])
					score, ok := c.counter.Summary(answer, reference)
					if !ok {
						return record.Absent(TooLong)
					}
					best = max(best, score.F1)
				}
				return record.Known(best)
			},
		}
	}
	return []Entry{
		entry("", "", text.Rouge, "words as of rouge-l"),
		entry(".stem", ", stemmed", text.RougeStemmed, "words as of rouge-l.stem"),
	}
}

// lines are the words of each line of a text, numbered as those of the whole texts are.
func (c *comparison) lines(by text.Tokeniser, s string) [][]int32 {
	var list [][]int32
	for line := range strings.SplitSeq(s, "\n") {
		if line != "" {
			list = append(list, c.cut(by).vocabulary.Append(nil, by.Words(line)))
		}
	}
	return list
}
