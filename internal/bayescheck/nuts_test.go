package bayescheck_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-lab/credence/bayes"
)

// density makes a model of a function.
type density struct {
	dim int
	f   func(q, grad []float64) float64
}

func (d density) Dim() int                                     { return d.dim }
func (d density) LogDensityGradient(q, grad []float64) float64 { return d.f(q, grad) }

func sample(t *testing.T, m bayes.Model, o bayes.Options) (*bayes.Draws, bayes.Convergence) {
	t.Helper()
	d, err := bayes.Sample(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	estimates := make([]*bayes.Estimate, m.Dim())
	for i := range estimates {
		e := bayes.Summarise("parameter", d.Parameter(i), 1)
		estimates[i] = &e
	}
	draws := o.Draws
	if draws == 0 {
		draws = bayes.DefaultDraws
	}
	return d, bayes.Assess(d.Chains, draws, estimates)
}

// means compares the mean of f over the draws with what it is, in Monte-Carlo standard errors.
func means(t *testing.T, what string, s bayes.Series, want float64) {
	t.Helper()
	e := bayes.Summarise(what, s, 1)
	mean, _ := e.Mean.Get()
	mcse, ok := e.MCSE.Get()
	if z := (mean - want) / mcse; !ok || !(math.Abs(z) < 4) {
		t.Errorf("%s is %v, want %v: %.1f standard errors apart", what, mean, want, z)
	}
}

// A stationary chain of six Gaussians: covariance r^|i−j|·s_i·s_j with r = .95 and scales from .01 to 1,000, whose
// inverse is tridiagonal.
func TestNUTSOnACorrelatedGaussian(t *testing.T) {
	t.Parallel()
	const n, r = 6, .95
	scale := [n]float64{.01, .1, 1, 10, 100, 1000}
	m := density{n, func(q, grad []float64) float64 {
		total := 0.0
		var x, g [n]float64
		for i := range n {
			x[i] = q[i] / scale[i]
		}
		for i := range n {
			innovation, variance := x[i], 1.0
			if i > 0 {
				innovation, variance = x[i]-r*x[i-1], 1-r*r
				g[i-1] += r * innovation / variance
			}
			g[i] -= innovation / variance
			total -= innovation * innovation / (2 * variance)
		}
		for i := range n {
			grad[i] = g[i] / scale[i]
		}
		return total
	}}
	d, c := sample(t, m, bayes.Options{Seed: 1})
	converged(t, c)
	for i := range n {
		means(t, "mean", d.Parameter(i), 0)
		for j := range i + 1 {
			means(t, "covariance", d.Series(func(q []float64) float64 { return q[i] / scale[i] * q[j] / scale[j] }), math.Pow(r, float64(i-j)))
		}
	}
}

// Neal's funnel (2003): v is N(0, 3²) and nine others are N(0, exp(v)). Centred, the neck is narrower than any step
// size that fits the mouth, and the sampler must say so; not centred, it is a Gaussian, and v comes out right.
func TestNUTSOnNealsFunnel(t *testing.T) {
	t.Parallel()
	const n = 10
	centred := density{n, func(q, grad []float64) float64 {
		v := q[0]
		total := -v*v/18 - (n-1)*v/2
		grad[0] = -v/9 - (n-1)/2.
		precision := math.Exp(-v)
		for i := 1; i < n; i++ {
			total -= q[i] * q[i] * precision / 2
			grad[0] += q[i] * q[i] * precision / 2
			grad[i] = -q[i] * precision
		}
		return total
	}}
	_, c := sample(t, centred, bayes.Options{Seed: 1, Draws: 1000})
	diverged := false
	for _, w := range c.Warnings {
		diverged = diverged || w.Code == "divergences"
	}
	if c.Verdict != bayes.Doubtful || !diverged {
		t.Errorf("centred: verdict is %s, warnings %v", c.Verdict, texts(c.Warnings))
	}

	d, c := sample(t, standard(n), bayes.Options{Seed: 1})
	converged(t, c)
	v := func(q []float64) float64 { return 3 * q[0] }
	means(t, "v", d.Series(v), 0)
	means(t, "v²", d.Series(func(q []float64) float64 { return v(q) * v(q) }), 9)
	means(t, "share of small x", d.Series(func(q []float64) float64 {
		if math.Abs(q[1]*math.Exp(v(q)/2)) < .1 {
			return 1
		}
		return 0
	}), smallShare())
}

// smallShare is how probably |x| < .1 in the funnel: a one-dimensional integral over v.
func smallShare() float64 {
	const steps = 20_000
	total, mass := 0.0, 0.0
	for i := range steps {
		v := -30 + 60*(float64(i)+.5)/steps
		w := math.Exp(-v * v / 18)
		mass += w
		total += w * math.Erf(.1*math.Exp(-v/2)/math.Sqrt2)
	}
	return total / mass
}

// Logistic regression with an intercept and one slope, priors N(0, 2²), against the sum over a grid of 400 × 400
// points that holds all of the posterior.
func TestNUTSOnLogisticRegression(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var xs, ys []float64
	for range 40 {
		x, y := random.NormFloat64(), 0.0
		if random.Float64() < 1/(1+math.Exp(-.5-1.5*x)) {
			y = 1
		}
		xs, ys = append(xs, x), append(ys, y)
	}
	m := density{2, func(q, grad []float64) float64 {
		total := -(q[0]*q[0] + q[1]*q[1]) / 8
		grad[0], grad[1] = -q[0]/4, -q[1]/4
		for i, x := range xs {
			eta := q[0] + q[1]*x
			total += ys[i]*eta - math.Log1p(math.Exp(eta))
			r := ys[i] - 1/(1+math.Exp(-eta))
			grad[0] += r
			grad[1] += r * x
		}
		return total
	}}
	functions := map[string]func(q []float64) float64{
		"intercept":  func(q []float64) float64 { return q[0] },
		"slope":      func(q []float64) float64 { return q[1] },
		"slope²":     func(q []float64) float64 { return q[1] * q[1] },
		"product":    func(q []float64) float64 { return q[0] * q[1] },
		"prediction": func(q []float64) float64 { return 1 / (1 + math.Exp(-q[0]-q[1])) },
	}
	want := map[string]float64{}
	mass, grad := 0.0, make([]float64, 2)
	const points = 400
	for i := range points {
		for j := range points {
			q := []float64{-3 + 7*(float64(i)+.5)/points, -2 + 9*(float64(j)+.5)/points}
			w := math.Exp(m.f(q, grad))
			mass += w
			for name, f := range functions {
				want[name] += w * f(q)
			}
		}
	}
	d, c := sample(t, m, bayes.Options{Seed: 1})
	converged(t, c)
	for name, f := range functions {
		means(t, name, d.Series(f), want[name]/mass)
	}
}

// Steps so long that half of each is an error of the energy: only the weights of the points of a trajectory
// keep the draws true. The density is a Gaussian, whose curvature is the same everywhere, so that long steps
// are stable.
func TestNUTSWithLongSteps(t *testing.T) {
	t.Parallel()
	d, err := bayes.Sample(t.Context(), standard(4), bayes.Options{Seed: 1, Draws: 20_000, TargetAcceptance: .5})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Chains {
		if c.StepSize < 1 {
			t.Errorf("steps of %v are not long", c.StepSize)
		}
	}
	for _, m := range []struct {
		what string
		f    func(q []float64) float64
		want float64
	}{
		{"x", func(q []float64) float64 { return q[0] }, 0},
		{"x²", func(q []float64) float64 { return q[0] * q[0] }, 1},
		{"x⁴", func(q []float64) float64 { return math.Pow(q[1], 4) }, 3},
		{"x²y²", func(q []float64) float64 { return q[2] * q[2] * q[3] * q[3] }, 1},
		{"|q|⁴", func(q []float64) float64 { return math.Pow(q[0]*q[0]+q[1]*q[1]+q[2]*q[2]+q[3]*q[3], 2) }, 24},
		{"share of x above 1", func(q []float64) float64 {
			if q[0] > 1 {
				return 1
			}
			return 0
		}, math.Erfc(1/math.Sqrt2) / 2},
	} {
		means(t, m.what, d.Series(m.f), m.want)
	}
}

// standard is the Gaussian without correlation.
func standard(dim int) density {
	return density{dim, func(q, grad []float64) float64 {
		total := 0.0
		for i, x := range q {
			total -= x * x / 2
			grad[i] = -x
		}
		return total
	}}
}

// Bounds: an exponential, a Beta and a free parameter, drawn on the real line and mapped back.
func TestNUTSWithinBounds(t *testing.T) {
	t.Parallel()
	inside := density{3, func(x, grad []float64) float64 {
		grad[0], grad[1], grad[2] = -1, 1/x[1]-4/(1-x[1]), -x[2]
		return -x[0] + math.Log(x[1]) + 4*math.Log(1-x[1]) - x[2]*x[2]/2
	}}
	m, err := bayes.NewBounded(inside, []bayes.Bound{bayes.Above(0), bayes.Between(0, 1), {}})
	if err != nil {
		t.Fatal(err)
	}
	d, c := sample(t, m, bayes.Options{Seed: 1})
	converged(t, c)
	at := func(i int) bayes.Series {
		x := make([]float64, 3)
		return d.Series(func(q []float64) float64 { m.Values(q, x); return x[i] })
	}
	means(t, "exponential", at(0), 1)
	means(t, "Beta(2, 5)", at(1), 2./7)
	means(t, "normal", at(2), 0)
}
