package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/resample"
)

// The column of the study's ensemble, and the folds of its cross-fitting.
const (
	ensembleID    = "ensemble"
	ensembleFolds = 5
)

// NotFitted: too few correct or incorrect answers have a value of every quantifier of an ensemble.
const NotFitted measure.Reason = "ensemble not fitted"

// checkEnsemble says what is wrong with the study's ensemble.
func (f *File) checkEnsemble(list []quantify.Quantifier) error {
	if len(f.Ensemble) == 1 {
		return f.at.errorf("$.ensemble", "list two at least", "an ensemble of one quantifier is that quantifier")
	}
	var known []string
	for _, q := range list {
		known = append(known, q.ID)
	}
	for i, id := range f.Ensemble {
		node := fmt.Sprintf("$.ensemble[%d]", i)
		if !slices.Contains(known, id) {
			return f.at.errorf(node, "list it under quantifiers too", "the ensemble has %q, which the study does not compute", id)
		}
		if slices.Contains(f.Ensemble[:i], id) {
			return f.at.errorf(node, "list it once", "ensemble has %q twice", id)
		}
	}
	return nil
}

// ensembleColumns are the values that are weighed.
func (f *File) ensembleColumns(quantifiers []quantify.Quantifier, values [][]record.Number) []quantify.Column {
	var columns []quantify.Column
	for k, q := range quantifiers {
		if slices.Contains(f.Ensemble, q.ID) {
			columns = append(columns, quantify.Column{ID: q.ID, Orientation: q.Orientation, Values: values[k]})
		}
	}
	return columns
}

// ensemble is the AUROC of the ensemble under one judge: of values from weights that have not seen the answer's verdict.
// The weights go into result.
func (r *runner) ensemble(ctx context.Context, setting record.Setting, quantifiers []quantify.Quantifier, values [][]record.Number, labels []float64, result *JudgeResult) (measure.Value, error) {
	columns := r.file.ensembleColumns(quantifiers, values)
	known := make([]record.Number, len(labels))
	for i, label := range labels {
		if known[i] = record.Absent(record.AnswerMissing); !math.IsNaN(label) {
			known[i] = record.Known(label)
		}
	}
	seed := resample.SettingSeed(r.file.Seed, setting.Model, setting.Dataset, ensembleID)
	fitted, folds, err := quantify.CrossFit(columns, known, ensembleFolds, seed)
	if errors.Is(err, quantify.ErrTooFew) {
		result.NoWeights = err.Error()
		return measure.Undefined("auroc", NotFitted, 0), nil
	}
	if err != nil {
		return measure.Value{}, err
	}
	result.Weights = map[string]float64{}
	for _, e := range folds {
		for k, w := range e.Weights() {
			result.Weights[columns[k].ID] += w / float64(len(folds))
		}
	}
	return r.auroc(ctx, setting, ensembleID, measure.Confidence, fitted, labels)
}

// ensembleResult says of how many answers the ensemble has no value, by the first reason.
func (r *runner) ensembleResult(quantifiers []quantify.Quantifier, values [][]record.Number) QuantifierResult {
	columns, missing := r.file.ensembleColumns(quantifiers, values), map[string]int{}
	for i := range columns[0].Values {
		for _, c := range columns {
			if why := c.Values[i].Missing(); why != record.Present {
				missing[string(why)]++
				break
			}
		}
	}
	return QuantifierResult{ensembleID, measure.Confidence.String(), append([]measure.Excluded{}, measure.Exclusions(missing)...)}
}
