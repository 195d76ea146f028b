package resample_test

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/resample"
	"github.com/google/go-cmp/cmp"
)

func codes(v measure.Value) []string {
	var codes []string
	for _, w := range v.Warnings {
		codes = append(codes, w.Code)
	}
	return codes
}

// Not parallel: it changes GOMAXPROCS.
func TestDrawsDoNotDependOnProcessors(t *testing.T) {
	token, verbalised, correct := simulated(60, 1)
	drawn := func(processors int, o resample.Options) []float64 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		d := paired(t, correct, [][]float64{token, verbalised}, papers, o)
		var all []float64
		for cell := range 6 {
			all = append(all, d.Resampled(resample.Term{Score: cell / 3, Stat: cell % 3, Weight: 1})...)
		}
		iv := d.Value(0, 1, .9).Interval
		return append(all, iv.Lower, iv.Upper)
	}
	for _, o := range []resample.Options{{N: 500, Seed: 3}, {N: 500, Seed: 3, Method: resample.BCa}} {
		one := drawn(1, o)
		for _, processors := range []int{2, 7} {
			if diff := cmp.Diff(one, drawn(processors, o)); diff != "" {
				t.Fatalf("%d processors: %s", processors, diff)
			}
		}
	}
	if slices.Equal(drawn(1, resample.Options{N: 500, Seed: 3}), drawn(1, resample.Options{N: 500, Seed: 4})) {
		t.Error("the seed changes nothing")
	}
}

// A score must see the same draws whatever stands beside it, and more resamples only add some.
func TestDrawsArePaired(t *testing.T) {
	t.Parallel()
	token, verbalised, correct := simulated(50, 2)
	accuracy := []metric.Statistic{metric.AUROC(), metric.Accuracy()}
	both := paired(t, correct, [][]float64{token, verbalised}, accuracy, resample.Options{N: 300, Seed: 5})
	alone := paired(t, correct, [][]float64{verbalised}, accuracy[1:], resample.Options{N: 200, Seed: 5})
	of := func(d *resample.Draws, score, stat int) []float64 {
		return d.Resampled(resample.Term{Score: score, Stat: stat, Weight: 1})
	}
	close := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
	if diff := cmp.Diff(of(both, 0, 1), of(both, 1, 1), close); diff != "" {
		t.Errorf("two scores of one setting saw different items: %s", diff)
	}
	if diff := cmp.Diff(of(both, 1, 1)[:200], of(alone, 0, 0)); diff != "" {
		t.Errorf("a score saw other items when alone: %s", diff)
	}
}

// Each item is drawn once in the mean and with the variance of a draw with replacement.
func TestEveryItemHasTheSameChance(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 7, 1000} {
		const resamples = 4_000
		quality := make([]float64, n)
		quality[n/2] = 1 // the mean quality counts how often this item is drawn
		d := paired(t, quality, [][]float64{make([]float64, n)}, []metric.Statistic{metric.Accuracy()}, resample.Options{N: resamples})
		mean, sd := moments(d.Resampled(resample.Term{Weight: float64(n)}))
		variance := 1 - 1/float64(n)
		within(t, "mean number of times", mean, 1, 4*math.Sqrt(variance/resamples)+1e-9)
		within(t, "its variance", sd*sd, variance, .15*variance+1e-9)
	}
}

func TestIntervalCoversKnownMean(t *testing.T) {
	t.Parallel()
	// Accuracy of 100 answers that are right with probability .6, in 600 worlds.
	const worlds = 600
	for _, method := range []resample.Method{resample.Percentile, resample.Basic, resample.BCa} {
		covered := 0
		for world := range uint64(worlds) {
			quality := coins(100, .6, world)
			d := paired(t, quality, [][]float64{quality}, []metric.Statistic{metric.Accuracy()},
				resample.Options{N: 400, Seed: world, Method: method})
			if iv := d.Value(0, 0, .95).Interval; !iv.Excludes(.6) {
				covered++
			}
		}
		// 95 % less the little that a bootstrap of 100 items loses, ± 4 standard errors.
		within(t, string(method)+" coverage", float64(covered)/worlds, .94, .04)
	}
}

func coins(n int, p float64, seed uint64) []float64 {
	faces := make([]float64, n)
	uniform := newUniform(seed)
	for i := range faces {
		if uniform() < p {
			faces[i] = 1
		}
	}
	return faces
}

func TestClustersAreDrawnWhole(t *testing.T) {
	t.Parallel()
	// Ten clusters of ten equal answers: the mean has the spread of ten answers, not of a hundred.
	var quality []float64
	var clusters []string
	for k := range 10 {
		for range 10 {
			quality, clusters = append(quality, float64(k%2)), append(clusters, string(rune('a'+k)))
		}
	}
	accuracy := []metric.Statistic{metric.Accuracy()}
	spread := func(clusters []string) float64 {
		d := paired(t, quality, [][]float64{quality}, accuracy, resample.Options{N: 4_000, Clusters: clusters})
		_, sd := moments(d.Resampled(resample.Term{Weight: 1}))
		return sd
	}
	within(t, "spread of clusters", spread(clusters), .5/math.Sqrt(10), .006)
	within(t, "spread of items", spread(nil), .5/math.Sqrt(100), .003)
}

// Clusters are named by input row, also when rows are left out.
func TestClustersFollowRows(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	score, quality := []float64{nan, .9, .1, nan, .4}, []float64{1, 1, 0, 0, 1}
	d := paired(t, quality, [][]float64{score}, []metric.Statistic{metric.Accuracy()},
		resample.Options{N: 200, Clusters: []string{"x", "a", "b", "x", "a"}})
	// Clusters a (two right) and b (one wrong): all means are of aa, ab or bb.
	for _, x := range d.Resampled(resample.Term{Weight: 1}) {
		if x != 0 && x != 1 && math.Abs(x-2./3) > 1e-12 {
			t.Fatalf("mean %v is of no draw of whole clusters", x)
		}
	}
}

