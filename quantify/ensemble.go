package quantify

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

// Column is the values of one quantifier over items.
type Column struct {
	ID          string
	Orientation measure.Orientation
	// Values has one value for each item.
	Values []record.Number
}

// Ensemble is a weighted mean of quantifiers of any range and direction. Each is brought to [0,1] first, by
// the share of the values it was fitted on that are less sure: u(x) = (#{x_i < x} + ½ #{x_i = x}) / n, or 1
// minus that for an uncertainty. The mean is a confidence in [0,1] that ranks; it is no calibrated
// probability. It is immutable.
type Ensemble struct {
	parts []part
}

type part struct {
	id          string
	orientation measure.Orientation
	weight      float64
	seen        []float64 // sorted
}

// Fit tunes the weights on items with a label (1 correct, 0 incorrect, or a quality between) and a value in
// every column: those of the linear regression of the label on the columns, brought to [0,1], with an
// intercept and no negative weight, divided by their sum. Equal columns share their weight equally, and
// where no column helps all have the same. It is an error if the columns are none or differ in length, if a
// label lies outside [0,1], or if fewer than two of the complete items are of either class.
//
// Judge the ensemble on other items than these, or use [CrossFit].
func Fit(columns []Column, labels []record.Number) (Ensemble, error) {
	if err := checkColumns(columns, labels); err != nil {
		return Ensemble{}, err
	}
	return fit(columns, labels, func(int) bool { return true })
}

// ErrTooFew: too few items of either class are complete for weights to be tuned.
var ErrTooFew = errors.New("quantify: an ensemble cannot be fitted")

func checkColumns(columns []Column, labels []record.Number) error {
	if len(columns) == 0 {
		return fmt.Errorf("quantify: an ensemble of no quantifier")
	}
	for _, c := range columns {
		if c.Orientation != measure.Confidence && c.Orientation != measure.Uncertainty {
			return fmt.Errorf("quantify: column %q is neither a confidence nor an uncertainty", c.ID)
		}
		if len(c.Values) != len(labels) {
			return fmt.Errorf("quantify: column %q has %d values for %d labels", c.ID, len(c.Values), len(labels))
		}
		for i, value := range c.Values {
			if x, known := value.Get(); known && (math.IsNaN(x) || math.IsInf(x, 0)) {
				return fmt.Errorf("quantify: value %d of column %q is %v", i, c.ID, x)
			}
		}
	}
	for i, label := range labels {
		if y, known := label.Get(); known && !(y >= 0 && y <= 1) {
			return fmt.Errorf("quantify: label %d is %v, outside [0,1]", i, y)
		}
	}
	return nil
}

// fit uses the items that are complete and among those that use takes.
func fit(columns []Column, labels []record.Number, use func(item int) bool) (Ensemble, error) {
	var items []int
	var y []float64
	classes := [2]int{}
	for i, label := range labels {
		quality, known := label.Get()
		if known && use(i) && complete(columns, i) {
			items, y = append(items, i), append(y, quality)
			classes[class(quality)]++
		}
	}
	if min(classes[0], classes[1]) < 2 {
		return Ensemble{}, fmt.Errorf("%w: %d correct and %d incorrect items with a value of every quantifier; weights need two of each at least", ErrTooFew, classes[1], classes[0])
	}
	e := Ensemble{parts: make([]part, len(columns))}
	scaled := make([][]float64, len(columns))
	for k, c := range columns {
		p := part{id: c.ID, orientation: c.Orientation}
		for _, i := range items {
			x, _ := c.Values[i].Get()
			p.seen = append(p.seen, x)
		}
		raw := slices.Clone(p.seen)
		slices.Sort(p.seen)
		for _, x := range raw {
			scaled[k] = append(scaled[k], p.scale(x))
		}
		e.parts[k] = p
	}
	for k, w := range regress(scaled, y) {
		e.parts[k].weight = w
	}
	return e, nil
}

func complete(columns []Column, item int) bool {
	for _, c := range columns {
		if _, known := c.Values[item].Get(); !known {
			return false
		}
	}
	return true
}

