package quantify

import (
	"math"

	"github.com/credence-lab/credence/measure"
)

// Normalisation says whether a text's log-probability is divided by its number of tokens.
type Normalisation uint8

const (
	// BySum takes the log-probability of the whole text.
	BySum Normalisation = iota
	// ByToken takes the mean log-probability of its tokens, so that length does not count.
	ByToken
)

func (n Normalisation) logProb(t *Text, ending Ending) float64 {
	if n == ByToken {
		return t.meanLogProb(ending)
	}
	sum, _ := t.logProb(ending)
	return sum
}

func (n Normalisation) formula(of string) string {
	if n == ByToken {
		return "(1/T" + of + ") Σ_t l" + of + "t"
	}
	return "Σ_t l" + of + "t"
}

// PredictiveEntropy is the entropy of the samples' texts by relative frequency: −Σ_y (n_y/m) ln(n_y/m)
// over the distinct texts y, of which n_y samples have one. Texts are equal or not, byte by byte.
//
// Uncertainty, range [0, ln m], in nats. Needs at least 2 samples; m calls.
// Source: Ilia and Aziz 2026, appendix C.1, equation 6 (Fomicheva et al. 2020).
func PredictiveEntropy() Quantifier {
	return Quantifier{
		ID: "predictive-entropy", Title: "predictive entropy", Formula: "−Σ_y (n_y/m) ln(n_y/m) over distinct texts y",
		Orientation: measure.Uncertainty, Range: upToLogM, Units: "nats",
		Needs:  Needs{Samples: 2},
		Source: "Ilia and Aziz 2026, appendix C.1, equation 6 (Fomicheva et al. 2020)",
		of: exactly(func(v *view) float64 {
			_, counts := v.texts()
			return entropyOfCounts(counts)
		}),
	}
}

// SequenceEntropy estimates the entropy of the model's answers by Monte Carlo from the samples'
// log-probabilities: −(1/m) Σ_i Σ_t l_it, or a token: −(1/m) Σ_i (1/T_i) Σ_t l_it.
//
// Uncertainty, range [0, ∞), in nats (a token). Needs the tokens of at least 1 sample; m calls.
// Source: Malinin and Gales 2021, section 3; Kuhn et al. 2023, section 2.
func SequenceEntropy(normalisation Normalisation, ending Ending) Quantifier {
	q := Quantifier{
		ID: id("sequence-entropy", normalisation.variant(), ending.variant()), Title: "sequence entropy",
		Formula:     "−(1/m) Σ_i " + normalisation.formula("_i"),
		Orientation: measure.Uncertainty, Range: nonNegative, Units: "nats",
		Needs:  Needs{Samples: 1, Sample: ending.parts()},
		Source: "Malinin and Gales 2021, section 3; Kuhn et al. 2023, section 2",
		Peer:   only(ending == WithEnd, "lm-polygraph MonteCarloSequenceEntropy"),
		of: exactly(func(v *view) float64 {
			sum := 0.0
			for i := range v.Samples {
				sum -= normalisation.logProb(&v.Samples[i], ending)
			}
			return sum / float64(len(v.Samples))
		}),
	}
	if normalisation == ByToken {
		q.Title, q.Units = "length-normalised sequence entropy", "nats a token"
		q.Peer = only(ending == WithoutEnd, "TruthTorchLM Entropy; lm-polygraph MonteCarloNormalizedSequenceEntropy but for the end of turn, which it sums and does not count")
	}
	return q
}

func (n Normalisation) variant() string {
	if n == ByToken {
		return "normalised"
	}
	return ""
}

// SampledProbability is the mean probability of the answer and its samples:
// (1/(m+1)) Σ_i exp((1/T_i) Σ_t l_it), or of the whole texts, exp(Σ_t l_it).
//
// Confidence, range [0, 1], a probability. Needs the tokens of the answer and of at least 1 sample; m calls.
// Source: Bouchard and Chauhan 2025 (uqlm's Monte Carlo probability), after Kuhn et al. 2023.
func SampledProbability(normalisation Normalisation) Quantifier {
	q := Quantifier{
		ID: "sampled-probability.uqlm", Title: "mean probability of answer and samples",
		Formula:     "(1/(m+1)) Σ_i exp(" + normalisation.formula("_i") + ")",
		Orientation: measure.Confidence, Range: unit, Units: "probability",
		Needs:  Needs{Answer: LogProbs, Samples: 1, Sample: LogProbs},
		Source: "Bouchard and Chauhan 2025",
		Peer:   "uqlm monte_carlo_probability",
		of: exactly(func(v *view) float64 {
			sum := math.Exp(normalisation.logProb(&v.Answer, WithoutEnd))
			for i := range v.Samples {
				sum += math.Exp(normalisation.logProb(&v.Samples[i], WithoutEnd))
			}
			return sum / float64(len(v.Samples)+1)
		}),
	}
	if normalisation == BySum {
		q.ID, q.Title = "sampled-probability.product.uqlm", "mean probability of answer and samples, whole texts"
		q.Peer += " with length_normalize off"
	}
	return q
}

// ModalShare is the share of the samples that have the most frequent text: max_y n_y / m. It is not the
// agreement of pairs: see [PairwiseAgreement].
//
// Confidence, range [0, 1] (at least 1/m), a share. Needs at least 1 sample; m calls.
// Source: Wang et al. 2023; Xiong et al. 2024, section 3.3 (consistency).
func ModalShare() Quantifier {
	return Quantifier{
		ID: "modal-share", Title: "modal share", Formula: "max_y n_y / m over distinct texts y",
		Orientation: measure.Confidence, Range: unit, Units: "share of samples",
		Needs:  Needs{Samples: 1},
		Source: "Wang et al. 2023; Xiong et al. 2024, section 3.3",
		of: exactly(func(v *view) float64 {
			_, counts := v.texts()
			return largestShare(counts)
		}),
	}
}

