package prompt

import (
	"errors"
	"fmt"
	"strings"

	"github.com/credence-lab/credence/llm"
)

// Ways of asking for an answer with a confidence, after Tian et al. 2023, section 3, and Xiong et al. 2024, section
// 3.1; the wording is this project's. The question comes last, so that all items begin alike.

// ConfidenceMarker is the label of a confidence in words; see [Linguistic].
const ConfidenceMarker = "Confidence:"

const mostGuesses = 20

// TopGuesses returns the prompt of an [llm.Generate] request for k guesses with the probability of each, on lines
// "G1:" and "P1:". Error: k outside 2 to 20.
func TopGuesses(f Form, question string, k int) (llm.Prompt, error) {
	if k < 2 || k > mostGuesses {
		return llm.Prompt{}, fmt.Errorf("%d guesses: ask for 2 to %d", k, mostGuesses)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "You will give your %d best guesses at a question, each in as few words as possible, and the probability from 0.0 to 1.0 that each is correct. "+
		"Write these lines and no other words:\n", k)
	for i := range k {
		fmt.Fprintf(&b, "G%d: [your guess]\nP%d: [the probability that it is correct]\n", i+1, i+1)
	}
	b.WriteString("\nThe question: " + question)
	return told(f, b.String()), nil
}

// Reasoned returns the prompt of an [llm.Generate] request for reasoning, and then a guess with its probability under
// the labels that [Parser.Parse] reads.
func Reasoned(f Form, question string) (llm.Prompt, error) {
	return told(f, "You will answer a question. First write in a few sentences what speaks for which answer. "+
		"Then end with these two lines, and write nothing after them:\n"+
		GuessMarker+" [your best guess, in as few words as possible]\n"+
		ProbabilityMarker+" [the probability from 0.0 to 1.0 that your guess is correct]\n\nThe question: "+question), nil
}

// Linguistic returns the prompt of an [llm.Generate] request for a guess under [GuessMarker] and one of the phrases of
// probability under [ConfidenceMarker]. Error: no phrase.
func Linguistic(f Form, question string, phrases []string) (llm.Prompt, error) {
	if len(phrases) == 0 {
		return llm.Prompt{}, errors.New("no phrase of probability to choose from")
	}
	return told(f, "You will answer a question and say how likely your answer is to be correct, in one of these phrases: "+strings.Join(phrases, ", ")+". "+
		"Write these two lines and no other words:\n"+
		GuessMarker+" [your best guess, in as few words as possible]\n"+
		ConfidenceMarker+" [one of the phrases]\n\nThe question: "+question), nil
}

// SecondStage returns the prompt of an [llm.Generate] request for the probability of an answer in a second turn, after
// the prompt that brought it. [Parser.ParseSupplied] reads the reply. Error: llm.ErrEmptyAnswer.
func SecondStage(f Form, first llm.Prompt, question, answer string) (llm.Prompt, error) {
	if answer = oneLine(answer); answer == "" {
		return llm.Prompt{}, llm.ErrEmptyAnswer
	}
	ask := "State the probability, from 0.0 to 1.0 with up to two decimals, that your guess is correct. Write the number, and no other words.\n\nThe question was: " + question
	if f == Plain {
		return llm.Prompt{Text: strings.TrimRight(first.Text, " \n") + " " + answer + "\n" + ask + "\n" + ProbabilityMarker, NoBOS: first.NoBOS}, nil
	}
	messages := append(append([]llm.Message{}, first.Messages...),
		llm.Message{Role: llm.Assistant, Content: answer}, llm.Message{Role: llm.User, Content: ask})
	return llm.Prompt{Messages: messages, Opening: ProbabilityMarker}, nil
}

// told is a text to be replied to.
func told(f Form, text string) llm.Prompt {
	if f == Plain {
		return llm.Prompt{Text: text + "\n", NoBOS: true}
	}
	return llm.Chat(text, "")
}

// LabelledLine is what stands behind a label at the beginning of a line, the last one where there are several; empty
// where there is none.
func LabelledLine(reply, label string) string {
	found := ""
	for line := range lines(visibleText(reply)) {
		line = strings.TrimLeft(strings.TrimSpace(line), "*_# ")
		if len(line) >= len(label) && strings.EqualFold(line[:len(label)], label) {
			found = strings.Trim(line[len(label):], "*_ \t")
		}
	}
	return found
}
