package resample_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/resample"
)

// drawn is a setting of two scores, AUROC and accuracy, its labels and scores fixed by seed.
func drawn(t *testing.T, seed uint64, n int, wrong float64, resampleSeed uint64) *resample.Draws {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	labels, a, b := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		if rng.Float64() > wrong {
			labels[i] = 1
		}
		a[i], b[i] = rng.Float64()+.3*labels[i], rng.Float64()+.1*labels[i]
	}
	scores, err := metric.PrepareJointly(metric.Quality{Values: labels},
		metric.Score{Name: "a", Values: a, Orientation: measure.Confidence}, metric.Score{Name: "b", Values: b, Orientation: measure.Confidence})
	if err != nil {
		t.Fatal(err)
	}
	d, err := resample.Paired(t.Context(), scores, []metric.Statistic{metric.AUROC(), metric.AURC()}, resample.Options{N: 300, Seed: resampleSeed})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var (
	aurocA = resample.Term{Score: 0, Stat: 0, Weight: 1}
	aurocB = resample.Term{Score: 1, Stat: 0, Weight: -1}
)

func TestAMeanAccumulatesToTheMeanOverSettings(t *testing.T) {
	t.Parallel()
	var settings []*resample.Draws
	var mean resample.Mean
	for s := range uint64(5) {
		d := drawn(t, s, 60, .4, 100+s)
		settings = append(settings, d)
		if err := mean.Add(d.Quantity(aurocA, aurocB)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := resample.MeanOverSettings("gap", .9, settings, aurocA, aurocB)
	if err != nil {
		t.Fatal(err)
	}
	got := mean.Value("gap", .9)
	x, _ := got.Get()
	y, _ := want.Get()
	if math.Abs(x-y) > 1e-14 || math.Abs(got.Interval.Lower-want.Interval.Lower) > 1e-14 || math.Abs(got.Interval.Upper-want.Interval.Upper) > 1e-14 || got.N != want.N || got.Interval.Resamples != 300 {
		t.Errorf("accumulated %v %+v n %d, at once %v %+v n %d", x, got.Interval, got.N, y, want.Interval, want.N)
	}
	if mean.Settings() != 5 {
		t.Errorf("%d settings", mean.Settings())
	}
}

func TestTheDifferenceOfTwoQuantitiesIsTheirContrast(t *testing.T) {
	t.Parallel()
	// Two draws of one seed over the same items, as two judges of the same answers give.
	one, two := drawn(t, 1, 80, .4, 9), drawn(t, 1, 80, .4, 9)
	got := one.Quantity(aurocA).Minus(two.Quantity(resample.Term{Score: 1, Stat: 0, Weight: 1})).Value("gap", .95)
	want := one.Contrast("gap", .95, aurocA, aurocB)
	if diff := cmp.Diff(want.Interval, got.Interval); diff != "" {
		t.Errorf("(-contrast +difference):\n%s", diff)
	}
	x, _ := got.Get()
	if y, _ := want.Get(); x != y {
		t.Errorf("%v, want %v", x, y)
	}
	for name, other := range map[string]*resample.Draws{"other items": drawn(t, 1, 81, .4, 9), "another seed": drawn(t, 1, 80, .4, 10)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: a difference without pairing", name)
				}
			}()
			one.Quantity(aurocA).Minus(other.Quantity(aurocA))
		}()
	}
}

func TestAnAbsoluteValueIsTakenInEveryResample(t *testing.T) {
	t.Parallel()
	d := drawn(t, 3, 40, .5, 5)
	v := d.Quantity(resample.Term{Score: 0, Stat: 0, Weight: -1}).Abs().Value("x", .95)
	want := d.Value(0, 0, .95)
	if v.Interval.Lower != want.Interval.Lower || v.Interval.Upper != want.Interval.Upper {
		t.Errorf("%+v, want %+v", v.Interval, want.Interval)
	}
}

func TestWhatIsUndefinedStaysOutOfAMeanAndIsCounted(t *testing.T) {
	t.Parallel()
	var mean resample.Mean
	good := drawn(t, 1, 60, .4, 1).Quantity(aurocA)
	for _, q := range []resample.Quantity{good, drawn(t, 2, 30, 0, 2).Quantity(aurocA)} {
		if err := mean.Add(q); err != nil {
			t.Fatal(err)
		}
	}
	v := mean.Value("auroc", .95)
	if v.N != 60 || mean.Settings() != 1 || len(v.Warnings) != 1 || v.Warnings[0].Code != "settings-left-out" {
		t.Errorf("%+v", v)
	}
	if diff := cmp.Diff([]measure.Excluded{{Reason: "setting undefined: one class", N: 30}}, v.LeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if err := mean.Add(good); err == nil || !strings.Contains(err.Error(), "seed") {
		t.Errorf("a setting twice: %v", err)
	}
	if empty := new(resample.Mean).Value("auroc", .95); empty.Defined() || empty.Reason() != measure.NoItems {
		t.Errorf("mean of nothing: %+v", empty)
	}
}

func TestAMeanOfPointsHasNoInterval(t *testing.T) {
	t.Parallel()
	var mean resample.Mean
	for _, x := range []float64{-.5, .1} {
		if err := mean.Add(resample.Point(measure.Of("gap", x, 10)).Abs()); err != nil {
			t.Fatal(err)
		}
	}
	v := mean.Value("gap", .95)
	if x, ok := v.Get(); !ok || math.Abs(x-.3) > 1e-15 || v.Interval != nil || v.N != 20 || mean.Largest() != .5 {
		t.Errorf("%+v, largest %v", v, mean.Largest())
	}
}
