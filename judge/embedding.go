package judge

import (
	"math"

	"github.com/credence-lab/credence/record"
)

// Reasons of the judges that compare vectors.
const (
	// NoEmbedding: there is no vector of the answer or of any reference.
	NoEmbedding record.Missing = "no embedding"
	// BadEmbedding: vectors differ in length, hold a value that is not finite, or are all 0.
	BadEmbedding record.Missing = "embedding out of range"
)

// Similarity is the cosine of the angle between the embeddings of an answer and of a reference, the
// highest over references. Range [-1,1], higher is closer ("A Tale of Two Error Categories", appendix
// C.2). Absent with [NoEmbedding] or [BadEmbedding].
func Similarity(answer []float64, references [][]float64) record.Number {
	best := record.Absent(NoEmbedding)
	if len(answer) == 0 {
		return best
	}
	for _, reference := range references {
		x, ok := cosine(answer, reference)
		if !ok {
			return record.Absent(BadEmbedding)
		}
		if b, known := best.Get(); !known || x > b {
			best = record.Known(x)
		}
	}
	return best
}

// BERTScore is greedy matching of token embeddings: precision is the mean over the answer's tokens of the
// highest cosine with a token of the reference, recall the same the other way round, F1 = 2PR/(P+R).
// No weighting by rarity and no rescaling (Zhang et al., "BERTScore", 2020, section 3). Range [-1,1], higher is
// closer; F1 is absent where P + R is not above 0.
func BERTScore(answer, reference [][]float64) (precision, recall, f1 record.Number) {
	if len(answer) == 0 || len(reference) == 0 {
		none := record.Absent(NoEmbedding)
		return none, none, none
	}
	p, ok := greedy(answer, reference)
	r, too := greedy(reference, answer)
	if !ok || !too {
		bad := record.Absent(BadEmbedding)
		return bad, bad, bad
	}
	f1 = record.Absent(BadEmbedding)
	if p+r > 0 {
		f1 = record.Known(2 * p * r / (p + r))
	}
	return record.Known(p), record.Known(r), f1
}

// BERTScores are the three values of [BERTScore] against the nearest of several references, by each of them: the
// highest F1, the highest precision, the highest recall, which may be of different references. Range [-1,1], higher
// is closer. A reference that gives no value counts only where none gives one. Source: Zhang et al. 2020, section 3;
// that the best reference counts is the rule of the judges here.
func BERTScores(answer [][]float64, references [][][]float64) (precision, recall, f1 record.Number) {
	none := record.Absent(NoEmbedding)
	best := [3]record.Number{none, none, none}
	for i, reference := range references {
		p, r, f := BERTScore(answer, reference)
		for k, x := range [3]record.Number{p, r, f} {
			value, known := x.Get()
			if b, have := best[k].Get(); known && (!have || value > b) || !have && i == 0 {
				best[k] = x
			}
		}
	}
	return best[0], best[1], best[2]
}

// greedy is the mean over tokens of the highest cosine with one of others.
func greedy(tokens, others [][]float64) (float64, bool) {
	sum := 0.0
	for _, token := range tokens {
		best := math.Inf(-1)
		for _, other := range others {
			x, ok := cosine(token, other)
			if !ok {
				return 0, false
			}
			best = math.Max(best, x)
		}
		sum += best
	}
	return sum / float64(len(tokens)), true
}

// cosine scales first, so that no square overflows or vanishes. ok is false for vectors of different length,
// with a value that is not finite, or without direction.
func cosine(a, b []float64) (x float64, ok bool) {
	if len(a) != len(b) {
		return 0, false
	}
	high := func(v []float64) float64 {
		m := 0.0
		for _, x := range v {
			m = math.Max(m, math.Abs(x)) // NaN stays.
		}
		return m
	}
	ma, mb := high(a), high(b)
	if !(ma > 0 && mb > 0) || math.IsInf(ma, 1) || math.IsInf(mb, 1) {
		return 0, false
	}
	dot, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		x, y := a[i]/ma, b[i]/mb
		dot += x * y
		aa += x * x
		bb += y * y
	}
	return math.Max(-1, math.Min(1, dot/math.Sqrt(aa*bb))), true
}

func embeddingEntries() []Entry {
	return []Entry{
		{
			ID: "embedding", Title: "embedding similarity",
			Definition: "cosine of the embeddings of answer and reference, highest over references",
			Low:        -1, High: 1, Cut: MustCut, Needs: []Need{References, Embeddings}, Source: secondPaper,
		},
		{
			ID: "bert-score", Title: "BERTScore",
			Definition: "2PR/(P+R), P and R the mean highest cosine of each token of answer and of reference with one of the other, highest over references",
			Low:        -1, High: 1, Cut: MustCut, Needs: []Need{References, TokenEmbeddings},
			Source: "Zhang et al. 2020; " + secondPaper,
		},
		{
			ID: "bert-score.precision", Title: "BERTScore, precision",
			Definition: "P of bert-score alone: the mean over the answer's tokens of the highest cosine with a token of the reference, highest over references",
			Low:        -1, High: 1, Cut: MustCut, Needs: []Need{References, TokenEmbeddings},
			Source: "Zhang et al. 2020, section 3",
		},
		{
			ID: "bert-score.recall", Title: "BERTScore, recall",
			Definition: "R of bert-score alone: the mean over the reference's tokens of the highest cosine with a token of the answer, highest over references",
			Low:        -1, High: 1, Cut: MustCut, Needs: []Need{References, TokenEmbeddings},
			Source: "Zhang et al. 2020, section 3",
		},
	}
}
