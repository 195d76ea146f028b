package study

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/report"
	"github.com/credence-lab/credence/resample"
)

// UncertaintyResult is how well each quantifier ranks the answers of a setting, under each judge ("A Tale
// of Two Error Categories", figures 7 to 12).
type UncertaintyResult struct {
	Setting record.Setting `json:"setting"`
	Items   int            `json:"items"`
	Samples int            `json:"samples"`
	Judges  []JudgeResult  `json:"judges"`
	// Quantifiers are the columns of AUROC, in order.
	Quantifiers []QuantifierResult `json:"quantifiers"`
	// AUROC has a row for each judge and a column for each quantifier.
	AUROC [][]measure.Value `json:"auroc"`
}

// JudgeResult is what one judge says of the answers.
type JudgeResult struct {
	Judge    string        `json:"judge"`
	Accuracy measure.Value `json:"accuracy"`
	// Weights are those of the study's ensemble under this judge, by quantifier: the mean over folds. Absent without
	// one, or where it could not be fitted; NoWeights says why.
	Weights   map[string]float64 `json:"weights,omitempty"`
	NoWeights string             `json:"no_weights,omitempty"`
	Steadiness
}

// Steadiness is how far the verdicts of a model depend on what should not matter.
type Steadiness struct {
	// Swapped has the two verdicts of the question in the other order, Turned the references in another. Nil where
	// it was not asked.
	Swapped *Sway `json:"swapped,omitempty"`
	Turned  *Sway `json:"turned,omitempty"`
	// Repeatability is the share of pairs of verdicts, written again for a sample of the answers, that agree: its N are
	// answers, its interval that of [metric.WilsonMean].
	Repeatability *measure.Value `json:"repeatability,omitempty"`
}

// Sway is the share of verdicts that a change of order changes, and which way.
type Sway struct {
	Changed     measure.Value `json:"changed"`
	ToCorrect   int           `json:"to_correct"`
	ToIncorrect int           `json:"to_incorrect"`
}

// QuantifierResult is a quantifier with what it could not be computed of.
type QuantifierResult struct {
	Quantifier  string             `json:"quantifier"`
	Orientation string             `json:"orientation"`
	Missing     []measure.Excluded `json:"missing"`
}

// Matrix is the result in the form in which it is shown.
func (u *UncertaintyResult) Matrix() report.Matrix {
	m := report.Matrix{Setting: u.Setting.String(), Items: u.Items, Samples: u.Samples, AUROC: u.AUROC}
	for _, j := range u.Judges {
		m.Judges, m.Accuracy = append(m.Judges, j.Judge), append(m.Accuracy, j.Accuracy)
	}
	for _, q := range u.Quantifiers {
		m.Quantifiers = append(m.Quantifiers, q.Quantifier)
	}
	return m
}

// Steadiness is what is shown of how steady the judges are that are models.
func (u *UncertaintyResult) Steadiness() report.Steadiness {
	s := report.Steadiness{Setting: u.Setting.String()}
	for _, j := range u.Judges {
		row := report.SteadyJudge{Judge: j.Judge, Repeatability: j.Repeatability}
		if j.Swapped != nil {
			row.Swapped = &report.Sway{Changed: j.Swapped.Changed, ToCorrect: j.Swapped.ToCorrect, ToIncorrect: j.Swapped.ToIncorrect}
		}
		if j.Turned != nil {
			row.Turned = &report.Sway{Changed: j.Turned.Changed, ToCorrect: j.Turned.ToCorrect, ToIncorrect: j.Turned.ToIncorrect}
		}
		if row.Repeatability != nil || row.Swapped != nil || row.Turned != nil {
			s.Judges = append(s.Judges, row)
		}
	}
	return s
}