// class is 1 for correct, 0 for incorrect.
func class(quality float64) int {
	if quality >= .5 {
		return 1
	}
	return 0
}

// scale is the share of the values seen that are less sure than x, those as sure counted half.
func (p part) scale(x float64) float64 {
	below, _ := slices.BinarySearch(p.seen, x)
	upTo, _ := slices.BinarySearch(p.seen, math.Nextafter(x, math.Inf(1)))
	u := float64(below+upTo) / float64(2*len(p.seen))
	if p.orientation == measure.Uncertainty {
		return 1 - u
	}
	return u
}

// ridge makes the regression's solution unique where columns say the same: they share their weight.
const ridge = 1e-6

// regress returns weights of sum 1, none negative, of the least squares fit of y on the columns with an
// intercept.
func regress(columns [][]float64, y []float64) []float64 {
	k := len(columns)
	centred, target := make([][]float64, k), centre(y)
	for j, c := range columns {
		centred[j] = centre(c)
	}
	gram, towards, trace := mat.NewSymDense(k, nil), make([]float64, k), 0.0
	for i := range k {
		for j := range i + 1 {
			gram.SetSym(i, j, dot(centred[i], centred[j]))
		}
		towards[i] = dot(centred[i], target)
		trace += gram.At(i, i)
	}
	for i := range k {
		gram.SetSym(i, i, gram.At(i, i)+ridge*trace)
	}
	return toOne(nonNegativeSolution(gram, towards))
}

// nonNegativeSolution minimises ½ wᵀ G w − tᵀ w over w ≥ 0 by active sets (Lawson and Hanson 1974, chapter
// 23): weights above 0 solve their equations, and one more is let in while that helps.
func nonNegativeSolution(gram *mat.SymDense, towards []float64) []float64 {
	weights, free := make([]float64, len(towards)), []int(nil)
	for range 3 * len(towards) {
		next, steepest := -1, 1e-12*mat.Trace(gram)
		for i := range weights {
			gradient := towards[i]
			for j, w := range weights {
				gradient -= gram.At(i, j) * w
			}
			if !slices.Contains(free, i) && gradient > steepest {
				next, steepest = i, gradient
			}
		}
		if next < 0 {
			break
		}
		free = settle(gram, towards, weights, append(free, next))
	}
	return weights
}

// settle solves for the free weights. Those that would turn negative stop at 0 and are free no more.
func settle(gram *mat.SymDense, towards, weights []float64, free []int) []int {
	for {
		solution := solve(gram, towards, free)
		if solution == nil {
			return free
		}
		step := 1.0
		for at, i := range free {
			if solution[at] <= 0 {
				step = math.Min(step, weights[i]/(weights[i]-solution[at]))
			}
		}
		var still []int
		for at, i := range free {
			weights[i] += step * (solution[at] - weights[i])
			if step < 1 && solution[at] <= 0 && weights[i] <= 1e-15 {
				weights[i] = 0
			} else {
				still = append(still, i)
			}
		}
		if free = still; step == 1 {
			return free
		}
	}
}

// solve solves the equations of some of the weights; nil if these are none or singular.
func solve(gram *mat.SymDense, towards []float64, free []int) []float64 {
	if len(free) == 0 {
		return nil
	}
	part, right := mat.NewSymDense(len(free), nil), mat.NewVecDense(len(free), nil)
	for a, i := range free {
		for b, j := range free[:a+1] {
			part.SetSym(a, b, gram.At(i, j))
		}
		right.SetVec(a, towards[i])
	}
	var factor mat.Cholesky
	if !factor.Factorize(part) {
		return nil
	}
	solution := mat.NewVecDense(len(free), nil)
	if err := factor.SolveVecTo(solution, right); err != nil {
		return nil // so nearly singular that the digits are gone
	}
	return solution.RawVector().Data
}

// toOne divides weights by their sum; where that is 0 all get the same.
func toOne(weights []float64) []float64 {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	for i := range weights {
		if sum > 0 {
			weights[i] /= sum
		} else {
			weights[i] = 1 / float64(len(weights))
		}
	}
	return weights
}

