package judge

import (
	"strings"

	"github.com/credence-lab/credence/record"
)

// NoLetter: the answer names no option, or the references none.
const NoLetter record.Missing = "no option letter"

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// letterEntries judge multiple-choice answers.
func letterEntries() []Entry {
	return []Entry{{
		ID: "letter", Title: "option letter",
		Definition: "the answer names the accepted option: its letter, perhaps in brackets, bold or with a full stop, or its text. Accepted are the options that equal a reference (exact.unicode), or the reference itself where it is a letter",
		Needs:      []Need{References, Choices}, Source: "Same Answer, Different Confidence, appendix F",
		measure: func(c *comparison) record.Number {
			given, ok := optionOf(c.answer, c.choices, true)
			if !ok {
				return record.Absent(NoLetter)
			}
			accepted, known := false, false
			for _, reference := range c.references {
				if option, ok := optionOf(reference, c.choices, false); ok {
					known, accepted = true, accepted || option == given
				}
			}
			if !known {
				return record.Absent(NoLetter)
			}
			return truth(accepted)
		},
	}}
}

// optionOf returns the number of the option that a text names by its letter or by its text. Where it
// could be either, as in a question about blood groups, the one asked for first decides: an answer was
// asked to be a letter, a reference is a text.
func optionOf(s string, choices []string, letterFirst bool) (int, bool) {
	letter, isLetter := letterOption(s, len(choices))
	if letterFirst && isLetter {
		return letter, true
	}
	for i, choice := range choices {
		if New(Exact, Unicode).Match(s, choice) {
			return i, true
		}
	}
	return letter, isLetter
}

// letterOption reads a letter within its marks. Without choices every letter names an option.
func letterOption(s string, choices int) (int, bool) {
	bare := strings.ToUpper(strings.Trim(s, " \t\r\n()[]{}.:*_$`\"'"))
	if len(bare) != 1 {
		return 0, false
	}
	i := strings.Index(letters, bare)
	return i, i >= 0 && (choices == 0 || i < choices)
}
