// Package measure is the form in which every statistic of this module is returned: never a bare
// number, but a value with its interval, the number of items behind it, what was left out and why,
// the id of the method, and warnings.
//
// It is a leaf and imports nothing of this module.
package measure

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Orientation says which end of a score is the good one.
type Orientation uint8

const (
	// Confidence scores are higher for answers more likely to be correct.
	Confidence Orientation = iota + 1
	// Uncertainty scores are higher for answers less likely to be correct.
	Uncertainty
)

// String returns "confidence" or "uncertainty".
func (o Orientation) String() string {
	switch o {
	case Confidence:
		return "confidence"
	case Uncertainty:
		return "uncertainty"
	}
	return fmt.Sprintf("orientation(%d)", uint8(o))
}

// Reason says why a statistic is undefined. Empty means that it is defined.
type Reason string

const (
	// NoItems: nothing was left to compute on.
	NoItems Reason = "no items"
	// OneClass: all labels agree, so nothing can be ranked against anything.
	OneClass Reason = "one class"
	// Constant: an input does not vary where the method needs it to.
	Constant Reason = "constant input"
	// TooFew: fewer items than the method needs.
	TooFew Reason = "too few items"
	// OutOfRange: inputs lie outside the range on which the method is defined.
	OutOfRange Reason = "input out of range"
	// Infinite: the value is not finite.
	Infinite Reason = "infinite"
	// NoDraws: no resample gave a value.
	NoDraws Reason = "undefined in every resample"
)

// Excluded counts the items that a statistic left out for one reason.
type Excluded struct {
	// Reason is short, such as "no label".
	Reason string `json:"reason"`
	// N is the number of items, at least 1.
	N int `json:"n"`
}

// Warning is something a reader of the value must know. Code is stable and for machines.
type Warning struct {
	// Code is stable, such as "one-item"; the function that warns lists its codes.
	Code string `json:"code"`
	// Text is a sentence for people; its wording may change.
	Text string `json:"text"`
}

// Interval is an interval estimate. Lower <= Upper; both finite.
type Interval struct {
	// Lower and Upper are the ends, on the scale of the value.
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
	// Level is the nominal coverage in (0,1), such as .95.
	Level float64 `json:"level"`
	// Method is the id of the method, such as "bootstrap.percentile".
	Method string `json:"method"`
	// Resamples is the number of resamples drawn; 0 for closed forms.
	Resamples int `json:"resamples,omitempty"`
	// Undefined counts the resamples on which the statistic had no value; they are not in the interval.
	Undefined int `json:"undefined,omitempty"`
}

// Excludes reports whether x lies outside the interval.
func (iv Interval) Excludes(x float64) bool { return x < iv.Lower || x > iv.Upper }

// Value is one statistic. Build it with [Of] or [Undefined]; the zero Value is undefined without a method.
type Value struct {
	// Method is the id of the metric with its variant, such as "ece.equal-width.10.left-closed".
	Method string
	// Interval is nil where none is possible or none was asked for.
	Interval *Interval
	// N is the number of items used.
	N int
	// LeftOut counts the items not used, by reason, sorted by reason.
	LeftOut []Excluded
	// Ties is the share of pairs of used items with equal scores, in [0,1]; 0 where it does not apply.
	Ties float64
	// Warnings are what a reader of the value must know.
	Warnings []Warning

	x       float64
	defined bool
	reason  Reason
}

// Of returns a defined value over n items. A NaN or infinite x becomes undefined with reason
// [Infinite], so that no output ever holds one.
func Of(method string, x float64, n int) Value {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return Undefined(method, Infinite, n)
	}
	return Value{Method: method, N: n, x: x, defined: true}
}

// Undefined returns a value that does not exist, with the reason.
func Undefined(method string, why Reason, n int) Value {
	return Value{Method: method, N: n, reason: why}
}

// Get returns the number and whether there is one.
func (v Value) Get() (float64, bool) { return v.x, v.defined }

// Defined reports whether the value exists.
func (v Value) Defined() bool { return v.defined }

// Reason says why the value is undefined; empty if it is defined.
func (v Value) Reason() Reason { return v.reason }

// NLeftOut is the number of items not used, over all reasons.
func (v Value) NLeftOut() int {
	n := 0
	for _, e := range v.LeftOut {
		n += e.N
	}
	return n
}

// With returns v with the interval iv.
func (v Value) With(iv Interval) Value {
	v.Interval = &iv
	return v
}

// Leaving returns v with the items left out, by reason; counts of 0 are dropped.
func (v Value) Leaving(out map[string]int) Value {
	v.LeftOut = Exclusions(out)
	return v
}

// Warn returns v with one more warning. The receiver's slice is not changed.
func (v Value) Warn(code, format string, args ...any) Value {
	v.Warnings = append(slices.Clip(slices.Clone(v.Warnings)), Warning{code, fmt.Sprintf(format, args...)})
	return v
}

// Exclusions turns counts by reason into a list sorted by reason, without zero counts.
func Exclusions(out map[string]int) []Excluded {
	list := make([]Excluded, 0, len(out))
	for why, n := range out {
		if n > 0 {
			list = append(list, Excluded{why, n})
		}
	}
	slices.SortFunc(list, func(a, b Excluded) int { return strings.Compare(a.Reason, b.Reason) })
	if len(list) == 0 {
		return nil
	}
	return list
}

type wire struct {
	Method   string     `json:"method"`
	Value    *float64   `json:"value"`
	Reason   Reason     `json:"reason,omitempty"`
	Interval *Interval  `json:"interval,omitempty"`
	N        int        `json:"n"`
	LeftOut  []Excluded `json:"left_out,omitempty"`
	Ties     float64    `json:"ties,omitempty"`
	Warnings []Warning  `json:"warnings,omitempty"`
}

// MarshalJSON writes strict JSON: an undefined value is null with its reason.
func (v Value) MarshalJSON() ([]byte, error) {
	w := wire{v.Method, nil, v.reason, v.Interval, v.N, v.LeftOut, v.Ties, v.Warnings}
	if v.defined {
		w.Value = &v.x
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Value) UnmarshalJSON(data []byte) error {
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*v = Value{Method: w.Method, Interval: w.Interval, N: w.N, LeftOut: w.LeftOut, Ties: w.Ties, Warnings: w.Warnings, reason: w.Reason}
	if w.Value != nil {
		v.x, v.defined = *w.Value, true
	}
	return nil
}
