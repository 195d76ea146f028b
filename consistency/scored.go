package consistency

import (
	"context"
	"fmt"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

// Answer is one judged answer of a trial.
type Answer struct {
	// Text is the answer; Form is what [Indicator] compares, such as the text in its normal form.
	Text, Form string
	// Missing says why there is no answer.
	Missing record.Missing
	// Perturbation stood before the question; empty for the question as it stands.
	Perturbation string
	// Correct is 0 or 1, or missing.
	Correct record.Number
	// Vector is the embedding of the text; nil where there is none.
	Vector []float64
}

// Answered is one item as one model answered it.
type Answered struct {
	Model, Benchmark, Item string
	Original               []Answer
	// Perturbed is by the sources of the design.
	Perturbed   [][]Answer
	Paraphrased []Answer
	// Stated is the self-report, in [0,1].
	Stated record.Number
	// Verdicts of the judge on the answers; nil where none was asked.
	Verdicts *Verdicts
}

// Scored is one item with all its values.
type Scored struct {
	Model, Benchmark, Item string
	// Performance is the mean correctness of the original samples, in [0,1].
	Performance measure.Value
	// SelfConsistency and Paraphrasing are agreements under the main kernel, ModalShare the share of the most
	// frequent original answer.
	SelfConsistency, Paraphrasing, ModalShare measure.Value
	Stated                                    record.Number
	// Variants are the C3s, the main one first.
	Variants []Variant
}

// Variant is one C3 of an item.
type Variant struct {
	Source    string
	Kernel    Kernel
	Estimator Estimator
	Result
	// P is the permutation p value of equal distributions; the zero Value where it was not asked for.
	P measure.Value
}

func (c *conduct) items(ctx context.Context) error {
	for _, a := range c.list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(a.Perturbed) != len(c.Sources) {
			return fmt.Errorf("consistency: item %q of %q: answers of %d sources, the design has %d", a.Item, a.Benchmark, len(a.Perturbed), len(c.Sources))
		}
		s, main, err := c.item(a)
		if err != nil {
			return fmt.Errorf("item %s of %s, model %s: %w", a.Item, a.Benchmark, a.Model, err)
		}
		c.scored, c.mains = append(c.scored, s), append(c.mains, main)
	}
	c.states()
	return nil
}

// item scores one item.
func (c *conduct) item(a Answered) (Scored, *Comparison, error) {
	s := Scored{Model: a.Model, Benchmark: a.Benchmark, Item: a.Item, Performance: performance(a.Original), Stated: a.Stated, ModalShare: ModalShare(samplesOf(a.Original))}
	comparisons := map[variant]*Comparison{}
	var main *Comparison
	for i, v := range c.variants() {
		key := variant{source: v.source, kernel: v.kernel}
		if comparisons[key] == nil {
			compared, err := compare(v.kernel, a.Original, a.Perturbed[v.source], a.Verdicts)
			if err != nil {
				return Scored{}, nil, err
			}
			comparisons[key] = compared
		}
		one, err := c.variant(a, v, comparisons[key], i == 0)
		if err != nil {
			return Scored{}, nil, err
		}
		s.Variants = append(s.Variants, one)
	}
	main = comparisons[variant{source: 0, kernel: c.Kernels[0]}]
	var err error
	if s.SelfConsistency, err = main.Agreement("self-consistency", Original); err != nil {
		return Scored{}, nil, err
	}
	paraphrased, err := compare(c.Kernels[0], a.Paraphrased, nil, a.Verdicts)
	if err != nil {
		return Scored{}, nil, err
	}
	s.Paraphrasing, err = paraphrased.Agreement("paraphrasing-consistency", Original)
	return s, main, err
}

func (c *conduct) variant(a Answered, v variant, compared *Comparison, main bool) (Variant, error) {
	out := Variant{Source: c.Sources[v.source], Kernel: v.kernel, Estimator: v.estimator}
	o := c.options(v)
	var err error
	if out.Result, err = compared.C3(o); err != nil || c.ItemResamples == 0 || !out.C3.Defined() {
		return out, err
	}
	r := c.resampling(c.ItemResamples, a.Model, a.Benchmark, "item."+a.Item)
	with, err := compared.Bootstrap(o, r)
	if err != nil {
		return out, err
	}
	out.C3.Interval = with.Interval
	out.C3.Warnings = with.Warnings
	if main || v.estimator == c.Estimators[0] {
		out.P, err = compared.PermutationP(r)
	}
	return out, err
}

// compare compares answers under a kernel.
func compare(k Kernel, original, perturbed []Answer, verdicts *Verdicts) (*Comparison, error) {
	switch k {
	case Indicator:
		return CompareAnswers(formsOf(original), formsOf(perturbed)), nil
	case Cosine:
		return CompareEmbeddings(vectorsIn(original), vectorsIn(perturbed))
	case Equivalent, Clustered:
		if verdicts == nil {
			verdicts = &Verdicts{}
		}
		return CompareJudged(samplesOf(original), samplesOf(perturbed), verdicts), nil
	}
	return nil, fmt.Errorf("consistency: unknown kernel %q", k)
}

func samplesOf(list []Answer) []Sample {
	samples := make([]Sample, len(list))
	for i, a := range list {
		samples[i] = Sample{a.Text, a.Missing}
	}
	return samples
}

func formsOf(list []Answer) []Sample {
	samples := make([]Sample, len(list))
	for i, a := range list {
		samples[i] = Sample{a.Form, a.Missing}
	}
	return samples
}

func vectorsIn(list []Answer) [][]float64 {
	rows := make([][]float64, len(list))
	for i, a := range list {
		if a.Missing == record.Present {
			rows[i] = a.Vector
		}
	}
	return rows
}

// performance is the mean correctness of the judged answers (rule: missing is never wrong, and counted).
func performance(list []Answer) measure.Value {
	sum, n, leftOut := 0., 0, map[string]int{}
	for _, a := range list {
		x, ok := a.Correct.Get()
		if !ok {
			leftOut[string(reasonOf(a.Correct))]++
			continue
		}
		sum, n = sum+x, n+1
	}
	if n == 0 {
		return measure.Undefined("performance", measure.NoItems, 0).Leaving(leftOut)
	}
	return measure.Of("performance", sum/float64(n), n).Leaving(leftOut)
}

// numberOf is a value as a number with its reason.
func numberOf(v measure.Value) record.Number {
	if x, ok := v.Get(); ok {
		return record.Known(x)
	}
	if v.Reason() == "" {
		return record.Absent("not asked for")
	}
	return record.Absent(record.Missing(v.Reason()))
}
