package quantify

import (
	"github.com/credence-lab/credence/internal/overlap"
	"github.com/credence-lab/credence/internal/text"
	"github.com/credence-lab/credence/measure"
)

// Overlap says how much of their words two texts share: a number in [0,1], and 1 for equal texts.
type Overlap uint8

const (
	// RougeL is the F measure of the longest common subsequence of words, in any script. The default.
	RougeL Overlap = iota
	// Jaccard is the Jaccard index of the sets of lower-case words between blanks.
	Jaccard
	// RougeLStemmed is RougeL over stems of words of a to z and 0 to 9, as rouge_score has it. So are
	// Rouge1Stemmed over words in any order, and Rouge2Stemmed over pairs of neighbours. Texts without
	// such a word share nothing, even where they are equal.
	RougeLStemmed
	Rouge1Stemmed
	Rouge2Stemmed
)

// overlaps are the choices behind each Overlap.
var overlaps = [...]struct {
	id, peer string
	words    text.Tokeniser
	of       func(c *overlap.Counter, a, b []int32) float64
}{
	RougeL:        {"rouge-l", "", text.Unicode, subsequence},
	Jaccard:       {"jaccard", "", text.Lowercase, (*overlap.Counter).Jaccard},
	RougeLStemmed: {"rouge-l.lm-polygraph", "lm-polygraph LexicalSimilarity_rougeL, negated", text.RougeStemmed, subsequence},
	Rouge1Stemmed: {"rouge-1.lm-polygraph", "lm-polygraph LexicalSimilarity_rouge1, negated", text.RougeStemmed, runs(1)},
	Rouge2Stemmed: {"rouge-2.lm-polygraph", "lm-polygraph LexicalSimilarity_rouge2, negated", text.RougeStemmed, runs(2)},
}

func subsequence(c *overlap.Counter, a, b []int32) float64 {
	return overlap.Of(c.LCS(a, b), len(a), len(b)).F1
}

func runs(n int) func(*overlap.Counter, []int32, []int32) float64 {
	return func(c *overlap.Counter, a, b []int32) float64 { return c.NGram(a, b, n).F1 }
}

// LexicalSimilarity is the mean over pairs of samples of how much of their words they share.
//
// Confidence, range [0, 1], without units. Needs at least 2 samples; m calls.
// Source: Fomicheva et al. 2020, section 3.2; with ROUGE-L (Lin 2004) as in Kuhn et al. 2023; with Jaccard
// as in Lin, Trivedi and Sun 2024.
func LexicalSimilarity(o Overlap) Quantifier {
	how := overlaps[o]
	q := Quantifier{
		ID: id("lexical-similarity", how.id), Title: "lexical similarity of the samples, " + how.id,
		Formula:     "(2/(m(m−1))) Σ_{i<j} s(y_i, y_j)",
		Orientation: measure.Confidence, Range: unit, Units: "similarity",
		Needs:  Needs{Samples: 2},
		Source: "Fomicheva et al. 2020, section 3.2; Kuhn et al. 2023",
		Peer:   how.peer,
		of: exactly(func(v *view) float64 {
			lists := v.numbered(how.words)
			return v.meanOfPairs(func(i, j int) float64 {
				if how.peer == "" && v.Samples[i].Text == v.Samples[j].Text {
					return 1
				}
				return how.of(&v.counter, lists[i], lists[j])
			})
		}),
	}
	if o == Jaccard {
		q.Source = "Fomicheva et al. 2020, section 3.2; Lin, Trivedi and Sun 2024"
	}
	return q
}

// numbered cuts the samples into words and numbers these.
func (v *view) numbered(words text.Tokeniser) [][]int32 {
	v.vocabulary.Reset()
	lists := make([][]int32, len(v.Samples))
	for i := range v.Samples {
		lists[i] = v.vocabulary.Append(nil, words.Words(v.Samples[i].Text))
	}
	return lists
}

// jaccards fills w, m × m, with the Jaccard indices of the samples' sets of words; equal texts have 1.
func (v *view) jaccards(w []float64) {
	m, lists := len(v.Samples), v.numbered(text.Lowercase)
	for i := range m {
		for j := range i {
			x := 1.0
			if v.Samples[i].Text != v.Samples[j].Text {
				x = v.counter.Jaccard(lists[i], lists[j])
			}
			w[i*m+j], w[j*m+i] = x, x
		}
		w[i*m+i] = 1
	}
}