// quantified analyses the uncertainty of one setting. It returns the readings and judgements besides.
func (r *runner) quantified(ctx context.Context, setting record.Setting, d dataset.Dataset, list []collect.Uncertain) (*UncertaintyResult, []record.Reading, []record.Judgement, error) {
	quantifiers, err := r.file.quantifiersOf()
	if err != nil {
		return nil, nil, nil, err
	}
	values, readings, err := r.evaluated(quantifiers, list)
	if err != nil {
		return nil, nil, nil, err
	}
	judges, judgements, err := r.judgeAnswers(setting, d, list)
	if err != nil {
		return nil, nil, nil, err
	}
	out := &UncertaintyResult{Setting: setting, Items: len(list), Samples: r.file.Sampling.Samples}
	for k, q := range quantifiers {
		missing := map[string]int{}
		for i := range list {
			if why := values[k][i].Missing(); why != record.Present {
				missing[string(why)]++
			}
		}
		out.Quantifiers = append(out.Quantifiers, QuantifierResult{q.ID, q.Orientation.String(), append([]measure.Excluded{}, measure.Exclusions(missing)...)})
	}
	for _, name := range judges {
		labels, result := labelsOf(name, judgements, len(list), r.file.Analysis.Level)
		if id, err := judge.ParseID(name); err == nil && asksModels(id) {
			result.Steadiness = r.steadiness(id, setting)
		}
		row := make([]measure.Value, len(quantifiers))
		for k, q := range quantifiers {
			if row[k], err = r.auroc(ctx, setting, q.ID, q.Orientation, values[k], labels); err != nil {
				return nil, nil, nil, err
			}
		}
		if len(r.file.Ensemble) > 0 {
			value, err := r.ensemble(ctx, setting, quantifiers, values, labels, &result)
			if err != nil {
				return nil, nil, nil, err
			}
			row = append(row, value)
		}
		out.Judges, out.AUROC = append(out.Judges, result), append(out.AUROC, row)
	}
	if len(r.file.Ensemble) > 0 {
		out.Quantifiers = append(out.Quantifiers, r.ensembleResult(quantifiers, values))
	}
	return out, readings, judgements, nil
}

// evaluated are the values of all quantifiers, by quantifier and item, and as readings.
func (r *runner) evaluated(quantifiers []quantify.Quantifier, list []collect.Uncertain) ([][]record.Number, []record.Reading, error) {
	values, needs := make([][]record.Number, len(quantifiers)), quantify.NeedsOf(quantifiers)
	var readings []record.Reading
	for _, u := range list {
		e := r.evidence(u, needs)
		of, err := quantify.Evaluate(quantifiers, e)
		if err != nil {
			return nil, nil, fmt.Errorf("item %s: %w", u.Item, err)
		}
		for k, q := range quantifiers {
			values[k] = append(values[k], of[k])
			readings = append(readings, record.Reading{Answer: u.Answer.ID, Signal: record.Signal(q.ID), Value: of[k], Reproducible: e.Reproducible})
		}
	}
	return values, readings, nil
}

func (r *runner) auroc(ctx context.Context, setting record.Setting, id string, orientation measure.Orientation, values []record.Number, labels []float64) (measure.Value, error) {
	scores := make([]float64, len(values))
	for i, v := range values {
		x, ok := v.Get()
		if !ok {
			x = math.NaN()
		}
		scores[i] = x
	}
	prepared, err := metric.PrepareJointly(metric.Quality{Values: labels}, metric.Score{Name: id, Values: scores, Orientation: orientation})
	if err != nil {
		return measure.Value{}, err
	}
	if *r.file.Analysis.Resamples == 0 {
		return metric.AUROC().On(prepared[0]), nil
	}
	draws, err := resample.Paired(ctx, prepared, []metric.Statistic{metric.AUROC()}, resample.Options{
		N: *r.file.Analysis.Resamples, Seed: resample.SettingSeed(r.file.Seed, setting.Model, setting.Dataset, "uncertainty"),
	})
	if err != nil {
		return measure.Value{}, err
	}
	return draws.Value(0, 0, r.file.Analysis.Level), nil
}
