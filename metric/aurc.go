package metric

import (
	"math"

	"github.com/credence-lab/credence/measure"
)

func selectiveFamilies() []Family {
	return []Family{
		single(AURC()), single(aurcTieMin()), single(aurcTieMax()), single(aurcOracle()),
		single(EAURC()), single(eaurcClosedForm()), single(AUGRC()),
		single(AURAC()), single(auracTrapezoid()),
		prrFamily(), rejectionAreaFamily(), coverageAtRiskFamily(), riskAtCoverageFamily(),
	}
}

// AURC is the area under the risk–coverage curve, (1/n) Σ_k L_k/k: the mean over k of the risk among
// the k most confident, expected over the order of ties; in [0,1]. Lower is better. Sources: Geifman
// and El-Yaniv 2017; "Same Answer, Different Confidence", Appendix A.
func AURC() Statistic {
	return Statistic{
		ID:         "aurc.expected",
		Definition: "(1/n) Σ_k L_k/k, L_k the loss of the k most confident; expectation over the order of ties.",
		Source:     "Geifman and El-Yaniv 2017",
		Better:     Lower, Needs: AnyScore, Labels: Qualities, Chance: meanLoss,
		Bind: areaPerItem(byConfidence),
	}
}

// perItem makes Σ_k v_k L_k the mean over k of the risk L_k/k.
func perItem(v []float64) {
	share := 1 / float64(len(v)-1)
	for k := range v {
		v[k] = share / float64(k)
	}
}

func aurcTieMin() Statistic {
	s := AURC()
	s.ID, s.Chance = "aurc.tie-min", nil
	s.Definition = "Smallest (1/n) Σ_k L_k/k that some order of the ties gives."
	s.Bind = areaPerItem(bestTies)
	return s
}

func aurcTieMax() Statistic {
	s := AURC()
	s.ID, s.Chance = "aurc.tie-max", nil
	s.Definition = "Largest (1/n) Σ_k L_k/k that some order of the ties gives."
	s.Bind = areaPerItem(worstTies)
	return s
}

func aurcOracle() Statistic {
	s := AURC()
	s.ID, s.Chance = "aurc.oracle", nil
	s.Definition = "(1/n) Σ_k L_k/k of the order by quality, the least that any score can have on these labels."
	s.Bind = areaPerItem(byQuality)
	return s
}

// EAURC is the excess of AURC over that of a score that orders by quality; at least 0. It is taken on
// the n items at hand; the closed form of the paper is its limit and has an id of its own. Lower is
// better. Source: Geifman, Uziel and El-Yaniv 2019.
func EAURC() Statistic {
	return Statistic{
		ID:         "eaurc",
		Definition: "aurc.expected − aurc.oracle, both on these n items.",
		Source:     "Geifman, Uziel and El-Yaniv 2019",
		Better:     Lower, Needs: AnyScore, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator {
			aurc, oracle := AURC().Bind(p), aurcOracle().Bind(p)
			return func(counts []uint32) (float64, measure.Reason) {
				area, _ := aurc(counts)
				least, _ := oracle(counts)
				return max(0, area-least), ""
			}
		},
	}
}

func eaurcClosedForm() Statistic {
	s := EAURC()
	s.ID = "eaurc.closed-form"
	s.Definition = "aurc.expected − (r + (1−r) ln(1−r)) with r the mean loss: the limit of eaurc for many items with labels 0 and 1."
	s.Bind = func(p *Prepared) Evaluator {
		aurc := AURC().Bind(p)
		return func(counts []uint32) (float64, measure.Reason) {
			area, _ := aurc(counts)
			kept := meanQuality(counts, p.quality)
			if kept == 0 {
				return area - 1, ""
			}
			return area - (1 - kept) - kept*math.Log(kept), ""
		}
	}
	return s
}

// AUGRC is the area under the generalised risk–coverage curve, (1/n) Σ_k L_k/n: the mean over k of the
// share of all items that are answered and lost; in [0,1], expected over the order of ties. Lower is
// better. Source: Traub et al. 2024.
func AUGRC() Statistic {
	return Statistic{
		ID:         "augrc.expected",
		Definition: "(1/n) Σ_k L_k/n, L_k the loss of the k most confident; expectation over the order of ties.",
		Source:     "Traub et al. 2024",
		Better:     Lower, Needs: AnyScore, Labels: Qualities,
		Bind: area(func(v []float64) {
			n := float64(len(v) - 1)
			for k := range v {
				v[k] = 1 / (n * n)
			}
		}),
	}
}

// AURAC is the area under the rejection–accuracy curve as a mean: (1/n) Σ_k of the mean quality of the
// k most confident, expected over the order of ties, which is 1 − AURC. Higher is better. Source:
// Farquhar et al. 2024; Nadeem, Zucker and Hanczar 2009.
func AURAC() Statistic {
	return Statistic{
		ID:         "aurac.mean",
		Definition: "(1/n) Σ_k mean quality of the k most confident = 1 − aurc.expected.",
		Source:     "Nadeem, Zucker and Hanczar 2009",
		Better:     Higher, Needs: AnyScore, Labels: Qualities, Chance: func(p *Prepared) float64 { return 1 - meanLoss(p) },
		Bind: func(p *Prepared) Evaluator {
			aurc := AURC().Bind(p)
			return func(counts []uint32) (float64, measure.Reason) {
				area, _ := aurc(counts)
				return 1 - area, ""
			}
		},
	}
}

func auracTrapezoid() Statistic {
	s := AURAC()
	s.ID = "aurac.trapezoid"
	s.Definition = "Trapezoid area over n equal steps of the mean quality of the k most confident, k = 1..n; expectation over the order of ties."
	s.Bind = func(p *Prepared) Evaluator {
		lost := area(func(v []float64) {
			n := len(v) - 1
			step := 1 / float64(n-1)
			for k := range v {
				v[k] = step / float64(k)
			}
			v[1], v[n] = v[1]/2, v[n]/2
		})(p)
		return func(counts []uint32) (float64, measure.Reason) {
			if total(counts) < 2 {
				return 0, measure.TooFew
			}
			area, _ := lost(counts)
			return 1 - area, ""
		}
	}
	return s
}
