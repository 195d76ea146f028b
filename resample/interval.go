package resample

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Method is the id of a kind of interval.
type Method string

const (
	// Percentile: the quantiles of the resampled values.
	Percentile Method = "bootstrap.percentile"
	// Basic: the quantiles reflected at the value (Davison and Hinkley 1997, section 5.2). It may leave
	// the range of the statistic.
	Basic Method = "bootstrap.basic"
	// BCa: percentiles corrected for bias and acceleration (Efron 1987).
	BCa Method = "bootstrap.bca"
)

// Quantile is the quantile at q in [0,1] of the sorted values, interpolated linearly between order
// statistics as numpy does by default (type 7 of Hyndman and Fan 1996). It panics on no values.
func Quantile(sorted []float64, q float64) float64 {
	position := q * float64(len(sorted)-1)
	below := int(position)
	if below >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	share := position - float64(below)
	low, high := sorted[below], sorted[below+1]
	return low + share*(high-low)
}

// bounds gives the interval around x from the sorted resampled values, of which there is at least
// one; influence is read by BCa only. ok is false where BCa does not exist.
func (m Method) bounds(x float64, sorted, influence []float64, level float64) (lower, upper float64, ok bool) {
	low, high := (1-level)/2, (1+level)/2
	switch m {
	case Basic:
		return 2*x - Quantile(sorted, high), 2*x - Quantile(sorted, low), true
	case BCa:
		bias, acceleration := biasOf(x, sorted), accelerationOf(influence)
		if math.IsInf(bias, 0) || math.IsNaN(acceleration) {
			return 0, 0, false
		}
		low, high = correct(low, bias, acceleration), correct(high, bias, acceleration)
	}
	return Quantile(sorted, low), Quantile(sorted, high), true
}

// biasOf is the normal quantile of the share of resampled values below x, equal ones counting half.
func biasOf(x float64, sorted []float64) float64 {
	below, _ := slices.BinarySearch(sorted, x)
	notAbove, _ := slices.BinarySearch(sorted, math.Nextafter(x, math.Inf(1)))
	return distuv.UnitNormal.Quantile(float64(below+notAbove) / 2 / float64(len(sorted)))
}

// accelerationOf is a sixth of the skewness of the influence values; 0 where none has influence.
func accelerationOf(influence []float64) float64 {
	var squares, cubes float64
	for _, l := range influence {
		squares += l * l
		cubes += l * l * l
	}
	if squares == 0 {
		return 0
	}
	return cubes / (6 * math.Pow(squares, 1.5))
}

func correct(q, bias, acceleration float64) float64 {
	z := bias + distuv.UnitNormal.Quantile(q)
	return distuv.UnitNormal.CDF(bias + z/(1-acceleration*z))
}
