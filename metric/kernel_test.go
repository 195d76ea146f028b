package metric

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-lab/credence/measure"
)

// many is n items of continuous confidence, overconfident.
func many(t testing.TB, n int) *Prepared {
	t.Helper()
	draws := rand.New(rand.NewPCG(uint64(n), 5))
	confidence, quality := make([]float64, n), make([]float64, n)
	for i := range n {
		confidence[i] = math.Sqrt(draws.Float64())
		if draws.Float64() < confidence[i]*confidence[i] {
			quality[i] = 1
		}
	}
	return mustPrepare(t, confidence, quality)
}

func TestGatheringKeepsGaussianSums(t *testing.T) {
	t.Parallel()
	p := many(t, 3000)
	m := massesOf(p)(p.counts)
	for _, cells := range []int{1, 7, 32} {
		h := 1 / float64(cells)
		few := newGathering(cells).gather(m)
		for _, x := range []float64{0, .1, .5, .83, 1} {
			var want, got, wantGap, gotGap float64
			for i, c := range m.at {
				want, wantGap = want+m.n[i]*normalDensity((x-c)/h), wantGap+m.gap[i]*normalDensity((x-c)/h)
			}
			for i, c := range few.at {
				got, gotGap = got+few.n[i]*normalDensity((x-c)/h), gotGap+few.gap[i]*normalDensity((x-c)/h)
			}
			if math.Abs(got-want) > 3000*1e-14 || math.Abs(gotGap-wantGap) > 3000*1e-14 {
				t.Errorf("%d cells at %v: %v and %v, want %v and %v", cells, x, got, gotGap, want, wantGap)
			}
		}
	}
}

// TestGatheringInStepsIsGatheringAtOnce: masses gathered from finer nodes are those of the items.
func TestGatheringInStepsIsGatheringAtOnce(t *testing.T) {
	t.Parallel()
	n := 2*fineCells*nodes + 1
	p := many(t, n)
	m := massesOf(p)(p.counts)
	for _, cells := range []int{1, 20, 128, fineCells / 2} {
		stepwise := newGathering(cells).gather(m)
		atOnce := newGathering(cells).move(m)
		for _, x := range []float64{0, .1, .5, .83, 1} {
			var density, want, gap, wantGap float64
			for i, c := range atOnce.at {
				kernel := normalDensity((x - c) * float64(cells))
				density, want = density+kernel*stepwise.n[i], want+kernel*atOnce.n[i]
				gap, wantGap = gap+kernel*stepwise.gap[i], wantGap+kernel*atOnce.gap[i]
			}
			if math.Abs(density-want) > 1e-13*float64(n) || math.Abs(gap-wantGap) > 1e-13*float64(n) {
				t.Errorf("%d cells at %v: %v and %v, want %v and %v", cells, x, density, gap, want, wantGap)
			}
		}
	}
}

func TestInterpolationIsExactForWhatACellResolves(t *testing.T) {
	t.Parallel()
	g := newGathering(4)
	at := make([]float64, len(g.to.at))
	f := func(x float64) float64 { return math.Exp(-8 * (x - .3) * (x - .3)) }
	for i, x := range g.to.at {
		at[i] = f(x)
	}
	g.series(at, slices.Clone(at))
	double := slices.Clone(at)
	for i := range double {
		double[i] *= 2
	}
	for _, x := range []float64{0, .2, .25, .2500001, .7, 1, g.to.at[5]} {
		if got, twice := g.values(at, double, x); math.Abs(got-f(x)) > 1e-14 || twice != 2*got {
			t.Errorf("at %v: %v and %v, want %v and its double", x, got, twice, f(x))
		}
	}
}

func TestAbsIntegralFindsEverySignChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f, antiderivative func(float64) float64
		want              float64
	}{
		"zero on a grid point": {func(x float64) float64 { return x - .5 }, func(x float64) float64 { return x*x/2 - x/2 }, .25},
		"dip between points": {
			func(x float64) float64 { return (x-.52)*(x-.52) - 1e-6 },
			func(x float64) float64 { return math.Pow(x-.52, 3)/3 - 1e-6*x },
			(math.Pow(.48, 3)+math.Pow(.52, 3))/3 - 1e-6 + 8e-9/3,
		},
		"constant": {func(float64) float64 { return -2 }, func(x float64) float64 { return -2 * x }, 2},
		"nothing":  {func(float64) float64 { return 0 }, func(float64) float64 { return 0 }, 0},
	} {
		var t01, f01 []float64
		for i := range 17 {
			x := float64(i) / 16
			t01, f01 = append(t01, x), append(f01, c.f(x))
		}
		if got := absIntegral(t01, f01, c.f, c.antiderivative); math.Abs(got-c.want) > 1e-14 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// riemann sums |f| at the middles of many cells.
func riemann(f func(float64) float64) float64 {
	const cells = 4000
	sum := 0.
	for k := range cells {
		sum += math.Abs(f((float64(k) + .5) / cells))
	}
	return sum / cells
}

func TestSmoothingEstimatorsFollowTheirDefinitions(t *testing.T) {
	t.Parallel()
	draws := rand.New(rand.NewPCG(3, 1))
	for trial := range 16 {
		confidence, quality := make([]float64, 1+draws.IntN(15)), []float64{}
		for i := range confidence {
			confidence[i] = draws.Float64()
			if draws.IntN(2) == 0 { // ties, and mass at the ends
				confidence[i] = []float64{0, .3, .9, 1}[draws.IntN(4)]
			}
			quality = append(quality, []float64{0, 1, 0, 1, .25}[draws.IntN(5)])
		}
		p := mustPrepare(t, confidence, quality)
		n := float64(p.n)
		// The kernel as the paper writes it, images summed until they vanish.
		sigma := []float64{.03, .1, .4, 1}[trial%4]
		reflected := func(x, c float64) float64 {
			sum := 0.
			for k := -4.; k <= 4; k++ {
				sum += normalDensity((x-c-2*k)/sigma) + normalDensity((x+c-2*k)/sigma)
			}
			return sum / sigma
		}
		want := riemann(func(x float64) float64 {
			sum := 0.
			for i, c := range confidence {
				sum += (quality[i] - c) * reflected(x, c)
			}
			return sum / n
		})
		if got, _ := SmoothECEAt(sigma).On(p).Get(); math.Abs(got-want) > 1e-5 {
			t.Fatalf("smECE at %v is %v, want %v", sigma, got, want)
		}
		value, _ := SmoothECE().On(p).Get()
		if value > .001 {
			if at, _ := SmoothECEAt(min(1, value)).On(p).Get(); math.Abs(at-value) > 1e-8 {
				t.Fatalf("smECE is %v, but at that bandwidth %v", value, at)
			}
		}
		s := smoother{to: 1, gatherings: map[int]*gathering{}}
		m := massesOf(p)(p.counts)
		h := max(.02, sigma/3)
		want = riemann(func(x float64) float64 {
			sum := 0.
			for i, c := range confidence {
				sum += normalDensity((x-c)/h) * (quality[i] - x)
			}
			return sum / h
		})
		if got := s.integral(m, h); math.Abs(got-want) > 1e-5*n {
			t.Fatalf("smoothed integral at %v is %v, want %v", h, got, want)
		}
	}
}

func TestSmoothingSurvivesTinyBandwidths(t *testing.T) {
	t.Parallel()
	for name, confidence := range map[string][]float64{
		"half in a hair": {.9, .9 + 1e-9, .9 + 2e-9, .9 + 3e-9, 0, 1},
		"denormal":       {0, 5e-324, 1e-323},
		"two":            {.5, .5 + 1e-16},
	} {
		quality := make([]float64, len(confidence))
		quality[0] = 1
		p := mustPrepare(t, confidence, quality)
		for _, rule := range []Silverman{Robust, Plain} {
			v := Smoothed(rule).On(p)
			if x, ok := v.Get(); ok && !(x >= 0 && x <= 1) || !ok && v.Reason() != measure.Constant {
				t.Errorf("%s, %s: %v (%s)", name, rule, x, v.Reason())
			}
		}
	}
	// Almost calibrated: the gaps of the two confidences are 1e-5 and −1e-5.
	p := mustPrepare(t, []float64{.2, .8}, []float64{.20001, .79999})
	if x, ok := SmoothECE().On(p).Get(); !ok || x < 0 || x > 1.0001e-5 {
		t.Errorf("smECE %v of gaps of 1e-5", x)
	}
}

func BenchmarkCalibrationOnCounts(b *testing.B) {
	p := many(b, 1000)
	for _, s := range calibrationIDs() {
		b.Run(s.ID, func(b *testing.B) {
			evaluate := s.Evaluator(p)
			for b.Loop() {
				evaluate(p.counts)
			}
		})
	}
}

func BenchmarkCalibrationOfAMillion(b *testing.B) {
	p := many(b, 1_000_000)
	for _, s := range calibrationIDs() {
		b.Run(s.ID, func(b *testing.B) {
			for b.Loop() {
				s.On(p)
			}
		})
	}
}
