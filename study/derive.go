package study

import (
	"context"
	"fmt"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/internal/await"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
)

// What a study derives from what was collected, without a call: prompts, readings, judgements, and
// the list of comparisons.

func (f *File) promptSet() (*prompt.Set, error) {
	own := make(map[prompt.Name]string, len(f.Prompts))
	for name, text := range f.Prompts {
		own[prompt.Name(name)] = text
	}
	set, err := prompt.New(own)
	if err != nil {
		return nil, f.at.errorf("$.prompts", "", "%v", err)
	}
	return set, nil
}

func loadData(ctx context.Context, list []Data) ([]dataset.Dataset, error) {
	sets := make([]dataset.Dataset, len(list))
	for i, d := range list {
		set, err := await.Result(ctx, func() (dataset.Dataset, error) { return loadOne(d) })
		if err != nil {
			return nil, err
		}
		set.Name = d.Name
		if d.Limit > 0 && d.Limit < len(set.Items) {
			set.Items = set.Items[:d.Limit]
			set.SHA256 = dataset.Hash(set.Items)
			set.Notes = append(set.Notes, fmt.Sprintf("the first %d items only", d.Limit))
		}
		sets[i] = set
	}
	return sets, nil
}

func loadOne(d Data) (dataset.Dataset, error) {
	if d.File == "" {
		return dataset.Builtin(d.Name)
	}
	return dataset.Read(d.File, d.Columns)
}

// readings are the stated ones and, for each scoring, one per aggregation.
func (f *File) readings(records collect.Records) []record.Reading {
	list := append([]record.Reading(nil), records.Stated...)
	for _, s := range records.Scorings {
		for _, name := range f.Protocol.Aggregations {
			list = append(list, quantify.Aggregation(name).Reading(s))
		}
	}
	return list
}

// judge judges every answer by every rule of the study.
func (f *File) judge(items []record.Item, answers []record.Answer) ([]record.Judgement, error) {
	byID := make(map[string]record.Item, len(items))
	for _, item := range items {
		byID[item.ID] = item
	}
	var list []record.Judgement
	for _, name := range f.Protocol.Correctness {
		rule, err := judge.Named(name)
		if err != nil {
			return nil, err
		}
		for _, a := range answers {
			list = append(list, rule.Judge(a, byID[a.ID.Item].References))
		}
	}
	return list, nil
}

// choices are the comparisons of every setting: each correctness rule with each aggregation.
func (f *File) choices() []protocol.Choice {
	var list []protocol.Choice
	for _, rule := range f.Protocol.Correctness {
		for _, aggregation := range f.Protocol.Aggregations {
			list = append(list, protocol.Choice{
				Contexts:    f.Protocol.Contexts,
				Aggregation: aggregation,
				Elicitation: string(prompt.Confidence),
				Judge:       rule,
			})
		}
	}
	return list
}
