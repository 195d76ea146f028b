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
		value := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 1, -1, inf, -inf, 1e-310, -1e-310, math.MaxFloat64}))
		n := rapid.IntRange(0, 300).Draw(t, "n")
		confidence := rapid.SliceOfN(value, n, n).Draw(t, "confidence")
		for i := range confidence {
			confidence[i] += 0 // as arrange does with -0
		}
		quality := rapid.SliceOfN(rapid.SampledFrom([]float64{0, .25, 1}), n, n).Draw(t, "quality")
		want := make([]int32, n)
		for i := range want {
			want[i] = int32(i)
		}
		slices.SortStableFunc(want, func(a, b int32) int {
			return cmp.Or(cmp.Compare(confidence[b], confidence[a]), cmp.Compare(quality[b], quality[a]))
		})
		if got := bestFirst(confidence, quality); !slices.Equal(got, want) {
			t.Fatalf("order %v, want %v", got, want)
		}
	})
}
