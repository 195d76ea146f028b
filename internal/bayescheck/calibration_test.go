package bayescheck_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/credence-lab/credence/bayes"
)

// Simulation-based calibration (Talts, Betancourt, Simpson, Vehtari and Gelman 2018): where parameters
// are drawn from the prior and data from the parameters, the rank of the parameter among draws of the
// posterior is uniform, whatever the model. Ranks of thinned draws are counted in 16 bins and compared
// with the uniform distribution by chi-square at the level 10⁻⁴ for each of the twelve histograms, so
// that all of them together are above 10⁻³. Seeds are fixed.

const (
	ranked = 127 // thinned draws of a posterior, so that a rank is one of 128
	bins   = 16
	level  = 1e-4
)

// calibration is one simulation study.
type calibration struct {
	sampler     bayes.Sampler
	simulations int
	warmup      int
	thin        int
	fitted      bayes.JudgePriors // those that the sampler is told; the truth is that of the paper
}

// tracked are the quantities that are ranked: of a judge, and of a person as judge.
var tracked = []struct {
	judge int
	q     bayes.Quantity
}{{0, bayes.TPR}, {0, bayes.TNR}, {0, bayes.F1}, {1, bayes.Accuracy}, {2, bayes.TPR}, {2, bayes.JointTN}}

func TestSamplersAreCalibrated(t *testing.T) {
	t.Parallel()
	simulations := 320
	if stress() {
		simulations = 2000
	}
	for _, c := range []calibration{
		{sampler: bayes.NUTS, simulations: simulations, warmup: 200, thin: 3},
		{sampler: bayes.Gibbs, simulations: simulations, warmup: 100, thin: 12},
	} {
		t.Run(string(c.sampler), func(t *testing.T) {
			t.Parallel()
			for k, x := range c.chiSquares(t) {
				if p := survival(x); p < level {
					t.Errorf("ranks of %s of judge %d are not uniform: chi-square %.1f, p %.2g", tracked[k].q, tracked[k].judge, x, p)
				}
			}
		})
	}
}

// A sampler that is told a wrong prior must be found out, or the test above says nothing.
func TestCalibrationFindsAWrongPrior(t *testing.T) {
	t.Parallel()
	c := calibration{sampler: bayes.Gibbs, simulations: 160, warmup: 100, thin: 12, fitted: bayes.JudgePriors{Sensitivity: bayes.Beta{A: 2, B: 1}}}
	if x := c.chiSquares(t)[0]; survival(x) >= level {
		t.Errorf("a wrong prior gives chi-square %.1f only", x)
	}
}

func survival(chiSquare float64) float64 { return distuv.ChiSquared{K: bins - 1}.Survival(chiSquare) }

// chiSquares of the rank histogram of each tracked quantity.
func (c calibration) chiSquares(t *testing.T) []float64 {
	counted := make([][bins]float64, len(tracked))
	for s := range c.simulations {
		random := rand.New(rand.NewPCG(11, uint64(s)))
		truth := simulate(random)
		p, err := bayes.FitJudges(t.Context(), truth.data, c.fitted, c.sampler,
			bayes.Options{Seed: uint64(s), Chains: 1, Warmup: c.warmup, Draws: ranked * c.thin})
		if err != nil {
			t.Fatal(err)
		}
		for k, q := range tracked {
			counted[k][c.rank(p.Draws(q.judge, q.q)[0], truth.value(q.judge, q.q))*bins/(ranked+1)]++
		}
	}
	out := make([]float64, len(tracked))
	expected := float64(c.simulations) / bins
	for k, histogram := range counted {
		for _, n := range histogram {
			out[k] += (n - expected) * (n - expected) / expected
		}
	}
	return out
}

// rank counts the thinned draws below the truth.
func (c calibration) rank(draws []float64, truth float64) int {
	n := 0
	for t := c.thin - 1; t < len(draws); t += c.thin {
		if draws[t] < truth {
			n++
		}
	}
	return n
}

// simulation is data with the parameters that made them.
type simulation struct {
	data       bayes.JudgeData
	mean       float64 // of the correctness
	sens, spec []float64
}

// simulate draws from the model: 8 items with up to two labels of people, two judges and a person as
// judge, one judgement missing and one item judged twice.
func simulate(random *rand.Rand) simulation {
	const items, judges = 8, 3
	beta := func(a, b float64) float64 { return distuv.Beta{Alpha: a, Beta: b, Src: random}.Rand() }
	s := simulation{data: bayes.JudgeData{People: make([]bayes.Votes, items)}}
	theta := make([]float64, items)
	for i := range theta {
		v := bayes.Votes{Correct: float64(i % 3), Incorrect: float64(i / 4)}
		s.data.People[i] = v
		theta[i] = beta(.5+v.Correct, .5+v.Incorrect)
		s.mean += theta[i] / items
	}
	for j := range judges {
		human := j == 2
		b := 1.0
		if human {
			b = .5
		}
		sens, spec := beta(1, b), beta(1, b)
		s.sens, s.spec = append(s.sens, sens), append(s.spec, spec)
		judge := bayes.Judge{Name: fmt.Sprint(j), Human: human, Counts: make([]bayes.Count, items)}
		for i := range items {
			times := 1
			switch {
			case i == 1 && j == 0:
				times = 2
			case i == 2 && j == 1:
				times = 0
			}
			for range times {
				if random.Float64() < theta[i]*sens+(1-theta[i])*(1-spec) {
					judge.Counts[i].Correct++
				} else {
					judge.Counts[i].Incorrect++
				}
			}
		}
		s.data.Judges = append(s.data.Judges, judge)
	}
	return s
}

// value is the true value of a quantity.
func (s simulation) value(j int, q bayes.Quantity) float64 {
	t, sens, spec := s.mean, s.sens[j], s.spec[j]
	switch q {
	case bayes.TPR:
		return sens
	case bayes.TNR:
		return spec
	case bayes.JointTN:
		return (1 - t) * spec
	case bayes.Accuracy:
		return t*sens + (1-t)*spec
	case bayes.F1:
		return 2 * t * sens / (2*t*sens + (1-t)*(1-spec) + t*(1-sens))
	}
	panic(q)
}
