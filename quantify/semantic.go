package quantify

import (
	"math"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

// SemanticEntropy is the entropy of meanings by relative frequency: −Σ_c p_c ln p_c, where p_c is the share
// of the samples in class c of equal meaning, repetitions included.
//
// Uncertainty, range [0, ln m], in nats. Needs at least 2 samples and their entailment; m calls and one for
// each ordered pair of distinct samples.
// Source: Ilia and Aziz 2026, appendix C.1, equation 7 (strict equivalence, texts alone); Kuhn et al. 2023;
// Farquhar et al. 2024, who relate the texts after the question and name it discrete semantic entropy.
func SemanticEntropy(eq Equivalence, premise Premise) Quantifier {
	return Quantifier{
		ID: id("semantic-entropy", eq.variant(), premise.variant()), Title: "semantic entropy, " + eq.String() + premise.inWords(),
		Formula:     "−Σ_c p_c ln p_c, p_c the share of samples in class c",
		Orientation: measure.Uncertainty, Range: upToLogM, Units: "nats",
		Needs:  premise.needs(Needs{Samples: 2}, AmongSamples),
		Source: "Ilia and Aziz 2026, appendix C.1, equation 7 (Kuhn et al. 2023; Farquhar et al. 2024)",
		Peer: only(eq == Strict, [...]string{
			"lm-polygraph SemanticEntropyEmpirical", "semantic_uncertainty cluster_assignment_entropy",
		}[premise]),
		of: exactly(func(v *view) float64 {
			ids, n := v.classes(eq, premise)
			return entropyOfCounts(countClasses(ids, n))
		}),
	}
}

// LikelihoodSemanticEntropy is the entropy of meanings weighted by likelihood: −Σ_c p_c ln p_c, where a
// sample weighs exp((1/T_i) Σ_t l_it), weights are brought to the sum 1 over the samples, and p_c is the
// sum of class c.
//
// Uncertainty, range [0, ln m], in nats. Needs the tokens of at least 2 samples and their entailment; m
// calls and one for each ordered pair of distinct samples.
// Source: Farquhar et al. 2024, methods (the Rao form); Kuhn et al. 2023, section 4.
func LikelihoodSemanticEntropy(eq Equivalence, premise Premise) Quantifier {
	return Quantifier{
		ID:          id("semantic-entropy.likelihood", eq.variant(), premise.variant()),
		Title:       "semantic entropy weighted by likelihood, " + eq.String() + premise.inWords(),
		Formula:     "−Σ_c p_c ln p_c, p_c ∝ Σ_{i∈c} exp((1/T_i) Σ_t l_it)",
		Orientation: measure.Uncertainty, Range: upToLogM, Units: "nats",
		Needs:  premise.needs(Needs{Samples: 2, Sample: LogProbs}, AmongSamples),
		Source: "Farquhar et al. 2024, methods; Kuhn et al. 2023, section 4",
		Peer:   only(eq == Strict && premise == AfterQuestion, "semantic_uncertainty semantic_entropy"),
		of: exactly(func(v *view) float64 {
			ids, n := v.classes(eq, premise)
			return entropyOfLogs(v.classLogs(ids, n, ByToken, false))
		}),
	}
}

// classLogs are the logarithms of the classes' masses, not brought to the sum 1. Distinct counts each text
// of a class once, with the probability of its first sample.
func (v *view) classLogs(ids []int, n int, normalisation Normalisation, distinct bool) []float64 {
	logs := make([]float64, n)
	for class := range logs {
		v.logs = v.logs[:0]
		seen := map[string]bool{}
		for i, c := range ids {
			s := &v.Samples[i]
			if c != class || (distinct && seen[s.Text]) {
				continue
			}
			seen[s.Text] = true
			v.logs = append(v.logs, normalisation.logProb(s, WithoutEnd))
		}
		logs[class] = logSumExp(v.logs)
	}
	return logs
}

// LMPolygraphSemanticEntropy is lm-polygraph's default of that name: −(1/m) Σ_i L_c(i), where
// L_c = ln Σ_{j∈c} exp(Σ_t l_jt) over the samples of a class, added again where a text repeats unless
// distinct. The masses are not brought to the sum 1, so that the value can be negative.
//
// Uncertainty, range (−∞, ∞), in nats. Needs the tokens of at least 2 samples and their entailment; m calls
// and one for each ordered pair of distinct samples.
// Source: lm-polygraph 0.7.0, SemanticEntropy (class sum, mean over samples).
func LMPolygraphSemanticEntropy(distinct bool) Quantifier {
	q := Quantifier{
		ID: "semantic-entropy.lm-polygraph", Title: "semantic entropy as lm-polygraph has it",
		Formula:     "−(1/m) Σ_i ln Σ_{j∈c(i)} exp(Σ_t l_jt)",
		Orientation: measure.Uncertainty, Range: line, Units: "nats",
		Needs:  Needs{Samples: 2, Sample: LogProbs, Entailment: AmongSamples},
		Source: "lm-polygraph 0.7.0 (after Kuhn et al. 2023)",
		Peer:   "lm-polygraph SemanticEntropy",
		of: exactly(func(v *view) float64 {
			ids, n := v.classes(Strict, TextsAlone)
			logs := v.classLogs(ids, n, BySum, distinct)
			sum := 0.0
			for _, class := range ids {
				sum -= logs[class]
			}
			return sum / float64(len(ids))
		}),
	}
	if distinct {
		q.ID, q.Title = "semantic-entropy.distinct.lm-polygraph", q.Title+", each text once"
		q.Peer += " with the unique flag"
	}
	return q
}

// SemanticModalShare is the share of the samples in the largest class of equal meaning.
//
// Confidence, range [0, 1] (at least 1/m), a share. Needs at least 1 sample and the samples' entailment; m
// calls and one for each ordered pair of distinct samples.
// Source: Wang et al. 2023, with classes of meaning (Kuhn et al. 2023).
func SemanticModalShare(eq Equivalence, premise Premise) Quantifier {
	return Quantifier{
		ID:          id("semantic-modal-share", eq.variant(), premise.variant()),
		Title:       "share of the most frequent meaning, " + eq.String() + premise.inWords(),
		Formula:     "max_c p_c, p_c the share of samples in class c",
		Orientation: measure.Confidence, Range: unit, Units: "share of samples",
		Needs:  premise.needs(Needs{Samples: 1}, AmongSamples),
		Source: "Wang et al. 2023, with classes of Kuhn et al. 2023",
		Peer:   only(eq == Strict && premise == TextsAlone, "lm-polygraph LabelProb, which is 1 minus it"),
		of: exactly(func(v *view) float64 {
			ids, n := v.classes(eq, premise)
			return largestShare(countClasses(ids, n))
		}),
	}
}

// SemanticAgreement is the share of the samples that mean what the answer means.
//
// Confidence, range [0, 1], a share. Needs at least 1 sample and its entailment with the answer in both
// directions; m calls and two for each distinct sample that is not the answer.
// Source: Manakul et al. 2023 and Wang et al. 2023, with the equivalence of Kuhn et al. 2023.
func SemanticAgreement(eq Equivalence, premise Premise) Quantifier {
	return Quantifier{
		ID:          id("semantic-agreement", eq.variant(), premise.variant()),
		Title:       "share of samples that mean the answer, " + eq.String() + premise.inWords(),
		Formula:     "(1/m) Σ_i [y_i ≡ y]",
		Orientation: measure.Confidence, Range: unit, Units: "share of samples",
		Needs:  premise.needs(Needs{Samples: 1}, WithAnswer),
		Source: "Wang et al. 2023, with the equivalence of Kuhn et al. 2023",
		of: exactly(func(v *view) float64 {
			r, n := premise.of(v.Evidence), 0
			for i := range v.Samples {
				if eq.holds(r.At(0, i+1), r.At(i+1, 0)) {
					n++
				}
			}
			return float64(n) / float64(len(v.Samples))
		}),
	}
}

// SemanticClasses is the number of classes of equal meaning among the samples, as [SemanticEntropy] forms
// them.
//
// Uncertainty, range [1, m], a count. Needs at least 1 sample and the samples' entailment; m calls and one
// for each ordered pair of distinct samples.
// Source: Kuhn et al. 2023, section 4 and algorithm 1.
func SemanticClasses(eq Equivalence, premise Premise) Quantifier {
	return Quantifier{
		ID:          id("semantic-classes", eq.variant(), premise.variant()),
		Title:       "number of meanings, " + eq.String() + premise.inWords(),
		Formula:     "number of classes c",
		Orientation: measure.Uncertainty, Range: oneToM, Units: "classes",
		Needs:  premise.needs(Needs{Samples: 1}, AmongSamples),
		Source: "Kuhn et al. 2023, algorithm 1",
		of: exactly(func(v *view) float64 {
			_, n := v.classes(eq, premise)
			return float64(n)
		}),
	}
}

// SemanticSets is the number of semantic sets: the connected components of the graph that joins two
// samples where entailment is more probable than contradiction in both directions. Unlike
// [SemanticClasses] it does not depend on the order of the samples.
//
// Uncertainty, range [1, m], a count. Needs at least 1 sample and the samples' entailment; m calls and one
// for each ordered pair of distinct samples.
// Source: Lin, Trivedi and Sun 2024, section 4.1 (U_NumSet).
func SemanticSets(premise Premise) Quantifier {
	return Quantifier{
		ID: id("semantic-sets", premise.variant()), Title: "number of semantic sets" + premise.inWords(),
		Formula:     "connected components where p_e > p_c in both directions",
		Orientation: measure.Uncertainty, Range: oneToM, Units: "sets",
		Needs:  premise.needs(Needs{Samples: 1}, AmongSamples),
		Source: "Lin, Trivedi and Sun 2024, section 4.1",
		Peer:   only(premise == TextsAlone, "lm-polygraph NumSemSets"),
		of: exactly(func(v *view) float64 {
			r := premise.of(v.Evidence)
			return float64(components(len(v.Samples), func(i, j int) bool {
				there, back := r.At(i+1, j+1), r.At(j+1, i+1)
				return there.Entails > there.Contradicts && back.Entails > back.Contradicts
			}))
		}),
	}
}

// components counts the connected components of a graph of n nodes.
func components(n int, joined func(i, j int) bool) int {
	seen, count := make([]bool, n), 0
	for start := range n {
		if seen[start] {
			continue
		}
		count++
		seen[start] = true
		for open := []int{start}; len(open) > 0; {
			i := open[len(open)-1]
			open = open[:len(open)-1]
			for j := range n {
				if !seen[j] && joined(i, j) {
					seen[j] = true
					open = append(open, j)
				}
			}
		}
	}
	return count
}

// Contradiction says in which direction a sample must contradict the answer to count against it.
type Contradiction uint8

const (
	// Forward: with the answer as premise. The default; the paper does not say.
	Forward Contradiction = iota
	// InEither: in one direction or the other.
	InEither
	// InBoth: in both directions.
	InBoth
)

func (c Contradiction) variant() string { return [...]string{"", "either", "both"}[c] }

func (c Contradiction) pairs() Pairs {
	if c == Forward {
		return FromAnswer
	}
	return WithAnswer
}

func (c Contradiction) holds(r *Relations, i int) bool {
	against := func(cell Relation) bool { return cell.Contradicts > cell.Entails+cell.Neither }
	switch c {
	case InEither:
		return against(r.At(0, i)) || against(r.At(i, 0))
	case InBoth:
		return against(r.At(0, i)) && against(r.At(i, 0))
	}
	return against(r.At(0, i))
}

// SemanticConfidence is the share of the samples that do not contradict the answer: 1 − (1/m) Σ_i [y_i ≠ y].
// A sample contradicts it where contradiction is more probable than entailment and neither together.
//
// Confidence, range [0, 1], a share. Needs at least 1 sample and its entailment with the answer; m calls
// and one or two for each distinct sample that is not the answer.
// Source: Ilia and Aziz 2026, appendix C.1, equation 8 (Yona et al. 2024).
func SemanticConfidence(direction Contradiction, premise Premise) Quantifier {
	words := [...]string{"", ", in either direction", ", in both directions"}[direction]
	return Quantifier{
		ID: id("semantic-confidence", direction.variant(), premise.variant()), Title: "semantic confidence" + words + premise.inWords(),
		Formula:     "1 − (1/m) Σ_i [p_c > p_e + p_n]",
		Orientation: measure.Confidence, Range: unit, Units: "share of samples",
		Needs:  premise.needs(Needs{Samples: 1}, direction.pairs()),
		Source: "Ilia and Aziz 2026, appendix C.1, equation 8 (Yona et al. 2024)",
		of: exactly(func(v *view) float64 {
			r, n := premise.of(v.Evidence), 0
			for i := range v.Samples {
				if !direction.holds(r, i+1) {
					n++
				}
			}
			return float64(n) / float64(len(v.Samples))
		}),
	}
}

// EntailmentAgreement is how far answer and samples entail each other:
// (1/m) Σ_i ½ (p_e(y → y_i) + p_e(y_i → y)).
//
// Confidence, range [0, 1], a probability. Needs at least 1 sample and its entailment with the answer in
// both directions; m calls and two for each distinct sample that is not the answer.
// Source: Lin, Trivedi and Sun 2024, section 4.2 (C_Deg on entailment); Bouchard and Chauhan 2025.
func EntailmentAgreement(premise Premise) Quantifier {
	return Quantifier{
		ID: id("entailment-agreement", premise.variant()), Title: "mean entailment of answer and samples" + premise.inWords(),
		Formula:     "(1/m) Σ_i ½ (p_e(y→y_i) + p_e(y_i→y))",
		Orientation: measure.Confidence, Range: unit, Units: "probability",
		Needs:  premise.needs(Needs{Samples: 1}, WithAnswer),
		Source: "Lin, Trivedi and Sun 2024, section 4.2; Bouchard and Chauhan 2025",
		Peer:   only(premise == TextsAlone, "uqlm entailment"),
		of:     bothWays(func(r Relation) float64 { return r.Entails }, premise),
	}
}

// Noncontradiction is how far answer and samples do not contradict each other:
// (1/m) Σ_i (1 − ½ (p_c(y → y_i) + p_c(y_i → y))).
//
// Confidence, range [0, 1], a probability. Needs at least 1 sample and its entailment with the answer in
// both directions; m calls and two for each distinct sample that is not the answer.
// Source: Chen and Mueller 2024; Lin, Trivedi and Sun 2024, section 4.2 (C_Deg on contradiction).
func Noncontradiction(premise Premise) Quantifier {
	return Quantifier{
		ID: id("noncontradiction", premise.variant()), Title: "mean noncontradiction of answer and samples" + premise.inWords(),
		Formula:     "(1/m) Σ_i (1 − ½ (p_c(y→y_i) + p_c(y_i→y)))",
		Orientation: measure.Confidence, Range: unit, Units: "probability",
		Needs:  premise.needs(Needs{Samples: 1}, WithAnswer),
		Source: "Chen and Mueller 2024; Lin, Trivedi and Sun 2024, section 4.2",
		Peer:   only(premise == TextsAlone, "uqlm noncontradiction"),
		of:     bothWays(func(r Relation) float64 { return 1 - r.Contradicts }, premise),
	}
}

// bothWays makes the mean over samples and both directions of a probability.
func bothWays(of func(Relation) float64, premise Premise) func(*view) record.Number {
	return exactly(func(v *view) float64 {
		r, sum := premise.of(v.Evidence), 0.0
		for i := range v.Samples {
			sum += (of(r.At(0, i+1)) + of(r.At(i+1, 0))) / 2
		}
		return math.Max(0, math.Min(1, sum/float64(len(v.Samples))))
	})
}

// LUQ is the mean over pairs of samples of how little one is supported by the other:
// 1 − (1/(m(m−1))) Σ_{i≠j} p_e/(p_e + p_c), over whole texts. The paper splits long samples into sentences;
// a short answer is one.
//
// Uncertainty, range [0, 1], without units. Needs at least 2 samples and their entailment; m calls and one
// for each ordered pair of distinct samples. Missing where a pair has neither entailment nor contradiction.
// Source: Zhang et al. 2024, section 3.
func LUQ(premise Premise) Quantifier {
	return Quantifier{
		ID: id("luq", premise.variant()), Title: "LUQ over whole texts" + premise.inWords(),
		Formula:     "1 − (1/(m(m−1))) Σ_{i≠j} p_e/(p_e + p_c)",
		Orientation: measure.Uncertainty, Range: unit, Units: "share",
		Needs:  premise.needs(Needs{Samples: 2}, AmongSamples),
		Source: "Zhang et al. 2024, section 3",
		Peer:   only(premise == TextsAlone, "lm-polygraph LUQ"),
		of: exactly(func(v *view) float64 {
			r := premise.of(v.Evidence)
			support := func(cell Relation) float64 { return cell.Entails / (cell.Entails + cell.Contradicts) }
			return 1 - v.meanOfPairs(func(i, j int) float64 {
				return (support(r.At(i+1, j+1)) + support(r.At(j+1, i+1))) / 2
			})
		}),
	}
}
