package recalibrate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/credence-lab/credence/measure"
)

// Split says how items are parted for [CrossFit].
type Split struct {
	// Folds is the number of parts, at least 2. With fewer items than that every item is a part.
	Folds int
	// Repeats is the number of splits, at least 1.
	Repeats int
	// Seed draws the splits. Split r depends on Seed and r only, so that more repeats change none.
	Seed uint64
}

// CrossFitted is what [CrossFit] gives.
type CrossFitted struct {
	// Predictions[r][i] is for item i in repeat r.
	Predictions [][]Prediction
	// Folds is the number of parts that each repeat used.
	Folds int
	// Warnings has "fewer-folds", and each warning of a fitted map once, with how many maps gave it.
	Warnings []measure.Warning
}

// CrossFit predicts every item by a map that was fitted on the other folds. It applies the maps to
// apply, one score an item in the order of p: the scores of the same answers in another context show
// what a map is worth there. A nil apply means the scores of p.
//
// The items of a fold are chosen by a seeded shuffle, fold sizes differing by at most one. A training
// part of one class is fitted as the method says. It is an error if there are fewer than two items or
// if a fold cannot be fitted; the error names repeat and fold.
func CrossFit(m Method, p Points, apply []float64, s Split) (CrossFitted, error) {
	if apply == nil {
		apply = p.Scores
	}
	if err := s.check(p, apply); err != nil {
		return CrossFitted{}, err
	}
	n := len(p.Scores)
	out := CrossFitted{Folds: min(s.Folds, n), Predictions: make([][]Prediction, s.Repeats)}
	if n < s.Folds {
		out.Warnings = append(out.Warnings, measure.Warning{Code: "fewer-folds", Text: fmt.Sprintf("%d items do not fill %d folds: every item is a fold of its own", n, s.Folds)})
	}
	var seen tally
	for r := range s.Repeats {
		fold := s.assign(n, out.Folds, r)
		out.Predictions[r] = make([]Prediction, n)
		for k := range out.Folds {
			fitted, err := m.Fit(p.without(fold, k))
			if err != nil {
				return CrossFitted{}, fmt.Errorf("repeat %d, fold %d of %d: %w", r+1, k+1, out.Folds, err)
			}
			seen.add(fitted.Warnings())
			for i, x := range apply {
				if fold[i] == k {
					out.Predictions[r][i] = fitted.At(x)
				}
			}
		}
	}
	out.Warnings = append(out.Warnings, seen.list(s.Repeats*out.Folds)...)
	return out, nil
}

func (s Split) check(p Points, apply []float64) error {
	if err := p.check(); err != nil {
		return err
	}
	switch {
	case s.Folds < 2 || s.Repeats < 1:
		return fmt.Errorf("recalibrate: %d folds, %d repeats: give at least 2 and 1", s.Folds, s.Repeats)
	case len(apply) != len(p.Scores):
		return fmt.Errorf("recalibrate: %d scores to map, %d to fit: give one of each an item", len(apply), len(p.Scores))
	case len(p.Scores) < 2:
		return fmt.Errorf("recalibrate: one item cannot be fitted on others: %w", ErrNoFit)
	}
	for i, x := range apply {
		if math.IsNaN(x) {
			return fmt.Errorf("recalibrate: score %d to map is missing (NaN): take the item out before", i+1)
		}
	}
	return nil
}

// assign gives the fold of each item in one repeat.
func (s Split) assign(n, folds, repeat int) []int {
	fold := make([]int, n)
	for place, i := range rand.New(rand.NewPCG(s.Seed, uint64(repeat))).Perm(n) {
		fold[i] = place % folds
	}
	return fold
}

// without is the points outside fold k.
func (p Points) without(fold []int, k int) Points {
	var q Points
	for i, f := range fold {
		if f == k {
			continue
		}
		q.Scores, q.Targets = append(q.Scores, p.Scores[i]), append(q.Targets, p.Targets[i])
		if p.Weights != nil {
			q.Weights = append(q.Weights, p.Weights[i])
		}
	}
	return q
}

// tally counts the warnings of many fits by code, in the order in which they were first seen.
type tally struct {
	codes []string
	first map[string]string
	n     map[string]int
}

func (t *tally) add(list []measure.Warning) {
	if t.n == nil {
		t.n, t.first = map[string]int{}, map[string]string{}
	}
	for _, w := range list {
		if t.n[w.Code] == 0 {
			t.codes = append(t.codes, w.Code)
			t.first[w.Code] = w.Text
		}
		t.n[w.Code]++
	}
}

func (t *tally) list(fits int) []measure.Warning {
	var out []measure.Warning
	for _, code := range t.codes {
		out = append(out, measure.Warning{Code: code, Text: fmt.Sprintf("%d of %d maps; the first: %s", t.n[code], fits, t.first[code])})
	}
	return out
}
