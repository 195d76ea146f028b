package consistency

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
)

// Convergence says how a value settles as trials are added (Wu, Jiang and Aragam 2026, appendix B, Figure 7).
type Convergence struct {
	// Points are in ascending order of trials, all over the same items.
	Points []ConvergencePoint `json:"points"`
	// Stable is the least number of trials from which on Change stays within Tolerance; 0 if that is shown
	// for none before the last, which differs from itself by nothing.
	Stable    int     `json:"stable"`
	Tolerance float64 `json:"tolerance"`
}

// ConvergencePoint is the state after some trials.
type ConvergencePoint struct {
	Trials int `json:"trials"`
	// Mean is over items; Change is the mean absolute difference of an item's value from that at the largest
	// number of trials, 0 or more, lower is more settled.
	Mean   measure.Value `json:"mean"`
	Change measure.Value `json:"change"`
}

// Converge reads the value of each of n items after each number of trials and finds where it is stable.
// at(item, trials) returns the value, or false where there is none; items that lack one of them are left out
// of all points and counted. Errors: fewer than two different numbers of trials, or a tolerance below 0.
func Converge(n int, trials []int, tolerance float64, at func(item, trials int) (float64, bool)) (Convergence, error) {
	trials = slices.Clone(trials)
	slices.Sort(trials)
	trials = slices.Compact(trials)
	if len(trials) < 2 || trials[0] < 1 {
		return Convergence{}, fmt.Errorf("consistency: convergence needs two positive numbers of trials; got %v", trials)
	}
	if !(tolerance >= 0) {
		return Convergence{}, fmt.Errorf("consistency: tolerance %v; it is a distance of at least 0", tolerance)
	}
	var values [][]float64 // of each item used
	for item := range n {
		if row, ok := readAll(item, trials, at); ok {
			values = append(values, row)
		}
	}
	c := Convergence{Tolerance: tolerance}
	leftOut := map[string]int{"no value at some number of trials": n - len(values)}
	last, settled := len(trials)-1, true
	for k, t := range trials {
		c.Points = append(c.Points, pointOf(t, k, last, values, leftOut))
	}
	for k := last - 1; k >= 0 && settled; k-- {
		change, ok := c.Points[k].Change.Get()
		if settled = ok && change <= tolerance; settled {
			c.Stable = trials[k]
		}
	}
	return c, nil
}

func readAll(item int, trials []int, at func(item, trials int) (float64, bool)) ([]float64, bool) {
	row := make([]float64, len(trials))
	for k, t := range trials {
		x, ok := at(item, t)
		if !ok || !finite(x) {
			return nil, false
		}
		row[k] = x
	}
	return row, true
}

func pointOf(trials, k, last int, values [][]float64, leftOut map[string]int) ConvergencePoint {
	if len(values) == 0 {
		none := func(id string) measure.Value { return measure.Undefined(id, measure.NoItems, 0).Leaving(leftOut) }
		return ConvergencePoint{trials, none("convergence.mean"), none("convergence.change")}
	}
	sum, change := 0., 0.
	for _, row := range values {
		sum += row[k]
		change += math.Abs(row[k] - row[last])
	}
	n := float64(len(values))
	return ConvergencePoint{
		trials, measure.Of("convergence.mean", sum/n, len(values)).Leaving(leftOut),
		measure.Of("convergence.change", change/n, len(values)).Leaving(leftOut),
	}
}

// ConvergeC3 is [Converge] of the unclipped C3 with the first trials of each set. Errors: those of Converge,
// or an unknown estimator.
func ConvergeC3(items []*Comparison, o Options, trials []int, tolerance float64) (Convergence, error) {
	if _, err := o.estimator(); err != nil {
		return Convergence{}, err
	}
	return Converge(len(items), trials, tolerance, func(item, t int) (float64, bool) {
		c := items[item]
		if t > c.n || t > c.m {
			return 0, false
		}
		r, err := c.First(t, t).C3(o)
		x, ok := r.C3.Get()
		return x, ok && err == nil
	})
}
