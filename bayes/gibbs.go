package bayes

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// gibbs is the second sampler of the judge model. Each judgement gets the label behind it as a latent
// variable. Given the labels, correctness, sensitivities and specificities have Beta distributions;
// given those, labels are independent.
type gibbs struct {
	data       JudgeData
	prior      []Beta // of each item
	sensPrior  []Beta
	specPrior  []Beta
	theta      []float64
	sens, spec []unit
	random     *rand.Rand

	positive []int // of each item, its judgements with a positive label
	hits     []outcomes

	total []int // of each item, its judgements
}

// outcomes counts the judgements of one judge by their label.
type outcomes struct{ tp, fn, fp, tn int }

func sampleGibbs(ctx context.Context, d JudgeData, priors JudgePriors, o Options) ([]*tally, error) {
	tallies := make([]*tally, o.Chains)
	tick := newTicker(o)
	err := inParallel(o.Chains, func(c int) error {
		random := generatorOf(o.Seed, c)
		g := newGibbs(d, priors, random)
		t := newTally(d, o, random)
		for i := range o.Warmup + o.Draws {
			if err := ctx.Err(); err != nil {
				return err
			}
			tick.step()
			g.sweep()
			if i >= o.Warmup {
				g.moments(t.items)
				t.add(g.theta, g.sens, g.spec)
			}
		}
		tallies[c] = t
		return nil
	})
	return tallies, err
}

// newGibbs begins at a draw from the prior.
func newGibbs(d JudgeData, priors JudgePriors, random *rand.Rand) *gibbs {
	items, judges := len(d.People), len(d.Judges)
	g := &gibbs{
		data: d, random: random, prior: make([]Beta, items),
		sensPrior: make([]Beta, judges), specPrior: make([]Beta, judges),
		theta: make([]float64, items), sens: make([]unit, judges), spec: make([]unit, judges),
		positive: make([]int, items), total: make([]int, items), hits: make([]outcomes, judges),
	}
	for i := range d.People {
		g.prior[i] = d.prior(priors, i)
		g.theta[i] = drawUnit(random, g.prior[i]).p
		for _, j := range d.Judges {
			g.total[i] += j.Counts[i].total()
		}
	}
	for j, judge := range d.Judges {
		g.sensPrior[j], g.specPrior[j] = priors.of(judge)
		g.sens[j], g.spec[j] = drawUnit(random, g.sensPrior[j]), drawUnit(random, g.specPrior[j])
	}
	return g
}

// sweep draws the labels, then the rest.
func (g *gibbs) sweep() {
	clear(g.positive)
	clear(g.hits)
	for j, judge := range g.data.Judges {
		for i, c := range judge.Counts {
			g.label(i, j, c)
		}
	}
	for i, b := range g.prior {
		n := g.positive[i]
		g.theta[i] = drawUnit(g.random, Beta{b.A + float64(n), b.B + float64(g.total[i]-n)}).p
	}
	for j, h := range g.hits {
		a, b := g.sensPrior[j], g.specPrior[j]
		g.sens[j] = drawUnit(g.random, Beta{a.A + float64(h.tp), a.B + float64(h.fn)})
		g.spec[j] = drawUnit(g.random, Beta{b.A + float64(h.tn), b.B + float64(h.fp)})
	}
}

// label draws the labels behind the judgements of judge j on item i.
func (g *gibbs) label(i, j int, c Count) {
	h := &g.hits[j]
	if c.Correct > 0 {
		n := g.binomial(c.Correct, g.theta[i]*g.sens[j].p, (1-g.theta[i])*g.spec[j].rest)
		h.tp += n
		h.fp += c.Correct - n
		g.positive[i] += n
	}
	if c.Incorrect > 0 {
		n := g.binomial(c.Incorrect, g.theta[i]*g.sens[j].rest, (1-g.theta[i])*g.spec[j].p)
		h.fn += n
		h.tn += c.Incorrect - n
		g.positive[i] += n
	}
}

// binomial counts how many of n labels are positive, with odds yes to no.
func (g *gibbs) binomial(n int, yes, no float64) int {
	count := 0
	for range n {
		if g.random.Float64()*(yes+no) < yes {
			count++
		}
	}
	return count
}

// moments adds those of the correctness of each item, given the labels of this sweep.
func (g *gibbs) moments(sums *itemSums) {
	for i, b := range g.prior {
		a, size := b.A+float64(g.positive[i]), b.A+b.B+float64(g.total[i])
		sums.mean[i] += a / size
		sums.square[i] += a * (a + 1) / (size * (size + 1))
	}
}

// drawUnit draws from a Beta distribution, exact near 0 and near 1.
func drawUnit(random *rand.Rand, b Beta) unit {
	x := distuv.Gamma{Alpha: b.A, Beta: 1, Src: random}.Rand()
	y := distuv.Gamma{Alpha: b.B, Beta: 1, Src: random}.Rand()
	return unit{p: x / (x + y), rest: y / (x + y)}
}
