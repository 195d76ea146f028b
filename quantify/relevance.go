package quantify

import (
	"math"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

// Likeness says where the similarity of two texts comes from.
type Likeness uint8

const (
	// Measured similarities come from a model made for them, such as a cross-encoder. The default.
	Measured Likeness = iota
	// Embedded similarities are ½ + ½ cos of the texts' embeddings.
	Embedded
)

func (l Likeness) variant() string { return [...]string{"", "cosine"}[l] }

func (l Likeness) needs(n Needs, pairs Pairs) Needs {
	if l == Embedded {
		n.Embeddings = true
	} else {
		n.Similarity = pairs
	}
	return n
}

func (l Likeness) of(e *Evidence, i, j int) float64 {
	if l == Embedded {
		return likeness(e, i, j)
	}
	return e.Similarity.at(i, j)
}

func (l Likeness) inWords() string { return [...]string{"", ", by embeddings"}[l] }

// meanLikeness is the mean likeness of the samples to the answer.
func (v *view) meanLikeness(l Likeness) float64 {
	sum := 0.0
	for i := range v.Samples {
		sum += l.of(v.Evidence, 0, i+1)
	}
	return sum / float64(len(v.Samples))
}

// tokenSAR weighs a text's negative log-probabilities by the relevance of its tokens.
func (t *Text) tokenSAR() (float64, record.Missing) {
	sum, weights := 0.0, 0.0
	for i, r := range t.Relevance {
		if !(r >= 0) || math.IsInf(r, 1) {
			return 0, NoRelevance
		}
		weights += r
		if r > 0 { // an impossible token that does not matter does not count
			sum -= r * t.Tokens[i].LogProb
		}
	}
	return sum / weights, record.Present
}

// TokenSAR is the answer's negative log-probability with tokens weighed by what they matter to its meaning:
// −Σ_t r_t l_t / Σ_t r_t.
//
// Uncertainty, range [0, ∞), in nats a token. Needs the answer's tokens and their relevance; one call a token.
// Source: Duan et al. 2024, section 3 (tokenSAR).
func TokenSAR() Quantifier {
	return Quantifier{
		ID: "token-sar", Title: "log-probability by relevance of tokens", Formula: "−Σ_t r_t l_t / Σ_t r_t",
		Orientation: measure.Uncertainty, Range: nonNegative, Units: "nats a token",
		Needs:  Needs{Answer: LogProbs | TokenRelevance},
		Source: "Duan et al. 2024, section 3",
		Peer:   "lm-polygraph TokenSAR",
		of: func(v *view) record.Number {
			x, why := v.Answer.tokenSAR()
			return knownUnless(why, x)
		},
	}
}

// sarTemperature is the paper's t: how much the support of similar samples counts.
const sarTemperature = .001

// SentenceSAR is the samples' negative log-probability where each is supported by those like it:
// −(1/m) Σ_i ln(p_i + (1/0.001) Σ_{j≠i} p_j s_ij), p_i = exp(Σ_t l_it).
//
// Uncertainty, range (−∞, ∞), in nats. Needs the tokens of at least 2 samples and their similarity; m calls
// and one for each pair of distinct samples.
// Source: Duan et al. 2024, section 3 (sentSAR).
func SentenceSAR(l Likeness) Quantifier {
	return Quantifier{
		ID: id("sentence-sar", l.variant()), Title: "sentence SAR" + l.inWords(),
		Formula:     "−(1/m) Σ_i ln(p_i + 1000 Σ_{j≠i} p_j s_ij), p_i = exp(Σ_t l_it)",
		Orientation: measure.Uncertainty, Range: line, Units: "nats",
		Needs:  l.needs(Needs{Samples: 2, Sample: LogProbs}, AmongSamples),
		Source: "Duan et al. 2024, section 3",
		Peer:   only(l == Measured, "lm-polygraph SentenceSAR, but for the end of turn, which it sums"),
		of: exactly(func(v *view) float64 {
			logs := make([]float64, len(v.Samples))
			for i := range logs {
				logs[i], _ = v.Samples[i].logProb(WithoutEnd)
			}
			return v.supported(l, logs)
		}),
	}
}

// SAR is [SentenceSAR] with p_i = exp(−tokenSAR_i), where tokens are weighed by relevance first.
//
// Uncertainty, range (−∞, ∞), in nats. Needs the tokens of at least 2 samples, their relevance and the
// samples' similarity; m calls, a comparison a token and one for each pair of distinct samples.
// Source: Duan et al. 2024, section 3 (SAR).
func SAR(l Likeness) Quantifier {
	return Quantifier{
		ID: id("sar", l.variant()), Title: "SAR" + l.inWords(),
		Formula:     "−(1/m) Σ_i ln(p_i + 1000 Σ_{j≠i} p_j s_ij), p_i = exp(Σ_t r_it l_it / Σ_t r_it)",
		Orientation: measure.Uncertainty, Range: line, Units: "nats",
		Needs:  l.needs(Needs{Samples: 2, Sample: LogProbs | TokenRelevance}, AmongSamples),
		Source: "Duan et al. 2024, section 3",
		Peer:   only(l == Measured, "lm-polygraph SAR"),
		of: func(v *view) record.Number {
			logs := make([]float64, len(v.Samples))
			for i := range logs {
				x, why := v.Samples[i].tokenSAR()
				if why != record.Present {
					return record.Absent(why)
				}
				logs[i] = -x
			}
			return record.Known(v.supported(l, logs))
		},
	}
}

// supported is −(1/m) Σ_i ln(p_i + (1/t) Σ_{j≠i} p_j s_ij) for p = exp(logs). It stays in logarithms, since
// the probability of a long text is too small for a float64.
func (v *view) supported(l Likeness, logs []float64) float64 {
	sum := 0.0
	for i := range logs {
		v.logs = v.logs[:0]
		for j := range logs {
			x := logs[j]
			if i != j {
				x += math.Log(l.of(v.Evidence, i+1, j+1) / sarTemperature)
			}
			v.logs = append(v.logs, x)
		}
		sum -= logSumExp(v.logs)
	}
	return sum / float64(len(logs))
}

// Information is the uncertainty that [CoCoA] multiplies with inconsistency.
type Information uint8

const (
	// Sequence is −Σ_t l_t.
	Sequence Information = iota
	// PerToken is −(1/T) Σ_t l_t.
	PerToken
	// PerTokenEntropy is [FullTokenEntropy].
	PerTokenEntropy
)

// CoCoA is the answer's own uncertainty times how little the samples are like it:
// u · (1/m) Σ_i (1 − s(y, y_i)), with u = −Σ_t l_t, −(1/T) Σ_t l_t or the mean token entropy.
//
// Uncertainty, range [0, ∞), in nats (a token). Needs the answer's tokens, at least 1 sample and their
// similarity to the answer; m calls and one for each distinct sample that is not the answer.
// Source: Vashurin et al. 2025, section 3.
func CoCoA(u Information, l Likeness) Quantifier {
	names := [...]string{"", "normalised", "entropy"}
	q := Quantifier{
		ID: id("cocoa", names[u], l.variant()), Title: "CoCoA" + l.inWords(),
		Formula:     "(" + [...]string{"−Σ l_t", "−(1/T) Σ l_t", "(1/T) Σ_t H_t over the vocabulary"}[u] + ") · (1/m) Σ_i (1 − s(y, y_i))",
		Orientation: measure.Uncertainty, Range: nonNegative, Units: "nats",
		Needs:  l.needs(Needs{Answer: LogProbs, Samples: 1}, WithAnswer),
		Source: "Vashurin et al. 2025, section 3",
		Peer:   only(l == Measured, "lm-polygraph Cocoa"+[...]string{"MSP", "PPL", "MTE"}[u]),
	}
	if u != Sequence {
		q.Title, q.Units = q.Title+", "+names[u], "nats a token"
	}
	if u == PerTokenEntropy {
		q.Needs.Answer = FullEntropy
		q.of = fullEntropy(func(v *view, mean float64) float64 { return mean * (1 - v.meanLikeness(l)) })
		return q
	}
	normalisation := BySum
	if u == PerToken {
		normalisation = ByToken
	}
	q.of = exactly(func(v *view) float64 {
		return -normalisation.logProb(&v.Answer, WithoutEnd) * (1 - v.meanLikeness(l))
	})
	return q
}

// UQLMCoCoA is uqlm's product of two confidences: exp((1/T) Σ_t l_t) · (1/m) Σ_i (½ + ½ cos(e, e_i)).
//
// Confidence, range [0, 1], a probability times a similarity. Needs the answer's tokens, at least 1 sample
// and embeddings; m + distinct texts calls.
// Source: uqlm 0.6.1, consistency_and_confidence (Vashurin et al. 2025).
func UQLMCoCoA() Quantifier {
	return Quantifier{
		ID: "cocoa.uqlm", Title: "CoCoA as uqlm has it", Formula: "exp((1/T) Σ_t l_t) · (1/m) Σ_i (½ + ½ cos(e, e_i))",
		Orientation: measure.Confidence, Range: unit, Units: "probability × similarity",
		Needs:  Needs{Answer: LogProbs, Samples: 1, Embeddings: true},
		Source: "uqlm 0.6.1 (Vashurin et al. 2025)",
		Peer:   "uqlm consistency_and_confidence",
		of: exactly(func(v *view) float64 {
			return math.Exp(v.Answer.meanLogProb(WithoutEnd)) * v.meanLikeness(Embedded)
		}),
	}
}
