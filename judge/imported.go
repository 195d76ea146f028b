package judge

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/credence-lab/credence/internal/text"
	"github.com/credence-lab/credence/record"
)

// Reasons of judgements made elsewhere.
const (
	// NoLabel: the field is empty, or says that there is none.
	NoLabel record.Missing = "no label"
	// UnknownLabel: the field holds a word that is no verdict.
	UnknownLabel record.Missing = "label not understood"
	// NoScore: the field is empty, or says that there is none.
	NoScore record.Missing = "no score"
	// NotInFile: the file has no row about the answer.
	NotInFile record.Missing = "not in the imported file"
)

// AnswerText is the form in which the answer of an imported judgement is held against the answer that a model gave:
// canonically composed (NFC), without blanks at its edges, and otherwise to the character.
func AnswerText(s string) string { return strings.TrimFunc(norm.NFC.String(s), text.IsBlank) }

// ParseLabel reads a verdict from a field of a file: true or false, yes or no, correct or incorrect, 1 or
// 0, and the like, in any case. "False" is false however full of letters it is. Anything else is not
// judged, with [NoLabel] or [UnknownLabel]; nothing is correct by default.
func ParseLabel(field string) (record.Verdict, record.Missing) {
	if truth, known := text.Truth(field); known {
		if truth {
			return record.Correct, record.Present
		}
		return record.Incorrect, record.Present
	}
	switch strings.ToLower(strings.TrimFunc(field, text.IsBlank)) {
	case "", "na", "n/a", "nan", "null", "none", "-", "not judged":
		return record.NotJudged, NoLabel
	}
	return record.NotJudged, UnknownLabel
}

func importedEntries() []Entry {
	return []Entry{
		{
			ID: "imported", Title: "imported judgements", Named: true,
			Definition: "the verdicts of a file; with a threshold its scores, which must lie in [-1,1]",
			Low:        -1, High: 1, Cut: MayCut, Needs: []Need{File}, Source: "the file",
		},
		{
			ID: "people", Title: "people", Named: true,
			Definition: "the verdict of somebody who read question, references and answer; with a name, that person's",
			Needs:      []Need{People}, Source: "A Tale of Two Error Categories, appendix D.2",
		},
	}
}

// nameOptional says that the judge goes without its name: all people.
func (e Entry) nameOptional() bool { return e.ID == "people" }
