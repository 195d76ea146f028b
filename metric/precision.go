package metric

import "github.com/credence-lab/credence/measure"

// Class is one of the two classes that answers fall into.
type Class string

const (
	Correct   Class = "correct"
	Incorrect Class = "incorrect"
)

// AveragePrecision is Σ (R_k − R_{k−1}) P_k over the distinct scores, recall and precision of finding
// the class: correct answers from the most confident down (AUPRC-P), or incorrect ones from the least
// confident up (AUPRC-N). Equal scores enter together. It lies in [0,1]; a score that knows nothing
// gets the share of the class. Higher is better. Undefined where the class is empty. Source: Davis and
// Goadrich 2006; scikit-learn's average_precision_score.
func AveragePrecision(of Class) Statistic {
	return precisionStatistic("ap."+string(of), of,
		"Σ (R_k − R_{k−1}) P_k over distinct scores, recall and precision of finding "+string(of)+" answers.",
		func(a precisionAreas) float64 { return a.steps })
}

// TrapezoidPR is the area under the precision–recall curve by trapezoids from the invented point of
// recall 0 and precision 1. A constant score gets (1 + share of the class)/2, so prefer
// [AveragePrecision]; this is for comparison with what others report. In [0,1]; higher is better.
// Undefined where the class is empty. Source: Davis and Goadrich 2006.
func TrapezoidPR(of Class) Statistic {
	s := precisionStatistic("pr-trapezoid."+string(of), of,
		"Σ (R_k − R_{k−1})(P_k + P_{k−1})/2 over distinct scores from R_0 = 0, P_0 = 1, of finding "+string(of)+" answers.",
		func(a precisionAreas) float64 { return a.trapezoids })
	s.Chance = nil
	return s
}

func precisionStatistic(id string, of Class, definition string, area func(precisionAreas) float64) Statistic {
	return Statistic{
		ID: id, Definition: definition, Source: "Davis and Goadrich 2006",
		Better: Higher, Needs: AnyScore, Labels: Classes,
		Chance: func(p *Prepared) float64 {
			hits, misses := split(p.counts, p.correctMask())
			if of == Incorrect {
				hits, misses = misses, hits
			}
			return float64(hits) / float64(hits+misses)
		},
		Bind: func(p *Prepared) Evaluator {
			areas := sharing(p, precisionKey(of), func(counts []uint32) precisionAreas { return p.underPrecision(counts, of) })
			return func(counts []uint32) (float64, measure.Reason) {
				under := areas(counts)
				if under.wanted == 0 {
					return 0, measure.OneClass
				}
				return area(under), ""
			}
		},
	}
}

// precisionAreas are the areas under the precision–recall curve of finding the wanted items, by steps and
// by trapezoids.
type precisionAreas struct {
	wanted            uint64
	steps, trapezoids float64
}

type precisionKey Class

func (p *Prepared) underPrecision(counts []uint32, of Class) precisionAreas {
	correct, incorrectFirst := p.correctMask(), of == Incorrect
	wanted, others := split(counts, correct)
	if incorrectFirst {
		wanted = others
	}
	under := precisionAreas{wanted: wanted}
	var found, seen uint64
	previous := 1.
	for i := range p.groups {
		g := i
		if incorrectFirst {
			g = len(p.groups) - 1 - i
		}
		from, to := p.groupStart(g), p.groups[g]
		hits, misses := split(counts[from:to], correct[from:to])
		if hits+misses == 0 {
			continue
		}
		if incorrectFirst {
			hits, misses = misses, hits
		}
		found, seen = found+hits, seen+hits+misses
		step, precision := float64(hits)/float64(wanted), float64(found)/float64(seen)
		under.steps += step * precision
		under.trapezoids += step * (precision + previous) / 2
		previous = precision
	}
	return under
}
