package bayes

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// marginal is the posterior of sensitivities and specificities with the correctness of the items
// integrated out, on the logit scale: first all sensitivities, then all specificities.
//
// Given the judges, the likelihood of an item is a polynomial in its correctness, of as many degrees
// as there are judgements on it, so that a Gauss–Jacobi rule with half as many nodes is the integral
// itself and no approximation.
type marginal struct {
	sensitivity, specificity []Beta
	groups                   []*group // read-only, shared by all forks

	work []workspace // of each group
	sens []unit
	spec []unit
}

// group has the patterns of one prior.
type group struct {
	rule
	blocks         []block
	weights        []float64 // the number of items of each pattern
	judges         []int     // those with judgements in this group
	correct, wrong []float64 // the number of judgements of each judge over all items
}

func newMarginal(d JudgeData, p JudgePriors, patterns []*pattern) (*marginal, error) {
	m := &marginal{}
	for _, j := range d.Judges {
		sensitivity, specificity := p.of(j)
		m.sensitivity = append(m.sensitivity, sensitivity)
		m.specificity = append(m.specificity, specificity)
	}
	for _, alike := range byPrior(patterns) {
		g, err := newGroup(alike, len(d.Judges))
		if err != nil {
			return nil, err
		}
		m.groups = append(m.groups, g)
	}
	return m.Fork().(*marginal), nil
}

func newGroup(patterns []*pattern, judges int) (*group, error) {
	g := &group{blocks: blocksOf(patterns, judges), correct: make([]float64, judges), wrong: make([]float64, judges)}
	most := 0
	for _, p := range patterns {
		n := float64(len(p.items))
		g.weights = append(g.weights, n)
		most = max(most, p.total)
		for _, f := range p.factors {
			g.correct[f.judge] += n * float64(f.correct)
			g.wrong[f.judge] += n * float64(f.incorrect)
		}
	}
	for j := range judges {
		if g.correct[j]+g.wrong[j] > 0 {
			g.judges = append(g.judges, j)
		}
	}
	var err error
	g.rule, err = gaussJacobi(most/2+1, patterns[0].prior)
	return g, err
}

// workspace is the memory of one group. Each row of a table has a number for each point of the rule.
type workspace struct {
	yes, no             [][]float64 // of each judge, how probable each judgement is, over its largest value
	yesScale, noScale   []float64
	gradYes, gradNo     [][]float64 // of each judge, how often each judgement was made, by node
	products, responses [][]float64 // of each block, a table by node of the tree
	point               []float64
}

// Dim is twice the number of judges.
func (m *marginal) Dim() int { return 2 * len(m.sensitivity) }

// Fork returns an equal model with memory of its own.
func (m *marginal) Fork() Model {
	judges := len(m.sensitivity)
	f := &marginal{
		sensitivity: m.sensitivity, specificity: m.specificity, groups: m.groups,
		sens: make([]unit, judges), spec: make([]unit, judges),
	}
	for _, g := range m.groups {
		points := len(g.x)
		table := func(rows int) [][]float64 {
			t, all := make([][]float64, rows), make([]float64, rows*points)
			for i := range t {
				t[i] = all[i*points : (i+1)*points : (i+1)*points]
			}
			return t
		}
		w := workspace{
			yes: table(judges), no: table(judges), gradYes: table(judges), gradNo: table(judges),
			yesScale: make([]float64, judges), noScale: make([]float64, judges), point: make([]float64, points),
		}
		for _, b := range g.blocks {
			w.products = append(w.products, make([]float64, len(b.nodes)*points))
			w.responses = append(w.responses, make([]float64, len(b.nodes)*points))
		}
		f.work = append(f.work, w)
	}
	return f
}

// LogDensityGradient is that of the posterior, the Jacobian of the logit included.
func (m *marginal) LogDensityGradient(q, grad []float64) float64 {
	judges := len(m.sens)
	total := 0.0
	for j := range judges {
		s, c := unitOf(q[j]), unitOf(q[judges+j])
		m.sens[j], m.spec[j] = s, c
		a, b := m.sensitivity[j], m.specificity[j]
		total += a.A*s.logP + a.B*s.logRest + b.A*c.logP + b.B*c.logRest
		grad[j] = a.A*s.rest - a.B*s.p
		grad[judges+j] = b.A*c.rest - b.B*c.p
	}
	for i, g := range m.groups {
		total += m.likelihood(g, &m.work[i], grad)
	}
	return total
}

