package study

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/record"
)

// The stages of consistency. Perturbations and paraphrases come before everything else, since all models answer
// after the same ones; a judge comes after all models.
const (
	// StagePerturbations asks for contexts to put before questions, and for paraphrases.
	StagePerturbations Stage = "perturbations"
	// StageConsistency asks for samples with and without them.
	StageConsistency Stage = "consistency"
	// StageEquivalence asks which answers are the same.
	StageEquivalence Stage = "equivalence"
	// StageTopics asks which domain perturbations belong to.
	StageTopics Stage = "topics"
)

// consistent is what a run collects for consistency.
type consistent struct {
	// By data set, and for perturbations by source.
	perturbed   map[string][][]collect.Perturbed
	paraphrased map[string][]collect.Paraphrased
	topics      map[string][]topicsOf
	trials      map[record.Setting][]collect.Trials
	stated      map[record.Setting]map[string]record.Number
	equated     map[record.Setting][]collect.Equated
	thresholds  []threshold
	// By source, and for files of perturbations by data set.
	snippets map[[2]string]*collect.Snippets
	// embed gives vectors while perturbations are sought; nil where the filter is off.
	embed collect.Asker
	costs []PerturbationCost

	survey *consistency.Survey
	scored []consistency.Scored
}

// topicsOf says, for the distinct perturbations of a source, which domain each was found in.
type topicsOf struct {
	texts   []string
	domains []int
	why     []record.Missing
}

func newConsistent() consistent {
	return consistent{
		snippets: map[[2]string]*collect.Snippets{}, perturbed: map[string][][]collect.Perturbed{}, paraphrased: map[string][]collect.Paraphrased{}, topics: map[string][]topicsOf{},
		trials: map[record.Setting][]collect.Trials{}, stated: map[record.Setting]map[string]record.Number{}, equated: map[record.Setting][]collect.Equated{},
	}
}

// crosses reports whether a stage is one of consistency.
func (s Stage) crosses() bool {
	return slices.Contains([]Stage{StagePerturbations, StageConsistency, StageEquivalence, StageTopics}, s)
}

// crossPasses are what consistency asks, in order: the last model that answered is open, and goes first.
func (f *File) crossPasses() []pass {
	if f.Consistency == nil {
		return nil
	}
	var list []pass
	for _, i := range f.writers() {
		list = append(list, pass{StagePerturbations, i})
	}
	for i := len(f.Models) - 1; i >= 0; i-- {
		list = append(list, pass{StageConsistency, i})
	}
	for i, m := range f.Models {
		if m.Name == f.Consistency.Judge {
			list = append(list, pass{StageEquivalence, i})
		}
		if m.Name == f.Consistency.TopicJudge {
			list = append(list, pass{StageTopics, i})
		}
	}
	return list
}

// askCross asks one setting in one stage of consistency; the plan runs the same code.
func (r *runner) askCross(ctx context.Context, m *model, ask collect.Asker, d dataset.Dataset, stage Stage, after func(done, lacking int)) error {
	pace := collect.Pace{Open: openItems, Done: func(done int) { after(done, 0) }}
	pace.Done(0)
	switch stage {
	case StagePerturbations:
		return r.askPerturbations(ctx, m, ask, d, pace)
	case StageEquivalence:
		return r.askEquivalence(ctx, m, ask, d, pace)
	case StageTopics:
		return r.askTopics(ctx, m, ask, d, pace)
	}
	return r.askConsistency(ctx, m, ask, d, pace)
}

// readyForConsistency refuses, before anything is asked, what would end consistency after all answers: no intervals,
// no calibration, no perturbations to read.
func (r *runner) readyForConsistency() error {
	if r.file.Consistency == nil {
		return nil
	}
	if *r.file.Analysis.Resamples == 0 {
		return r.file.at.errorf("$.analysis.resamples", "use 1000 or more", "the survey of consistency needs intervals, and resamples is 0")
	}
	for _, p := range r.file.Consistency.Perturbations {
		if p.From == FromModel {
			continue
		}
		for _, d := range r.data {
			if _, err := r.snippets(p, d); err != nil {
				return err
			}
		}
	}
	return r.findThresholds()
}

