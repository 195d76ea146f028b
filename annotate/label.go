// Package annotate holds what people say of answers: in which order they see them, and their labels with
// history; how far they agree is said by package validation. It shows nothing and asks nobody: terminal and web stand on it.
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

// maxNote bounds a note, in bytes: far beyond what anybody writes, far below what a line may hold.
const maxNote = 64 << 10

// check says what is wrong with an entry that cannot be written.
func (e Entry) check() error {
	if err := CheckName(e.Annotator); err != nil {
		return err
	}
	if err := CheckNote(e.Note); err != nil {
		return err
	}
	_, err := ParseLabel(string(e.Label))
	return err
}

// CheckNote says whether a text can be a note: at most 64 KiB.
func CheckNote(note string) error {
	if len(note) > maxNote {
		return fmt.Errorf("a note of %d bytes is too long; %d are allowed", len(note), maxNote)
	}
	return nil
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
