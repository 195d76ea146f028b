package resample_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/resample"
)

func newUniform(seed uint64) func() float64 { return rand.New(rand.NewPCG(seed, 9)).Float64 }

func TestQuantileIsThatOfNumpy(t *testing.T) {
	t.Parallel()
	sorted := []float64{1, 2, 4, 8, 16}
	for q, want := range map[float64]float64{0: 1, .025: 1.1, .25: 2, .3: 2.4, .5: 4, .975: 15.2, 1: 16} {
		within(t, "quantile", resample.Quantile(sorted, q), want, 1e-12)
	}
	within(t, "quantile of one", resample.Quantile([]float64{3}, .7), 3, 0)
}

func TestBasicReflectsPercentile(t *testing.T) {
	t.Parallel()
	token, _, correct := simulated(40, 3)
	of := func(m resample.Method) (x, lower, upper float64) {
		v := paired(t, correct, [][]float64{token}, papers, resample.Options{N: 1_000, Method: m}).Value(0, 1, .9)
		x, _ = v.Get()
		return x, v.Interval.Lower, v.Interval.Upper
	}
	x, low, high := of(resample.Percentile)
	_, lower, upper := of(resample.Basic)
	within(t, "lower", lower, 2*x-high, 1e-12)
	within(t, "upper", upper, 2*x-low, 1e-12)
}

// BCa against a calculation from the resampled values and the leave-one-out values.
func TestBCaCorrectsForBiasAndSkew(t *testing.T) {
	t.Parallel()
	token, verbalised, correct := simulated(40, 6)
	scores := [][]float64{token, verbalised}
	d := paired(t, correct, scores, papers, resample.Options{N: 2_000, Method: resample.BCa})
	v := d.Contrast("gap", .9, difference(2)...)
	x, _ := v.Get()

	gap := func(keep []int) float64 {
		var c []float64
		kept := make([][]float64, 2)
		for _, i := range keep {
			c = append(c, correct[i])
			for s := range kept {
				kept[s] = append(kept[s], scores[s][i])
			}
		}
		d := paired(t, c, kept, papers, resample.Options{N: 1})
		x, _ := d.Contrast("gap", .9, difference(2)...).Get()
		return x
	}
	var without []float64
	for left := range correct {
		var keep []int
		for i := range correct {
			if i != left {
				keep = append(keep, i)
			}
		}
		without = append(without, gap(keep))
	}
	mean, _ := moments(without)
	var squares, cubes float64
	for _, y := range without {
		squares += (mean - y) * (mean - y)
		cubes += math.Pow(mean-y, 3)
	}
	acceleration := cubes / (6 * math.Pow(squares, 1.5))
	draws := d.Resampled(difference(2)...)
	slices.Sort(draws)
	below := 0.
	for _, y := range draws {
		if y < x {
			below++
		}
	}
	normal := func(q float64) float64 { return math.Sqrt2 * math.Erfinv(2*q-1) }
	bias := normal(below / float64(len(draws)))
	adjusted := func(q float64) float64 {
		z := bias + normal(q)
		return .5 * math.Erfc(-(bias+z/(1-acceleration*z))/math.Sqrt2)
	}
	within(t, "lower", v.Interval.Lower, resample.Quantile(draws, adjusted(.05)), 1e-9)
	within(t, "upper", v.Interval.Upper, resample.Quantile(draws, adjusted(.95)), 1e-9)
}

// Clusters of one item each are items.
func TestBCaOfSingletonClusters(t *testing.T) {
	t.Parallel()
	token, _, correct := simulated(26, 6)
	var names []string
	for i := range token {
		names = append(names, string(rune('a'+i)))
	}
	for _, method := range []resample.Method{resample.Percentile, resample.BCa} {
		items := paired(t, correct, [][]float64{token}, papers, resample.Options{N: 500, Method: method}).Value(0, 2, .9)
		clusters := paired(t, correct, [][]float64{token}, papers, resample.Options{N: 500, Method: method, Clusters: names}).Value(0, 2, .9)
		within(t, "lower", clusters.Interval.Lower, items.Interval.Lower, 1e-12)
		within(t, "upper", clusters.Interval.Upper, items.Interval.Upper, 1e-12)
	}
}

func TestContrastOfContrasts(t *testing.T) {
	t.Parallel()
	token, verbalised, correct := simulated(50, 8)
	d := paired(t, correct, [][]float64{token, verbalised, token, verbalised}, papers, resample.Options{N: 300})
	shift := []resample.Term{{Score: 1, Stat: 1, Weight: 1}, {Score: 0, Stat: 1, Weight: -1}, {Score: 3, Stat: 1, Weight: -1}, {Score: 2, Stat: 1, Weight: 1}}
	v := d.Contrast("shift.auroc", .95, shift...)
	if x, ok := v.Get(); !ok || x != 0 || v.Interval.Lower != 0 || v.Interval.Upper != 0 {
		t.Errorf("a gap minus itself: %v, %v", x, v.Interval)
	}
	within(t, "p value of no difference", valueOf(t, d.PValue(shift...)), 1, 0)
}

func TestPValueInvertsTheInterval(t *testing.T) {
	t.Parallel()
	token, _, correct := simulated(200, 8)
	d := paired(t, correct, [][]float64{token, make([]float64, 200)}, []metric.Statistic{metric.AUROC()}, resample.Options{N: 999})
	p := valueOf(t, d.PValue(difference(0)...))
	within(t, "p value of a large difference", p, 2./1000, 1e-12) // never 0

	token, verbalised, correct := simulated(60, 21)
	d = paired(t, correct, [][]float64{token, verbalised}, papers, resample.Options{N: 2_000})
	for stat := range papers {
		p := valueOf(t, d.PValue(difference(stat)...))
		for _, level := range []float64{1 - p - .02, 1 - p + .02} {
			if level <= 0 || level >= 1 {
				continue
			}
			excludes := d.Contrast("gap", level, difference(stat)...).Interval.Excludes(0)
			if excludes != (level < 1-p) {
				t.Errorf("p = %v but the interval at %v excludes 0: %v", p, level, excludes)
			}
		}
	}
}

func TestHolm(t *testing.T) {
	t.Parallel()
	got := resample.Holm([]float64{.01, .04, .03, .005, .9})
	for i, want := range []float64{.04, .09, .09, .025, .9} {
		within(t, "adjusted", got[i], want, 1e-15)
	}
	if len(resample.Holm(nil)) != 0 {
		t.Error("an empty family has a p value")
	}
}
