package metric

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestBestFirst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		inf := math.Inf(1)
		near := rapid.Map(rapid.IntRange(0, 999), func(k int) float64 { return 1 + float64(k)/(1<<52) }) // high halves of bits alike
		value := rapid.OneOf(rapid.Float64(), near, rapid.SampledFrom([]float64{0, 1, -1, inf, -inf, 1e-310, -1e-310, math.MaxFloat64}))
		n := rapid.IntRange(0, 500).Draw(t, "n")
		confidence := rapid.SliceOfN(value, n, n).Draw(t, "confidence")
		for i := range confidence {
			confidence[i] += 0 // as arrange does with -0
		}
		level := rapid.SliceOfN(rapid.Int32Range(0, 2), n, n).Draw(t, "level")
		want := make([]int32, n)
		for i := range want {
			want[i] = int32(i)
		}
		slices.SortStableFunc(want, func(a, b int32) int {
			return cmp.Or(cmp.Compare(confidence[b], confidence[a]), cmp.Compare(level[a], level[b]))
		})
		items := make([]keyed, n)
		for i, c := range confidence {
			items[i] = keyed{descending(c), int32(i), level[i]}
		}
		bestFirst(items)
		for k, x := range items {
			i := want[k]
			if x.item != i || x.level != level[i] || ascending(x.key) != confidence[i] {
				t.Fatalf("at %d item %d of confidence %v and level %d, want item %d: %v, %d", k, x.item, ascending(x.key), x.level, i, confidence[i], level[i])
			}
		}
	})
}
