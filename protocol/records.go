package protocol

import (
	"fmt"
	"slices"

	"github.com/credence-lab/credence/record"
)

// Records is all that was recorded in one setting, joined by answer: the paper's alignment rule
// (section 3.1) is held here. It can only be made by [Join].
type Records struct {
	setting record.Setting
	answers []record.Answer
	at      map[record.AnswerID]int
	// By answer, in the order of answers; an entry that is not there has no reading.
	stated map[string][]record.Reading   // by elicitation
	tokens map[tokenKey][]record.Number  // by context and aggregation
	labels map[string][]record.Judgement // by judge
}

type tokenKey struct{ context, aggregation string }

// Join joins the records of one setting by answer. An error means that they break the alignment rule:
// a reading or judgement of an answer that is not there, of another setting, or given twice.
func Join(setting record.Setting, answers []record.Answer, readings []record.Reading, judgements []record.Judgement) (*Records, error) {
	r := &Records{
		setting: setting, answers: answers, at: make(map[record.AnswerID]int, len(answers)),
		stated: map[string][]record.Reading{}, tokens: map[tokenKey][]record.Number{}, labels: map[string][]record.Judgement{},
	}
	for i, a := range answers {
		if a.ID.Setting != setting {
			return nil, fmt.Errorf("answer %s is not of the setting %s", a.ID, setting)
		}
		if _, twice := r.at[a.ID]; twice {
			return nil, fmt.Errorf("answer %s is there twice", a.ID)
		}
		r.at[a.ID] = i
	}
	for _, reading := range readings {
		if err := r.addReading(reading); err != nil {
			return nil, err
		}
	}
	for _, judgement := range judgements {
		if err := r.addJudgement(judgement); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Records) addReading(reading record.Reading) error {
	i, known := r.at[reading.Answer]
	if !known {
		return fmt.Errorf("%s reading of an answer that the setting %s does not have: %s", reading.Signal, r.setting, reading.Answer)
	}
	switch p := reading.Protocol; reading.Signal {
	case record.VerbalisedSignal:
		slot := column(r.stated, p.Elicitation, len(r.answers))
		if slot[i].Signal != "" {
			return fmt.Errorf("answer %s has two stated probabilities under %q", reading.Answer, p.Elicitation)
		}
		slot[i] = reading
	case record.TokenSignal:
		slot := column(r.tokens, tokenKey{p.Context, p.Aggregation}, len(r.answers))
		if slot[i] != (record.Number{}) {
			return fmt.Errorf("answer %s has two token scores in context %q", reading.Answer, p.Context)
		}
		slot[i] = reading.Value
	}
	return nil
}

func (r *Records) addJudgement(j record.Judgement) error {
	i, known := r.at[j.Answer]
	if !known {
		return fmt.Errorf("judgement by %s of an answer that the setting %s does not have: %s", j.Judge, r.setting, j.Answer)
	}
	slot := column(r.labels, j.Judge, len(r.answers))
	if slot[i].Judge != "" {
		return fmt.Errorf("answer %s is judged twice by %s", j.Answer, j.Judge)
	}
	slot[i] = j
	return nil
}

// column returns the column of a key, made where it is not there yet.
func column[K comparable, T any](columns map[K][]T, key K, n int) []T {
	c, ok := columns[key]
	if !ok {
		c = make([]T, n)
		columns[key] = c
	}
	return c
}

// Setting is the setting that the records are of.
func (r *Records) Setting() record.Setting { return r.setting }

// written returns the answers written under a prompt, by index, in their order.
func (r *Records) written(prompt string) []int {
	var list []int
	for i, a := range r.answers {
		if o := a.ID.Origin; o.Source == record.Generated && o.Prompt == prompt {
			list = append(list, i)
		}
	}
	return list
}

// Has reports whether there are answers written under a prompt.
func (r *Records) Has(prompt string) bool {
	return slices.ContainsFunc(r.answers, func(a record.Answer) bool {
		return a.ID.Origin.Source == record.Generated && a.ID.Origin.Prompt == prompt
	})
}

// of returns the answer of an item with an origin, by index; ok is false where there is none.
func (r *Records) of(item string, origin record.Origin) (int, bool) {
	i, ok := r.at[record.AnswerID{Setting: r.setting, Item: item, Origin: origin}]
	return i, ok
}

// token is the token score of an answer, or why there is none.
func (r *Records) token(i int, context, aggregation string) record.Number {
	if slot, ok := r.tokens[tokenKey{context, aggregation}]; ok && slot[i] != (record.Number{}) {
		return slot[i]
	}
	return record.Absent(record.NotSupported)
}

// statedOf is the stated probability of an answer under an elicitation; the reading's value says why
// there is none.
func (r *Records) statedOf(i int, elicitation string) record.Reading {
	if slot, ok := r.stated[elicitation]; ok && slot[i].Signal != "" {
		return slot[i]
	}
	return record.Reading{Value: record.Absent(record.NoProbability)}
}

// label is the verdict of a judge on an answer as 1 or 0, or the reason why there is none.
func (r *Records) label(i int, judge string) (float64, record.Missing) {
	slot, ok := r.labels[judge]
	if !ok || slot[i].Judge == "" {
		return 0, record.NoReference
	}
	label, ok := slot[i].Label()
	if !ok {
		return 0, slot[i].Missing
	}
	return label, record.Present
}
