// Package protocol asks how much the comparison of stated and token confidence depends on how it
// was measured: it fixes the answers of a setting and their labels, reads both scores under every
// protocol, and reports gaps, shifts and flips with intervals.
//
// Source: "Same Answer, Different Confidence" (2026). All functions are pure: they open no
// connection, read no clock, and draw numbers only from a generator that the study's seed fixes.
package protocol

import (
	"fmt"

	"github.com/credence-lab/credence/record"
)

// Choice fixes the protocol choices that one comparison holds constant while the context varies.
type Choice struct {
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
// answer: the paper's alignment rule (section 3.1). It can only be made by [Align].
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
	answer record.AnswerID
	label  float64
	scores []float64
}

// FallbackDropped is the reason under which answers are counted that DropFallback leaves out.
const FallbackDropped record.Missing = "probability by fallback"

// Align joins the records of one setting by answer. Every answer becomes a row or is counted as left
// out under the first reason that applies: the answer, the stated probability, a token score in the
// order of the contexts, the label. An error means that the records break the alignment rule: a
// reading or judgement of an answer that is not there, of another setting, or given twice.
func Align(setting record.Setting, answers []record.Answer, readings []record.Reading, judgements []record.Judgement, choice Choice) (*Aligned, error) {
	stated, scores, err := index(setting, answers, readings, choice)
	if err != nil {
		return nil, err
	}
	labels, err := indexLabels(setting, answers, judgements, choice.Judge)
	if err != nil {
		return nil, err
	}
	a := &Aligned{setting: setting, choice: choice, leftOut: map[string]int{}}
	for _, answer := range answers {
		a.asked++
		r, why := a.rowOf(answer, stated, scores, labels)
		if why != record.Present {
			a.leftOut[string(why)]++
			continue
		}
		a.rows = append(a.rows, r)
	}
	return a, nil
}

func (a *Aligned) rowOf(answer record.Answer, stated map[record.AnswerID]record.Reading, scores map[scoreKey]record.Number, labels map[record.AnswerID]record.Judgement) (row, record.Missing) {
	if answer.Missing != record.Present {
		return row{}, answer.Missing
	}
	reading, ok := stated[answer.ID]
	if !ok {
		return row{}, record.NoProbability
	}
	verbalised, ok := reading.Value.Get()
	if !ok {
		return row{}, reading.Value.Missing()
	}
	a.parsed++
	if reading.Fallback {
		a.fell++
		if a.choice.DropFallback {
			return row{}, FallbackDropped
		}
	}
	r := row{answer: answer.ID, scores: []float64{verbalised}}
	for _, context := range a.choice.Contexts {
		number, ok := scores[scoreKey{answer.ID, context}]
		if !ok {
			return row{}, record.NotSupported
		}
		token, ok := number.Get()
		if !ok {
			return row{}, number.Missing()
		}
		r.scores = append(r.scores, token)
	}
	judgement, ok := labels[answer.ID]
	if !ok {
		return row{}, record.NoReference
	}
	label, ok := judgement.Label()
	if !ok {
		return row{}, judgement.Missing
	}
	r.label = label
	return r, record.Present
}

type scoreKey struct {
	answer  record.AnswerID
	context string
}

func index(setting record.Setting, answers []record.Answer, readings []record.Reading, choice Choice) (stated map[record.AnswerID]record.Reading, scores map[scoreKey]record.Number, err error) {
	known, err := answerSet(setting, answers)
	if err != nil {
		return nil, nil, err
	}
	stated = make(map[record.AnswerID]record.Reading, len(answers))
	scores = make(map[scoreKey]record.Number, len(answers)*len(choice.Contexts))
	for _, r := range readings {
		switch {
		case !known[r.Answer]:
			return nil, nil, fmt.Errorf("%s reading of an answer that the setting %s does not have: %s", r.Signal, setting, r.Answer)
		case r.Signal == record.VerbalisedSignal && r.Protocol.Elicitation == choice.Elicitation:
			if _, twice := stated[r.Answer]; twice {
				return nil, nil, fmt.Errorf("answer %s has two stated probabilities under %q", r.Answer, choice.Elicitation)
			}
			stated[r.Answer] = r
		case r.Signal == record.TokenSignal && r.Protocol.Aggregation == choice.Aggregation:
			key := scoreKey{r.Answer, r.Protocol.Context}
			if _, twice := scores[key]; twice {
				return nil, nil, fmt.Errorf("answer %s has two token scores in context %q", r.Answer, r.Protocol.Context)
			}
			scores[key] = r.Value
		}
	}
	return stated, scores, nil
}

func indexLabels(setting record.Setting, answers []record.Answer, judgements []record.Judgement, judge string) (map[record.AnswerID]record.Judgement, error) {
	known, err := answerSet(setting, answers)
	if err != nil {
		return nil, err
	}
	labels := make(map[record.AnswerID]record.Judgement, len(answers))
	for _, j := range judgements {
		if j.Judge != judge {
			continue
		}
		if !known[j.Answer] {
			return nil, fmt.Errorf("judgement by %s of an answer that the setting %s does not have: %s", judge, setting, j.Answer)
		}
		if _, twice := labels[j.Answer]; twice {
			return nil, fmt.Errorf("answer %s is judged twice by %s", j.Answer, judge)
		}
		labels[j.Answer] = j
	}
	return labels, nil
}

func answerSet(setting record.Setting, answers []record.Answer) (map[record.AnswerID]bool, error) {
	known := make(map[record.AnswerID]bool, len(answers))
	for _, a := range answers {
		if a.ID.Setting != setting {
			return nil, fmt.Errorf("answer %s is not of the setting %s", a.ID, setting)
		}
		if known[a.ID] {
			return nil, fmt.Errorf("answer %s is there twice", a.ID)
		}
		known[a.ID] = true
	}
	return known, nil
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
