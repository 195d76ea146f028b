package consistency

import (
	"context"
	"fmt"
)

// Survey is what a study's trials say of consistency.
type Survey struct {
	Design Design `json:"design"`
	// States count the items of each model on each benchmark by the state of each C3.
	States []StateCount `json:"states"`
	// Evaluations against performance: with the baselines first, then over sources, kernels and estimators where
	// there are several.
	Evaluations []NamedEvaluation `json:"evaluations"`
	// Neutrality of each source on each benchmark, and Influences of the single perturbations of each source.
	Neutrality  []SourceNeutrality `json:"neutrality"`
	Influences  []SourceInfluences `json:"influences"`
	Convergence []NamedConvergence `json:"convergence"`
	Diagnosis   *Diagnosis         `json:"diagnosis"`
	Trends      []NamedTrend       `json:"trends,omitempty"`
	// How perturbations, paraphrases and verdicts were found; whoever collected them adds it.
	Sources     []SourceFacts     `json:"sources,omitempty"`
	Paraphrases []ParaphraseFacts `json:"paraphrases,omitempty"`
	Judged      []JudgeFacts      `json:"judged,omitempty"`
	// Calibrations are those that a K of Sources is from.
	Calibrations []Calibration `json:"calibrations,omitempty"`
}

// Conduct computes a survey and the values of every item, in the order of the list. Errors: a design or answers
// that contradict themselves, or ctx ending first.
func Conduct(ctx context.Context, d Design, list []Answered) (*Survey, []Scored, error) {
	if len(d.Sources) == 0 || len(d.Kernels) == 0 || len(d.Estimators) == 0 {
		return nil, nil, fmt.Errorf("consistency: a design without source, kernel or estimator")
	}
	c := &conduct{Design: d, list: list, out: Survey{Design: d}}
	for _, step := range []func(context.Context) error{c.items, c.evaluate, c.checks, c.converge, c.diagnose, c.trends} {
		if err := step(ctx); err != nil {
			return nil, nil, err
		}
	}
	return &c.out, c.scored, nil
}

// conduct is the work on one survey.
type conduct struct {
	Design
	list   []Answered
	scored []Scored
	// mains are the main comparisons of the list.
	mains []*Comparison
	out   Survey
}

// settings are the numbers of the items of each model on each benchmark, in the order of the list.
func (c *conduct) settings() (keys [][2]string, at map[[2]string][]int) {
	at = map[[2]string][]int{}
	for i, s := range c.scored {
		key := [2]string{s.Model, s.Benchmark}
		if at[key] == nil {
			keys = append(keys, key)
		}
		at[key] = append(at[key], i)
	}
	return keys, at
}

func (c *conduct) diagnose(context.Context) (err error) {
	c.out.Diagnosis, err = Diagnose(c.table([]scoreColumn{c.c3Column("c3", 0)}), c.Level)
	return err
}
