package study

import (
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

// given lists for every item the answers that the setting's model is asked to rate, and returns those
// of them that are new to the records ("Same Answer, Different Confidence", appendix I).
func (r *runner) given(setting record.Setting, d dataset.Dataset) ([]collect.Given, []record.Answer, error) {
	rule, err := r.file.rule()
	if err != nil {
		return nil, nil, err
	}
	s := &supplier{r: r, setting: setting, data: d, rule: rule, same: r.file.sameText(), known: map[record.AnswerID]record.Answer{}}
	for _, a := range r.collected[setting].Answers {
		s.known[a.ID] = a
	}
	list := make([]collect.Given, len(d.Items))
	var fresh []record.Answer
	for i, item := range d.Items {
		answers, added := s.answers(item)
		list[i] = collect.Given{Item: item, Answers: answers}
		fresh = append(fresh, added...)
	}
	return list, fresh, nil
}

// supplier picks the answers to supply in one setting.
type supplier struct {
	r       *runner
	setting record.Setting
	data    dataset.Dataset
	rule    judge.Judge
	same    func(a, b string) bool
	known   map[record.AnswerID]record.Answer
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
	for _, other := range s.others() {
		a, ok := s.r.mainAnswer(other, item.ID)
		if !ok || answered && s.same(a.Text, own.Text) {
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

// mainAnswer is what a setting's model answered under the confidence prompt.
func (r *runner) mainAnswer(setting record.Setting, item string) (record.Answer, bool) {
	a, ok := r.mainAnswers[record.AnswerID{Setting: setting, Item: item, Origin: mainOrigin}]
	return a, ok && a.Missing == record.Present
}

var mainOrigin = record.Origin{Source: record.Generated, Prompt: string(prompt.Confidence)}
