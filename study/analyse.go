package study

import (
	"context"
	"fmt"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/report"
)

// analyse judges and compares all settings, in the order of the file; everything from here on is a pure
// function of the records.
func (r *runner) analyse(ctx context.Context) error {
	if err := r.joinImports(); err != nil {
		return err
	}
	rulings, err := r.file.readRulings()
	if err != nil {
		return err
	}
	survey := protocol.NewSurvey(r.file.design(r.nearIndex(rulings)))
	for i := range r.models {
		for _, d := range r.dataOf(r.models[i].Model) {
			if err := r.setting(ctx, survey, &r.models[i], d); err != nil {
				return fmt.Errorf("%s on %s: %w", r.models[i].Name, d.Name, err)
			}
		}
	}
	r.outcomes = survey.Outcomes()
	if r.summaries, err = survey.Summaries(ctx); err != nil {
		return err
	}
	return r.analyseConsistency(ctx)
}

func (r *runner) setting(ctx context.Context, survey *protocol.Survey, m *ranModel, d dataset.Dataset) error {
	setting := settingOf(m.model, d)
	records := r.collected[setting]
	readings := r.file.readings(*records)
	judgements, err := r.file.judge(d.Items, records.Answers)
	if err != nil {
		return err
	}
	joined, err := protocol.Join(setting, records.Answers, readings, judgements)
	if err != nil {
		return err
	}
	result, err := survey.Add(ctx, joined, d.Items, m.group())
	if err != nil {
		return err
	}
	if err := r.show(joined, result, d, *records, readings, judgements); err != nil {
		return err
	}
	r.readings = append(r.readings, r.file.listed(readings)...)
	r.judgements = append(r.judgements, judgements...)
	r.settings = append(r.settings, result)
	return r.quantify(ctx, setting, d)
}

// quantify analyses the setting's uncertainty, where the study has quantifiers.
func (r *runner) quantify(ctx context.Context, setting record.Setting, d dataset.Dataset) error {
	list := r.uncertain[setting]
	if len(list) == 0 {
		return nil
	}
	result, readings, judgements, err := r.quantified(ctx, setting, d, list)
	if err != nil {
		return err
	}
	r.quantities = append(r.quantities, result)
	r.readings, r.judgements = append(r.readings, readings...), append(r.judgements, judgements...)
	records := r.collected[setting]
	known := map[record.AnswerID]bool{}
	for _, a := range records.Answers {
		known[a.ID] = true
	}
	for _, u := range list {
		for _, s := range append([]collect.Sampled{u.Answer}, u.Samples...) {
			if known[s.ID] {
				continue
			}
			records.Answers = append(records.Answers, s.Answer)
			records.Scorings = append(records.Scorings, record.Scoring{
				Answer: s.ID, Context: generatingContext, Tokens: s.Tokens, Reproducible: s.Reproducible, Missing: s.NoTokens,
			})
		}
	}
	return nil
}

// generatingContext names, in the table of tokens, the context in which a sample was generated.
const generatingContext = "generating"

// show makes the setting's section of the report.
func (r *runner) show(joined *protocol.Records, result *protocol.SettingResult, d dataset.Dataset, records collect.Records, readings []record.Reading, judgements []record.Judgement) error {
	main := mainOnly(records, readings, judgements)
	shown := report.Setting{Items: d.Items, Answers: main.answers, Readings: main.readings, Scorings: main.scorings, Judgements: main.judgements}
	var err error
	if shown.Scores, err = joined.Align(result.Comparisons[0].Choice).Scores(); err != nil {
		return err
	}
	shown.Comparisons = result.Comparisons
	section, err := report.NewSection(shown)
	r.sections = append(r.sections, section)
	return err
}

// recorded is what the report shows of each item: the model's own answers to the confidence prompt.
type recorded struct {
	answers    []record.Answer
	scorings   []record.Scoring
	readings   []record.Reading
	judgements []record.Judgement
}

func mainOnly(records collect.Records, readings []record.Reading, judgements []record.Judgement) recorded {
	var main recorded
	for _, a := range records.Answers {
		if a.ID.Origin == mainOrigin {
			main.answers = append(main.answers, a)
		}
	}
	for _, s := range records.Scorings {
		if s.Answer.Origin == mainOrigin {
			main.scorings = append(main.scorings, s)
		}
	}
	for _, x := range readings {
		if x.Answer.Origin == mainOrigin {
			main.readings = append(main.readings, x)
		}
	}
	for _, j := range judgements {
		if j.Answer.Origin == mainOrigin {
			main.judgements = append(main.judgements, j)
		}
	}
	return main
}
