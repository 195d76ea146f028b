package bayes

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
)

// NamedPriors are priors to compare.
type NamedPriors struct {
	Name   string      `json:"name"`
	Priors JudgePriors `json:"priors"`
}

// SensiblePriors are those that a prior sensitivity table has by default, the paper's first.
func SensiblePriors() []NamedPriors {
	with := func(name string, change func(*JudgePriors)) NamedPriors {
		p := PaperPriors()
		change(&p)
		return NamedPriors{name, p}
	}
	return []NamedPriors{
		with("paper", func(*JudgePriors) {}),
		with("jeffreys", func(p *JudgePriors) {
			p.Sensitivity, p.Specificity = Beta{.5, .5}, Beta{.5, .5}
			p.HumanSensitivity, p.HumanSpecificity = Beta{.5, .5}, Beta{.5, .5}
		}),
		with("judges better than chance", func(p *JudgePriors) { p.Sensitivity, p.Specificity = Beta{2, 1}, Beta{2, 1} }),
		with("people as other judges", func(p *JudgePriors) { p.HumanSensitivity, p.HumanSpecificity = Beta{1, 1}, Beta{1, 1} }),
		with("flat correctness", func(p *JudgePriors) { p.Correctness = Beta{1, 1} }),
	}
}

// PriorTable shows one quantity under several priors.
type PriorTable struct {
	Quantity Quantity `json:"quantity"`
	// Together names the judges that were fitted at once.
	Together []string      `json:"together"`
	Priors   []NamedPriors `json:"priors"`
	Rows     []PriorRow    `json:"rows"`
	// Convergence judges the fit under each of the priors.
	Convergence []Convergence `json:"convergence"`
}

// PriorRow is one judge under each of the priors.
type PriorRow struct {
	Judge     string     `json:"judge"`
	Estimates []Estimate `json:"estimates"`
	// Shift is the largest distance of a median from that under the first priors. It warns
	// "prior-sensitive" if it exceeds the posterior standard deviation under those: the conclusion is
	// then as much the prior's as the data's.
	Shift measure.Value `json:"shift"`
}

// PriorSensitivity fits the judges together under each of the priors; nil means [SensiblePriors]. Each
// fit has the same seed.
func PriorSensitivity(ctx context.Context, d JudgeData, priors []NamedPriors, q Quantity, sampler Sampler, o Options) (*PriorTable, error) {
	if priors == nil {
		priors = SensiblePriors()
	}
	if !slices.Contains(Quantities, q) {
		return nil, fmt.Errorf("bayes: unknown quantity %q; use one of %q", q, Quantities)
	}
	if len(priors) == 0 {
		return nil, fmt.Errorf("bayes: no priors to compare")
	}
	t := &PriorTable{Quantity: q, Together: d.names(), Priors: priors}
	for _, j := range d.Judges {
		t.Rows = append(t.Rows, PriorRow{Judge: j.Name})
	}
	for _, set := range priors {
		p, err := FitJudges(ctx, d, set.Priors, sampler, o)
		if err != nil {
			return nil, fmt.Errorf("under the priors %q: %w", set.Name, err)
		}
		t.Convergence = append(t.Convergence, p.Convergence)
		for j := range t.Rows {
			t.Rows[j].Estimates = append(t.Rows[j].Estimates, p.Judges[j].Quantities[q])
		}
	}
	for j := range t.Rows {
		t.Rows[j].shift(len(d.People))
	}
	return t, nil
}

// shift compares the estimates with the first.
func (r *PriorRow) shift(items int) {
	const method = "prior-shift.median"
	first, ok := r.Estimates[0].Median.Get()
	sd, hasSD := r.Estimates[0].SD.Get()
	largest := 0.0
	var warnings []measure.Warning
	for _, e := range r.Estimates {
		x, defined := e.Median.Get()
		ok = ok && defined && hasSD
		largest = max(largest, math.Abs(x-first))
		for _, w := range e.Median.Warnings {
			if !slices.Contains(warnings, w) {
				warnings = append(warnings, w)
			}
		}
	}
	r.Shift = measure.Of(method, largest, items)
	if !ok {
		r.Shift = measure.Undefined(method, Frozen, items)
	}
	r.Shift.Warnings = warnings
	if ok && largest > sd {
		r.Shift = r.Shift.Warn("prior-sensitive", "the median moves by %.3f with the prior, more than the posterior's standard deviation of %.3f", largest, sd)
	}
}
