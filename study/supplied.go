package study

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// suppliedWork asks the setting's model how probable given answers are. What an item gives holds those of them
// that are new to the records ("Same Answer, Different Confidence", appendix I).
func (r *runner) suppliedWork(m *model, setting record.Setting, d dataset.Dataset) (*work[collect.Records], error) {
	spec, err := r.spec(m, setting)
	if err != nil {
		return nil, err
	}
	rule, err := r.file.rule()
	if err != nil {
		return nil, err
	}
	item := func(ctx context.Context, ask collect.Asker, i int) (collect.Records, error) {
		s := &supplier{r: r, setting: setting, data: d, rule: rule, same: r.file.sameText()}
		if err := s.recall(ctx, i); err != nil {
			return collect.Records{}, err
		}
		answers, fresh := s.answers(d.Items[i])
		got, err := spec.Supplied(ctx, ask, collect.Given{Item: d.Items[i], Answers: answers})
		got.Answers = fresh
		return got, err
	}
	stated := func(got collect.Records) bool { return collect.Records{Stated: got.Stated}.Complete() }
	return &work[collect.Records]{items: d.Items, item: item, complete: stated}, nil
}

// supplier picks the answers to supply to one item of a setting.
type supplier struct {
	r       *runner
	setting record.Setting
	data    dataset.Dataset
	rule    judge.Judge
	same    func(a, b string) bool
	// known are the answers of the setting's own model to the item, theirs those of the others, by the name of the model.
	known  map[record.AnswerID]record.Answer
	theirs []record.Answer
}

// recall gets what the models have answered to item i.
func (s *supplier) recall(ctx context.Context, i int) error {
	own, err := s.r.works.answers[s.setting].get(ctx, i)
	if err != nil {
		return err
	}
	s.known = make(map[record.AnswerID]record.Answer, len(own.Answers))
	for _, a := range own.Answers {
		s.known[a.ID] = a
	}
	for _, other := range s.others() {
		w := s.r.works.answers[other]
		if w == nil || i >= len(w.items) { // a model with a limit
			continue
		}
		got, err := w.get(ctx, i)
		if err != nil {
			return err
		}
		for _, a := range got.Answers {
			if a.ID.Origin == mainOrigin && a.Missing == record.Present {
				s.theirs = append(s.theirs, a)
			}
		}
	}
	return nil
}

func (s *supplier) id(item string, source record.Source, role record.Role) record.AnswerID {
	return record.AnswerID{Setting: s.setting, Item: item, Origin: record.Origin{Source: source, Role: role}}
}

func (s *supplier) own(item string, name prompt.Name) (record.Answer, bool) {
	a, ok := s.known[record.AnswerID{Setting: s.setting, Item: item, Origin: record.Origin{Source: record.Generated, Prompt: string(name)}}]
	return a, ok && a.Missing == record.Present
}

// answers are those to rate: the answer-only answer, and for the supplied part the canonical reference,
// the first alias, a wrong answer, and the own answer again.
func (s *supplier) answers(item record.Item) (all, fresh []record.Answer) {
	if a, ok := s.own(item.ID, prompt.AnswerOnly); ok && s.r.file.Protocol.Has(PartAnswerOnly) {
		all = append(all, a)
	}
	if !s.r.file.Protocol.Has(PartSupplied) {
		return all, nil
	}
	if a, ok := s.own(item.ID, prompt.Confidence); ok {
		all = append(all, a)
	}
	for i, role := range []record.Role{record.Canonical, record.Alias} {
		if i < len(item.References) {
			fresh = append(fresh, record.Answer{ID: s.id(item.ID, record.Reference, role), Text: item.References[i]})
		}
	}
	if wrong, ok := s.wrong(item); ok {
		fresh = append(fresh, wrong)
	}
	all = append(all, fresh...)
	return all, slices.DeleteFunc(fresh, func(a record.Answer) bool { _, known := s.known[a.ID]; return known })
}

// wrong is a plausible wrong answer, or where there is none an off-type one.
func (s *supplier) wrong(item record.Item) (record.Answer, bool) {
	own, answered := s.own(item.ID, prompt.Confidence)
	for _, a := range s.theirs {
		if answered && s.same(a.Text, own.Text) {
			continue
		}
		if s.rule.Judge(a, item.References).Verdict == record.Incorrect {
			return record.Answer{ID: s.id(item.ID, record.Supplied, record.PlausibleWrong), Text: a.Text}, true
		}
	}
	return s.offType(item)
}

// others are the settings of the other models on the same data, by the name of the model.
func (s *supplier) others() []record.Setting {
	var list []record.Setting
	for _, m := range s.r.file.Models {
		if m.Name != s.setting.Model {
			list = append(list, record.Setting{Model: m.Name, Dataset: s.setting.Dataset})
		}
	}
	slices.SortFunc(list, func(a, b record.Setting) int { return strings.Compare(a.Model, b.Model) })
	return list
}

// offTypeTries bounds the search in data whose answers are all alike.
const offTypeTries = 50

// offType is the canonical answer of another question, drawn at random and checked to be wrong here.
func (s *supplier) offType(item record.Item) (record.Answer, bool) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.setting.String() + "\x00" + item.ID))
	rng := rand.New(rand.NewPCG(s.r.file.Seed, h.Sum64()))
	for range offTypeTries {
		other := s.data.Items[rng.IntN(len(s.data.Items))]
		if other.ID == item.ID || len(other.References) == 0 {
			continue
		}
		a := record.Answer{ID: s.id(item.ID, record.Supplied, record.OffType), Text: other.References[0]}
		if s.rule.Judge(a, item.References).Verdict == record.Incorrect {
			return a, true
		}
	}
	return record.Answer{}, false
}

// mainOrigin is that of a model's answer under the confidence prompt.
var mainOrigin = record.Origin{Source: record.Generated, Prompt: string(prompt.Confidence)}
