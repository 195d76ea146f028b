package study

import (
	"context"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
)

// relations are what is known of pairs.
type relations map[collect.Pair]collect.Relation

// entailmentJudge names the model that judges the pairs of a setting; empty where all settings share one
// judge.
func (f *File) entailmentJudge(setting record.Setting) string {
	if f.Entailment.By == OwnEntailment {
		return setting.Model
	}
	return ""
}

// pairsToRelate are the pairs of an item's answer and samples that the study's quantifiers read.
func (r *runner) pairsToRelate(u *collect.Uncertain) []collect.Pair {
	if u.Answer.Missing != record.Present {
		return nil
	}
	var pairs []collect.Pair
	add := func(needed quantify.Pairs, question string) {
		for _, p := range needed.Of(u.Answer.Text, u.Present()) {
			pairs = append(pairs, collect.Pair{Question: question, Premise: p.Premise, Hypothesis: p.Hypothesis})
		}
	}
	needs := r.file.needs()
	add(needs.Entailment, "")
	add(needs.EntailmentWithQuestion, u.Question)
	return pairs
}

// entailmentWork asks a model about its own texts to a data set, or as the study's judge about those of all
// models.
func (r *runner) entailmentWork(m *model, d dataset.Dataset) *work[relations] {
	how := collect.Entailment{Form: m.form}
	answering := []string{m.Name}
	if r.file.Entailment.By != OwnEntailment {
		answering = r.file.modelNames()
	}
	whole := func(found relations) bool {
		for _, relation := range found {
			if relation.Missing != record.Present {
				return false
			}
		}
		return true
	}
	return &work[relations]{items: d.Items, complete: whole, item: func(ctx context.Context, ask collect.Asker, i int) (relations, error) {
		var pairs []collect.Pair
		for _, name := range answering {
			w := r.works.uncertainty[record.Setting{Model: name, Dataset: d.Name}]
			if w == nil || i >= len(w.items) { // a model with a limit
				continue
			}
			u, err := w.get(ctx, i)
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, r.pairsToRelate(u)...)
		}
		return how.Of(ctx, ask, pairs)
	}}
}

// keepRelations takes in what a judge said.
func (r *runner) keepRelations(judge string, found relations) {
	if r.relations[judge] == nil {
		r.relations[judge] = relations{}
	}
	for pair, relation := range found {
		r.relations[judge][pair] = relation
	}
}

// related is what is known of a pair of a setting.
func (r *runner) related(setting record.Setting, pair collect.Pair) quantify.Relation {
	if r.file.Entailment.By == LexicalEntailment {
		return quantify.LexicalRelation(pair.Premise, pair.Hypothesis)
	}
	relation, ok := r.relations[r.file.entailmentJudge(setting)][pair]
	if !ok {
		return quantify.Relation{Missing: quantify.NoEntailment}
	}
	return quantify.Relation{
		Entails: relation.Entails, Neither: relation.Neither, Contradicts: relation.Contradicts, Missing: relation.Missing,
	}
}

// relate puts the relations of an item's texts where quantifiers read them; nil where none is needed.
func (r *runner) relate(u collect.Uncertain, question string, needed quantify.Pairs) *quantify.Relations {
	if needed == 0 {
		return nil
	}
	var samples []string
	for _, s := range u.Samples {
		samples = append(samples, s.Text)
	}
	return quantify.Relate(u.Answer.Text, samples, func(premise, hypothesis string) quantify.Relation {
		return r.related(u.Answer.ID.Setting, collect.Pair{Question: question, Premise: premise, Hypothesis: hypothesis})
	})
}
