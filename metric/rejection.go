package metric

import (
	"fmt"
	"math"
	"strconv"

	"github.com/credence-lab/credence/measure"
)

// PRR is the prediction–rejection ratio up to rejecting a share of items in (0,1]: how far the score
// lies from random (0) towards the order by quality (1), in the mean quality of the items kept,
// averaged over the numbers of items rejected. Random is exact, the mean quality, where published code
// shuffles. At most 1; higher is better. Undefined where all qualities agree, or where nothing would
// be rejected. It panics if the share is out of range. Source: Malinin and Gales 2021; Vashurin et al.
// 2025.
func PRR(rejected float64) Statistic { return must(prr(rejected)) }

func prr(rejected float64) (Statistic, error) {
	if !(rejected > 0 && rejected <= 1) {
		return Statistic{}, fmt.Errorf("the largest share rejected is %v; it lies in (0,1]", rejected)
	}
	return Statistic{
		ID:         "prr." + decimals(rejected),
		Definition: fmt.Sprintf("(random − model)/(random − oracle), each the mean loss of those kept, averaged over rejecting 0 to %v of the items; expectation over the order of ties.", rejected),
		Source:     "Malinin and Gales 2021; Vashurin et al. 2025",
		Better:     Higher, Needs: AnyScore, Labels: Qualities, Chance: func(*Prepared) float64 { return 0 },
		Bind: func(p *Prepared) Evaluator {
			model, oracle, w := p.expectedLoss(), p.lossIn(p.oracle()), weightsOver(p, rejected)
			return func(counts []uint32) (float64, measure.Reason) {
				n := int(total(counts))
				switch {
				case p.oneLevel(counts):
					return 0, measure.Constant
				case shareOf(rejected, n) < 2: // rejecting nothing is the whole range
					return 0, measure.TooFew
				}
				random := 1 - meanQuality(counts, p.quality)
				return (random - w.sum(model, counts)) / (random - w.sum(oracle, counts)), ""
			}
		},
	}, nil
}

// rejecting makes Σ_k v_k L_k the mean loss of those kept, averaged over rejecting up to a share.
func rejecting(share float64) rankWeights {
	return func(v []float64) {
		steps := shareOf(share, len(v)-1)
		kept := len(v) - steps // the first rank with a weight
		clear(v[:kept])
		for k := kept; k < len(v); k++ {
			v[k] = 1 / float64(steps) / float64(k)
		}
	}
}

// weightsOver are those of rejecting up to a share, which are perItem where all may be rejected.
func weightsOver(p *Prepared, rejected float64) *weights {
	if rejected == 1 {
		return perItemOf(p)
	}
	return &weights{of: rejecting(rejected)}
}

// RejectionArea is the mean quality of the items kept, averaged over the numbers of items rejected up to
// a share in (0,1]; in [0,1], expected over the order of ties. It is what [PRR] sets between random
// and oracle, and what lm-polygraph prints as the area (on qualities scaled to reach from 0 to 1).
// Rejecting all but one item, share 1, gives [AURAC]. Higher is better. Undefined where nothing would
// be rejected. It panics if the share is out of range. Source: Malinin and Gales 2021.
func RejectionArea(rejected float64) Statistic { return must(rejectionArea(rejected)) }

func rejectionArea(rejected float64) (Statistic, error) {
	if !(rejected > 0 && rejected <= 1) {
		return Statistic{}, fmt.Errorf("the largest share rejected is %v; it lies in (0,1]", rejected)
	}
	return Statistic{
		ID:         "rejection-area." + decimals(rejected),
		Definition: fmt.Sprintf("The mean quality of those kept, averaged over rejecting 0 to %v of the items; expectation over the order of ties.", rejected),
		Source:     "Malinin and Gales 2021",
		Better:     Higher, Needs: AnyScore, Labels: Qualities, Chance: func(p *Prepared) float64 { return 1 - meanLoss(p) },
		Bind: func(p *Prepared) Evaluator {
			lost := area(rejecting(rejected))(p)
			return func(counts []uint32) (float64, measure.Reason) {
				if shareOf(rejected, int(total(counts))) < 1 {
					return 0, measure.TooFew
				}
				x, _ := lost(counts)
				return 1 - x, ""
			}
		},
	}, nil
}

func rejectionAreaFamily() Family {
	return Family{Prefix: "rejection-area", Parameters: "{largest share rejected}",
		New: func(parameters string) (Statistic, error) {
			share, err := share(parameters)
			if err != nil {
				return Statistic{}, err
			}
			return rejectionArea(share)
		}}
}

// shareOf is the number of whole items in a share of n. The product of a decimal share and n may fall
// just below the whole number that it stands for.
func shareOf(share float64, n int) int { return int(share*float64(n) + 1e-9) }

