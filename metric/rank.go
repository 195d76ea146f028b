package metric

import (
	"cmp"
	"math"
	"slices"
)

// Ranks gives the rank of each value, 1 for the best; values within tolerance of the best of their
// group are tied and share their mean rank. better says which end is the best: [Higher], [Lower], or
// [Nearer] to 0. Groups are formed from the best value down, so that a chain of small steps is not
// one tie. A NaN gets rank NaN and counts for nothing.
func Ranks(values []float64, better Direction, tolerance float64) []float64 {
	ranks := make([]float64, len(values))
	before := 0
	for _, group := range Tied(values, better, tolerance) {
		for _, i := range group {
			ranks[i] = float64(before) + float64(len(group)+1)/2
		}
		before += len(group)
	}
	for i, x := range values {
		if math.IsNaN(x) {
			ranks[i] = math.NaN()
		}
	}
	return ranks
}

// Tied gives the indices of the values as groups, best first, that [Ranks] gives one rank; it is what
// [RBOTied] takes. A NaN is in no group.
func Tied(values []float64, better Direction, tolerance float64) [][]int {
	key := func(x float64) float64 { return -x }
	switch better {
	case Lower:
		key = func(x float64) float64 { return x }
	case Nearer:
		key = math.Abs
	}
	var order []int
	for i, x := range values {
		if !math.IsNaN(x) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(key(values[a]), key(values[b])) })
	const slack = 1e-12 // so that .7 and .675 are .025 apart
	var groups [][]int
	best := math.NaN()
	for _, i := range order {
		if k := key(values[i]); k == best || k-best <= tolerance+slack*min(1, tolerance) {
			groups[len(groups)-1] = append(groups[len(groups)-1], i)
			continue
		}
		groups, best = append(groups, []int{i}), key(values[i])
	}
	return groups
}
