// Package report turns a study's results into what people read: words and tables.
package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/credence-lab/credence/measure"
)

// Number writes x with two decimals and without a negative zero.
func Number(x float64) string {
	s := fmt.Sprintf("%.2f", x)
	if s == "-0.00" {
		return "0.00"
	}
	return s
}

// Signed writes x with two decimals and its sign; a value that rounds to zero has none.
func Signed(x float64) string {
	s := fmt.Sprintf("%+.2f", x)
	if s == "-0.00" || s == "+0.00" {
		return "0.00"
	}
	return s
}

// Estimate writes a value with its interval, or a dash with the reason why there is none.
func Estimate(v measure.Value) string { return estimate(v, Number) }

// SignedEstimate is [Estimate] for differences.
func SignedEstimate(v measure.Value) string { return estimate(v, Signed) }

func estimate(v measure.Value, number func(float64) string) string {
	x, ok := v.Get()
	if !ok {
		return "– (" + string(v.Reason()) + ")"
	}
	if v.Interval == nil {
		return number(x)
	}
	return fmt.Sprintf("%s [%s,%s]", number(x), number(v.Interval.Lower), number(v.Interval.Upper))
}

// Percent writes a share in whole percent; a share that is neither 0 nor 1 is never written as such.
func Percent(x float64) string {
	switch p := math.Round(100 * x); {
	case p == 0 && x > 0:
		return "<1 %"
	case p == 100 && x < 1:
		return ">99 %"
	default:
		return fmt.Sprintf("%.0f %%", p)
	}
}

// LeftOut lists what was left out by reason: "3 no probability, 1 no answer", or "none".
func LeftOut(list []measure.Excluded) string {
	if len(list) == 0 {
		return "none"
	}
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = fmt.Sprintf("%d %s", e.N, e.Reason)
	}
	return strings.Join(parts, ", ")
}