func TestUndefinedDrawsAreCounted(t *testing.T) {
	t.Parallel()
	quality := slices.Repeat([]float64{1}, 30)
	quality[3] = 0
	score, _, _ := simulated(30, 4)
	d := paired(t, quality, [][]float64{score, score}, papers, resample.Options{N: 4_000})
	v := d.Value(0, 1, .95)
	within(t, "share undefined", float64(v.Interval.Undefined)/4_000, math.Pow(29./30, 30), .03)
	if !slices.Contains(codes(v), "undefined-draws") {
		t.Errorf("no warning: %v", v.Warnings)
	}
	if got := len(d.Resampled(resample.Term{Stat: 1, Weight: 1})); got != 4_000-v.Interval.Undefined {
		t.Errorf("%d values are defined, %d of 4000 are not", got, v.Interval.Undefined)
	}
	if v := d.Value(0, 0, .95); v.Interval.Undefined != 0 || slices.Contains(codes(v), "undefined-draws") {
		t.Errorf("ECE was undefined on %d draws", v.Interval.Undefined)
	}
}

func TestUndefinedValueHasNoInterval(t *testing.T) {
	t.Parallel()
	for _, method := range []resample.Method{resample.Percentile, resample.BCa} {
		d := paired(t, []float64{1, 1, 1}, [][]float64{{.1, .2, .3}}, papers, resample.Options{N: 50, Method: method})
		v := d.Value(0, 1, .95)
		if v.Reason() != measure.OneClass || v.Interval != nil {
			t.Errorf("%s: %v", method, v)
		}
		if p := d.PValue(resample.Term{Stat: 1, Weight: 1}); p.Reason() != measure.OneClass {
			t.Errorf("p value: %v", p)
		}
		none := paired(t, nil, [][]float64{nil}, papers, resample.Options{N: 50, Method: method})
		if v := none.Value(0, 0, .95); v.Reason() != measure.NoItems || v.Interval != nil {
			t.Errorf("no items: %v", v)
		}
	}
}

// Ten correct answers: every resample is the same, which is a finding and no crash.
func TestDegenerateIntervalIsFlagged(t *testing.T) {
	t.Parallel()
	quality := slices.Repeat([]float64{1}, 10)
	for _, method := range []resample.Method{resample.Percentile, resample.Basic, resample.BCa} {
		d := paired(t, quality, [][]float64{quality}, []metric.Statistic{metric.Accuracy()}, resample.Options{N: 500, Method: method})
		v := d.Value(0, 0, .95)
		if v.Interval == nil || v.Interval.Lower != 1 || v.Interval.Upper != 1 || !slices.Contains(codes(v), "degenerate-interval") {
			t.Errorf("%s: %v, %v", method, v.Interval, codes(v))
		}
	}
	exact := metric.ClopperPearson(10, 10, .95)
	within(t, "exact lower end", exact.Lower, .6915, 5e-5)
	within(t, "Wilson lower end", metric.Wilson(10, 10, .95).Lower, .7225, 5e-5)
}

func TestBCaWithoutAnItemNeedsAValue(t *testing.T) {
	t.Parallel()
	score, _, _ := simulated(20, 4)
	quality := make([]float64, 20)
	quality[7] = 1 // without it, there is one class
	d := paired(t, quality, [][]float64{score}, papers, resample.Options{N: 500, Method: resample.BCa})
	if v := d.Value(0, 1, .95); v.Interval != nil || !slices.Contains(codes(v), "no-interval") || !v.Defined() {
		t.Errorf("%v with warnings %v", v, codes(v))
	}
}

func TestPairedRefuses(t *testing.T) {
	t.Parallel()
	prepare := func(score ...float64) *metric.Prepared {
		p, err := metric.Prepare(score, []float64{1, 0, 1}, measure.Confidence)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole, holed := prepare(.1, .2, .3), prepare(.1, math.NaN(), .3)
	for _, c := range []struct {
		scores []*metric.Prepared
		stats  []metric.Statistic
		o      resample.Options
		want   string
	}{
		{nil, papers, resample.Options{}, "no score"},
		{[]*metric.Prepared{whole}, nil, resample.Options{}, "no statistic"},
		{[]*metric.Prepared{whole, holed}, papers, resample.Options{}, "PrepareJointly"},
		{[]*metric.Prepared{whole}, papers, resample.Options{N: -1}, "-1 resamples"},
		{[]*metric.Prepared{whole}, papers, resample.Options{Method: "studentised"}, "studentised"},
		{[]*metric.Prepared{whole}, papers, resample.Options{Clusters: []string{"a"}}, "cluster of every input row"},
	} {
		if _, err := resample.Paired(t.Context(), c.scores, c.stats, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one that says %q", err, c.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := resample.Paired(ended, []*metric.Prepared{whole}, papers, resample.Options{}); err != context.Canceled {
		t.Errorf("after the end of the context: %v", err)
	}
}

func TestProgressReachesTheTotal(t *testing.T) {
	t.Parallel()
	var last, calls atomic.Int64
	paired(t, []float64{1, 0}, [][]float64{{.1, .2}}, papers, resample.Options{N: 100, Progress: func(done, total int) {
		if int64(done) <= last.Swap(int64(done)) || total != 100 {
			t.Errorf("%d of %d done after %d", done, total, last.Load())
		}
		calls.Add(1)
	}})
	if last.Load() != 100 || calls.Load() < 2 {
		t.Errorf("%d done in %d calls", last.Load(), calls.Load())
	}
}
