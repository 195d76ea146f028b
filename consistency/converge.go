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
	// for none before the last, which differs from itself by nothing, or if there are fewer than two items.
	Stable    int     `json:"stable"`
	Tolerance float64 `json:"tolerance"`
}

// ConvergencePoint is the state after some trials.
type ConvergencePoint struct {
	Trials int `json:"trials"`
	// Mean is over items; Change is the mean absolute difference of an item's value from that at the largest
	// number of trials, 0 or more, lower is more settled. Their intervals draw items, the same for all points.
	Mean   measure.Value `json:"mean"`
	Change measure.Value `json:"change"`
}

// Converge reads the value of each of n items after each number of trials and finds where it is stable.
// at(item, trials) returns the value, or false where there is none; items that lack one of them are left out
// of all points and counted. Errors: fewer than two different numbers of trials, a tolerance below 0, or a resampling
// that makes no sense.
func Converge(n int, trials []int, tolerance float64, r Resampling, at func(item, trials int) (float64, bool)) (Convergence, error) {
	trials = slices.Clone(trials)
	slices.Sort(trials)
	trials = slices.Compact(trials)
	if len(trials) < 2 || trials[0] < 1 {
		return Convergence{}, fmt.Errorf("consistency: convergence needs two positive numbers of trials; got %v", trials)
	}
	if !(tolerance >= 0) {
		return Convergence{}, fmt.Errorf("consistency: tolerance %v; it is a distance of at least 0", tolerance)
	}
	if err := r.check(); err != nil {
		return Convergence{}, err
	}
	var values [][]float64 // of each item used
	for item := range n {
		if row, ok := readAll(item, trials, at); ok {
			values = append(values, row)
		}
	}
	c := Convergence{Tolerance: tolerance}
	leftOut := map[string]int{"no value at some number of trials": n - len(values)}
	last, settled := len(trials)-1, len(values) > 1
	for k, t := range trials {
		c.Points = append(c.Points, pointOf(t, k, last, values, leftOut, r))
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

func pointOf(trials, k, last int, values [][]float64, leftOut map[string]int, r Resampling) ConvergencePoint {
	now, change := make([]float64, len(values)), make([]float64, len(values))
	for i, row := range values {
		now[i], change[i] = row[k], math.Abs(row[k]-row[last])
	}
	p := ConvergencePoint{trials, meanOfItems("convergence.mean", now, r).Leaving(leftOut), meanOfItems("convergence.change", change, r).Leaving(leftOut)}
	if k == last {
		p.Change.Interval, p.Change.Warnings = nil, nil // 0 from itself, whatever is drawn
	}
	return p
}

// ConvergeC3 is [Converge] of the unclipped C3 with the first trials of each set. Errors: those of Converge,
// or an unknown estimator.
func ConvergeC3(items []*Comparison, o Options, trials []int, tolerance float64, r Resampling) (Convergence, error) {
	if _, err := o.estimator(); err != nil {
		return Convergence{}, err
	}
	return Converge(len(items), trials, tolerance, r, func(item, t int) (float64, bool) {
		c := items[item]
		if t > c.n || t > c.m {
			return 0, false
		}
		r, err := c.First(t, t).C3(o)
		x, ok := r.C3.Get()
		return x, ok && err == nil
	})
}
