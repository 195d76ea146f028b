package resample

import (
	"cmp"
	"slices"
)

// Holm adjusts the p values of a family of comparisons so that the chance of any false rejection
// stays below the level at which they are read (Holm 1979). The result is in the order of ps.
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	adjusted := make([]float64, len(ps))
	largest := 0.
	for rank, i := range order {
		largest = max(largest, min(1, float64(len(ps)-rank)*ps[i]))
		adjusted[i] = largest
	}
	return adjusted
}
