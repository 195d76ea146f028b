// Package recalibrate turns scores into probabilities of being correct, by a map fitted on answers
// whose correctness is known.
//
// A [Method] fits a [Map] to [Points]. Four methods are here: [Isotonic], [Platt], [Temperature] and
// [Histogram]. Every map is total: it gives a probability in [0,1] for every score but NaN, and says
// of each whether the score lies outside those it was fitted on.
//
//	m, err := recalibrate.Isotonic{}.Fit(recalibrate.Points{Scores: token, Targets: correct})
//	p := m.At(.8)
//
// A map judged on the points that it was fitted on looks better than it is. [CrossFit] fits it on
// other items than it is applied to, and can apply it to the scores of another context.
//
// Scores are confidences: higher means more likely correct. Negate an uncertainty.
package recalibrate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
)

// Points are what a map is fitted to.
type Points struct {
	// Scores may be any numbers but NaN; a method that needs more says so.
	Scores []float64
	// Targets are 0 for incorrect and 1 for correct, or a quality between; one a score.
	Targets []float64
	// Weights count each point so many times; nil means once. They are positive and finite.
	Weights []float64
}

// Method fits maps of one kind.
type Method interface {
	// ID names the method with its variant, such as "platt.smoothed".
	ID() string
	// Fit needs at least one point. Missing scores must be taken out before.
	Fit(Points) (Map, error)
}

// Map gives the probability of being correct for a score. It is read-only.
type Map interface {
	// At panics on NaN: a missing score has no probability.
	At(score float64) Prediction
	// Warnings say what a reader of the predictions must know of the fit.
	Warnings() []measure.Warning
}

// Prediction is the probability that a map gives for a score.
type Prediction struct {
	// P is in [0,1].
	P float64
	// Extrapolated says that no fitted score supports P: the score lies outside their range, or in
	// an empty bin.
	Extrapolated bool
}

// ErrNoFit is wrapped by errors of [Method.Fit] on points that are well-formed but determine no map.
var ErrNoFit = errors.New("no map fits these points")

// Apply maps every score. It is an error if one is NaN.
func Apply(m Map, scores []float64) ([]Prediction, error) {
	out := make([]Prediction, len(scores))
	for i, x := range scores {
		if math.IsNaN(x) {
			return nil, fmt.Errorf("recalibrate: score %d is missing (NaN): take it out before a map is applied", i+1)
		}
		out[i] = m.At(x)
	}
	return out, nil
}

// check returns what is wrong with the points.
func (p Points) check() error {
	if len(p.Scores) != len(p.Targets) || p.Weights != nil && len(p.Weights) != len(p.Scores) {
		return fmt.Errorf("recalibrate: %d scores, %d targets, %d weights: give one of each a point", len(p.Scores), len(p.Targets), len(p.Weights))
	}
	if len(p.Scores) == 0 {
		return fmt.Errorf("recalibrate: no points: %w", ErrNoFit)
	}
	for i, x := range p.Scores {
		switch t, w := p.Targets[i], p.weight(i); {
		case math.IsNaN(x):
			return fmt.Errorf("recalibrate: score %d is missing (NaN): take the point out before fitting", i+1)
		case !(t >= 0 && t <= 1):
			return fmt.Errorf("recalibrate: target %d is %v: give a correctness in [0,1]", i+1, t)
		case !(w > 0) || math.IsInf(w, 1):
			return fmt.Errorf("recalibrate: weight %d is %v: give a positive number", i+1, w)
		}
	}
	return nil
}

// finite refuses infinite scores, for methods that compute with them.
func (p Points) finite(method string) error {
	for i, x := range p.Scores {
		if math.IsInf(x, 0) {
			return fmt.Errorf("recalibrate: score %d is %v: %s needs finite scores; isotonic and equal-mass histogram maps do not", i+1, x, method)
		}
	}
	return nil
}

func (p Points) weight(i int) float64 {
	if p.Weights == nil {
		return 1
	}
	return p.Weights[i]
}

// group is all points of one score.
type group struct {
	score, weight float64
	// mean is the weighted mean of the targets.
	mean float64
	n    int
}

// groups joins the points of equal score, in ascending order.
func (p Points) groups() []group {
	order := make([]int, len(p.Scores))
	for i := range order {
		order[i] = i
	}
	// Targets and weights decide among equal scores, so that sums do not depend on the input order.
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(p.Scores[a], p.Scores[b]),
			cmp.Compare(p.Targets[a], p.Targets[b]),
			cmp.Compare(p.weight(a), p.weight(b)))
	})
	var list []group
	for _, i := range order {
		if len(list) == 0 || list[len(list)-1].score != p.Scores[i] {
			list = append(list, group{score: p.Scores[i]})
		}
		g := &list[len(list)-1]
		g.n++
		g.weight += p.weight(i)
		g.mean += p.weight(i) * p.Targets[i]
	}
	for i := range list {
		list[i].mean /= list[i].weight
	}
	return list
}

// fitted is what the maps of all methods share.
type fitted struct {
	low, high float64
	warnings  []measure.Warning
}

// fit notes the range of the scores, and warns where all targets are of one class.
func fit(list []group) fitted {
	f := fitted{low: list[0].score, high: list[len(list)-1].score}
	for class, word := range []string{"incorrect", "correct"} {
		if !slices.ContainsFunc(list, func(g group) bool { return g.mean != float64(class) }) {
			f.warn("one-class", "every point is %s: the map can only repeat that", word)
		}
	}
	return f
}

func (f *fitted) warn(code, format string, args ...any) {
	f.warnings = append(f.warnings, measure.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
}

// Warnings implements [Map].
func (f fitted) Warnings() []measure.Warning { return slices.Clone(f.warnings) }

// predict makes a prediction of p for a score.
func (f fitted) predict(score, p float64) Prediction {
	if math.IsNaN(score) {
		panic("recalibrate: a missing score (NaN) has no probability")
	}
	return Prediction{P: math.Min(1, math.Max(0, p)), Extrapolated: score < f.low || score > f.high}
}
