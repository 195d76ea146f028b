package metric_test

import (
	"math"
	"strings"
	"testing"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/google/go-cmp/cmp"
)

var nan, inf = math.NaN(), math.Inf(1)

func TestPrepareCountsWhatIsMissing(t *testing.T) {
	t.Parallel()
	ps, err := metric.PrepareJointly(
		metric.Quality{Values: []float64{1, nan, 0, 1, nan, 0}, Why: []string{"", "judge refused", "", "", "", ""}},
		metric.Score{Name: "verbalised", Values: []float64{.9, .5, nan, .2, nan, .1}, Orientation: measure.Confidence, Why: []string{"", "", "no probability", "", "", ""}},
		metric.Score{Name: "token", Values: []float64{.8, .5, nan, nan, .3, .4}, Orientation: measure.Confidence},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"judge refused": 1, "no label": 1, "no probability": 1, "no token": 1}
	for _, p := range ps {
		if diff := cmp.Diff(want, p.LeftOut()); diff != "" {
			t.Errorf("%s: %s", p.Name(), diff)
		}
		if diff := cmp.Diff([]int32{0, 5}, p.Rows()); diff != "" {
			t.Errorf("%s: %s", p.Name(), diff)
		}
	}
	if got := metric.AUROC().On(ps[0]); got.NLeftOut() != 4 || got.N != 2 {
		t.Errorf("n = %d, left out %d", got.N, got.NLeftOut())
	}
}

func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	score := func(values ...float64) metric.Score {
		return metric.Score{Name: "token", Values: values, Orientation: measure.Confidence}
	}
	for _, c := range []struct {
		quality []float64
		scores  []metric.Score
		want    string
	}{
		{[]float64{1}, nil, "no score"},
		{[]float64{1, 0}, []metric.Score{score(.5)}, "1 values of token but 2 labels"},
		{[]float64{1, 1.5}, []metric.Score{score(.5, .5)}, "label 1 is 1.5"},
		{[]float64{1, -inf}, []metric.Score{score(.5, .5)}, "label 1 is -Inf"},
		{[]float64{1}, []metric.Score{{Values: []float64{1}}}, "orientation"},
		{[]float64{1}, []metric.Score{{Values: []float64{1}, Why: []string{}, Orientation: measure.Confidence}}, "0 reasons"},
	} {
		_, err := metric.PrepareJointly(metric.Quality{Values: c.quality}, c.scores...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one that says %q", err, c.want)
		}
	}
}

func TestTiesAndDistinct(t *testing.T) {
	t.Parallel()
	p := prepare(t, []float64{.5, .9, .5, .5, 0, math.Copysign(0, -1)}, []float64{1, 0, 0, 1, 1, 1})
	if p.Distinct() != 3 || p.Atoms() != 4 || p.Ties() != 4./15 {
		t.Errorf("distinct %d, atoms %d, ties %v; want 3, 4, 4/15", p.Distinct(), p.Atoms(), p.Ties())
	}
	if empty := prepare(t, nil, nil); empty.Ties() != 0 || empty.Atoms() != 0 {
		t.Error("an empty sample has ties")
	}
}

func TestUndefinedHasAReason(t *testing.T) {
	t.Parallel()
	const ece = "ece.equal-width.10.left-closed"
	for _, c := range []struct {
		name           string
		score, quality []float64
		id             string
		why            measure.Reason
		warning        string
	}{
		{"no items", nil, nil, "auroc", measure.NoItems, ""},
		{"only missing", []float64{nan, .5}, []float64{1, nan}, ece, measure.NoItems, ""},
		{"one class", []float64{.5, .6}, []float64{1, 1}, "auroc", measure.OneClass, "all 2 items are correct"},
		{"one class", []float64{.5, .6}, []float64{0, 0}, "auroc", measure.OneClass, "all 2 items are incorrect"},
		{"none to find", []float64{.5, .6}, []float64{0, 0}, "ap.correct", measure.OneClass, "all 2 items are incorrect"},
		{"above 1", []float64{.5, 1.5, 2}, []float64{0, 1, 1}, ece, measure.OutOfRange, "2 of 3 values of score"},
		{"below 0", []float64{-1e-9, .5}, []float64{0, 1}, ece, measure.OutOfRange, "1 of 2 values of score"},
		{"infinite", []float64{inf, .5}, []float64{1, 0}, ece, measure.OutOfRange, "1 of 2"},
		{"infinite", []float64{inf, .5}, []float64{1, 0}, "pearson", measure.Infinite, ""},
		{"constant", []float64{.5, .5}, []float64{1, 0}, "spearman", measure.Constant, ""},
		{"constant", []float64{.5, .5}, []float64{1, 0}, "pearson", measure.Constant, ""},
		{"constant", []float64{.5, .6}, []float64{1, 1}, "kendall.tau-b", measure.Constant, ""},
		{"constant", []float64{.5, .6}, []float64{.7, .7}, "prr.1", measure.Constant, ""},
		{"nothing rejected", []float64{.5, .6}, []float64{1, 0}, "prr.0.5", measure.TooFew, ""},
		{"one item", []float64{.5}, []float64{1}, "reversed-pairs", measure.TooFew, "one item"},
		{"one item", []float64{.5}, []float64{1}, "aurac.trapezoid", measure.TooFew, "one item"},
		{"small bins", []float64{.5, .6}, []float64{1, 0}, "mce.equal-width.10.left-closed.min-20", measure.TooFew, ""},
	} {
		v := byID(t, c.id).On(prepare(t, c.score, c.quality))
		if v.Reason() != c.why {
			t.Errorf("%s, %s: reason %q, want %q", c.id, c.name, v.Reason(), c.why)
		}
		var texts []string
		for _, w := range v.Warnings {
			texts = append(texts, w.Text)
		}
		if text := strings.Join(texts, "; "); !strings.Contains(text, c.warning) {
			t.Errorf("%s, %s: warnings %q, want %q", c.id, c.name, text, c.warning)
		}
	}
}

