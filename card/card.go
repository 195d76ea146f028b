// Package card states a study's measurement protocol: every choice that a reader needs in order to
// repeat the measurement or to distrust it, and what the study leaves unsaid.
//
// Source: the reporting items of "Same Answer, Different Confidence", section 4.6 and Table 5.
package card

import (
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/measure"
)

// Card is the measurement card of one study.
type Card struct {
	Study    string    `json:"study"`
	Models   []Model   `json:"models"`
	Datasets []Dataset `json:"datasets"`
	// Prompts are the texts that were put to the models, in full.
	Prompts []Prompt `json:"prompts"`
	// Contexts say where the answer's tokens are scored; Base is the one that shifts are taken from.
	Contexts []Context `json:"contexts"`
	Base     string    `json:"base"`
	// Aggregations of token probabilities, Correctness rules and the reply Parser, by name.
	Aggregations []string `json:"aggregations"`
	Correctness  []Rule   `json:"correctness"`
	Parser       Rule     `json:"parser"`
	// Tokenisation says how context and answer become tokens.
	Tokenisation string `json:"tokenisation"`
	// Generation says how answers are decoded.
	Generation []string `json:"generation"`
	// Metrics with their estimator and edge rule, by id.
	Metrics []Rule `json:"metrics"`
	// Intervals says how they are made, from how many resamples, at which level and seed.
	Intervals string `json:"intervals"`
	// Settings say, for each, how much was parsed and what was left out.
	Settings []Setting `json:"settings"`
	// Missing lists what a reader must still be told.
	Missing []string `json:"missing"`
}

// Model is a model as the engine identifies it.
type Model struct {
	Name     string       `json:"name"`
	Identity llm.Identity `json:"identity"`
	// Form is "chat" or "plain".
	Form string `json:"form"`
	// Licence of the weights; empty if unknown.
	Licence string `json:"licence,omitempty"`
}

// Dataset is a data set by its content.
type Dataset struct {
	Name   string `json:"name"`
	Items  int    `json:"items"`
	SHA256 string `json:"sha256"`
	// Notes say how the file was read.
	Notes []string `json:"notes,omitempty"`
}

// Prompt is a named template.
type Prompt struct {
	Name string `json:"name"`
	Text string `json:"text"`
	// Own says that it replaces the built-in wording.
	Own bool `json:"own"`
}

// Context is a named scoring context in words.
type Context struct {
	Name string `json:"name"`
	What string `json:"what"`
}

// Rule is something with an id, explained.
type Rule struct {
	ID   string `json:"id"`
	What string `json:"what"`
}

// Setting is how much of one setting could be used, under one correctness rule.
type Setting struct {
	Setting      string             `json:"setting"`
	Judge        string             `json:"judge"`
	Asked        int                `json:"asked"`
	Used         int                `json:"used"`
	ParseRate    measure.Value      `json:"parse_rate"`
	FallbackRate measure.Value      `json:"fallback_rate"`
	LeftOut      []measure.Excluded `json:"left_out"`
}
