package protocol

import (
	"context"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/resample"
)

// Outcome is the gap of one setting under one full protocol: what the multiverse has a row of.
type Outcome struct {
	Setting     record.Setting `json:"setting"`
	Answers     string         `json:"answers"`
	Context     string         `json:"context"`
	Aggregation string         `json:"aggregation"`
	Judge       string         `json:"judge"`
	// Metric is the id of the estimator of calibration, or of the ranking metric.
	Metric string        `json:"metric"`
	Gap    measure.Value `json:"gap"`
	// Better is the signal that the gap favours; empty where it is 0 or undefined.
	Better   record.Signal `json:"better,omitempty"`
	Resolved bool          `json:"resolved"`
}

// universe are the metrics of the multiverse: three estimators of calibration error and two of ranking.
func universe() []metric.Statistic {
	list := []metric.Statistic{metric.ECE(10, metric.LeftClosed), metric.KS()}
	if s, err := metric.ByID("ece.equal-mass.10"); err == nil {
		list = append(list, s)
	}
	return append(list, metric.AUROC(), metric.AURC(), metric.Brier())
}

// Multiverse evaluates the gap of one setting under every protocol that its records allow: each choice's
// contexts under each metric. o.Resamples is usually smaller than for the main comparison, for there
// are many protocols.
func (r *Records) Multiverse(ctx context.Context, choices []Choice, o Options) ([]Outcome, error) {
	var list []Outcome
	for _, choice := range choices {
		a := r.Align(choice)
		prepared, err := a.Scores()
		if err != nil {
			return nil, err
		}
		seed := resample.SettingSeed(o.Seed, r.setting.Model, r.setting.Dataset, "bootstrap")
		e, err := newEvaluation(ctx, prepared, universe(), seed, o)
		if err != nil {
			return nil, err
		}
		e.leftOut = a.leftOut
		for i, name := range choice.Contexts {
			for m, stat := range e.stats {
				g := e.contrast("gap."+stat.ID, gapTerms(i, m)...)
				out := Outcome{Setting: r.setting, Answers: choice.answers(), Context: name, Aggregation: choice.Aggregation, Judge: choice.Judge, Metric: stat.ID, Gap: g}
				if x, ok := g.Get(); ok && x != 0 {
					out.Better, out.Resolved = better(stat, x), Resolves(g)
				}
				list = append(list, out)
			}
		}
	}
	return list, nil
}

// MultiverseSummary counts what the protocols say under one metric, over settings and protocols of a
// group.
type MultiverseSummary struct {
	Group  string `json:"group"`
	Metric string `json:"metric"`
	// Protocols is the number of gaps with a value, Undefined of those without one.
	Protocols int `json:"protocols"`
	Undefined int `json:"undefined"`
	// Token and Verbalised count the protocols that favour the signal, the Resolved ones those whose
	// interval excludes 0.
	Token              int `json:"token"`
	TokenResolved      int `json:"token_resolved"`
	Verbalised         int `json:"verbalised"`
	VerbalisedResolved int `json:"verbalised_resolved"`
	// Split counts the settings in which some protocol favours each signal with an interval that
	// excludes 0, of Settings.
	Split    int `json:"split"`
	Settings int `json:"settings"`
}

// SummariseMultiverse counts outcomes by metric. Outcomes of one setting follow each other.
func SummariseMultiverse(group string, outcomes []Outcome) []MultiverseSummary {
	var list []MultiverseSummary
	for _, stat := range universe() {
		sum := MultiverseSummary{Group: group, Metric: stat.ID}
		resolved := map[record.Setting][2]bool{}
		for _, o := range outcomes {
			if o.Metric == stat.ID {
				sum.count(o, resolved)
			}
		}
		for _, both := range resolved {
			sum.Settings++
			if both[0] && both[1] {
				sum.Split++
			}
		}
		if sum.Settings > 0 {
			list = append(list, sum)
		}
	}
	return list
}

func (s *MultiverseSummary) count(o Outcome, resolved map[record.Setting][2]bool) {
	both := resolved[o.Setting]
	if !o.Gap.Defined() {
		s.Undefined++
	} else {
		s.Protocols++
	}
	switch o.Better {
	case record.TokenSignal:
		s.Token++
		if o.Resolved {
			s.TokenResolved++
			both[0] = true
		}
	case record.VerbalisedSignal:
		s.Verbalised++
		if o.Resolved {
			s.VerbalisedResolved++
			both[1] = true
		}
	}
	resolved[o.Setting] = both
}
