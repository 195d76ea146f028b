package bayes

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// correctness draws how probably items are correct, given the judges and what they said.
//
// Each judgement comes of a label of its own, drawn anew from the correctness of the item. If s of the n labels
// behind the judgements of an item are positive, its correctness has the distribution
// Beta(a+s, b+n−s); and how probable each s is, is a coefficient of the polynomial in the correctness
// that is the likelihood, times a ratio of Beta functions. So draws are exact.
type correctness struct {
	patterns []*pattern
	ratio    [][]float64 // of each pattern, B(a+s, b+n−s) by s, over the largest
	chance   []float64   // of the pattern at hand, by s
	random   *rand.Rand
}

func newCorrectness(patterns []*pattern, random *rand.Rand) *correctness {
	c := &correctness{patterns: patterns, ratio: make([][]float64, len(patterns)), random: random}
	type key struct {
		prior Beta
		total int
	}
	known := map[key][]float64{}
	for i, p := range patterns {
		k := key{p.prior, p.total}
		if known[k] == nil {
			known[k] = betaRatios(p.prior, p.total)
		}
		c.ratio[i] = known[k]
		if p.total+1 > len(c.chance) {
			c.chance = make([]float64, p.total+1)
		}
	}
	return c
}

func betaRatios(b Beta, n int) []float64 {
	r := make([]float64, n+1)
	top := math.Inf(-1)
	for s := range r {
		r[s] = mathext.Lbeta(b.A+float64(s), b.B+float64(n-s))
		top = max(top, r[s])
	}
	for s := range r {
		r[s] = math.Exp(r[s] - top)
	}
	return r
}

// labels computes the chances of the number of positive labels of pattern i, and the first two
// moments of the correctness of its items.
func (c *correctness) labels(i int, sens, spec []unit) (chance []float64, mean, square float64) {
	p := c.patterns[i]
	chance = c.chance[:p.total+1]
	chance[0] = 1
	n := 0
	for _, f := range p.factors {
		s, z := sens[f.judge], spec[f.judge]
		for range f.correct {
			n++
			multiplyBy(chance[:n+1], z.rest, s.p)
		}
		for range f.incorrect {
			n++
			multiplyBy(chance[:n+1], z.p, s.rest)
		}
	}
	total := 0.0
	for s, r := range c.ratio[i] {
		chance[s] *= r
		total += chance[s]
	}
	size := p.prior.A + p.prior.B + float64(n)
	for s := range chance {
		chance[s] /= total
		a := p.prior.A + float64(s)
		mean += chance[s] * a / size
		square += chance[s] * a * (a + 1) / (size * (size + 1))
	}
	return chance, mean, square
}

// multiplyBy multiplies the polynomial with coefficients c, the last of them 0 until now, by
// (low + high·x), divided by the larger of both so that nothing overflows.
func multiplyBy(c []float64, low, high float64) {
	top := max(low, high)
	low, high = low/top, high/top
	last := len(c) - 1
	c[last] = c[last-1] * high
	for s := last - 1; s > 0; s-- {
		c[s] = c[s]*low + c[s-1]*high
	}
	c[0] *= low
}

// draw replaces theta by a draw of the correctness of every item, and adds its moments to sums.
func (c *correctness) draw(theta []float64, sens, spec []unit, sums *itemSums) {
	for i, p := range c.patterns {
		chance, mean, square := c.labels(i, sens, spec)
		for _, item := range p.items {
			s := pick(chance, c.random.Float64())
			theta[item] = drawBeta(c.random, p.prior.A+float64(s), p.prior.B+float64(p.total-s))
			sums.mean[item] += mean
			sums.square[item] += square
		}
	}
}

// pick returns the first index at which the cumulated chances exceed u in [0,1).
func pick(chance []float64, u float64) int {
	for s, x := range chance {
		if u -= x; u < 0 {
			return s
		}
	}
	return len(chance) - 1
}

func drawBeta(random *rand.Rand, a, b float64) float64 {
	return distuv.Beta{Alpha: a, Beta: b, Src: random}.Rand()
}
