package study

import (
	"context"
	"fmt"
	"slices"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// worker is a work of whatever kind.
type worker interface {
	begin(ctx context.Context, l *ledger.Ledger, scope ledger.Digest, recall *ledger.Asker) error
	ask(ctx context.Context, ask *ledger.Asker, open int, after func(done, lacking int)) error
	recallAll(ctx context.Context, after func(done, total int)) error
}

// works are all that a study asks, by setting: the model that is asked, and the data set.
type works struct {
	answers, supplied map[record.Setting]*work[collect.Records]
	uncertainty       map[record.Setting]*work[collect.Uncertain]
	entailment        map[record.Setting]*work[relations]
	verdicts          map[record.Setting]*work[[]modelVerdict]
	// all of them, in the order in which they were begun.
	all []begun
}

// begun is a work with whom it asks.
type begun struct {
	worker
	stage   Stage
	setting record.Setting
	recall  *ledger.Asker
}

func newWorks() *works {
	return &works{
		answers: map[record.Setting]*work[collect.Records]{}, supplied: map[record.Setting]*work[collect.Records]{},
		uncertainty: map[record.Setting]*work[collect.Uncertain]{}, verdicts: map[record.Setting]*work[[]modelVerdict]{},
		entailment: map[record.Setting]*work[relations]{},
	}
}

// workOf returns what a stage asks of a setting.
func (r *runner) workOf(stage Stage, m *model, d dataset.Dataset) (worker, error) {
	setting := settingOf(m, d)
	switch stage {
	case StageUncertainty:
		return once(r.works.uncertainty, setting, func() (*work[collect.Uncertain], error) { return r.uncertaintyWork(m, setting, d) })
	case StageEntailment:
		return once(r.works.entailment, setting, func() (*work[relations], error) { return r.entailmentWork(m, d), nil })
	case StageVerdicts:
		return once(r.works.verdicts, setting, func() (*work[[]modelVerdict], error) { return r.verdictWork(m, d), nil })
	case StageSupplied:
		return once(r.works.supplied, setting, func() (*work[collect.Records], error) { return r.suppliedWork(m, setting, d) })
	}
	return once(r.works.answers, setting, func() (*work[collect.Records], error) { return r.answerWork(m, setting, d) })
}

func once[T any](made map[record.Setting]*work[T], setting record.Setting, build func() (*work[T], error)) (*work[T], error) {
	if w := made[setting]; w != nil {
		return w, nil
	}
	w, err := build()
	if err == nil {
		made[setting] = w
	}
	return w, err
}

func (r *runner) answerWork(m *model, setting record.Setting, d dataset.Dataset) (*work[collect.Records], error) {
	spec, err := r.spec(m, setting)
	if err != nil {
		return nil, err
	}
	return &work[collect.Records]{items: d.Items, complete: collect.Records.Complete, item: func(ctx context.Context, ask collect.Asker, i int) (collect.Records, error) {
		return spec.Item(ctx, ask, d.Items[i])
	}}, nil
}

// collecting counts the changes of this program that change what is asked of an item.
const collecting = 2

// scope is all that decides what a stage asks of an item, besides the item.
type scope struct {
	Version    string
	Collecting int
	Stage      Stage
	Setting    record.Setting
	Identity   llm.Identity
	Form       prompt.Form
	Penalty    float64
	Prompts    []prompt.Text
	Protocol   Protocol
	// Quantifiers and their samples.
	Quantifiers []string
	Sampling    Sampling
	Seed        uint64
	// Models and Data are there where other models' answers, or other items, are asked about.
	Models []Model
	Data   ledger.Digest
}

// begin finds out what of a work is done.
func (r *runner) begin(ctx context.Context, w worker, stage Stage, m *model, ask *ledger.Asker, d dataset.Dataset) error {
	if slices.ContainsFunc(r.works.all, func(b begun) bool { return b.worker == w }) {
		return nil // it goes on
	}
	s := scope{
		Version: r.options.Version, Collecting: collecting, Stage: stage, Setting: settingOf(m, d), Identity: ask.Identity(),
		Form: m.form, Penalty: m.penalty(), Prompts: r.prompts.Texts(), Protocol: r.file.Protocol,
		Quantifiers: r.file.Quantifiers, Sampling: r.file.Sampling, Seed: r.file.Seed,
	}
	s.Protocol.Aggregations, s.Protocol.Rulings, s.Protocol.DropFallback = nil, "", false
	if stage == StageSupplied || stage == StageVerdicts || stage == StageEntailment {
		s.Models = r.file.Models
		var err error
		if s.Data, err = ledger.DigestOf(d.Items); err != nil {
			return fmt.Errorf("data set %s: %w", d.Name, err)
		}
	} else {
		s.Protocol.Correctness = nil
	}
	digest, err := ledger.DigestOf(s)
	if err != nil {
		return err
	}
	recall := r.ledger.Recall(ask.Identity(), ask.Capabilities())
	r.works.all = append(r.works.all, begun{w, stage, settingOf(m, d), recall})
	return w.begin(ctx, r.ledger, digest, recall)
}

// recall gets from the ledger what earlier runs have finished.
func (r *runner) recall(ctx context.Context) error {
	for _, b := range r.works.all {
		err := b.recallAll(ctx, func(done, total int) {
			r.tell(Progress{Setting: b.setting, Stage: StageRecall, Done: done, Total: total, Counts: b.recall.Counts()})
		})
		if err != nil {
			return fmt.Errorf("%s, %s: %w", b.setting, b.stage, err)
		}
	}
	return nil
}

// gather takes what all items gave, in the order in which it was asked for.
func (r *runner) gather() {
	for _, p := range r.file.passes() {
		for _, d := range r.dataOf(r.file.Models[p.model]) {
			setting := record.Setting{Model: r.file.Models[p.model].Name, Dataset: d.Name}
			switch p.stage {
			case StageAnswers:
				r.keep(setting, r.works.answers[setting].take())
			case StageSupplied:
				r.keep(setting, r.works.supplied[setting].take())
			case StageUncertainty:
				for _, u := range r.works.uncertainty[setting].take() {
					r.uncertain[setting] = append(r.uncertain[setting], *u)
				}
			case StageEntailment:
				for _, found := range r.works.entailment[setting].take() {
					r.keepRelations(r.file.entailmentJudge(setting), *found)
				}
			case StageVerdicts:
				for _, list := range r.works.verdicts[setting].take() {
					for _, one := range *list {
						key := verdictKey{setting.Model, one.Answer.ID.Setting}
						r.verdicts[key] = append(r.verdicts[key], one)
					}
				}
			}
		}
	}
	for _, b := range r.works.all {
		for i := range r.models {
			if r.file.Models[i].Name == b.setting.Model {
				counts := b.recall.Counts()
				counts.Failed = 0 // what was not there was asked for
				r.models[i].counts = r.models[i].counts.Add(counts)
			}
		}
	}
}

func (r *runner) keep(setting record.Setting, list []*collect.Records) {
	if r.collected[setting] == nil {
		r.collected[setting] = &collect.Records{}
	}
	for _, one := range list {
		r.collected[setting].Add(*one)
	}
}
