package metric_test

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"strconv"
	"testing"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
)

func readCases(t testing.TB, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func prepare(t testing.TB, score, quality []float64) *metric.Prepared {
	t.Helper()
	p, err := metric.Prepare(score, quality, measure.Confidence)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func byID(t testing.TB, id string) metric.Statistic {
	t.Helper()
	s, err := metric.ByID(id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// holds fails unless v is want, or undefined where want is nil.
func holds(t *testing.T, v measure.Value, want *float64, tolerance float64) {
	t.Helper()
	x, ok := v.Get()
	switch {
	case want == nil && ok:
		t.Errorf("%s = %v, want undefined", v.Method, x)
	case want != nil && !ok:
		t.Errorf("%s is undefined (%s), want %v", v.Method, v.Reason(), *want)
	case want != nil && !(math.Abs(x-*want) <= tolerance):
		t.Errorf("%s = %v, want %v", v.Method, x, *want)
	}
}

// goldenIDs names the statistic that each reference value is of.
var goldenIDs = map[string]string{
	"auroc": "auroc", "ap_p": "ap.correct", "ap_n": "ap.incorrect",
	"pr_trapezoid_p": "pr-trapezoid.correct", "pr_trapezoid_n": "pr-trapezoid.incorrect",
	"aurc_expected": "aurc.expected", "aurc_tie_min": "aurc.tie-min", "aurc_tie_max": "aurc.tie-max",
	"aurc_oracle": "aurc.oracle", "eaurc": "eaurc", "eaurc_closed_form": "eaurc.closed-form",
	"augrc_expected": "augrc.expected", "auarc_mean": "aurac.mean", "auarc_trapezoid": "aurac.trapezoid",
	"prr_full": "prr.1", "prr_half": "prr.0.5", "spearman": "spearman", "kendall_tau_b": "kendall.tau-b",
}

func TestRankingAgreesWithReference(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Name           string
		Score, Quality []float64
		Expect         map[string]json.RawMessage
	}
	readCases(t, "testdata/ranking.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p := prepare(t, c.Score, c.Quality)
			for key, raw := range c.Expect {
				id, known := goldenIDs[key]
				switch {
				case known:
					var want *float64
					if err := json.Unmarshal(raw, &want); err != nil {
						t.Fatal(err)
					}
					holds(t, byID(t, id).On(p), want, 1e-9)
				case key == "aurc_random" || key == "aurc_worst":
					checkBounds(t, key, raw, c.Quality)
				case key == "auroc_reason":
					if why := byID(t, "auroc").On(p).Reason(); string(raw) != strconv.Quote(string(why)) {
						t.Errorf("auroc is undefined because of %q, want %s", why, raw)
					}
				case key == "tie_orders":
					if one := string(raw) == "1"; one != (p.Ties() == 0) {
						t.Errorf("%v of the pairs are tied, yet there are %s orders", p.Ties(), raw)
					}
				case key == "lm_polygraph":
					checkPolygraph(t, p, raw)
				default:
					checkEnumerated(t, p, key, raw)
				}
			}
		})
	}
}

// checkBounds: a constant score has the random AURC in expectation and the worst one at most.
func checkBounds(t *testing.T, key string, raw json.RawMessage, quality []float64) {
	t.Helper()
	var want float64
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	constant := prepare(t, make([]float64, len(quality)), quality)
	id := map[string]string{"aurc_random": "aurc.expected", "aurc_worst": "aurc.tie-max"}[key]
	holds(t, byID(t, id).On(constant), &want, 1e-9)
}

func checkPolygraph(t *testing.T, p *metric.Prepared, raw json.RawMessage) {
	t.Helper()
	var want struct {
		Reversed float64 `json:"reversed_pairs"`
		RCC      float64 `json:"rcc_auc"`
		Area     float64 `json:"prr_area_1"`
		Half     float64 `json:"prr_area_half"`
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	holds(t, byID(t, "reversed-pairs.lm-polygraph").On(p), &want.Reversed, 1e-9)
	holds(t, metric.AURC().On(p), &want.RCC, 1e-9)
	holds(t, byID(t, "rejection-area.1").On(p), &want.Area, 1e-9)
	holds(t, byID(t, "rejection-area.0.5").On(p), &want.Half, 1e-9)
}

// checkEnumerated compares with fractions from all orders of the ties.
func checkEnumerated(t *testing.T, p *metric.Prepared, key string, raw json.RawMessage) {
	t.Helper()
	id := map[string]string{
		"aurc_enumerated": "aurc.expected", "aurc_enumerated_min": "aurc.tie-min", "aurc_enumerated_max": "aurc.tie-max",
	}[key]
	if id == "" {
		t.Fatalf("no statistic for %s", key)
	}
	var fraction string
	if err := json.Unmarshal(raw, &fraction); err != nil {
		t.Fatal(err)
	}
	exact, ok := new(big.Rat).SetString(fraction)
	if !ok {
		t.Fatalf("%s is no fraction", fraction)
	}
	want, _ := exact.Float64()
	holds(t, byID(t, id).On(p), &want, 1e-15)
}

func TestRBOAgreesWithReference(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Name string
		S, T []int
		P    float64
		RBO  *float64
		// Library is what the package rbo 0.1.3 gives extrapolated, Truncated what it gives cut off. Of
		// two empty rankings it says 1, where there is nothing that could overlap.
		Library, Truncated float64
	}
	readCases(t, "testdata/rbo.json", &cases)
	for _, c := range cases {
		v, err := metric.RBO(c.S, c.T, c.P)
		if err != nil {
			t.Fatal(err)
		}
		holds(t, v, c.RBO, 1e-9)
		swapped, err := metric.RBO(c.T, c.S, c.P)
		if err != nil {
			t.Fatal(err)
		}
		holds(t, swapped, c.RBO, 1e-9)
		truncated, err := metric.RBOTruncated(c.S, c.T, c.P)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.S) == 0 {
			holds(t, truncated, nil, 0)
			continue
		}
		holds(t, v, &c.Library, 1e-9)
		holds(t, truncated, &c.Truncated, 1e-9)
	}
}
