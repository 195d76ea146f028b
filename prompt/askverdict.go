package prompt

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/credence-lab/credence/llm"
)

// VerdictMarker opens the assistant turn of a judge whose verdict is forced.
const VerdictMarker = "Verdict:"

// The two verdicts of a judge, as they are forced: after the marker stands one blank.
const (
	TrueVerdict  = " True"
	FalseVerdict = " False"
)

// VerdictTokens is enough for a judge that writes its verdict and no other words.
const VerdictTokens = 16

// verdictText has the structure of "A Tale of Two Error Categories", appendix C.2: the task, equivalence
// to one reference suffices, the two words; then question, references, answer, and what is asked.
const verdictText = "You will judge whether an answer to a question is correct. " +
	"It is correct if it means the same as at least one of the reference answers. " +
	"Write True or False, and no other words.\n\n" +
	"The question: {{.Question}}\n" +
	"The reference answers:\n{{.References}}\n" +
	"The answer: {{.Answer}}\n" +
	"Is the answer correct, True or False?"

// VerdictPrompt is the words that a language model is asked with as a judge. It shows question, references
// and answer, and nothing of how sure anyone is. Immutable. The zero VerdictPrompt is not valid.
type VerdictPrompt struct {
	text string
	own  bool
}

// DefaultVerdict returns the built-in words.
func DefaultVerdict() VerdictPrompt { return VerdictPrompt{text: verdictText} }

// NewVerdict returns a user's own words: a text with {{.Question}}, {{.References}} and {{.Answer}}, each
// at least once, that asks for "True or False" in these words.
func NewVerdict(text string) (VerdictPrompt, error) {
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), " \t\n")
	rest := text
	for _, field := range verdictFields {
		if !strings.Contains(text, field) {
			return VerdictPrompt{}, fmt.Errorf("prompt of the judge: %s is missing: put it where it goes", field)
		}
		rest = strings.ReplaceAll(rest, field, "")
	}
	switch {
	case len(text) > maxTemplate:
		return VerdictPrompt{}, fmt.Errorf("prompt of the judge: %d bytes, at most %d are allowed", len(text), maxTemplate)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return VerdictPrompt{}, errors.New("prompt of the judge: not a text: save it as UTF-8")
	case strings.Contains(rest, "{{"):
		return VerdictPrompt{}, fmt.Errorf("prompt of the judge: the only fields are %s", list(verdictFields))
	case !strings.Contains(text, trueFirst):
		return VerdictPrompt{}, fmt.Errorf("prompt of the judge: must ask for %q", trueFirst)
	}
	return VerdictPrompt{text, true}, nil
}

var verdictFields = []string{"{{.Question}}", "{{.References}}", "{{.Answer}}"}

const (
	trueFirst  = "True or False"
	falseFirst = "False or True"
)

// Text returns the words in full, for the measurement card.
func (v VerdictPrompt) Text() Text { return Text{"verdict", v.text, v.own} }

// FalseFirst returns the same words with the two verdicts in the other order. A verdict should not
// depend on it.
func (v VerdictPrompt) FalseFirst() VerdictPrompt {
	v.text = strings.ReplaceAll(v.text, trueFirst, falseFirst)
	return v
}

// render puts question, references and answer in their places. They are data: fields within them stay text.
// References and answer are put on one line each, so that neither can pass for the line after it.
func (v VerdictPrompt) render(question string, references []string, answer string) string {
	listed := make([]string, 0, len(references))
	for _, r := range references {
		if r = oneLine(r); r != "" {
			listed = append(listed, "- "+r)
		}
	}
	return strings.NewReplacer(
		verdictFields[0], question,
		verdictFields[1], strings.Join(listed, "\n"),
		verdictFields[2], oneLine(answer),
	).Replace(v.text)
}

// Force returns the prompt of the two [llm.Score] requests of a verdict, whose answers are [TrueVerdict] and
// [FalseVerdict]: what the model would say is read from their log-probabilities, so that it cannot say
// anything else. Error: llm.ErrEmptyAnswer where there is no answer.
func (v VerdictPrompt) Force(f Form, question string, references []string, answer string) (llm.Prompt, error) {
	if oneLine(answer) == "" {
		return llm.Prompt{}, llm.ErrEmptyAnswer
	}
	text := v.render(question, references, answer)
	if f == Plain {
		return llm.Prompt{Text: text + "\n" + VerdictMarker}, nil
	}
	return llm.Chat(text, VerdictMarker), nil
}

// Ask returns the prompt of an [llm.Generate] request whose reply [ParseVerdict] reads. Error:
// llm.ErrEmptyAnswer where there is no answer.
func (v VerdictPrompt) Ask(f Form, question string, references []string, answer string) (llm.Prompt, error) {
	if oneLine(answer) == "" {
		return llm.Prompt{}, llm.ErrEmptyAnswer
	}
	text := v.render(question, references, answer)
	if f == Plain {
		return llm.Prompt{Text: text + "\n" + VerdictMarker, NoBOS: true}, nil
	}
	return llm.Chat(text, ""), nil
}
