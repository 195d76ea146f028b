package card_test

import (
	"github.com/credence-lab/credence/card"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/measure"
)

// whole is a card on which every reporting item is stated.
func whole() *card.Card {
	rate := measure.Of("parse-rate", .975, 40)
	agree := measure.Of("cohen-kappa", .8, 40)
	return &card.Card{
		Study:   "whole",
		Purpose: "to rank answers for review by people",
		Models: []card.Model{{
			Name: "m", Form: "chat", Licence: "Apache-2.0",
			Identity: llm.Identity{Engine: "llamacpp v0", Model: "m.gguf", Weights: "00ff", Mode: "exact"},
		}},
		Datasets:     []card.Dataset{{Name: "d", Items: 40, SHA256: "abcd", Notes: []string{"column answer taken for the answers"}}},
		Prompts:      []card.Prompt{{Name: "bare", Text: "{{.Question}}\nAnswer:"}},
		Contexts:     []card.Context{{Name: "bare", What: "the question and a marker"}},
		Base:         "bare",
		Answers:      card.Rule{ID: "generated", What: "free text"},
		Elicitation:  card.Rule{ID: "confidence", What: "0-1"},
		Aggregations: []string{"geometric-mean"},
		Correctness:  []card.Rule{{ID: "exact.ascii", What: "equal after normalisation"}},
		Parser:       card.Rule{ID: "strict", What: "labels only"},
		Tokenisation: "apart, then joined",
		Generation:   []string{"m: greedy, at most 32 tokens, no repetition penalty"},
		Metrics: []card.Rule{
			{ID: "ece.equal-width.10.left-closed", What: "ten bins"},
			{ID: "auroc", What: "ranking"},
		},
		Intervals: "intervals: 95 %",
		Validation: []card.Validation{{
			Judge: "exact.ascii", Type: "exact or fuzzy match", Threshold: "none", Against: "two people", HumanLabels: 40,
			WithPeople: &agree, AmongPeople: &agree, Effect: "AUROC −0.02",
		}},
		Agreement: []card.Agreement{{Setting: "m/d", A: "exact.ascii", B: "containment.ascii", Both: 10, Neither: 25, OnlyB: 4}},
		Settings:  []card.Setting{{Setting: "m/d", Judge: "exact.ascii", Asked: 40, Used: 39, ParseRate: rate, FallbackRate: rate, LeftOut: []measure.Excluded{{Reason: "no answer", N: 1}}}},
	}
}