// AnswerAgreement is the share of the samples whose text is the answer's, byte by byte.
//
// Confidence, range [0, 1], a share. Needs at least 1 sample; m calls.
// Source: Cole et al. 2023 (repetition); Bouchard and Chauhan 2025 (exact match rate).
func AnswerAgreement() Quantifier {
	return Quantifier{
		ID: "answer-agreement", Title: "share of samples equal to the answer", Formula: "(1/m) Σ_i [y_i = y]",
		Orientation: measure.Confidence, Range: unit, Units: "share of samples",
		Needs:  Needs{Samples: 1},
		Source: "Cole et al. 2023; Bouchard and Chauhan 2025",
		Peer:   "uqlm exact_match",
		of: exactly(func(v *view) float64 {
			n := 0
			for i := range v.Samples {
				if v.Samples[i].Text == v.Answer.Text {
					n++
				}
			}
			return float64(n) / float64(len(v.Samples))
		}),
	}
}

// PairwiseAgreement is self-consistency as agreement of pairs: (1/(m(m−1))) Σ_{i≠j} [y_i = y_j], the
// share of the pairs of samples that have one text.
//
// Confidence, range [0, 1], a share. Needs at least 2 samples; m calls.
// Source: Wu, Jiang and Aragam 2026 (arXiv 2608.10315), with the indicator kernel.
func PairwiseAgreement() Quantifier {
	return Quantifier{
		ID: "pairwise-agreement", Title: "mean pairwise agreement of the samples", Formula: "(1/(m(m−1))) Σ_{i≠j} [y_i = y_j]",
		Orientation: measure.Confidence, Range: unit, Units: "share of pairs",
		Needs:  Needs{Samples: 2},
		Source: "Wu, Jiang and Aragam 2026, with the indicator kernel",
		of: exactly(func(v *view) float64 {
			_, counts := v.texts()
			pairs := 0
			for _, n := range counts {
				pairs += n * (n - 1)
			}
			m := len(v.Samples)
			return float64(pairs) / float64(m*(m-1))
		}),
	}
}

// PairwiseCosine is self-consistency in embeddings: the mean over pairs of samples of ½ + ½ cos(e_i, e_j).
//
// Confidence, range [0, 1], without units. Needs at least 2 samples and embeddings; m + distinct texts calls.
// Source: Wu, Jiang and Aragam 2026 (arXiv 2608.10315), with the cosine kernel brought to [0, 1].
func PairwiseCosine() Quantifier {
	return Quantifier{
		ID: "pairwise-agreement.cosine", Title: "mean pairwise cosine of the samples", Formula: "(1/(m(m−1))) Σ_{i≠j} (½ + ½ cos(e_i, e_j))",
		Orientation: measure.Confidence, Range: unit, Units: "similarity",
		Needs:  Needs{Samples: 2, Embeddings: true},
		Source: "Wu, Jiang and Aragam 2026, with the cosine kernel",
		of: exactly(func(v *view) float64 {
			return v.meanOfPairs(func(i, j int) float64 { return likeness(v.Evidence, i+1, j+1) })
		}),
	}
}

// CosineAgreement is the mean over the samples of their likeness to the answer, ½ + ½ cos(e, e_i).
//
// Confidence, range [0, 1], without units. Needs at least 1 sample and embeddings; m + distinct texts calls.
// Source: Shorinwa et al. 2024; Bouchard and Chauhan 2025 (normalised cosine similarity).
func CosineAgreement() Quantifier {
	return Quantifier{
		ID: "cosine-agreement", Title: "mean cosine of answer and samples", Formula: "(1/m) Σ_i (½ + ½ cos(e, e_i))",
		Orientation: measure.Confidence, Range: unit, Units: "similarity",
		Needs:  Needs{Samples: 1, Embeddings: true},
		Source: "Shorinwa et al. 2024; Bouchard and Chauhan 2025",
		Peer:   "uqlm cosine_sim",
		of:     exactly(func(v *view) float64 { return v.meanLikeness(Embedded) }),
	}
}

// texts numbers the samples' texts and counts each.
func (v *view) texts() (ids, counts []int) {
	texts := make([]string, len(v.Samples))
	for i := range v.Samples {
		texts[i] = v.Samples[i].Text
	}
	ids, distinct := identify(texts)
	return ids, countClasses(ids, len(distinct))
}

// meanOfPairs is the mean of f over the pairs of samples i < j.
func (v *view) meanOfPairs(f func(i, j int) float64) float64 {
	sum, m := 0.0, len(v.Samples)
	for i := range m {
		for j := i + 1; j < m; j++ {
			sum += f(i, j)
		}
	}
	return sum / float64(m*(m-1)/2)
}

func countClasses(ids []int, n int) []int {
	counts := make([]int, n)
	for _, id := range ids {
		counts[id]++
	}
	return counts
}

func entropyOfCounts(counts []int) float64 {
	total := 0
	for _, n := range counts {
		total += n
	}
	h := 0.0
	for _, n := range counts {
		if p := float64(n) / float64(total); n > 0 {
			h -= p * math.Log(p)
		}
	}
	return math.Max(0, h)
}

func largestShare(counts []int) float64 {
	most, total := 0, 0
	for _, n := range counts {
		most = max(most, n)
		total += n
	}
	return float64(most) / float64(total)
}
