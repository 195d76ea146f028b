package metric_test

import "testing"

var goldenBins = map[string]string{
	"ece10_left": "ece.equal-width.10.left-closed", "mce10_left": "mce.equal-width.10.left-closed",
	"ece10_right": "ece.equal-width.10.right-closed", "mce10_right": "mce.equal-width.10.right-closed",
	"ece10_left_floor_c_times_10":    "ece.equal-width.10.left-closed",
	"ece10_left_linspace_edges":      "ece.equal-width.10.netcal",
	"ece10_phantom":                  "ece.equal-width.10.phantom",
	"ece15_left":                     "ece.equal-width.15.left-closed",
	"ece20_right":                    "ece.equal-width.20.right-closed",
	"ece_equalmass10_tie_preserving": "ece.equal-mass.10", "mce_equalmass10_tie_preserving": "mce.equal-mass.10",
	"lm_polygraph_ece20_nonorm": "ece.equal-width.20.lm-polygraph",
	"torchmetrics_10_l1":        "ece.equal-width.10.torchmetrics", "torchmetrics_10_max": "mce.equal-width.10.torchmetrics",
	"torchmetrics_15_l1": "ece.equal-width.15.torchmetrics", "torchmetrics_15_max": "mce.equal-width.15.torchmetrics",
	"netcal_ece10_equal_intervals_True": "ece.equal-width.10.netcal", "netcal_mce10_equal_intervals_True": "mce.equal-width.10.netcal",
	"relplot_binnedECE": "ece.equal-width.10.relplot",
}

func TestBinsAgreeWithReference(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Name                string
		Confidence, Correct []float64
		Expect              map[string]any
	}
	readCases(t, "testdata/bins.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			p := prepare(t, c.Confidence, c.Correct)
			for key, want := range c.Expect {
				id, known := goldenBins[key]
				x, isNumber := want.(float64)
				if !known || !isNumber {
					continue
				}
				v := byID(t, id).On(p)
				if got, _ := v.Get(); got-x > 1e-9 || x-got > 1e-9 {
					t.Errorf("%s (%s) = %v, want %v", key, id, got, x)
				}
			}
		})
	}
}
