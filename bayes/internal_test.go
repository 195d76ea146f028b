package bayes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"pgregory.net/rapid"
)

// anyData draws up to 12 items and 5 judges, with missing and repeated judgements.
func anyData(t *rapid.T) JudgeData {
	items := rapid.IntRange(1, 12).Draw(t, "items")
	var d JudgeData
	for range items {
		d.People = append(d.People, Votes{float64(rapid.IntRange(0, 2).Draw(t, "yes")), float64(rapid.IntRange(0, 1).Draw(t, "no")) / 2})
	}
	for j := range rapid.IntRange(1, 5).Draw(t, "judges") {
		judge := Judge{Name: fmt.Sprint(j), Human: rapid.Bool().Draw(t, "human")}
		for range items {
			judge.Counts = append(judge.Counts, Count{rapid.IntRange(0, 2).Draw(t, "correct"), rapid.IntRange(0, 1).Draw(t, "incorrect")})
		}
		d.Judges = append(d.Judges, judge)
	}
	return d
}

func anyPoint(t *rapid.T, dim int) []float64 {
	q := make([]float64, dim)
	for i := range q {
		q[i] = rapid.Float64Range(-6, 6).Draw(t, "q")
	}
	return q
}

// byLabels sums over all labels behind the judgements of an item: its likelihood, and the mean and the
// mean square of its correctness.
func byLabels(b Beta, d JudgeData, item int, sens, spec []unit) (mass, mean, square float64) {
	type side struct{ positive, negative float64 }
	var sides []side
	for j, judge := range d.Judges {
		for range judge.Counts[item].Correct {
			sides = append(sides, side{sens[j].p, spec[j].rest})
		}
		for range judge.Counts[item].Incorrect {
			sides = append(sides, side{sens[j].rest, spec[j].p})
		}
	}
	n := len(sides)
	for labels := range 1 << n {
		w, s := 1.0, 0.0
		for i, x := range sides {
			if labels>>i&1 == 1 {
				w *= x.positive
				s++
			} else {
				w *= x.negative
			}
		}
		w *= math.Exp(mathext.Lbeta(b.A+s, b.B+float64(n)-s) - mathext.Lbeta(b.A, b.B))
		size := b.A + b.B + float64(n)
		mass += w
		mean += w * (b.A + s) / size
		square += w * (b.A + s) * (b.A + s + 1) / (size * (size + 1))
	}
	return mass, mean / mass, square / mass
}

// The density that NUTS sees and the distribution of correctness that is drawn afterwards are those of
// the model with its labels summed out one by one.
func TestMarginalIsTheSumOverLabels(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d, priors := anyData(t), PaperPriors()
		patterns := patternsOf(d, priors)
		m, err := newMarginal(d, priors, patterns)
		if err != nil {
			t.Fatal(err)
		}
		q := anyPoint(t, m.Dim())
		judges := len(d.Judges)
		sens, spec := make([]unit, judges), make([]unit, judges)
		want := 0.0
		for j, judge := range d.Judges {
			sens[j], spec[j] = unitOf(q[j]), unitOf(q[judges+j])
			a, b := priors.of(judge)
			want += a.A*sens[j].logP + a.B*sens[j].logRest + b.A*spec[j].logP + b.B*spec[j].logRest
		}
		c := newCorrectness(patterns, rand.New(rand.NewPCG(1, 2)))
		for i, p := range patterns {
			_, gotMean, gotSquare := c.labels(i, sens, spec)
			for _, item := range p.items {
				mass, mean, square := byLabels(d.prior(priors, item), d, item, sens, spec)
				want += math.Log(mass)
				if math.Abs(gotMean-mean) > 1e-12 || math.Abs(gotSquare-square) > 1e-12 {
					t.Errorf("item %d: moments %v %v, want %v %v", item, gotMean, gotSquare, mean, square)
				}
			}
		}
		if got := m.LogDensityGradient(q, make([]float64, m.Dim())); math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
			t.Errorf("log density is %v, want %v", got, want)
		}
	})
}

// gradientIsSlope compares the gradient with central differences.
func gradientIsSlope(t *rapid.T, m Model, q []float64) {
	const h = 1e-5
	grad, other := make([]float64, m.Dim()), make([]float64, m.Dim())
	m.LogDensityGradient(q, grad)
	for i := range q {
		at := q[i]
		q[i] = at + h
		up := m.LogDensityGradient(q, other)
		q[i] = at - h
		down := m.LogDensityGradient(q, other)
		q[i] = at
		if slope := (up - down) / (2 * h); math.Abs(slope-grad[i]) > 1e-5*max(1, math.Abs(slope)) {
			t.Errorf("derivative %d is %v, want %v", i, grad[i], slope)
		}
	}
}

func TestGradientOfTheJudgeModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d, priors := anyData(t), PaperPriors()
		m, err := newMarginal(d, priors, patternsOf(d, priors))
		if err != nil {
			t.Fatal(err)
		}
		gradientIsSlope(t, m, anyPoint(t, m.Dim()))
	})
}

func TestGradientOfTheItemResponseModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := ResponseData{Scale: Raw, People: anyData(t).Judges}
		items := len(d.People[0].Counts)
		for k := range rapid.IntRange(1, 3).Draw(t, "quantifiers") {
			q := Quantifier{Name: fmt.Sprint(k), Missing: make([]bool, items)}
			for i := range items {
				q.Scores = append(q.Scores, float64(rapid.IntRange(-2, 2).Draw(t, "score")))
				q.Missing[i] = i > 0 && rapid.Bool().Draw(t, "missing")
			}
			d.Quantifiers = append(d.Quantifiers, q)
		}
		d.People[0].Counts[0].Correct = 1
		m, err := newResponse(d)
		if err != nil {
			t.Fatal(err)
		}
		gradientIsSlope(t, m, anyPoint(t, m.Dim()))
	})
}

