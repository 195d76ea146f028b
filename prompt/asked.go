package prompt

import (
	"fmt"
	"strings"

	"github.com/credence-lab/credence/llm"
)

// The questions that a model is asked about an answer, its own or another's. The structure is that of "A
// Tale of Two Error Categories", appendix C.1; the wording is this project's. Texts of models are put on
// one line each, so that none can pass for the line after it.

// OptionMarker opens the assistant turn of a question whose options are forced.
const OptionMarker = "My choice:"

// Option is the i-th option of a forced choice as it is scored: after the marker stands one blank.
func Option(i int) string { return " " + string("abcdefghij"[i]) }

// IsTrue is the question whether an answer is true, with two lettered options.
type IsTrue struct {
	// Ideas are other answers, shown as brainstormed; none leaves the part out.
	Ideas []string
	// Swapped puts false first.
	Swapped bool
}

// Force returns the prompt of the two [llm.Score] requests whose answers are Option(0) and Option(1): true
// and false, or false and true if Swapped. Error: llm.ErrEmptyAnswer where there is no answer.
func (q IsTrue) Force(f Form, question, answer string) (llm.Prompt, error) {
	answer = oneLine(answer)
	if answer == "" {
		return llm.Prompt{}, llm.ErrEmptyAnswer
	}
	var b strings.Builder
	b.WriteString("You will judge whether a possible answer to a question is true.\n\nThe question: " + question + "\n")
	if len(q.Ideas) > 0 {
		b.WriteString("Some ideas that came up:\n")
		for _, idea := range q.Ideas {
			if idea = oneLine(idea); idea != "" {
				b.WriteString("- " + idea + "\n")
			}
		}
	}
	first, second := "true", "false"
	if q.Swapped {
		first, second = second, first
	}
	fmt.Fprintf(&b, "The possible answer: %s\nIs the possible answer:\n(a) %s\n(b) %s\nWrite a or b, and no other words.", answer, first, second)
	return forced(f, b.String()), nil
}

func forced(f Form, text string) llm.Prompt {
	if f == Plain {
		return llm.Prompt{Text: text + "\n" + OptionMarker}
	}
	return llm.Chat(text, OptionMarker)
}

// OwnAnswer returns the prompt of an [llm.Generate] request for the model's confidence in an answer that it
// gave before, from 0 to 1. [Parser.ParseSupplied] reads the reply. Error: llm.ErrEmptyAnswer.
func OwnAnswer(f Form, question, answer string) (llm.Prompt, error) {
	answer = oneLine(answer)
	if answer == "" {
		return llm.Prompt{}, llm.ErrEmptyAnswer
	}
	text := "You will state how confident you are that an answer to a question, which you gave before, is correct: " +
		"a number from 0.0 to 1.0 with up to two decimals. Write the number, and no other words.\n\n" +
		"The question: " + question + "\nYour answer: " + answer
	if f == Plain {
		return llm.Prompt{Text: text + "\n" + ProbabilityMarker, NoBOS: true}, nil
	}
	return llm.Chat(text, ProbabilityMarker), nil
}

// The two verdicts on a statement by a text, as they are forced: after the marker stands one blank.
const (
	TrueByText  = " True"
	FalseByText = " False"
)

// Entailment returns the prompt of the two [llm.Score] requests whose answers are [TrueByText] and [FalseByText]:
// whether the hypothesis is true according to the premise. A question that both texts answer may be given. Words
// are forced and no letters, since small models choose a letter by its place. Error: llm.ErrEmptyAnswer where a
// text is missing.
func Entailment(f Form, question, premise, hypothesis string) (llm.Prompt, error) {
	premise, hypothesis = oneLine(premise), oneLine(hypothesis)
	if premise == "" || hypothesis == "" {
		return llm.Prompt{}, llm.ErrEmptyAnswer
	}
	text := "Text: " + premise + "\nStatement: " + hypothesis + "\nAccording to the text, is the statement True or False?"
	if question != "" {
		text = "Text and statement answer the question: " + question + "\n" + text
	}
	if f == Plain {
		return llm.Prompt{Text: text + "\n" + AnswerMarker}, nil
	}
	return llm.Chat(text, AnswerMarker), nil
}

// AskedTexts are these questions, and those of elicit.go, in words, for the measurement card.
func AskedTexts() []Text {
	ask := func(name Name, p llm.Prompt, err error) Text {
		if err != nil {
			panic("prompt: a built-in question is broken: " + err.Error())
		}
		return Text{Name: name, Text: p.Messages[0].Content + "\n" + p.Opening}
	}
	isTrue, err := IsTrue{Ideas: []string{"{{.Sample}}"}}.Force(Chat, "{{.Question}}", "{{.Answer}}")
	texts := []Text{ask("is-true", isTrue, err)}
	own, err := OwnAnswer(Chat, "{{.Question}}", "{{.Answer}}")
	texts = append(texts, ask("own-answer", own, err))
	entailment, err := Entailment(Chat, "", "{{.Premise}}", "{{.Hypothesis}}")
	texts = append(texts, ask("entailment", entailment, err))
	guesses, err := TopGuesses(Chat, "{{.Question}}", 4)
	texts = append(texts, ask("top-guesses", guesses, err))
	reasoned, err := Reasoned(Chat, "{{.Question}}")
	texts = append(texts, ask("reasoned", reasoned, err))
	phrase, err := Linguistic(Chat, "{{.Question}}", []string{"{{.Phrases}}"})
	texts = append(texts, ask("linguistic", phrase, err))
	second, err := SecondStage(Chat, llm.Chat("{{.First}}", ""), "{{.Question}}", "{{.Answer}}")
	second.Messages = second.Messages[len(second.Messages)-1:]
	return append(texts, ask("second-stage", second, err))
}
