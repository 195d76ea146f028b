// Package annotate holds what people say of answers: in which order they see them, their labels with
// history, and how far they agree. It shows nothing and asks nobody: terminal and web stand on it.
//
// Whoever labels is blind: a [Task] has the question, the references and the answer, and nothing of
// confidence, judges or other people.
//
// Source of the labels and guidelines: "A Tale of Two Error Categories" (Ilia and Aziz 2026), section 3 and
// appendix D.2.
package annotate

import (
	"fmt"
	"slices"
	"time"

	"github.com/credence-lab/credence/record"
)

// Label is what a person says of an answer.
type Label string

const (
	// Correct and Incorrect are verdicts; Unsure says that the person could not decide.
	Correct   Label = "correct"
	Incorrect Label = "incorrect"
	Unsure    Label = "unsure"
)

// Labels lists the labels, in the order in which they are offered.
func Labels() []Label { return []Label{Correct, Incorrect, Unsure} }

// ParseLabel returns the label of that name; the error of an unknown one lists them.
func ParseLabel(name string) (Label, error) {
	if l := Label(name); slices.Contains(Labels(), l) {
		return l, nil
	}
	return "", fmt.Errorf("unknown label %q: the labels are %s, %s and %s", name, Correct, Incorrect, Unsure)
}

// UnsureRule says how "unsure" is counted where only verdicts count. It stands in every table that
// rests on it.
type UnsureRule string

const (
	// UnsureIncorrect counts it as incorrect: the default, which reproduces the paper's published data.
	UnsureIncorrect UnsureRule = "incorrect"
	// UnsureMissing leaves it out, UnsureHalf counts it as half correct.
	UnsureMissing UnsureRule = "missing"
	UnsureHalf    UnsureRule = "half"
)

// UnsureRules lists the rules, the default first.
func UnsureRules() []UnsureRule { return []UnsureRule{UnsureIncorrect, UnsureMissing, UnsureHalf} }

// Quality is the label as a quality in [0,1], and whether there is one under the rule.
func (r UnsureRule) Quality(l Label) (float64, bool) {
	switch {
	case l == Correct:
		return 1, true
	case l == Incorrect:
		return 0, true
	case l == Unsure && r == UnsureIncorrect:
		return 0, true
	case l == Unsure && r == UnsureHalf:
		return .5, true
	}
	return 0, false
}

// Task is one answer to be labelled.
type Task struct {
	Answer     record.AnswerID
	Question   string
	References []string
	Text       string
}

// Entry is one labelling of one answer by one person.
type Entry struct {
	Annotator string
	Answer    record.AnswerID
	Label     Label
	// Note is free text; may be empty.
	Note string
	At   time.Time
}

// Guidelines are the rules that are shown beside every question, unless a user brings others. They have the
// sense of those of the paper, appendix D.2, in words of our own.
const Guidelines = `1. Say whether the answer is correct, given the references.
2. It is correct if it says what at least one reference says, in whatever words.
3. No answer is incorrect: a refusal, "I do not know", or several answers without a choice.
4. What makes no sense is incorrect: a text that repeats itself, or is no language.
5. What an answer claims beyond a correct one need not be checked. If it contradicts the answer, or has
   nothing to do with the question, the whole is for you to judge.
If you cannot tell, say unsure, and why in a note.`