func TestGradientOfBoundedParameters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, err := NewBounded(logs{}, []Bound{{}, Above(-2), Between(1, 4)})
		if err != nil {
			t.Fatal(err)
		}
		gradientIsSlope(t, m, anyPoint(t, 3))
	})
}

// logs is a density over three parameters: any, above −2, between 1 and 4.
type logs struct{}

func (logs) Dim() int { return 3 }

func (logs) LogDensityGradient(x, grad []float64) float64 {
	if x[1] <= -2 || x[2] <= 1 || x[2] >= 4 {
		return math.NaN()
	}
	grad[0], grad[1], grad[2] = -x[0], 2/(x[1]+2)-1, 1/x[2]
	return -x[0]*x[0]/2 + 2*math.Log(x[1]+2) - x[1] + math.Log(x[2])
}

// Moments of Beta(a, b) are known, and the rule must have all of them up to degree 2n−1.
func TestGaussJacobiHasAllMoments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := Beta{rapid.Float64Range(.1, 60).Draw(t, "a"), rapid.Float64Range(.1, 60).Draw(t, "b")}
		n := rapid.IntRange(1, 40).Draw(t, "n")
		r, err := gaussJacobi(n, b)
		if err != nil {
			t.Fatal(err)
		}
		want := 1.0
		for degree := range 2 * n {
			got := 0.0
			for k, x := range r.x {
				got += r.w[k] * math.Pow(x, float64(degree))
			}
			if math.Abs(got-want) > 1e-11*want {
				t.Errorf("moment %d of %v with %d nodes is %v, want %v", degree, b, n, got, want)
			}
			want *= (b.A + float64(degree)) / (b.A + b.B + float64(degree))
		}
	})
}

// The rule of one node sits at the mean; that of two nodes of the uniform distribution at 1/2 ± 1/√12.
func TestSmallRules(t *testing.T) {
	t.Parallel()
	r, _ := gaussJacobi(1, Beta{2, 6})
	if math.Abs(r.x[0]-.25) > 1e-15 || r.w[0] != 1 {
		t.Errorf("%+v", r)
	}
	r, _ = gaussJacobi(2, Beta{1, 1})
	for i, want := range []float64{.5 - 1/math.Sqrt(12), .5 + 1/math.Sqrt(12)} {
		if math.Abs(r.x[i]-want) > 1e-15 || math.Abs(r.w[i]-.5) > 1e-15 {
			t.Errorf("%+v", r)
		}
	}
}

// Blocks change how patterns are computed, not what they say.
func TestBlocksHoldEveryJudgementOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := anyData(t)
		patterns := patternsOf(d, PaperPriors())
		blocks := blocksOf(patterns, len(d.Judges))
		for i, p := range patterns {
			var got []factor
			for _, b := range blocks {
				var branch []factor
				for n := int(b.leaf[i]); n > 0; n = b.nodes[n].parent {
					branch = append(branch, b.nodes[n].factor)
				}
				slices.Reverse(branch)
				got = append(got, branch...)
			}
			if fmt.Sprint(got) != fmt.Sprint(p.factors) {
				t.Errorf("pattern %d: blocks hold %v, want %v", i, got, p.factors)
			}
		}
	})
}

// The lengths that Stan takes for 1,000 transitions of warm-up.
func TestWindows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		warmup int
		want   windows
	}{
		{1000, windows{75, []int{100, 150, 250, 450, 950}}},
		{100, windows{15, []int{90}}},
		{10, windows{begin: 10}},
	} {
		if got := windowsOf(c.warmup); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%d: %v, want %v", c.warmup, got, c.want)
		}
	}
}

// Energies 0, 1, 3, 2: squared changes 1, 4, 1, mean 2; variance 5/3.
func TestEBFMI(t *testing.T) {
	t.Parallel()
	if x, _ := ebfmi([]float64{0, 1, 3, 2}).Get(); math.Abs(x-2/(5./3)) > 1e-15 {
		t.Errorf("E-BFMI is %v", x)
	}
	if v := ebfmi([]float64{1, 1, 1, 1}); v.Defined() {
		t.Errorf("E-BFMI of a constant energy is %+v", v)
	}
}

// Far out, where the logistic function rounds to 0 and 1, the density stays what it is.
func TestDensityFarOut(t *testing.T) {
	t.Parallel()
	d := JudgeData{People: []Votes{{2, 0}, {0, 2}}, Judges: []Judge{{Counts: []Count{{1, 0}, {0, 1}}}}}
	priors := PaperPriors()
	m, err := newMarginal(d, priors, patternsOf(d, priors))
	if err != nil {
		t.Fatal(err)
	}
	grad := make([]float64, 2)
	near := m.LogDensityGradient([]float64{200, 200}, grad)
	far := m.LogDensityGradient([]float64{201, 201}, grad)
	// With Beta(1, 1) each logit has a tail exp(−|q|).
	if math.Abs(far-near+2) > 1e-9 || math.Abs(grad[0]+1) > 1e-9 || math.Abs(grad[1]+1) > 1e-9 {
		t.Errorf("density falls by %v with gradient %v", far-near, grad)
	}
}
