package prompt

import (
	"fmt"
	"strings"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// Supplied is the elicitation in which an answer is put into the assistant's mouth and the model
// writes its probability alone ("Same Answer, Different Confidence", section 3.6 and appendix I).
const Supplied = "supplied"

// Supply returns the prompt of an [llm.Generate] request for the probability of a given answer: the
// assistant turn opens with "Guess:", the answer, and on a new line "Probability:". A base model gets
// the same as plain text. Line ends within the answer become blanks, so that it stays on its line.
// Errors: ErrUnknown where the set lacks the prompt, llm.ErrEmptyAnswer where there is no answer.
func (s *Set) Supply(name Name, f Form, question, answer string) (llm.Prompt, error) {
	answer = oneLine(answer)
	if answer == "" {
		return llm.Prompt{}, llm.ErrEmptyAnswer
	}
	text, err := s.Render(name, question)
	if err != nil {
		return llm.Prompt{}, fmt.Errorf("supplied answer: %w", err)
	}
	opening := GuessMarker + " " + answer + "\n" + ProbabilityMarker
	if f == Plain {
		return llm.Prompt{Text: text + "\n" + opening, NoBOS: true}, nil
	}
	return llm.Chat(text, opening), nil
}

// OneLine puts a text on one line: line ends become blanks, and blanks at the edges of lines go.
func OneLine(text string) string { return oneLine(text) }

func oneLine(text string) string {
	var parts []string
	for line := range lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, " ")
}

// ParseSupplied reads the probability that continues a prompt of [Set.Supply]. What follows on
// further lines is not read.
func (p Parser) ParseSupplied(reply string, truncated bool) (probability record.Number, fallback bool) {
	line, _, ended := strings.Cut(strings.TrimLeft(reply, " \t\r\n"), "\n")
	parsed := p.Parse(ProbabilityMarker+" "+line, truncated && !ended)
	return parsed.Probability, parsed.Fallback
}

// Letters are what options are called, in order; there are no more options than letters.
const Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// WithOptions is a question with its options, one to a line behind its letter: what takes the place of
// {{.Question}} in the two multiple-choice prompts. An error says that there are fewer than two
// options or more than letters.
func WithOptions(question string, options []string) (string, error) {
	if len(options) < 2 || len(options) > len(Letters) {
		return "", fmt.Errorf("%d options: a multiple-choice question has 2 to %d", len(options), len(Letters))
	}
	var b strings.Builder
	b.WriteString(question)
	for i, option := range options {
		fmt.Fprintf(&b, "\n%c. %s", Letters[i], oneLine(option))
	}
	return b.String(), nil
}