func TestGradedLabelsAreCutWithAWarning(t *testing.T) {
	t.Parallel()
	p := prepare(t, []float64{.9, .8, .7, .1}, []float64{.5, .4, 1, 0})
	v := metric.AUROC().On(p)
	holds(t, v, ptr(.75), 0)
	if len(v.Warnings) != 1 || v.Warnings[0].Code != "graded-labels" {
		t.Errorf("warnings %v", v.Warnings)
	}
	holds(t, metric.CIndex().On(p), ptr(4./6), 1e-15)
	holds(t, metric.ECE(10, metric.LeftClosed).On(p), ptr((.4+.4+.3+.1)/4), 1e-15)
}

func ptr(x float64) *float64 { return &x }

// Inputs on which well-known tools have been wrong.
func TestReportedCases(t *testing.T) {
	t.Parallel()
	repeat := func(parts ...[3]float64) (score, quality []float64) { // score, quality, times
		for _, part := range parts {
			for range int(part[2]) {
				score, quality = append(score, part[0]), append(quality, part[1])
			}
		}
		return score, quality
	}
	skewed, labels := repeat([3]float64{.5, 1, 50}, [3]float64{.5, 0, 50}, [3]float64{.95, 0, 150})
	few, fewLabels := repeat([3]float64{.8, 1, 30}, [3]float64{.8, 0, 30})
	top, topLabels, err := metric.TopLabel([][]float64{{.9, .1}, {.8, .2}}, []int{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, id       string
		score, quality []float64
		want           *float64
	}{
		{"0 is in the first of right-closed bins", "ece.equal-width.10.right-closed", []float64{0, .9}, []float64{1, 1}, ptr(.55)},
		{"0 is in the first bin", "ece.equal-width.10.left-closed", []float64{0, .9}, []float64{1, 1}, ptr(.55)},
		{"the last bin of fixed size counts", "rmsce.fixed-size.100", skewed, labels, ptr(math.Sqrt(.6) * .95)},
		{"the last bin of fixed size counts", "ece.fixed-size.100", skewed, labels, ptr(.57)},
		{"the published variant skips it", "rmsce.fixed-size.100.skip-last", skewed, labels, ptr(0.)},
		{"fewer items than a bin", "rmsce.fixed-size.100", few, fewLabels, ptr(.3)},
		{"a class that no label names", "ece.equal-width.10.left-closed", top, topLabels, ptr(.15)},
		{"all infinite", "auroc", []float64{inf, inf, inf, inf}, []float64{0, 0, 1, 1}, ptr(.5)},
		{"all infinite, other order", "auroc", []float64{inf, inf, inf, inf}, []float64{1, 1, 0, 0}, ptr(.5)},
		{"all missing", "auroc", []float64{nan, nan, nan, nan}, []float64{0, 0, 1, 1}, nil},
		{"near is not equal", "auroc", []float64{1e-10, 0, 0}, []float64{1, 0, 0}, ptr(1.)},
		{"near is not equal in log space", "auroc", []float64{-23, -inf, -inf}, []float64{1, 0, 0}, ptr(1.)},
	} {
		holds(t, byID(t, c.id).On(prepare(t, c.score, c.quality)), c.want, 1e-12)
	}
}

// Spearman is defined on any two variables; qualities are ranks here brought to [0,1].
func TestSpearmanOfTiedRatings(t *testing.T) {
	t.Parallel()
	scaled := func(ratings ...float64) []float64 {
		for i := range ratings {
			ratings[i] /= 10
		}
		return ratings
	}
	for _, c := range []struct {
		x, y []float64
		want *float64
	}{
		{[]float64{1, 1, 1, 1, 2}, scaled(5, 4, 3, 2, 1), ptr(-1 / math.Sqrt2)},
		{[]float64{1, 1, 2, 3}, scaled(1, 2, 2, 3), ptr(5. / 6)},
		{[]float64{7, 7, 7, 7}, scaled(1, 2, 3, 4), nil},
	} {
		holds(t, metric.Spearman().On(prepare(t, c.x, c.y)), c.want, 1e-12)
	}
}

func TestPearson(t *testing.T) {
	t.Parallel()
	for _, scale := range []float64{1, 1e300, 1e-300} {
		p := prepare(t, []float64{1 * scale, 2 * scale, 3 * scale, 5 * scale}, []float64{0, 0, 1, 1})
		holds(t, metric.Pearson().On(p), ptr(5/math.Sqrt(4*8.75)), 1e-12) // Σxy−n·x̄ȳ = 2.5, Σ(x−x̄)² = 8.75, Σ(y−ȳ)² = 1
	}
}
