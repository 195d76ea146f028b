package judge

import (
	"slices"
	"strings"

	"github.com/credence-lab/credence/internal/text"
	"github.com/credence-lab/credence/record"
	"golang.org/x/text/unicode/norm"
)

const secondPaper = "A Tale of Two Error Categories, appendix C.2"

// exactEntries compare whole texts.
func exactEntries() []Entry {
	return []Entry{
		{
			ID: "containment.words", Title: "containment of words",
			Definition: "the words of either stand in a row within the other (Unicode words, see token-f1.unicode); any reference will do. \"banana\" does not hold \"a\"",
			Needs:      []Need{References}, Source: "this project",
			measure: func(c *comparison) record.Number {
				words := c.cut(text.Unicode)
				return truth(slices.ContainsFunc(words.references, func(reference []int32) bool {
					return holds(words.answer, reference) || holds(reference, words.answer)
				}))
			},
		},
		{
			ID: "exact-match", Title: "exact match",
			Definition: "equal after stripping blanks and in lower case; any reference will do",
			Needs:      []Need{References}, Source: secondPaper,
			measure: func(c *comparison) record.Number {
				answer := stripLower(c.answer)
				return truth(c.any(func(reference string) bool { return stripLower(reference) == answer }))
			},
		},
		{
			ID: "exact-match.nfc", Title: "exact match, NFC",
			Definition: "as exact-match, of canonically composed texts: \"Zürich\" in either encoding, but not \"Zurich\"",
			Needs:      []Need{References}, Source: secondPaper + "; Unicode Standard Annex 15",
			measure: func(c *comparison) record.Number {
				answer := composed(c.answer)
				return truth(c.any(func(reference string) bool { return composed(reference) == answer }))
			},
		},
		{
			ID: "exact-match.squad", Title: "exact match, SQuAD",
			Definition: "equal words after SQuAD's normalisation; two texts of articles and signs alone are equal",
			Needs:      []Need{References}, Source: "Rajpurkar et al. 2016, evaluation script",
			measure: func(c *comparison) record.Number {
				words := c.cut(text.SQuAD)
				return truth(slices.ContainsFunc(words.references, func(reference []int32) bool {
					return slices.Equal(words.answer, reference)
				}))
			},
		},
	}
}

func stripLower(s string) string { return text.Lower(strings.TrimFunc(s, text.IsBlank)) }

func composed(s string) string {
	return norm.NFC.String(text.Lower(strings.TrimFunc(norm.NFC.String(s), text.IsBlank)))
}

// holds reports whether part stands in whole in a row. An empty part is in nothing.
func holds[T comparable](whole, part []T) bool {
	if len(part) == 0 {
		return false
	}
	for i := 0; i+len(part) <= len(whole); i++ {
		if slices.Equal(whole[i:i+len(part)], part) {
			return true
		}
	}
	return false
}
