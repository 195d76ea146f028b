package study

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	if d.Format != "" {
		return dataset.ReadBenchmark(d.File, d.Format)
	}
	return dataset.Read(d.File, d.Columns)
}

// readings are the stated ones and, for each scoring, one per aggregation: those of the study, or all
// where the multiverse wants them.
func (f *File) readings(records collect.Records) []record.Reading {
	names := f.Protocol.Aggregations
	if f.Protocol.Has(PartMultiverse) {
		names = aggregationNames()
	}
	list := append([]record.Reading(nil), records.Stated...)
	for _, s := range records.Scorings {
		for _, name := range names {
			list = append(list, quantify.Aggregation(name).Reading(s))
		}
	}
	return list
}

// listed are the readings that the run's table holds: those of the study's own aggregations.
func (f *File) listed(readings []record.Reading) []record.Reading {
	var list []record.Reading
	for _, r := range readings {
		if r.Signal != record.TokenSignal || slices.Contains(f.Protocol.Aggregations, r.Protocol.Aggregation) {
			list = append(list, r)
		}
	}
	return list
}

// letterJudge says whether a letter is that of the accepted option.
const letterJudge = "letter"

// judge judges every answer by every rule of the study, and letters by their option.
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
			if a.ID.Origin.Prompt != string(prompt.LetterConfidence) {
				list = append(list, rule.Judge(a, byID[a.ID.Item].References))
			}
		}
	}
	exact := judge.New(judge.Exact, judge.ASCII)
	for _, a := range answers {
		if a.ID.Origin.Prompt == string(prompt.LetterConfidence) {
			options, _ := collect.OptionsOf(byID[a.ID.Item], f.Seed)
			j := exact.Judge(a, []string{options.Gold})
			j.Judge = letterJudge
			list = append(list, j)
		}
	}
	return list, nil
}

// rule is the study's first correctness rule.
func (f *File) rule() (judge.Judge, error) { return judge.Named(f.Protocol.Correctness[0]) }

// sameText reports whether two texts are one after the normalisation of the first correctness rule.
func (f *File) sameText() func(a, b string) bool {
	norm := judge.Unicode
	if strings.HasSuffix(f.Protocol.Correctness[0], "."+judge.ASCII.String()) {
		norm = judge.ASCII
	}
	return judge.New(judge.Exact, norm).Match
}

// choices are the main comparisons of every setting: each correctness rule with each aggregation.
func (f *File) choices(aggregations []string) []protocol.Choice {
	var list []protocol.Choice
	for _, rule := range f.Protocol.Correctness {
		for _, aggregation := range aggregations {
			list = append(list, protocol.Choice{
				Answers:      string(prompt.Confidence),
				Contexts:     f.mainContexts(),
				Aggregation:  aggregation,
				Elicitation:  string(prompt.Confidence),
				Judge:        rule,
				DropFallback: f.Protocol.DropFallback,
			})
		}
	}
	return list
}

// multiverseResamples of each protocol of the multiverse.
const multiverseResamples = 1000

// design says which comparisons the study makes.
func (f *File) design(rulings map[record.AnswerID]protocol.Ruling) protocol.Design {
	p := f.Protocol
	d := protocol.Design{
		Options: protocol.Options{Seed: f.Seed, Resamples: *f.Analysis.Resamples, Level: f.Analysis.Level},
		Main:    f.choices(p.Aggregations), Further: f.further(), Same: f.sameText(), Reference: p.Has(PartReference),
	}
	if p.Has(PartAnswerOnly) {
		d.Other = string(prompt.AnswerOnly)
	}
	if p.Has(PartSupplied) {
		d.Supplied = &protocol.SuppliedDesign{
			Elicitation: string(prompt.Confidence), Judge: p.Correctness[0], Supplied: prompt.Supplied, Same: d.Same,
			Ruling: func(id record.AnswerID) protocol.Ruling { return rulings[id] },
		}
	}
	if p.Has(PartMultiverse) {
		d.Multiverse, d.MultiverseResamples = f.choices(aggregationNames()), multiverseResamples
		for _, named := range d.Further {
			if named.Choice.DropFallback == p.DropFallback {
				d.Multiverse = append(d.Multiverse, named.Choice)
			}
		}
	}
	return d
}

// Names of the further comparisons.
const (
	withoutFallback = "without fallback"
	transferCheck   = "answer-only answers"
	percentScale    = "0-100 scale"
	letterFormat    = "multiple choice"
)

// further are the comparisons beside the main ones.
func (f *File) further() []protocol.NamedChoice {
	p, main := f.Protocol, f.choices(f.Protocol.Aggregations)[0]
	var list []protocol.NamedChoice
	add := func(name string, change func(*protocol.Choice)) {
		c := main
		change(&c)
		list = append(list, protocol.NamedChoice{Name: name, Choice: c})
	}
	if p.Parser == string(prompt.Lenient) && !p.DropFallback {
		add(withoutFallback, func(c *protocol.Choice) { c.DropFallback = true })
	}
	if p.Has(PartPercent) {
		add(percentScale, func(c *protocol.Choice) {
			c.Answers, c.Elicitation = string(prompt.ConfidencePercent), string(prompt.ConfidencePercent)
			c.Contexts = namesOf(percentContexts())
		})
	}
	if p.Has(PartAnswerOnly) {
		add(transferCheck, func(c *protocol.Choice) {
			c.Answers, c.Elicitation = string(prompt.AnswerOnly), prompt.Supplied
			c.Contexts = f.answerOnlyContexts()
		})
	}
	if p.Has(PartLetters) {
		add(letterFormat, func(c *protocol.Choice) {
			c.Answers, c.Elicitation = string(prompt.LetterConfidence), string(prompt.LetterConfidence)
			c.Contexts, c.Judge = namesOf(prompt.LetterContexts()), letterJudge
		})
	}
	return list
}

func namesOf(contexts []prompt.Context) []string {
	var names []string
	for _, c := range contexts {
		names = append(names, c.Name)
	}
	return names
}
