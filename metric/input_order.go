package metric

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
)

// Two published forms part items of equal confidence by their place in the input. Another order of the
// same items gives another value, so these are no [Statistic]: counts of a resample do not say which
// item came first, and no id stands for them. They are here to compare with numbers printed elsewhere.

// KSInInputOrder is [KS] read behind every item, items of equal confidence in input order, instead of
// at the ends of their groups. It is never below KS; without ties of different quality it is KS. Its
// method is "ks.input-order". It is an error if the lengths differ or a quality lies outside [0,1]; a
// pair with a NaN is left out and counted.
func KSInInputOrder(confidence, quality []float64) (measure.Value, error) {
	return inInputOrder("ks.input-order", confidence, quality, func(excess []float64) float64 {
		sum, largest := 0., 0.
		for _, x := range excess {
			sum += x
			largest = max(largest, math.Abs(sum))
		}
		return largest / float64(len(excess))
	})
}

// ECEArraySplit is ECE with bins of n/M items as numpy.array_split makes them: in ascending order, the
// first n mod M bins one item larger, and equal confidences parted in input order where a bin ends.
// The metric "ece.equal-mass.M" keeps them together, and so differs from this where there are ties, or
// where M does not divide n. Its method is "ece.equal-mass.M.array-split"; otherwise it is like
// [KSInInputOrder]. It is an error if bins is not in 1..2^20.
func ECEArraySplit(confidence, quality []float64, bins int) (measure.Value, error) {
	if err := checkBins(bins); err != nil {
		return measure.Value{}, fmt.Errorf("metric: the number of bins: %w", err)
	}
	id := fmt.Sprintf("ece.equal-mass.%d.array-split", bins)
	return inInputOrder(id, confidence, quality, func(excess []float64) float64 {
		n, gaps := len(excess), 0.
		for rest := excess; len(rest) > 0; bins-- {
			size := (len(rest) + bins - 1) / bins // larger bins first
			sum := 0.
			for _, x := range rest[:size] {
				sum += x
			}
			gaps, rest = gaps+math.Abs(sum), rest[size:]
		}
		return gaps / float64(n)
	})
}

// inInputOrder hands the excess of each item, confidence − quality, to of: in ascending order of
// confidence, equal ones in input order.
func inInputOrder(id string, confidence, quality []float64, of func(excess []float64) float64) (measure.Value, error) {
	p, err := Prepare(confidence, quality, measure.Confidence)
	if err != nil {
		return measure.Value{}, err
	}
	s := Statistic{ID: id, Needs: Probability, Labels: Qualities}
	if why := s.refuses(p); why != "" {
		return s.Dress(p, 0, why), nil
	}
	rows := slices.Clone(p.Rows())
	slices.SortStableFunc(rows, func(a, b int32) int { return cmp.Compare(confidence[a], confidence[b]) })
	excess := make([]float64, len(rows))
	for i, row := range rows {
		excess[i] = confidence[row] - quality[row]
	}
	return s.Dress(p, of(excess), ""), nil
}
