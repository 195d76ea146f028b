package protocol

import (
	"context"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/resample"
)

// ReferenceShift says what changes if the reference answer is scored in place of the model's own, which
// breaks the alignment rule ("Same Answer, Different Confidence", sections 3.1 and 4.2, appendix E).
type ReferenceShift struct {
	// N is the number of answers whose reference was scored in every context too.
	N        int                `json:"n"`
	Contexts []ReferenceContext `json:"contexts"`
}

// ReferenceContext is one context of a [ReferenceShift].
type ReferenceContext struct {
	Name string `json:"name"`
	// Level is the mean token score of the reference minus that of the own answer.
	Level measure.Value `json:"level"`
	// Gaps is g with the reference's token score minus g with the own answer's, by metric in the order of
	// [Metrics]; the label stays the own answer's.
	Gaps []measure.Value `json:"gaps"`
}

// referred keeps the quantities behind a ReferenceShift: per context the level, then the gaps.
type referred struct {
	*ReferenceShift
	quantities [][]resample.Quantity
}

// reference is nil where no reference was scored.
func (r *Records) reference(ctx context.Context, choice Choice, o Options) (*referred, error) {
	origin := record.Origin{Source: record.Reference, Role: record.Canonical}
	a := r.Align(choice)
	var rows []row
	var contexts []string
	for k, name := range choice.Contexts {
		if r.referenceScored(name, choice.Aggregation, origin) {
			contexts = append(contexts, choice.Contexts[k])
		}
	}
	if len(contexts) == 0 {
		return nil, nil
	}
	scores := make([][]float64, 1+2*len(contexts)) // stated; then own and reference in each context
	for _, one := range a.rows {
		k, ok := r.of(r.answers[one.answer].ID.Item, origin)
		if !ok {
			continue
		}
		values := []float64{one.scores[0]}
		for _, name := range contexts {
			x, known := r.token(k, name, choice.Aggregation).Get()
			ok = ok && known
			values = append(values, one.scores[1+indexOf(choice.Contexts, name)], x)
		}
		if !ok {
			continue
		}
		rows = append(rows, one)
		for i, x := range values {
			scores[i] = append(scores[i], x)
		}
	}
	return r.referenceShift(ctx, rows, scores, contexts, o)
}

func (r *Records) referenceScored(context, aggregation string, origin record.Origin) bool {
	for i, a := range r.answers {
		if a.ID.Origin == origin {
			if _, ok := r.token(i, context, aggregation).Get(); ok {
				return true
			}
		}
	}
	return false
}

func (r *Records) referenceShift(ctx context.Context, rows []row, scores [][]float64, contexts []string, o Options) (*referred, error) {
	labels := make([]float64, len(rows))
	for i, one := range rows {
		labels[i] = one.label
	}
	var named []metric.Score
	for _, values := range scores {
		named = append(named, metric.Score{Name: "score", Values: values, Orientation: measure.Confidence})
	}
	prepared, err := metric.PrepareJointly(metric.Quality{Values: labels}, named...)
	if err != nil {
		return nil, err
	}
	seed := resample.SettingSeed(o.Seed, r.setting.Model, r.setting.Dataset, "reference")
	e, err := newEvaluation(ctx, prepared, statistics(), seed, o)
	if err != nil {
		return nil, err
	}
	out := &referred{ReferenceShift: &ReferenceShift{N: len(rows)}}
	for k, name := range contexts {
		own, reference := 1+2*k, 2+2*k
		last := len(e.stats) - 1
		quantities := []resample.Quantity{e.quantity(resample.Term{Score: reference, Stat: last, Weight: 1}, resample.Term{Score: own, Stat: last, Weight: -1})}
		c := ReferenceContext{Name: name, Level: quantities[0].Value("reference.level", o.Level)}
		for m, stat := range ranked() {
			q := e.quantity(resample.Term{Score: own, Stat: m, Weight: 1}, resample.Term{Score: reference, Stat: m, Weight: -1})
			quantities = append(quantities, q)
			c.Gaps = append(c.Gaps, q.Value("reference.gap."+stat.ID, o.Level))
		}
		out.Contexts = append(out.Contexts, c)
		out.quantities = append(out.quantities, quantities)
	}
	return out, nil
}

// ReferenceSummary is a [ReferenceShift] over the settings of a group: mean changes of the level, and
// mean absolute changes of the gaps.
type ReferenceSummary struct {
	Group    string             `json:"group"`
	Settings int                `json:"settings"`
	Contexts []ReferenceContext `json:"contexts"`
}

type referenceKey struct {
	context string
	metric  int // -1 is the level
}

type references struct {
	group    string
	level    float64
	means    means[referenceKey]
	contexts []string
}

func (s *references) add(one *referred) error {
	a := adder[referenceKey]{means: &s.means}
	for k, c := range one.Contexts {
		if indexOf(s.contexts, c.Name) < 0 {
			s.contexts = append(s.contexts, c.Name)
		}
		a.add(referenceKey{c.Name, -1}, one.quantities[k][0])
		for m, q := range one.quantities[k][1:] {
			a.add(referenceKey{c.Name, m}, q.Abs())
		}
	}
	return a.err
}

func (s *references) result() ReferenceSummary {
	sum := ReferenceSummary{Group: s.group}
	for _, name := range s.contexts {
		sum.Settings = max(sum.Settings, s.means.settings(referenceKey{name, -1}))
		c := ReferenceContext{Name: name, Level: s.means.value(referenceKey{name, -1}, "mean.reference.level", s.level)}
		for m, stat := range ranked() {
			c.Gaps = append(c.Gaps, s.means.value(referenceKey{name, m}, "mean.abs.reference.gap."+stat.ID, s.level))
		}
		sum.Contexts = append(sum.Contexts, c)
	}
	return sum
}
