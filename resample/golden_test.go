package resample_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/resample"
)

// sampled is an interval from very many resamples, with the Monte-Carlo error of its ends.
type sampled struct {
	Lower      float64 `json:"lo"`
	Upper      float64 `json:"hi"`
	LowerError float64 `json:"mc_se_lo_at_200k"`
	UpperError float64 `json:"mc_se_hi_at_200k"`
	// Few are the errors with a twentieth of the resamples.
	LowerErrorFew float64 `json:"mc_se_lo_at_10k"`
	UpperErrorFew float64 `json:"mc_se_hi_at_10k"`
	Mean          float64 `json:"mean"`
	SD            float64 `json:"sd"`
	Undefined     int     `json:"n_undefined"`
	N             int     `json:"B"`
}

// enumerated is an interval over all possible resamples.
type enumerated struct {
	Lower         float64    `json:"q025"`
	Upper         float64    `json:"q975"`
	Mean          float64    `json:"mean"`
	SD            float64    `json:"sd"`
	ProbUndefined float64    `json:"prob_undefined"`
	Jump          [2]float64 `json:"gap_to_cdf_jump"`
}

type golden struct {
	Name    string              `json:"name"`
	Score1  []float64           `json:"score1"`
	Score2  []float64           `json:"score2"`
	Correct []float64           `json:"correct"`
	Point   map[string]*float64 `json:"point"`
	ECE     *sampled            `json:"ece"`
	AUROC   *sampled            `json:"auroc"`
	// SciPy is the interval of scipy.stats.bootstrap with 9,999 resamples.
	SciPy      []float64   `json:"scipy_bootstrap_9999_ece"`
	ExactECE   *enumerated `json:"exact_ece"`
	ExactAUROC *enumerated `json:"exact_auroc"`
}

func goldenCases(t *testing.T) []golden {
	t.Helper()
	data, err := os.ReadFile("testdata/intervals.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []golden
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

var difference = func(stat int) []resample.Term {
	return []resample.Term{{Score: 0, Stat: stat, Weight: 1}, {Score: 1, Stat: stat, Weight: -1}}
}

// The reference intervals are from numpy's generator, so ours agree within the Monte-Carlo error of
// both.
func TestIntervalsAgreeWithReference(t *testing.T) {
	t.Parallel()
	for _, c := range goldenCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			d := draw(t, c, resample.Options{N: 40_000, Seed: 7})
			for stat, want := range []*sampled{c.ECE, c.AUROC} {
				v := d.Contrast("difference", .95, difference(stat)...)
				if want == nil {
					// One class: no draw has an AUROC. The enumerated cases have their own test.
					if c.ExactECE == nil && (v.Defined() || v.Interval != nil) {
						t.Errorf("statistic %d is defined: %+v", stat, v)
					}
					continue
				}
				tolerance := func(e float64) float64 { return 4*e*math.Sqrt(1+float64(want.N)/40_000) + 1e-12 }
				iv := v.Interval
				if math.Abs(iv.Lower-want.Lower) > tolerance(want.LowerError) || math.Abs(iv.Upper-want.Upper) > tolerance(want.UpperError) {
					t.Errorf("statistic %d: interval [%v,%v], want [%v,%v]", stat, iv.Lower, iv.Upper, want.Lower, want.Upper)
				}
				share, wantShare := float64(iv.Undefined)/40_000, float64(want.Undefined)/float64(want.N)
				if math.Abs(share-wantShare) > 4*math.Sqrt(wantShare*(1-wantShare)*(1./40_000+1/float64(want.N)))+1e-12 {
					t.Errorf("statistic %d: share of undefined draws %v, want %v", stat, share, wantShare)
				}
				mean, sd := moments(d.Resampled(difference(stat)...))
				within(t, "mean", mean, want.Mean, 5*want.SD/math.Sqrt(40_000))
				within(t, "sd", sd, want.SD, .03*want.SD+1e-12)
			}
		})
	}
}