// cross asks all that consistency needs, after the answers that it is held against. While perturbations are
// sought the model of embeddings is open beside the one that writes: what is too near to another has to be known
// before more are asked for.
func (r *runner) cross(ctx context.Context, t *turns) (err error) {
	if r.file.Consistency == nil {
		return nil
	}
	done, err := r.openFilter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := r.perturbFromTexts(ctx); err != nil {
		return err
	}
	for _, p := range r.file.crossPasses() {
		if p.stage != StagePerturbations {
			if err := done(); err != nil {
				return err
			}
		}
		if err := r.crossStage(ctx, t, p); err != nil {
			return err
		}
	}
	return nil
}

// crossStage asks one model in one stage of consistency. All but its own answers are of the items of all
// models, whatever its own limit.
func (r *runner) crossStage(ctx context.Context, t *turns, p pass) error {
	m, ask, err := t.to(ctx, p.model)
	if err != nil {
		return err
	}
	for _, d := range r.crossData(p) {
		after := func(done, _ int) {
			r.tell(Progress{Setting: settingOf(m, d), Stage: p.stage, Done: done, Total: len(d.Items), Counts: ask.Counts(), Retries: m.retries()})
		}
		if err := r.askSetting(ctx, m, ask, d, p.stage, after); err != nil {
			return fmt.Errorf("%s on %s: %w", m.Name, d.Name, err)
		}
	}
	return nil
}

func (r *runner) crossData(p pass) []dataset.Dataset {
	if p.stage == StageConsistency {
		return r.dataOf(r.file.Models[p.model])
	}
	return r.dataOf(Model{Limit: r.file.largestLimit()})
}

// largestLimit is how many items of a data set some model is asked of; 0 is all.
func (f *File) largestLimit() int {
	most := 0
	for _, m := range f.Models {
		if m.Limit == 0 {
			return 0
		}
		most = max(most, m.Limit)
	}
	return most
}

// askEquivalence asks a model which answers of all models to one data set are the same.
func (r *runner) askEquivalence(ctx context.Context, m *model, ask collect.Asker, d dataset.Dataset, pace collect.Pace) error {
	_, clusters := r.file.Consistency.judged()
	equating := &collect.Equating{Ask: ask, Prompts: r.prompts, Form: m.form, Clusters: clusters}
	questions := map[string]string{}
	for _, item := range d.Items {
		questions[item.ID] = item.Question
	}
	var list []collect.Answers
	var of []record.Setting
	for _, answering := range r.file.Models {
		setting := record.Setting{Model: answering.Name, Dataset: d.Name}
		for _, t := range r.consistent.trials[setting] {
			one := collect.Answers{Item: t.Item, Question: questions[t.Item]}
			for _, perturbed := range t.Perturbed {
				one.Groups = append(one.Groups, collect.Texts(t.Original, perturbed))
			}
			one.Groups = append(one.Groups, collect.Texts(t.Paraphrased))
			list, of = append(list, one), append(of, setting)
		}
	}
	found, err := equating.All(ctx, list, pace)
	for i, e := range found {
		r.consistent.equated[of[i]] = append(r.consistent.equated[of[i]], e)
	}
	return err
}

// askTopics asks a model which domain the perturbations for one data set belong to, each different one once.
func (r *runner) askTopics(ctx context.Context, m *model, ask collect.Asker, d dataset.Dataset, pace collect.Pace) error {
	topics := &collect.Topics{Ask: ask, Prompts: r.prompts, Form: m.form}
	for _, domain := range consistency.Domains() {
		topics.Domains = append(topics.Domains, string(domain))
	}
	for _, found := range r.consistent.perturbed[d.Name] {
		var texts []string
		for _, p := range found {
			texts = append(texts, p.Kept...)
		}
		slices.Sort(texts)
		of := topicsOf{texts: slices.Compact(texts)}
		var err error
		if of.domains, of.why, err = topics.All(ctx, of.texts, pace); err != nil {
			return err
		}
		r.consistent.topics[d.Name] = append(r.consistent.topics[d.Name], of)
	}
	return nil
}
