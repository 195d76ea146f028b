package metric_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
)

func TestCurvesHaveTheAreasOfTheirStatistics(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		score, quality := sample(t, 12)
		p := mustPrepare(t, score, quality)
		roc, why := metric.ROC(p)
		area := 0.0
		for i := 1; i < len(roc); i++ {
			area += (roc[i].X - roc[i-1].X) * (roc[i].Y + roc[i-1].Y) / 2
		}
		got := measure.Of("roc", area, p.N())
		if why != "" {
			got = measure.Undefined("roc", why, p.N())
		}
		same(t, "area", got, metric.AUROC().On(p))

		risk, _ := metric.RiskCoverage(p)
		sum := 0.0
		for _, point := range risk {
			sum += point.Y
		}
		same(t, "mean risk", measure.Of("risk", sum/float64(p.N()), p.N()), metric.AURC().On(p))
	})
}

func TestCurvesOfNothing(t *testing.T) {
	t.Parallel()
	p, err := metric.Prepare(nil, nil, measure.Confidence)
	if err != nil {
		t.Fatal(err)
	}
	if points, why := metric.ROC(p); points != nil || why != measure.NoItems {
		t.Errorf("ROC: %v, %q", points, why)
	}
	if points, why := metric.RiskCoverage(p); points != nil || why != measure.NoItems {
		t.Errorf("risk and coverage: %v, %q", points, why)
	}
	if bins := metric.Histogram(p, 10); bins != nil {
		t.Errorf("histogram: %v", bins)
	}
}

// Decimals such as .3 and .7 lie on edges that floating point puts on either side of them.
func TestHistogramPutsDecimalsIntoTheBinThatBeginsThere(t *testing.T) {
	t.Parallel()
	p, err := metric.Prepare([]float64{0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1}, []float64{1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, measure.Confidence)
	if err != nil {
		t.Fatal(err)
	}
	var correct, incorrect []int
	for _, b := range metric.Histogram(p, 10) {
		correct, incorrect = append(correct, b.Correct), append(incorrect, b.Incorrect)
	}
	if diff := cmp.Diff([]int{1, 0, 1, 0, 1, 0, 1, 0, 1, 1}, correct); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, incorrect); diff != "" {
		t.Error(diff)
	}
}

func TestHistogramCountsEveryItemOfAnyScore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		finite := rapid.Float64Range(-1e300, 1e300)
		scores := rapid.SliceOfN(rapid.OneOf(finite, rapid.SampledFrom([]float64{0, .5, 1, math.Inf(1), math.Inf(-1)})), 1, 10).Draw(t, "scores")
		quality := make([]float64, len(scores))
		orientation := rapid.SampledFrom([]measure.Orientation{measure.Confidence, measure.Uncertainty}).Draw(t, "orientation")
		p, err := metric.Prepare(scores, quality, orientation)
		if err != nil {
			t.Fatal(err)
		}
		bins := metric.Histogram(p, 7)
		if bins == nil {
			return // nothing finite to divide
		}
		n := 0
		for _, b := range bins {
			n += b.Correct + b.Incorrect
		}
		if n != len(scores) {
			t.Fatalf("%d of %d items counted", n, len(scores))
		}
	})
}