// The same with as few resamples as the second errors are for, which must be wider by their root; and
// the interval of an independent implementation.
func TestShorterIntervalsAgreeWithReference(t *testing.T) {
	t.Parallel()
	for _, c := range goldenCases(t) {
		if c.ECE == nil {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			n := c.ECE.N / 20
			d := draw(t, c, resample.Options{N: n, Seed: 13})
			for stat, want := range []*sampled{c.ECE, c.AUROC} {
				if want == nil {
					continue
				}
				within(t, "error of the lower end", want.LowerErrorFew, want.LowerError*math.Sqrt(20), .01*want.LowerErrorFew)
				within(t, "error of the upper end", want.UpperErrorFew, want.UpperError*math.Sqrt(20), .01*want.UpperErrorFew)
				iv := d.Contrast("difference", .95, difference(stat)...).Interval
				tolerance := 4 * math.Sqrt(1+1./20)
				within(t, "lower", iv.Lower, want.Lower, tolerance*want.LowerErrorFew+1e-12)
				within(t, "upper", iv.Upper, want.Upper, tolerance*want.UpperErrorFew+1e-12)
			}
			if c.SciPy != nil {
				iv := d.Contrast("difference", .95, difference(0)...).Interval
				tolerance := 4 * math.Sqrt(1+float64(n)/9_999)
				within(t, "lower, scipy", iv.Lower, c.SciPy[0], tolerance*c.ECE.LowerErrorFew+1e-12)
				within(t, "upper, scipy", iv.Upper, c.SciPy[1], tolerance*c.ECE.UpperErrorFew+1e-12)
			}
		})
	}
}

func TestIntervalsAgreeWithEnumeration(t *testing.T) {
	t.Parallel()
	const n = 200_000
	for _, c := range goldenCases(t) {
		if c.ExactECE == nil {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			d := draw(t, c, resample.Options{N: n, Seed: 11})
			for stat, want := range []*enumerated{c.ExactECE, c.ExactAUROC} {
				v := d.Contrast("difference", .95, difference(stat)...)
				share := float64(v.Interval.Undefined) / n
				within(t, "share undefined", share, want.ProbUndefined, 4*math.Sqrt(want.ProbUndefined*(1-want.ProbUndefined)/n)+1e-12)
				mean, sd := moments(d.Resampled(difference(stat)...))
				within(t, "mean", mean, want.Mean, 4*want.SD/math.Sqrt(n))
				within(t, "sd", sd, want.SD, .01*want.SD)
				// The quantile is a step of a discrete distribution; next to a step sampling decides.
				error4 := 4 * math.Sqrt(.025*.975/n)
				if want.Jump[0] > error4 {
					within(t, "lower", v.Interval.Lower, want.Lower, 1e-12)
				}
				if want.Jump[1] > error4 {
					within(t, "upper", v.Interval.Upper, want.Upper, 1e-12)
				}
			}
		})
	}
}

func TestPointValues(t *testing.T) {
	t.Parallel()
	for _, c := range goldenCases(t) {
		d := draw(t, c, resample.Options{N: 10})
		for cell, name := range []string{"ece1", "auroc1", "ece2", "auroc2"} {
			x, ok := d.Value(cell/2, cell%2, .95).Get()
			want := c.Point[name]
			if ok != (want != nil) {
				t.Errorf("%s: %s defined: %v", c.Name, name, ok)
			}
			if ok && want != nil {
				within(t, c.Name+" "+name, x, *want, 1e-12)
			}
		}
	}
}

func draw(t *testing.T, c golden, o resample.Options) *resample.Draws {
	t.Helper()
	return paired(t, c.Correct, [][]float64{c.Score1, c.Score2}, []metric.Statistic{metric.ECE(10, metric.LeftClosed), metric.AUROC()}, o)
}

func paired(t testing.TB, quality []float64, values [][]float64, stats []metric.Statistic, o resample.Options) *resample.Draws {
	t.Helper()
	var scores []metric.Score
	for _, v := range values {
		scores = append(scores, metric.Score{Values: v, Orientation: measure.Confidence})
	}
	prepared, err := metric.PrepareJointly(metric.Quality{Values: quality}, scores...)
	if err != nil {
		t.Fatal(err)
	}
	d, err := resample.Paired(t.Context(), prepared, stats, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func moments(xs []float64) (mean, sd float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	for _, x := range xs {
		sd += (x - mean) * (x - mean) / float64(len(xs))
	}
	return mean, math.Sqrt(sd)
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, tolerance)
	}
}
