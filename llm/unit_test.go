package llm_test

import (
	"math"
	"testing"

	"github.com/credence-lab/credence/llm"
)

func TestUnit(t *testing.T) {
	t.Parallel()
	got, err := llm.Unit([]float64{3, 0, -4})
	if err != nil || got[0] != .6 || got[1] != 0 || got[2] != -.8 {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range [][]float64{nil, {0, 0}, {math.NaN(), 1}, {math.Inf(1), 1}, {1e200, 1}} {
		if got, err := llm.Unit(bad); err == nil {
			t.Errorf("%v became %v", bad, got)
		}
	}
}
