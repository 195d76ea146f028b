// Package overlap measures how much two sequences of words have in common: words in any order (Bag),
// runs of n words (NGram), words in the same order (LCS), and distinct words (Jaccard).
//
// The four functions take words. Who compares many texts numbers their words once with a [Vocabulary]
// and compares the numbers with a [Counter].
package overlap

// Score is an overlap as precision, recall and their harmonic mean, each in [0,1], higher for more in
// common.
type Score struct{ Precision, Recall, F1 float64 }

// Of returns the score of common units among those of an answer and of a reference. Without a common
// unit, and so with an empty side, all three are 0. F1 is computed as 2PR/(P+R), so that its bits are
// those of rouge_score and of SQuAD's script: it can differ in the last from 2c/(a+r).
func Of(common, answer, reference int) Score {
	if common == 0 {
		return Score{}
	}
	p, r := float64(common)/float64(answer), float64(common)/float64(reference)
	return Score{p, r, 2 * p * r / (p + r)}
}

// Bag is the overlap of words in any order, each counted as often as it occurs in both: token F1, and
// ROUGE-1.
func Bag(answer, reference []string) Score { return NGram(answer, reference, 1) }

// NGram is the overlap of runs of n words, n at least 1: ROUGE-n (Lin, "ROUGE: A Package for Automatic Evaluation of
// Summaries", 2004, section 2). A side shorter than n has no run and shares nothing.
func NGram(answer, reference []string, n int) Score {
	var c Counter
	a, r := number(answer, reference)
	return c.NGram(a, r, n)
}

// LCS is the overlap by the longest common subsequence: words in the same order, gaps allowed. ROUGE-L of
// one sentence (Lin 2004, section 3.1, with β = 1).
func LCS(answer, reference []string) Score {
	var c Counter
	a, r := number(answer, reference)
	return Of(c.LCS(a, r), len(a), len(r))
}

// Jaccard is the share of the distinct words of both sides that both have, in [0,1], symmetric. 0 where
// both are empty.
func Jaccard(a, b []string) float64 {
	var c Counter
	x, y := number(a, b)
	return c.Jaccard(x, y)
}

func number(a, b []string) (x, y []int32) {
	var v Vocabulary
	return v.Append(nil, a), v.Append(nil, b)
}
