package metric

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/credence-lab/credence/measure"
	"pgregory.net/rapid"
)

type calibrationGolden struct {
	Cases []struct {
		Name  string
		Input struct{ Conf, Correct []float64 }
		// Expect holds numbers, nulls where there is none, and two objects of numbers.
		Expect map[string]any
	}
}

func mustPrepare(t testing.TB, confidence, quality []float64) *Prepared {
	t.Helper()
	p, err := Prepare(confidence, quality, measure.Confidence)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func byID(t testing.TB, id string) Statistic {
	t.Helper()
	s, err := ByID(id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCalibrationMatchesGoldenValues(t *testing.T) {
	t.Parallel()
	var golden calibrationGolden
	readTestdata(t, "calibration.json", &golden)
	for _, c := range golden.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p := mustPrepare(t, c.Input.Conf, c.Input.Correct)
			for _, m := range []struct {
				key, id   string
				tolerance float64
			}{
				{"brier", "brier", 1e-12},
				{"ks_tie_end", "ks", 1e-12},
				{"log_loss_sklearn", "log-loss.clip-2.220446049250313e-16", 1e-12},
			} {
				v := byID(t, m.id).On(p)
				if want, defined := c.Expect[m.key].(float64); defined {
					near(t, m.id, v, want, m.tolerance)
				} else if v.Defined() {
					t.Errorf("%s is defined: %+v", m.id, v)
				}
			}
			checkMurphy(t, p, "exact", MurphyExact(p), c.Expect["murphy_exact"].(map[string]any))
			checkMurphy(t, p, "binned", MurphyBinned(p, 10, LeftClosed), c.Expect["murphy_10bins_left"].(map[string]any))
			infinite := int(c.Expect["log_loss_clip"].(map[string]any)["n_clipped_infinite"].(float64))
			if v := LogLoss(0).On(p); v.Defined() != (infinite == 0) {
				t.Errorf("unclipped log loss with %d infinite items: %+v", infinite, v)
			}
			if got := p.clipped(2.220446049250313e-16); got != infinite {
				t.Errorf("%d items clipped, want %d", got, infinite)
			}
		})
	}
}

func checkMurphy(t *testing.T, p *Prepared, name string, got Murphy, want map[string]any) {
	t.Helper()
	sum := 0.
	for _, part := range []struct {
		key  string
		sign float64
		v    measure.Value
	}{
		{"reliability", 1, got.Reliability}, {"resolution", -1, got.Resolution}, {"uncertainty", 1, got.Uncertainty},
		{"within_variance", 1, got.WithinVariance}, {"within_covariance_x2", -1, got.WithinCovariance},
	} {
		x, _ := part.v.Get()
		sum += part.sign * x
		value, _ := want[part.key].(float64) // terms within bins are 0 in the exact form
		near(t, name+" "+part.key, part.v, value, 1e-12)
	}
	near(t, name+" sum of the parts", Brier().On(p), sum, 1e-14)
}

func TestLogLossStatesItsClip(t *testing.T) { // scikit-learn#6703
	t.Parallel()
	p := mustPrepare(t, []float64{0, 0, 0}, []float64{1, 1, 1})
	v := byID(t, "log-loss.clip-1e-15").On(p)
	near(t, "clipped", v, 34.5388, 5e-5)
	if !slices.ContainsFunc(v.Warnings, func(w measure.Warning) bool {
		return w.Code == "clipped" && strings.Contains(w.Text, "3 of 3")
	}) {
		t.Errorf("warnings %v do not count the clipped items", v.Warnings)
	}
	undefinedAs(t, "unclipped", LogLoss(0).On(p), measure.Infinite)
	sure := mustPrepare(t, []float64{1, 0}, []float64{1, 0})
	near(t, "certain and right", LogLoss(0).On(sure), 0, 0)
	for _, id := range []string{"log-loss", "log-loss.clip-0", "log-loss.clip-.7", "log-loss.clip-1e-", "log-loss.clip-0.10"} {
		if _, err := ByID(id); err == nil {
			t.Errorf("%s is found", id)
		}
	}
}

func TestInfiniteLossOutsideAResampleDoesNotReachIt(t *testing.T) {
	t.Parallel()
	p := mustPrepare(t, []float64{1, .5}, []float64{0, 1})
	evaluate := LogLoss(0).Evaluator(p)
	if x, why := evaluate([]uint32{0, 3}); why != "" || math.Abs(x-math.Ln2) > 1e-15 {
		t.Errorf("loss %v (%s), want log 2", x, why)
	}
	if _, why := evaluate([]uint32{1, 1}); why != measure.Infinite {
		t.Errorf("reason %q", why)
	}
}

// calibrationIDs are the statistics of this file's subject, by usual id.
func calibrationIDs() []Statistic {
	var list []Statistic
	for _, f := range calibrationFamilies() {
		for _, parameters := range f.Usual {
			s, err := f.New(parameters)
			if err != nil {
				panic(err)
			}
			list = append(list, s)
		}
	}
	return list
}

// sample is confidences with ties and qualities, some graded.
func sample(t *rapid.T) (confidence, quality []float64) {
	n := rapid.IntRange(1, 30).Draw(t, "n")
	c := rapid.OneOf(rapid.SampledFrom([]float64{0, .1, .3, .5, .9, 1}), rapid.Float64Range(0, 1))
	q := rapid.SampledFrom([]float64{0, 1, 0, 1, .25})
	return rapid.SliceOfN(c, n, n).Draw(t, "confidence"), rapid.SliceOfN(q, n, n).Draw(t, "quality")
}

func TestCalibrationIgnoresTheOrderOfItems(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		confidence, quality := sample(t)
		var c, q []float64
		for _, i := range rapid.Permutation(indices(len(confidence))).Draw(t, "order") {
			c, q = append(c, confidence[i]), append(q, quality[i])
		}
		a, err := Prepare(confidence, quality, measure.Confidence)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Prepare(c, q, measure.Confidence)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range calibrationIDs() {
			x, y := s.On(a), s.On(b)
			gx, _ := x.Get()
			gy, _ := y.Get()
			if gx != gy || x.Reason() != y.Reason() {
				t.Fatalf("%s: %v (%s) and %v (%s)", s.ID, gx, x.Reason(), gy, y.Reason())
			}
		}
	})
}

func TestCountsEqualTheExpandedSample(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		confidence, quality := sample(t)
		p, err := Prepare(confidence, quality, measure.Confidence)
		if err != nil {
			t.Fatal(err)
		}
		perItem := make([]uint32, len(confidence))
		var c, q []float64
		for i := range perItem {
			perItem[i] = rapid.Uint32Range(0, 3).Draw(t, "count")
			c = append(c, slices.Repeat(confidence[i:i+1], int(perItem[i]))...)
			q = append(q, slices.Repeat(quality[i:i+1], int(perItem[i]))...)
		}
		if len(c) == 0 {
			t.Skip("an empty resample")
		}
		expanded, err := Prepare(c, q, measure.Confidence)
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]uint32, p.Atoms())
		p.Collapse(counts, perItem)
		for _, s := range calibrationIDs() {
			x, why := s.Evaluator(p)(counts)
			v := s.On(expanded)
			y, _ := v.Get()
			if math.Abs(x-y) > 1e-10 || why != v.Reason() {
				t.Fatalf("%s: %v (%s) on counts, %v (%s) expanded", s.ID, x, why, y, v.Reason())
			}
		}
	})
}
