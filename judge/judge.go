// Package judge says whether an answer is correct: pure functions of the answer and its references.
//
// A judge has an id that names its rule and its normaliser, such as "containment.ascii". The id
// travels with every judgement, so that two tables can only be compared where they judge alike.
package judge

import (
	"errors"
	"fmt"
	"strings"

	"github.com/credence-lab/credence/record"
)

// ErrUnknown: there is no judge or normaliser of that name.
var ErrUnknown = errors.New("unknown")

// Rule names a way of comparing an answer with one reference, both normalised.
type Rule string

const (
	// Containment: the two are equal, or either is a substring of the other; an empty text contains
	// nothing and is contained in nothing ("Same Answer, Different Confidence", section 3.4). It works on
	// characters, not on words: "art" is contained in "Mozart". So neither references nor answers
	// should be very short.
	Containment Rule = "containment"
	// Exact: the two are equal.
	Exact Rule = "exact"
)

// Judge compares answers with references by one rule after one normalisation. It is immutable and
// safe for concurrent use. The zero Judge is not valid.
type Judge struct {
	rule Rule
	norm Normaliser
}

// New returns the judge of a rule and a normaliser.
func New(rule Rule, norm Normaliser) Judge { return Judge{rule, norm} }

// All returns every judge of this package, in a fixed order.
func All() []Judge {
	return []Judge{
		New(Containment, ASCII), New(Containment, Unicode),
		New(Exact, ASCII), New(Exact, Unicode),
	}
}

// Names returns the ids of all judges, in the order of [All].
func Names() []string {
	var ids []string
	for _, j := range All() {
		ids = append(ids, j.ID())
	}
	return ids
}

// Named returns the judge with that id, or an error that wraps ErrUnknown and lists the ids.
func Named(id string) (Judge, error) {
	for _, j := range All() {
		if j.ID() == id {
			return j, nil
		}
	}
	return Judge{}, fmt.Errorf("judge %q: %w: the judges are %s", id, ErrUnknown, strings.Join(Names(), ", "))
}

// ID returns "rule.normaliser".
func (j Judge) ID() string { return string(j.rule) + "." + j.norm.String() }

// Judge returns the verdict on an answer: correct if it matches any of the references. Not judged,
// with the reason: a missing answer (record.AnswerMissing), an answer of blanks alone
// (record.EmptyAnswer), no reference with text (record.NoReference).
func (j Judge) Judge(answer record.Answer, references []string) record.Judgement {
	out := record.Judgement{Answer: answer.ID, Judge: j.ID()}
	if answer.Missing != record.Present {
		out.Missing = record.AnswerMissing
		return out
	}
	out.Verdict, out.Missing = j.verdict(answer.Text, references)
	return out
}

func (j Judge) verdict(answer string, references []string) (record.Verdict, record.Missing) {
	a := j.norm.Normalise(answer)
	if a == "" {
		return record.NotJudged, record.EmptyAnswer
	}
	verdict, missing := record.NotJudged, record.NoReference
	for _, reference := range references {
		r := j.norm.Normalise(reference)
		switch {
		case r == "":
			continue
		case j.match(a, r):
			return record.Correct, record.Present
		}
		verdict, missing = record.Incorrect, record.Present
	}
	return verdict, missing
}

// Match reports whether the answer matches one reference by the judge's [Rule]. Blank texts match nothing. Source: "Same
// Answer, Different Confidence", section 3.4.
func (j Judge) Match(answer, reference string) bool {
	a, r := j.norm.Normalise(answer), j.norm.Normalise(reference)
	return a != "" && r != "" && j.match(a, r)
}

// match compares two normalised texts, neither empty.
func (j Judge) match(a, r string) bool {
	if j.rule == Exact {
		return a == r
	}
	return strings.Contains(a, r) || strings.Contains(r, a)
}
