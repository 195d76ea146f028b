package quantify

import (
	"math"

	"github.com/credence-lab/credence/measure"
)

// Mass says what a text weighs among others.
type Mass uint8

const (
	// Equal: all texts weigh the same.
	Equal Mass = iota
	// Likely: a text weighs exp((1/T) Σ_t l_t).
	Likely
)

func (m Mass) variant() string { return [...]string{"", "likelihood"}[m] }

func (m Mass) needs(n Needs) Needs {
	if m == Likely {
		n.Answer, n.Sample = LogProbs, LogProbs
	}
	return n
}

// UQLMSemanticEntropy is uqlm's semantic entropy: −Σ_c p_c ln p_c over clusters of the answer and its
// samples, whose masses are brought to the sum 1. A text joins every cluster with whose first text it has
// an entailment in either direction, so that it may be in several.
//
// Uncertainty, range [0, ln(m+1)], in nats. Needs at least 1 sample and the entailment of answer and
// samples among each other, and their tokens where mass is likelihood; m calls and one for each ordered
// pair of distinct texts.
// Source: uqlm 0.6.1, SemanticEntropy (Farquhar et al. 2024).
func UQLMSemanticEntropy(mass Mass) Quantifier {
	return Quantifier{
		ID: id("semantic-entropy", mass.variant(), "uqlm"), Title: "semantic entropy as uqlm has it",
		Formula:     "−Σ_c p_c ln p_c over clusters of answer and samples that may overlap",
		Orientation: measure.Uncertainty, Range: upToLogItems, Units: "nats",
		Needs:  mass.needs(Needs{Samples: 1, Entailment: WithAnswer | AmongSamples}),
		Source: "uqlm 0.6.1 (Farquhar et al. 2024)",
		Peer:   "uqlm SemanticEntropy with its prompt left out",
		of:     exactly(func(v *view) float64 { return v.overlappingEntropy(mass) }),
	}
}

// UQLMSemanticNegentropy is 1 − H / ln(m+1), with H from [UQLMSemanticEntropy].
//
// Confidence, range [0, 1], without units. Needs at least 1 sample and the entailment of answer and samples
// among each other, and their tokens where mass is likelihood; m calls and one for each ordered pair of
// distinct texts.
// Source: uqlm 0.6.1, semantic_negentropy (Bouchard and Chauhan 2025).
func UQLMSemanticNegentropy(mass Mass) Quantifier {
	return Quantifier{
		ID: id("semantic-negentropy", mass.variant(), "uqlm"), Title: "semantic negentropy as uqlm has it",
		Formula:     "1 − H / ln(m+1), H of semantic-entropy.uqlm",
		Orientation: measure.Confidence, Range: unit, Units: "share of ln(m+1)",
		Needs:  mass.needs(Needs{Samples: 1, Entailment: WithAnswer | AmongSamples}),
		Source: "uqlm 0.6.1 (Bouchard and Chauhan 2025)",
		Peer:   "uqlm semantic_negentropy",
		of: exactly(func(v *view) float64 {
			return negentropy(v.overlappingEntropy(mass), len(v.Samples)+1)
		}),
	}
}

// negentropy is how far an entropy lies below its maximum ln n, as a share of it.
func negentropy(h float64, n int) float64 {
	return math.Max(0, 1-h/math.Log(float64(n)))
}

// UQLMSemanticSetsConfidence is (m + 1 − C) / m, C the number of clusters of [UQLMSemanticEntropy].
//
// Confidence, range [0, 1], a share. Needs at least 1 sample and the entailment of answer and samples among
// each other; m calls and one for each ordered pair of distinct texts.
// Source: uqlm 0.6.1, semantic_sets_confidence (Lin, Trivedi and Sun 2024).
func UQLMSemanticSetsConfidence() Quantifier {
	return Quantifier{
		ID: "semantic-sets-confidence.uqlm", Title: "few semantic sets, as uqlm has it",
		Formula:     "(m + 1 − C) / m, C the number of clusters of semantic-entropy.uqlm",
		Orientation: measure.Confidence, Range: unit, Units: "share",
		Needs:  Needs{Samples: 1, Entailment: WithAnswer | AmongSamples},
		Source: "uqlm 0.6.1 (Lin, Trivedi and Sun 2024)",
		Peer:   "uqlm semantic_sets_confidence",
		of: exactly(func(v *view) float64 {
			m := len(v.Samples)
			return float64(m+1-len(v.overlapping())) / float64(m)
		}),
	}
}

// overlapping are uqlm's clusters of the texts, numbered as in [Evidence].
func (v *view) overlapping() [][]int {
	var clusters [][]int
	for i := range len(v.Samples) + 1 {
		placed := false
		for c := range clusters {
			first := clusters[c][0]
			if Either.holds(v.Entailment.At(first, i), v.Entailment.At(i, first)) {
				clusters[c] = append(clusters[c], i)
				placed = true
			}
		}
		if !placed {
			clusters = append(clusters, []int{i})
		}
	}
	return clusters
}

func (v *view) overlappingEntropy(mass Mass) float64 {
	clusters := v.overlapping()
	logs := make([]float64, len(clusters))
	for c, members := range clusters {
		v.logs = v.logs[:0]
		for _, i := range members {
			v.logs = append(v.logs, v.logMass(mass, i))
		}
		logs[c] = logSumExp(v.logs)
	}
	return entropyOfLogs(logs)
}

func (v *view) logMass(mass Mass, i int) float64 {
	switch {
	case mass == Equal:
		return 0
	case i == 0:
		return v.Answer.meanLogProb(WithoutEnd)
	}
	return v.Samples[i-1].meanLogProb(WithoutEnd)
}
