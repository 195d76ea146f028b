// Package protocol asks how much the comparison of stated and token confidence depends on how it
// was measured: it fixes the answers of a setting and their labels, reads both scores under every
// protocol, and reports gaps, shifts and flips with intervals.
//
// Source: "Same Answer, Different Confidence" (2026). All functions are pure: they open no
// connection, read no clock, and draw numbers only from a generator that the study's seed fixes.
package protocol

import (
	"github.com/credence-lab/credence/record"
)

// Choice fixes the protocol choices that one comparison holds constant while the context varies.
type Choice struct {
	// Answers names the prompt under which the compared answers were written; empty takes that of
	// Elicitation, which states an answer with its probability.
	Answers string `json:"answers,omitempty"`
	// Contexts are the contexts in which the token score is read, the base first.
	Contexts []string `json:"contexts"`
	// Aggregation of the token score.
	Aggregation string `json:"aggregation"`
	// Elicitation of the stated probability.
	Elicitation string `json:"elicitation"`
	// Judge that labels the answers.
	Judge string `json:"judge"`
	// DropFallback leaves out answers whose probability the parser took by its last resort.
	DropFallback bool `json:"drop_fallback"`
}

// Aligned is one setting in which every row is one answer, with the label and all scores of that same
// answer: the paper's alignment rule (section 3.1). It can only be made by [Records.Align].
type Aligned struct {
	setting record.Setting
	choice  Choice
	rows    []row
	asked   int
	leftOut map[string]int
	parsed  int
	fell    int
}

// row holds the scores of one answer: the stated one first, then one per context of the choice.
type row struct {
	// answer is the answer's index in the records.
	answer int
	label  float64
	scores []float64
}

// FallbackDropped is the reason under which answers are counted that DropFallback leaves out.
const FallbackDropped record.Missing = "probability by fallback"

// Align is [Join] and [Records.Align] in one.
func Align(setting record.Setting, answers []record.Answer, readings []record.Reading, judgements []record.Judgement, choice Choice) (*Aligned, error) {
	r, err := Join(setting, answers, readings, judgements)
	if err != nil {
		return nil, err
	}
	return r.Align(choice), nil
}

// Align takes the answers of a choice. Every one becomes a row or is counted as left out under the
// first reason that applies: the answer, the stated probability, a token score in the order of the
// contexts, the label.
func (r *Records) Align(choice Choice) *Aligned {
	a := &Aligned{setting: r.setting, choice: choice, leftOut: map[string]int{}}
	for _, i := range r.written(choice.answers()) {
		a.asked++
		row, why := a.rowOf(r, i)
		if why != record.Present {
			a.leftOut[string(why)]++
			continue
		}
		a.rows = append(a.rows, row)
	}
	return a
}

func (c Choice) answers() string {
	if c.Answers == "" {
		return c.Elicitation
	}
	return c.Answers
}

func (a *Aligned) rowOf(r *Records, i int) (row, record.Missing) {
	if why := r.answers[i].Missing; why != record.Present {
		return row{}, why
	}
	stated := r.statedOf(i, a.choice.Elicitation)
	verbalised, ok := stated.Value.Get()
	if !ok {
		return row{}, stated.Value.Missing()
	}
	a.parsed++
	if stated.Fallback {
		a.fell++
		if a.choice.DropFallback {
			return row{}, FallbackDropped
		}
	}
	one := row{answer: i, scores: []float64{verbalised}}
	for _, context := range a.choice.Contexts {
		number := r.token(i, context, a.choice.Aggregation)
		token, ok := number.Get()
		if !ok {
			return row{}, number.Missing()
		}
		one.scores = append(one.scores, token)
	}
	var why record.Missing
	one.label, why = r.label(i, a.choice.Judge)
	return one, why
}

// column returns score number i of all rows: 0 is the stated probability, 1 + k context k.
func (a *Aligned) column(i int) []float64 {
	list := make([]float64, len(a.rows))
	for k, r := range a.rows {
		list[k] = r.scores[i]
	}
	return list
}

func (a *Aligned) labels() []float64 {
	list := make([]float64, len(a.rows))
	for k, r := range a.rows {
		list[k] = r.label
	}
	return list
}
