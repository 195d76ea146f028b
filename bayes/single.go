package bayes

import (
	"fmt"
	"math"
)

// Moments are mean and standard deviation of a posterior, without Monte-Carlo error.
type Moments struct {
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
}

// ExactJudge is the posterior of one judge fitted alone, by quadrature.
type ExactJudge struct {
	Name string `json:"name"`
	// Items is the number of items.
	Items int `json:"items"`
	// Quantities has the moments of all [Quantities] that are polynomials of what is integrated over:
	// not of F1, Precision and NPV.
	Quantities map[Quantity]Moments `json:"quantities"`
	// MeanCorrectness is that of the mean correctness of the items.
	MeanCorrectness Moments `json:"mean_correctness"`
	// LogMarginal is the logarithm of the probability of the judgements under the priors.
	LogMarginal float64 `json:"log_marginal"`
	// Nodes is the number of nodes of the rule, for sensitivity and specificity each.
	Nodes int `json:"nodes"`
}

// exactNodes is the largest rule that is taken at once; with more judgements it is doubled until
// nothing changes any more.
const exactNodes = 512

// FitExactly integrates over the posterior of one judge alone. The likelihood is a polynomial in
// sensitivity and specificity, of as many degrees as there are judgements: up to a thousand of them a
// Gauss–Jacobi rule is exact, and beyond that its size is doubled until means and deviations agree
// to 10⁻¹⁰. It is an error if they never do.
func FitExactly(people []Votes, judge Judge, priors JudgePriors) (*ExactJudge, error) {
	priors, err := priors.withDefaults()
	if err != nil {
		return nil, err
	}
	d := JudgeData{People: people, Judges: []Judge{judge}}
	if err := d.check(); err != nil {
		return nil, err
	}
	patterns := patternsOf(d, priors)
	judgements := 0
	for _, p := range patterns {
		judgements += p.total * len(p.items)
	}
	nodes := judgements/2 + 3 // moments add up to two degrees
	if nodes <= exactNodes {
		return integrateJudge(d, priors, patterns, nodes)
	}
	var coarse *ExactJudge
	for nodes := exactNodes; nodes <= 4*exactNodes; nodes *= 2 {
		fine, err := integrateJudge(d, priors, patterns, nodes)
		if err != nil {
			return nil, err
		}
		if coarse != nil && coarse.near(fine, 1e-10) {
			return fine, nil
		}
		coarse = fine
	}
	return nil, fmt.Errorf("bayes: quadrature for judge %q did not settle with %d nodes; sample instead", judge.Name, 4*exactNodes)
}

func (e *ExactJudge) near(o *ExactJudge, tolerance float64) bool {
	for q, m := range e.Quantities {
		if math.Abs(m.Mean-o.Quantities[q].Mean) > tolerance || math.Abs(m.SD-o.Quantities[q].SD) > tolerance {
			return false
		}
	}
	return true
}

// linear is a quantity as a function of the mean correctness θ: at + slope·θ.
type linear struct{ at, slope float64 }

// linears are the quantities that are linear in the mean correctness, given the judge.
var linears = map[Quantity]func(s, c unit) linear{
	JointTP:  func(s, _ unit) linear { return linear{0, s.p} },
	JointFN:  func(s, _ unit) linear { return linear{0, s.rest} },
	JointTN:  func(_, c unit) linear { return linear{c.p, -c.p} },
	JointFP:  func(_, c unit) linear { return linear{c.rest, -c.rest} },
	TPR:      func(s, _ unit) linear { return linear{s.p, 0} },
	FNR:      func(s, _ unit) linear { return linear{s.rest, 0} },
	TNR:      func(_, c unit) linear { return linear{c.p, 0} },
	FPR:      func(_, c unit) linear { return linear{c.rest, 0} },
	Accuracy: func(s, c unit) linear { return linear{c.p, s.p - c.p} },
}

// integrateJudge sums over a grid of nodes for sensitivity and specificity.
func integrateJudge(d JudgeData, priors JudgePriors, patterns []*pattern, nodes int) (*ExactJudge, error) {
	sensitivity, specificity := priors.of(d.Judges[0])
	sens, err := gaussJacobi(nodes, sensitivity)
	if err != nil {
		return nil, err
	}
	spec, err := gaussJacobi(nodes, specificity)
	if err != nil {
		return nil, err
	}
	items, err := newItemIntegrals(patterns)
	if err != nil {
		return nil, err
	}
	grid := make([]integrand, 0, nodes*nodes)
	top := math.Inf(-1)
	for a := range nodes {
		for b := range nodes {
			g := items.at(unit{p: sens.x[a], rest: sens.rest[a]}, unit{p: spec.x[b], rest: spec.rest[b]})
			g.logWeight += math.Log(sens.w[a]) + math.Log(spec.w[b])
			top = max(top, g.logWeight)
			grid = append(grid, g)
		}
	}
	e := &ExactJudge{Name: d.Judges[0].Name, Items: len(d.People), Nodes: nodes, Quantities: map[Quantity]Moments{}}
	total := 0.0
	for i := range grid {
		grid[i].logWeight = math.Exp(grid[i].logWeight - top)
		total += grid[i].logWeight
	}
	e.LogMarginal = top + math.Log(total)
	moments := func(f func(s, c unit) linear) Moments {
		var mean, square float64
		for i, g := range grid {
			l := f(unit{p: sens.x[i/nodes], rest: sens.rest[i/nodes]}, unit{p: spec.x[i%nodes], rest: spec.rest[i%nodes]})
			w := g.logWeight / total
			x := l.at + l.slope*g.mean
			mean += w * x
			square += w * (x*x + l.slope*l.slope*g.variance)
		}
		return Moments{mean, math.Sqrt(max(0, square-mean*mean))}
	}
	for q, f := range linears {
		e.Quantities[q] = moments(f)
	}
	e.MeanCorrectness = moments(func(_, _ unit) linear { return linear{0, 1} })
	return e, nil
}

// integrand is what is known at one sensitivity and specificity: the weight of the point (first its
// logarithm), and the moments of the mean correctness there.
type integrand struct{ logWeight, mean, variance float64 }

// itemIntegrals integrate over the correctness of the items.
type itemIntegrals struct {
	patterns []*pattern
	rules    []rule
	items    float64
}

func newItemIntegrals(patterns []*pattern) (*itemIntegrals, error) {
	it := &itemIntegrals{patterns: patterns}
	for _, p := range patterns {
		r, err := gaussJacobi(p.total/2+2, p.prior) // the second moment adds two degrees
		if err != nil {
			return nil, err
		}
		it.rules = append(it.rules, r)
		it.items += float64(len(p.items))
	}
	return it, nil
}

func (it *itemIntegrals) at(s, c unit) integrand {
	var out integrand
	for i, p := range it.patterns {
		r := it.rules[i]
		var mass, mean, square float64
		for k, x := range r.x {
			y := r.w[k]
			for _, f := range p.factors {
				y *= power(x*s.p+r.rest[k]*c.rest, f.correct) * power(x*s.rest+r.rest[k]*c.p, f.incorrect)
			}
			mass += y
			mean += y * x
			square += y * x * x
		}
		n := float64(len(p.items))
		mean, square = mean/mass, square/mass
		out.logWeight += n * math.Log(mass)
		out.mean += n * mean / it.items
		out.variance += n * (square - mean*mean) / (it.items * it.items)
	}
	return out
}

// power is x to the n, which is nearly always 0 or 1.
func power(x float64, n int) float64 {
	switch n {
	case 0:
		return 1
	case 1:
		return x
	}
	return math.Pow(x, float64(n))
}
