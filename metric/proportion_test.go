package metric

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/measure"
)

// From scipy 1.17.1, binomtest(k, n).proportion_ci at level .95.
var proportions = []struct {
	k, n          int
	exact, wilson [2]float64
}{
	{0, 10, [2]float64{0.0, 0.30849710781876294}, [2]float64{0.0, 0.27753279986288926}},
	{0, 100, [2]float64{0.0, 0.03621669264519054}, [2]float64{0.0, 0.03699349820698568}},
	{3, 40, [2]float64{0.015742179851041527, 0.20386474873289898}, [2]float64{0.025836025774588198, 0.19864233524310543}},
	{20, 200, [2]float64{0.062159366254066095, 0.15021278786775585}, [2]float64{0.06567044866909588, 0.1494058124327174}},
	{5, 5, [2]float64{0.47817624989501856, 1.0}, [2]float64{0.5655175352168251, 1.0}},
	{1, 1, [2]float64{0.025000000000000022, 1.0}, [2]float64{0.20654931437723745, 1.0}},
}

func TestIntervalsOfAProportion(t *testing.T) {
	t.Parallel()
	for _, c := range proportions {
		for name, pair := range map[string]struct {
			got  measure.Interval
			want [2]float64
		}{"exact": {ClopperPearson(c.k, c.n, .95), c.exact}, "Wilson": {Wilson(c.k, c.n, .95), c.wilson}} {
			if math.Abs(pair.got.Lower-pair.want[0]) > 1e-9 || math.Abs(pair.got.Upper-pair.want[1]) > 1e-9 {
				t.Errorf("%s of %d/%d: [%v, %v], want %v", name, c.k, c.n, pair.got.Lower, pair.got.Upper, pair.want)
			}
		}
	}
}

func TestTenOfTenCorrectIsNotCertainty(t *testing.T) { // scipy#14804
	t.Parallel()
	exact, wilson := ClopperPearson(10, 10, .95), Wilson(10, 10, .95)
	if math.Abs(exact.Lower-.6915) > 5e-5 || exact.Upper != 1 {
		t.Errorf("exact interval %+v, want [.6915, 1]", exact)
	}
	if math.Abs(wilson.Lower-.7225) > 5e-5 || wilson.Upper != 1 {
		t.Errorf("Wilson's interval %+v, want [.7225, 1]", wilson)
	}
	if none := Wilson(0, 10, .95); none.Lower != 0 {
		t.Errorf("Wilson's interval of none starts at %v", none.Lower)
	}
	if v := Proportion(0, 0, .95); v.Reason() != measure.NoItems {
		t.Errorf("a proportion of no trials: %+v", v)
	}
}

func TestExactIntervalCoversAtLeastItsLevel(t *testing.T) {
	t.Parallel()
	const n = 12
	for _, p := range []float64{.02, .2, .5, .77} {
		var covered float64
		for k := range n + 1 {
			iv := ClopperPearson(k, n, .9)
			if !iv.Excludes(p) {
				lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
				covered += math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log(1-p))
			}
		}
		if covered < .9 {
			t.Errorf("coverage of %v is %v", p, covered)
		}
	}
}

// A judge whose three verdicts on an answer agree fully, or in one pair of three: the mean of 20 such answers lies within
// the interval at least as often as it says, summed over all outcomes. With all 0 or 1 it is Wilson's.
func TestIntervalOfAMeanCovers(t *testing.T) {
	t.Parallel()
	const n, low = 20, 1. / 3
	for _, p := range []float64{.5, .8, .9} {
		covered, binomial := 0., math.Pow(1-p, n)
		for k := range n + 1 {
			mean := (float64(k) + float64(n-k)*low) / n
			if iv := WilsonMean(mean, n, .95); !iv.Excludes(p + (1-p)*low) {
				covered += binomial
			}
			binomial *= float64(n-k) / float64(k+1) * p / (1 - p)
		}
		if covered < .95 {
			t.Errorf("coverage at %v is %v", p, covered)
		}
	}
	if d := cmp.Diff(Wilson(3, 40, .9), WilsonMean(3./40, 40, .9)); d != "" {
		t.Errorf("a proportion: %s", d)
	}
	for _, c := range []struct {
		p float64
		n int
	}{{1.1, 5}, {-.1, 5}, {math.NaN(), 5}, {.5, 0}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("WilsonMean(%v, %d) does not panic", c.p, c.n)
				}
			}()
			WilsonMean(c.p, c.n, .95)
		}()
	}
}

func TestImpossibleProportionPanics(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k, n  int
		level float64
	}{{1, 0, .95}, {3, 2, .95}, {-1, 2, .95}, {1, 2, 95}, {1, 2, math.NaN()}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Wilson(%d, %d, %v) does not panic", c.k, c.n, c.level)
				}
			}()
			Wilson(c.k, c.n, c.level)
		}()
	}
}