func centre(x []float64) []float64 {
	mean := 0.0
	for _, xi := range x {
		mean += xi
	}
	mean /= float64(len(x))
	out := make([]float64, len(x))
	for i, xi := range x {
		out[i] = xi - mean
	}
	return out
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// Weights are the weights of the columns, in their order; their sum is 1.
func (e Ensemble) Weights() []float64 {
	weights := make([]float64, len(e.parts))
	for i, p := range e.parts {
		weights[i] = p.weight
	}
	return weights
}

// Of is the ensemble's confidence from one value of each column, in their order: Σ_k w_k u_k(x_k), in [0,1].
// It is missing for the reason of the first value that is, whatever the value's weight: dropping it would
// put the item on another scale. It panics if the number of values is not that of the columns.
func (e Ensemble) Of(values []record.Number) record.Number {
	if len(values) != len(e.parts) {
		panic(fmt.Sprintf("quantify: %d values for an ensemble of %d", len(values), len(e.parts)))
	}
	sum := 0.0
	for k, value := range values {
		x, known := value.Get()
		if !known {
			return value
		}
		sum += e.parts[k].weight * e.parts[k].scale(x)
	}
	return record.Known(math.Min(1, sum))
}

// CrossFit gives every item the confidence of an ensemble that has not seen it: items are dealt into folds,
// and each fold's values come from the ensemble of [Fit] on the others. Correct, incorrect and unlabelled
// items are dealt apart, in an order that seed fixes, so that folds are alike. It also returns the ensemble
// of each fold, for their weights. Errors are those of Fit, and fewer than two folds.
func CrossFit(columns []Column, labels []record.Number, folds int, seed uint64) ([]record.Number, []Ensemble, error) {
	if err := checkColumns(columns, labels); err != nil {
		return nil, nil, err
	}
	if folds < 2 {
		return nil, nil, fmt.Errorf("quantify: cross-fitting needs two folds at least, not %d", folds)
	}
	fold := deal(labels, folds, seed)
	ensembles := make([]Ensemble, folds)
	for f := range folds {
		var err error
		if ensembles[f], err = fit(columns, labels, func(i int) bool { return fold[i] != f }); err != nil {
			return nil, nil, fmt.Errorf("without fold %d of %d: %w", f+1, folds, err)
		}
	}
	out, row := make([]record.Number, len(labels)), make([]record.Number, len(columns))
	for i := range out {
		for k, c := range columns {
			row[k] = c.Values[i]
		}
		out[i] = ensembles[fold[i]].Of(row)
	}
	return out, ensembles, nil
}

// deal puts each item into a fold.
func deal(labels []record.Number, folds int, seed uint64) []int {
	groups := [3][]int{}
	for i, label := range labels {
		group := 2
		if quality, known := label.Get(); known {
			group = class(quality)
		}
		groups[group] = append(groups[group], i)
	}
	r, fold, next := rand.New(rand.NewPCG(seed, 0)), make([]int, len(labels)), 0
	for _, items := range groups {
		r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		for _, i := range items {
			fold[i] = next % folds
			next++
		}
	}
	return fold
}

// WeightedMean is the mean of confidences of one scale under weights that someone else has chosen, such as
// those of Chen and Mueller 2024: Σ w_k c_k / Σ w_k, missing for the reason of the first that is. It is an
// error if the numbers of both differ, a weight is negative or not finite, or their sum is 0.
func WeightedMean(weights []float64, confidences []record.Number) (record.Number, error) {
	if len(weights) != len(confidences) {
		return record.Number{}, fmt.Errorf("quantify: %d weights for %d confidences", len(weights), len(confidences))
	}
	sum, total := 0.0, 0.0
	missing := record.Number{}
	for k, w := range weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return record.Number{}, fmt.Errorf("quantify: weight %d is %v", k, w)
		}
		x, known := confidences[k].Get()
		if !known && missing.Missing() == record.Present {
			missing = confidences[k]
		}
		sum += w * x
		total += w
	}
	switch {
	case total == 0:
		return record.Number{}, fmt.Errorf("quantify: no weight is above 0")
	case missing.Missing() != record.Present:
		return missing, nil
	}
	return record.Known(sum / total), nil
}
