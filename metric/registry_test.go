package metric_test

import (
	"testing"

	"github.com/credence-lab/credence/metric"
)

// An id comes from a command line: whatever it is, it is refused with a message or names a statistic
// that works.
func FuzzByID(f *testing.F) {
	for _, s := range metric.All() {
		f.Add(s.ID)
	}
	for _, id := range []string{"", ".", "ece.", "prr.NaN", "prr.1e-400", "mce.equal-mass.10.min-", "risk.at-coverage.-0", "ece.fixed-size.1.skip-last", "coverage.at-risk.0x1p-3", "ece.equal-mass.2.netcal", "mce.equal-mass.2.netcal.min-2", "rejection-area.0.5", "smece.relplot-1.0.3.sigma-0.1", "ece.smoothed.silverman-0.9.whole-line"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		s, err := metric.ByID(id)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		if s.ID != id {
			t.Errorf("ByID(%q) gave %q", id, s.ID)
		}
		p := prepare(t, []float64{0, .3, .3, 1}, []float64{0, 1, 0, 1})
		if v := s.On(p); !v.Defined() && v.Reason() == "" {
			t.Errorf("%s is undefined without a reason", id)
		}
	})
}
