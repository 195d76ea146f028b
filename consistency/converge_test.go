package consistency_test

import (
	"testing"

	"github.com/credence-lab/credence/consistency"
)

// One item is nothing to draw from, and its settling shows nothing of others.
func TestConvergenceOfOneItem(t *testing.T) {
	t.Parallel()
	r := consistency.Resampling{N: 20, Level: .9}
	for items, stable := range map[int]int{1: 0, 2: 5} {
		c, err := consistency.Converge(items, []int{5, 10}, .02, r, func(item, trials int) (float64, bool) { return 1, true })
		if err != nil {
			t.Fatal(err)
		}
		if c.Stable != stable || (c.Points[0].Mean.Interval == nil) != (items == 1) {
			t.Errorf("%d items: stable from %d, want %d; mean %+v", items, c.Stable, stable, c.Points[0].Mean)
		}
	}
}
