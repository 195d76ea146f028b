package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/credence-lab/credence/record"
)

// Reasons that only this package gives.
const (
	// ProbabilityCutOff: the reply ended at its token limit within the number or before it.
	ProbabilityCutOff record.Missing = "probability cut off"
	// AmbiguousScale: 0 to 100 was asked for, and a fraction such as 0.85 came.
	AmbiguousScale record.Missing = "probability on an unclear scale"
)

// Scale is the scale on which a probability was asked for.
type Scale uint8

const (
	// Unit is 0.0 to 1.0.
	Unit Scale = iota
	// Percent is 0 to 100.
	Percent
)

// String returns "0-1" or "0-100".
func (s Scale) String() string {
	if s == Percent {
		return "0-100"
	}
	return "0-1"
}

// ScaleOf returns the scale that the prompt asks for.
func ScaleOf(name Name) Scale {
	if name == ConfidencePercent {
		return Percent
	}
	return Unit
}

// Rules names a way of reading replies.
type Rules string

const (
	// Lenient is the rule of "Same Answer, Different Confidence", appendix A.
	//
	// Answer: the first text after a label "Guess:" anywhere; without that label, the first line that
	// is no label. Markdown is kept. Probability: the number right after a label "Probability:"
	// anywhere; if no such label has a number, the first number of the reply that stands alone and
	// lies in [0,1] (marked as a fallback). Asked on 0 to 100 there is no fallback (appendix B.1).
	Lenient Rules = "lenient"

	// Strict reads only what the reply says clearly.
	//
	// A label ("Guess", "Answer"; "Probability", "Confidence") begins its line, in any case, perhaps
	// behind a list mark or in bold. Without a label there is no answer and no probability. The
	// first labelled line decides. It holds exactly one number, which may stand in emphasis, quotes or
	// brackets and behind "about", "around", "approximately", "roughly", "~" or "≈"; a remark
	// without digits may follow. A range, a bound, a fraction or a second number is malformed; so is
	// a comma that could group thousands. A number that a token limit may have cut is missing.
	// Emphasis around the answer is dropped. One thing is read without its label, as a fallback: the
	// only percentage of a reply that carries no label at all.
	Strict Rules = "strict"
)

// Parser takes the answer and the stated probability from a reply. The zero Parser is not valid.
//
// Under both rules a percent sign decides the unit whatever the scale ("1%" is .01), a comma
// between digits is a decimal comma, "-0" is 0, and a number outside its scale is missing: never
// clipped. What stands in a thinking block is never read.
type Parser struct {
	Rules Rules
	Scale Scale
}

// ParserNames returns the names that [NewParser] knows.
func ParserNames() []string { return []string{string(Lenient), string(Strict)} }

// NewParser returns the parser of that name, or an error that wraps ErrUnknown.
func NewParser(name string, scale Scale) (Parser, error) {
	if !slices.Contains(ParserNames(), name) {
		return Parser{}, fmt.Errorf("parser %q: %w: the parsers are %s", name, ErrUnknown, list(ParserNames()))
	}
	return Parser{Rules(name), scale}, nil
}

// ID names the parser with its scale, such as "strict.0-1".
func (p Parser) ID() string { return string(p.Rules) + "." + p.Scale.String() }

// Parsed is what a reply says.
type Parsed struct {
	// Guess is the answer: one line, not empty unless GuessMissing says why.
	Guess        string
	GuessMissing record.Missing
	// Probability lies in [0,1], whatever the scale it was stated on, or is absent with a reason.
	Probability record.Number
	// Fallback says that Probability was not taken from its label.
	Fallback bool
}

// Parse reads the reply to a confidence prompt. truncated says that the reply ended at its token limit.
func (p Parser) Parse(reply string, truncated bool) Parsed {
	text, closed := afterThinking(reply)
	if !closed {
		return Parsed{
			GuessMissing: record.UnclosedThinking,
			Probability:  record.Absent(record.UnclosedThinking),
		}
	}
	var out Parsed
	if p.Rules == Lenient {
		out.Guess = lenientGuess(text)
		out.Probability, out.Fallback = lenientProbability(text, p.Scale)
	} else {
		out.Guess = strictGuess(text)
		out.Probability, out.Fallback = strictProbability(text, p.Scale, truncated)
	}
	if out.Guess == "" {
		out.GuessMissing = record.NoAnswer
	}
	return out
}

// ParseAnswer reads the reply to a prompt that asks for the answer alone: its first line with text,
// without a label "Answer:" or "Guess:" before it. Strict drops emphasis around it; Lenient keeps it.
func (p Parser) ParseAnswer(reply string) (string, record.Missing) {
	text, closed := afterThinking(reply)
	if !closed {
		return "", record.UnclosedThinking
	}
	answer := ""
	for line := range lines(text) {
		l := splitLabel(line)
		if l.kind == guessLabel {
			line = l.rest
		}
		if answer = strings.TrimSpace(line); p.Rules == Strict {
			answer = plain(answer, l.openBold)
		}
		if answer != "" {
			return answer, record.Present
		}
	}
	return "", record.NoAnswer
}