// likelihood of the patterns of one group; its gradient is added to grad.
func (m *marginal) likelihood(g *group, w *workspace, grad []float64) float64 {
	total := m.judgements(g, w)
	g.multiply(w)
	total += g.integrate(w)
	g.spread(w)
	judges := len(m.sens)
	for _, j := range g.judges {
		s, c := m.sens[j], m.spec[j]
		yes, no, gradYes, gradNo := w.yes[j], w.no[j], w.gradYes[j], w.gradNo[j]
		bySens, bySpec := 0.0, 0.0
		perYes, perNo := 1/w.yesScale[j], 1/w.noScale[j]
		for k, x := range g.x {
			t := gradYes[k]/yes[k]*perYes - gradNo[k]/no[k]*perNo
			bySens += x * t
			bySpec -= g.rest[k] * t
		}
		grad[j] += bySens * s.p * s.rest
		grad[judges+j] += bySpec * c.p * c.rest
	}
	return total
}

// judgements computes how probable a positive and a negative judgement of each judge is at each node,
// each divided by its largest value, so that products over many judges stay within range. It returns
// the logarithm of what was divided out.
func (m *marginal) judgements(g *group, w *workspace) float64 {
	total := 0.0
	for _, j := range g.judges {
		s, c := m.sens[j], m.spec[j]
		yes, no := w.yes[j], w.no[j]
		for k, x := range g.x {
			rest := g.rest[k]
			yes[k] = x*s.p + rest*c.rest
			no[k] = x*s.rest + rest*c.p
		}
		// Linear in the node, and so largest at the first or the last.
		last := len(yes) - 1
		w.yesScale[j], w.noScale[j] = max(yes[0], yes[last]), max(no[0], no[last])
		total += g.correct[j]*math.Log(w.yesScale[j]) + g.wrong[j]*math.Log(w.noScale[j])
		perYes, perNo := 1/w.yesScale[j], 1/w.noScale[j]
		for k := range yes {
			yes[k] *= perYes
			no[k] *= perNo
		}
	}
	return total
}

// multiply computes the products of each block, with the weights of the rule in those of the first.
func (g *group) multiply(w *workspace) {
	points := len(g.x)
	for b, block := range g.blocks {
		table := w.products[b]
		if b == 0 {
			copy(table, g.w)
		} else {
			for k := range points {
				table[k] = 1
			}
		}
		for n, node := range block.nodes[1:] {
			row := table[(n+1)*points : (n+2)*points]
			copy(row, table[node.parent*points:(node.parent+1)*points])
			for range node.correct {
				times(row, w.yes[node.judge])
			}
			for range node.incorrect {
				times(row, w.no[node.judge])
			}
		}
		clear(w.responses[b])
	}
}

// integrate sums over the rule for each pattern, and adds how much each point answers for it to the
// leaves of the pattern.
func (g *group) integrate(w *workspace) float64 {
	points := len(g.x)
	at := w.point
	total := 0.0
	for i, weight := range g.weights {
		for b := range g.blocks {
			leaf := int(g.blocks[b].leaf[i]) * points
			row := w.products[b][leaf : leaf+points]
			if b == 0 {
				copy(at, row)
			} else {
				times(at, row)
			}
		}
		sum := floats.Sum(at)
		total += weight * math.Log(sum)
		floats.Scale(weight/sum, at)
		for b := range g.blocks {
			leaf := int(g.blocks[b].leaf[i]) * points
			floats.Add(w.responses[b][leaf:leaf+points], at)
		}
	}
	return total
}

// spread gives the answers of the leaves to the judges on the way to them.
func (g *group) spread(w *workspace) {
	for _, j := range g.judges {
		clear(w.gradYes[j])
		clear(w.gradNo[j])
	}
	points := len(g.x)
	for b, block := range g.blocks {
		table := w.responses[b]
		for n := len(block.nodes) - 1; n > 0; n-- {
			node := block.nodes[n]
			row := table[n*points : (n+1)*points]
			plusTimes(w.gradYes[node.judge], row, node.correct)
			plusTimes(w.gradNo[node.judge], row, node.incorrect)
			floats.Add(table[node.parent*points:(node.parent+1)*points], row)
		}
	}
}

func times(x, by []float64) {
	by = by[:len(x)]
	for k := range x {
		x[k] *= by[k]
	}
}

func plusTimes(x, by []float64, n int) {
	switch n {
	case 0:
	case 1:
		floats.Add(x, by)
	default:
		floats.AddScaled(x, float64(n), by)
	}
}
