package metric

import (
	"fmt"
	"math"

	"github.com/credence-lab/credence/measure"
	"gonum.org/v1/gonum/stat/distuv"
)

// Wilson is the score interval for the proportion of k successes in n trials (Wilson 1927), without
// continuity correction. Lower and upper lie in [0,1] and, unlike those of a bootstrap, apart also
// where all trials agree. It panics unless 0 <= k <= n, n > 0 and level is in (0,1).
func Wilson(k, n int, level float64) measure.Interval {
	mustBeProportion(k, n, level)
	return WilsonMean(float64(k)/float64(n), n, level)
}

// WilsonMean is [Wilson]'s interval for the mean of n values in [0,1] that are independent and otherwise
// anything: that of a proportion of the same size, which is too wide rather than too narrow, as no values in
// [0,1] of mean p vary more than those that are all 0 or 1, with the variance p(1-p). It panics unless p is in
// [0,1], n > 0 and level is in (0,1).
func WilsonMean(p float64, n int, level float64) measure.Interval {
	if n <= 0 || !(p >= 0 && p <= 1) || !(level > 0 && level < 1) {
		panic(fmt.Sprintf("metric: no interval for a mean of %v over %d at level %v", p, n, level))
	}
	z, m := normalQuantile(level), float64(n)
	scale := 1 + z*z/m
	centre := (p + z*z/(2*m)) / scale
	half := z / scale * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	iv := clippedTo(0, 1, centre, half, level, "wilson")
	// At the ends one side is exact, and rounding must not lift it off.
	if p == 0 {
		iv.Lower = 0
	}
	if p == 1 {
		iv.Upper = 1
	}
	return iv
}

// ClopperPearson is the exact interval for the proportion of k successes in n trials (Clopper and
// Pearson 1934), the quantiles of beta distributions: its coverage is never below level. It panics
// unless 0 <= k <= n, n > 0 and level is in (0,1).
func ClopperPearson(k, n int, level float64) measure.Interval {
	mustBeProportion(k, n, level)
	tail := (1 - level) / 2
	iv := measure.Interval{Lower: 0, Upper: 1, Level: level, Method: "clopper-pearson"}
	if k > 0 {
		iv.Lower = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(tail)
	}
	if k < n {
		iv.Upper = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - tail)
	}
	return iv
}

// Proportion is k/n with the exact interval of [ClopperPearson], undefined on no trials; method
// "proportion". It panics where that does.
func Proportion(k, n int, level float64) measure.Value {
	if n == 0 && k == 0 {
		return measure.Undefined("proportion", measure.NoItems, 0)
	}
	return measure.Of("proportion", float64(k)/float64(n), n).With(ClopperPearson(k, n, level))
}

func mustBeProportion(k, n int, level float64) {
	if n <= 0 || k < 0 || k > n || !(level > 0 && level < 1) {
		panic(fmt.Sprintf("metric: no interval for %d of %d at level %v", k, n, level))
	}
}

// normalQuantile is the half-width, in standard deviations, of a central normal interval.
func normalQuantile(level float64) float64 { return distuv.UnitNormal.Quantile((1 + level) / 2) }
