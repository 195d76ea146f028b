// Package card states a study's measurement protocol: every choice that a reader needs in order to
// repeat the measurement or to distrust it, and what the study leaves unsaid.
//
// Sources: the reporting items of "Same Answer, Different Confidence", section 4.6 and Table 5, and what
// Ilia and Aziz 2026, section 3, ask of automated judges.
package card

import (
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/measure"
)

// Card is the measurement card of one study.
type Card struct {
	Study string `json:"study"`
	// Purpose is what the scores are to be used for, in the author's words; empty if they did not say.
	Purpose  string    `json:"purpose,omitempty"`
	Models   []Model   `json:"models"`
	Datasets []Dataset `json:"datasets"`
	// Imported are the files with judgements made elsewhere; empty where the study has none.
	Imported []Import `json:"imported,omitempty"`
	// Prompts are the texts that were put to the models, in full.
	Prompts []Prompt `json:"prompts"`
	// Contexts say where the answer's tokens are scored; Base is the one that shifts are taken from.
	Contexts []Context `json:"contexts"`
	Base     string    `json:"base"`
	// Answers says whose answers are rated, and in which form they were asked for; Elicitation which prompt
	// asks for confidence, and on which scale.
	Answers     Rule `json:"answers"`
	Elicitation Rule `json:"elicitation"`
	// Parts are what was asked and compared beyond the main comparison, each by name.
	Parts []Rule `json:"parts,omitempty"`
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
	// Validation says, for each judge, whose labels it was held against. Agreement is how far the judges of
	// a study agree among themselves, which validates none of them.
	Validation []Validation `json:"validation"`
	Agreement  []Agreement  `json:"agreement"`
	// Settings say, for each, how much was parsed and what was left out.
	Settings []Setting `json:"settings"`
	// Reporting lists every reporting item, and whether this card states it; see [Card.Check].
	Reporting []Item `json:"reporting"`
	// Missing lists what a reader must still be told.
	Missing []string `json:"missing"`
}

// Validation is what is known of a judge's errors.
type Validation struct {
	Judge string `json:"judge"`
	// Type is the judge's kind, in the words of Ilia and Aziz 2026, Table 1.
	Type string `json:"type"`
	// Threshold above which a score counts as correct, or that there is none.
	Threshold string `json:"threshold"`
	// Against says whose labels the judge was held against; empty if nobody's. HumanLabels is their number.
	Against     string `json:"against,omitempty"`
	HumanLabels int    `json:"human_labels"`
	// WithPeople is the judge's agreement with them, AmongPeople that of two people; nil if not measured.
	WithPeople  *measure.Value `json:"with_people,omitempty"`
	AmongPeople *measure.Value `json:"among_people,omitempty"`
	// Effect says how the judge's errors change the metrics; empty if not measured.
	Effect string `json:"effect,omitempty"`
}

// Agreement counts the answers of a setting by the verdicts of two of its judges.
type Agreement struct {
	Setting string `json:"setting"`
	A       string `json:"a"`
	B       string `json:"b"`
	// Both and Neither agree that an answer is correct, or that it is not; OnlyA and OnlyB differ.
	Both    int `json:"both"`
	Neither int `json:"neither"`
	OnlyA   int `json:"only_a"`
	OnlyB   int `json:"only_b"`
	// NotJudged is the number of answers without a verdict of one of them.
	NotJudged int `json:"not_judged"`
}

// Model is a model as the engine identifies it.
type Model struct {
	Name     string       `json:"name"`
	Identity llm.Identity `json:"identity"`
	// Form is "chat" or "plain".
	Form string `json:"form"`
	// Licence of the weights; empty if unknown.
	Licence string `json:"licence,omitempty"`
	// Exactness is what was measured, before the first call, of whether values depend on company; empty where
	// nothing was.
	Exactness string `json:"exactness,omitempty"`
	// Checks are what was found out of the server that runs the model, before the first call.
	Checks []Check `json:"checks,omitempty"`
}

// Check is one thing that was checked of a server; see docs/servers.md for what each means.
type Check struct {
	Check string `json:"check"`
	// State is "good", "doubtful", "bad" or "unknown".
	State string `json:"state"`
	// Found is what was seen, with its numbers.
	Found string `json:"found"`
	// Means says what follows where it is not good, and Affects which kinds of analysis are touched.
	Means   string   `json:"means,omitempty"`
	Affects []string `json:"affects,omitempty"`
}

// Dataset is a data set by its content.
type Dataset struct {
	Name   string `json:"name"`
	Items  int    `json:"items"`
	SHA256 string `json:"sha256"`
	// Notes say how the file was read.
	Notes []string `json:"notes,omitempty"`
}

// Import is a file with judgements made elsewhere, by its bytes.
type Import struct {
	Name string `json:"name"`
	// File is its name without folder.
	File   string `json:"file"`
	Rows   int    `json:"rows"`
	SHA256 string `json:"sha256"`
	// Answers of the study, over all its settings, and how many of them have no row.
	Answers int `json:"answers"`
	Without int `json:"without_row"`
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
