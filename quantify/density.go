package quantify

import (
	"math"

	"github.com/credence-lab/credence/measure"
)

// SemanticDensity is how much of the samples' probability lies near the answer in meaning:
// Σ_i p_i k_i / Σ_i p_i over the distinct texts of the samples. p_i = exp((1/T_i) Σ_t l_it) is that of a
// text's first sample, k_i = 1 − (p_c + ½ p_n) with the answer as premise.
//
// Confidence, range [0, 1], without units. Needs the tokens of at least 1 sample and its entailment with
// the answer; m calls and one for each distinct sample that is not the answer.
// Source: Qiu and Miikkulainen 2024, section 3, who relate the texts after the question.
func SemanticDensity(premise Premise) Quantifier {
	return Quantifier{
		ID: id("semantic-density", premise.variant()), Title: "semantic density" + premise.inWords(),
		Formula:     "Σ_i p_i k_i / Σ_i p_i over distinct texts, k_i = 1 − (p_c + ½ p_n)",
		Orientation: measure.Confidence, Range: unit, Units: "share of probability",
		Needs:  premise.needs(Needs{Samples: 1, Sample: LogProbs}, FromAnswer),
		Source: "Qiu and Miikkulainen 2024, section 3",
		of: exactly(func(v *view) float64 {
			return v.density(premise, v.firstOfEach(), false)
		}),
	}
}

// UQLMSemanticDensity is [SemanticDensity] over all samples, repeated texts as often as they come:
// Σ_i p_i k_i / Σ_i p_i.
//
// Confidence, range [0, 1], without units. Needs the tokens of at least 1 sample and its entailment with
// the answer; m calls and one for each distinct sample that is not the answer.
// Source: uqlm 0.6.1, semantic_density (Qiu and Miikkulainen 2024).
func UQLMSemanticDensity(premise Premise) Quantifier {
	return Quantifier{
		ID: id("semantic-density", premise.variant(), "uqlm"), Title: "semantic density as uqlm has it" + premise.inWords(),
		Formula:     "Σ_i p_i k_i / Σ_i p_i over all samples",
		Orientation: measure.Confidence, Range: unit, Units: "share of probability",
		Needs:  premise.needs(Needs{Samples: 1, Sample: LogProbs}, FromAnswer),
		Source: "uqlm 0.6.1 (Qiu and Miikkulainen 2024)",
		Peer:   only(premise == AfterQuestion, "uqlm semantic_density"),
		of: exactly(func(v *view) float64 {
			all := make([]int, len(v.Samples))
			for i := range all {
				all[i] = i
			}
			return v.density(premise, all, false)
		}),
	}
}

// LMPolygraphSemanticDensity is [SemanticDensity] with the answer itself among the texts, k = 1.
//
// Confidence, range [0, 1], without units. Needs the tokens of the answer and of at least 1 sample, and
// its entailment with the answer; m calls and one for each distinct sample that is not the answer.
// Source: lm-polygraph 0.7.0, SemanticDensity (Qiu and Miikkulainen 2024).
func LMPolygraphSemanticDensity(premise Premise) Quantifier {
	return Quantifier{
		ID: id("semantic-density", premise.variant(), "lm-polygraph"), Title: "semantic density as lm-polygraph has it" + premise.inWords(),
		Formula:     "(p + Σ_i p_i k_i) / (p + Σ_i p_i) over distinct texts",
		Orientation: measure.Confidence, Range: unit, Units: "share of probability",
		Needs:  premise.needs(Needs{Answer: LogProbs, Samples: 1, Sample: LogProbs}, FromAnswer),
		Source: "lm-polygraph 0.7.0 (Qiu and Miikkulainen 2024)",
		Peer:   [...]string{"lm-polygraph SemanticDensityOutput, negated", "lm-polygraph SemanticDensity, negated"}[premise],
		of: exactly(func(v *view) float64 {
			return v.density(premise, v.firstOfEach(), true)
		}),
	}
}

// density sums over some of the samples, and the answer where it counts.
func (v *view) density(premise Premise, samples []int, answer bool) float64 {
	r, near, all := premise.of(v.Evidence), 0.0, 0.0
	if answer {
		all = math.Exp(v.Answer.meanLogProb(WithoutEnd))
		near = all
	}
	for _, i := range samples {
		p, cell := math.Exp(v.Samples[i].meanLogProb(WithoutEnd)), r.At(0, i+1)
		all += p
		near += p * math.Max(0, 1-cell.Contradicts-cell.Neither/2)
	}
	return near / all
}

// firstOfEach are the samples whose text no earlier one has.
func (v *view) firstOfEach() []int {
	ids, counts := v.texts()
	first := make([]int, 0, len(counts))
	for i, id := range ids {
		if id == len(first) {
			first = append(first, i)
		}
	}
	return first
}