// oneLevel reports whether all items of the sample have the same quality.
func (p *Prepared) oneLevel(counts []uint32) bool {
	seen := int32(-1)
	for a, m := range counts {
		if m == 0 {
			continue
		}
		if seen >= 0 && seen != p.levelOf[a] {
			return false
		}
		seen = p.levelOf[a]
	}
	return true
}

func prrFamily() Family {
	return Family{Prefix: "prr", Parameters: "{largest share rejected}", Usual: []string{"1", "0.5"},
		New: func(parameters string) (Statistic, error) {
			share, err := share(parameters)
			if err != nil {
				return Statistic{}, err
			}
			return prr(share)
		}}
}

// RiskAtCoverage is the mean loss of the most confident items when a share of them in (0,1] is
// answered, rounded up to whole items; in [0,1], expected over the order of ties. Lower is better. It
// panics if the share is out of range. Source: Geifman and El-Yaniv 2017.
func RiskAtCoverage(coverage float64) Statistic { return must(riskAtCoverage(coverage)) }

func riskAtCoverage(coverage float64) (Statistic, error) {
	if !(coverage > 0 && coverage <= 1) {
		return Statistic{}, fmt.Errorf("the coverage is %v; it lies in (0,1]", coverage)
	}
	return Statistic{
		ID:         "risk.at-coverage." + decimals(coverage),
		Definition: fmt.Sprintf("Mean loss of the ⌈%v n⌉ most confident; expectation over the order of ties.", coverage),
		Source:     "Geifman and El-Yaniv 2017",
		Better:     Lower, Needs: AnyScore, Labels: Qualities, Chance: meanLoss,
		Bind: area(func(v []float64) {
			n := float64(len(v) - 1)
			answered := max(1, int(math.Ceil(coverage*n-1e-9)))
			clear(v)
			v[answered] = 1 / float64(answered)
		}),
	}, nil
}

func riskAtCoverageFamily() Family {
	return Family{Prefix: "risk.at-coverage", Parameters: "{coverage}", Usual: []string{"0.8"},
		New: func(parameters string) (Statistic, error) {
			share, err := share(parameters)
			if err != nil {
				return Statistic{}, err
			}
			return riskAtCoverage(share)
		}}
}

// CoverageAtRisk is the largest share of items that can be answered, most confident first, at a mean
// loss of at most risk in [0,1]; 0 if not even one. A group of equal confidences can be answered in
// part, at its mean loss. Higher is better. It panics if risk is out of range. Source: Geifman and
// El-Yaniv 2017.
func CoverageAtRisk(risk float64) Statistic { return must(coverageAtRisk(risk)) }

func coverageAtRisk(risk float64) (Statistic, error) {
	if !(risk >= 0 && risk <= 1) {
		return Statistic{}, fmt.Errorf("the risk is %v; it lies in [0,1]", risk)
	}
	return Statistic{
		ID:         "coverage.at-risk." + decimals(risk),
		Definition: fmt.Sprintf("Largest k/n whose k most confident have an expected mean loss of at most %v.", risk),
		Source:     "Geifman and El-Yaniv 2017",
		Better:     Higher, Needs: AnyScore, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator {
			loss := p.loss()
			return func(counts []uint32) (float64, measure.Reason) {
				return float64(p.coveredAt(risk, counts, loss)) / float64(total(counts)), ""
			}
		},
	}, nil
}

// coveredAt is the largest number of answers whose expected mean loss is at most risk. Within a group
// the mean loss moves from that of the answers before towards that of the group, so that the last
// answer that still fits follows from one division.
func (p *Prepared) coveredAt(risk float64, counts []uint32, loss []float64) int64 {
	const slack = 1e-12 // so that .05 of 20 answers allows one loss
	var answered, covered int64
	lost := 0.
	for g, end := range p.groups {
		from := p.groupStart(g)
		items, sum := sumBin(counts[from:end], loss[from:end])
		if items == 0 {
			continue
		}
		budget := risk*float64(answered) - lost + slack*float64(answered+1)
		rate := sum/float64(items) - risk
		switch {
		case rate*float64(items) <= budget:
			covered = answered + items
		case budget >= 0 && rate > 0:
			covered = max(covered, answered+int64(budget/rate))
		}
		answered, lost = answered+items, lost+sum
	}
	return covered
}

func coverageAtRiskFamily() Family {
	return Family{Prefix: "coverage.at-risk", Parameters: "{risk}", Usual: []string{"0.05", "0.2"},
		New: func(parameters string) (Statistic, error) {
			share, err := share(parameters)
			if err != nil {
				return Statistic{}, err
			}
			return coverageAtRisk(share)
		}}
}

func share(parameters string) (float64, error) {
	x, err := strconv.ParseFloat(parameters, 64)
	if err != nil {
		return 0, fmt.Errorf("the share is %q; write for example 0.8", parameters)
	}
	return x, nil
}

func decimals(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
