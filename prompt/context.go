package prompt

import (
	"fmt"

	"github.com/credence-lab/credence/llm"
)

// Form is how a prompt reaches a model.
type Form uint8

const (
	// Chat puts the prompt into a user turn of the model's own template.
	Chat Form = iota
	// Plain is for base models without a template: prompt and answer are one text ("Same Answer,
	// Different Confidence", appendix B.3).
	Plain
)

// String returns "chat" or "plain".
func (f Form) String() string {
	if f == Plain {
		return "plain"
	}
	return "chat"
}

// FormOf returns the form for a model with capabilities c.
func FormOf(c llm.Capabilities) Form {
	if c.Chat {
		return Chat
	}
	return Plain
}

// Context is the text before an answer when its tokens are scored.
//
// In a chat the prompt is the user turn and Opening the start of the assistant turn. Without an
// opening the answer begins the assistant turn at once; after a marker stands one blank, which is
// tokenised with the answer and not with the context.
//
// In plain form the opening follows the prompt on a new line, and the answer follows a blank in every
// context. So the answer slot is then the same text as bare, and answer-only the same as
// answer-only-generating.
type Context struct {
	Name    string
	Prompt  Name
	Opening string
}

// The contexts of "Same Answer, Different Confidence", section 3.4 and appendices B.1, C and D.1.
var (
	BareContext          = Context{"bare", Bare, ""}
	AnswerSlot           = Context{"answer-slot", Question, AnswerMarker}
	GuessSlot            = Context{"guess-slot", Confidence, GuessMarker}
	AnswerOnlyContext    = Context{"answer-only", AnswerOnlyInstruction, AnswerMarker}
	AnswerOnlyGenerating = Context{"answer-only-generating", AnswerOnly, ""}
	// PercentGuessSlot is the guess slot of the prompt that asks for 0 to 100.
	PercentGuessSlot = Context{"guess-slot-percent", ConfidencePercent, GuessMarker}
)

// The further cells of the prompt ablation (appendix C): with AnswerSlot, AnswerOnlyContext and
// GuessSlot they cross four prompts with two markers.
var (
	QuestionGuess    = Context{"question-guess", Question, GuessMarker}
	AnswerOnlyGuess  = Context{"answer-only-guess", AnswerOnlyInstruction, GuessMarker}
	TemplateAnswer   = Context{"template-answer", ConfidenceWithoutProbability, AnswerMarker}
	TemplateGuess    = Context{"template-guess", ConfidenceWithoutProbability, GuessMarker}
	ConfidenceAnswer = Context{"confidence-answer", Confidence, AnswerMarker}
)

// The contexts of the multiple-choice format (appendix F). The answer is a letter, and the question
// holds the lettered options (see [WithOptions]).
var (
	LetterBare       = Context{"letter-bare", Letter, ""}
	LetterAnswerSlot = Context{"letter-answer-slot", Letter, AnswerMarker}
	LetterGuessSlot  = Context{"letter-guess-slot", LetterConfidence, GuessMarker}
)

// Contexts returns all named contexts of a free-text answer, bare first.
func Contexts() []Context {
	return []Context{
		BareContext, AnswerSlot, GuessSlot, AnswerOnlyContext, AnswerOnlyGenerating, PercentGuessSlot,
		QuestionGuess, AnswerOnlyGuess, TemplateAnswer, TemplateGuess, ConfidenceAnswer,
	}
}

// Cells returns the eight cells of the prompt ablation: question, answer-only instruction, confidence
// prompt without its probability request, confidence prompt; each with "Answer:", then "Guess:".
func Cells() []Context {
	return []Context{
		AnswerSlot, QuestionGuess, AnswerOnlyContext, AnswerOnlyGuess,
		TemplateAnswer, TemplateGuess, ConfidenceAnswer, GuessSlot,
	}
}

// LetterContexts returns the contexts of the multiple-choice format, bare first.
func LetterContexts() []Context {
	return []Context{LetterBare, LetterAnswerSlot, LetterGuessSlot}
}

// ContextNames returns the names of [Contexts], in that order.
func ContextNames() []string {
	var names []string
	for _, c := range Contexts() {
		names = append(names, c.Name)
	}
	return names
}

// ContextNamed returns the context of that name, also of the multiple-choice format, or an error that
// wraps ErrUnknown.
func ContextNamed(name string) (Context, error) {
	for _, c := range append(Contexts(), LetterContexts()...) {
		if c.Name == name {
			return c, nil
		}
	}
	return Context{}, fmt.Errorf("context %q: %w: the contexts are %s", name, ErrUnknown, list(ContextNames()))
}

// Describe says in one line where the answer stands, for the measurement card.
func (c Context) Describe(f Form) string {
	switch {
	case f == Plain && c.Opening == "":
		return fmt.Sprintf("text: prompt %s; one blank; the answer (the blank is tokenised with it)", c.Prompt)
	case f == Plain:
		return fmt.Sprintf("text: prompt %s; new line; %s; one blank; the answer (the blank is tokenised with it)", c.Prompt, c.Opening)
	case c.Opening == "":
		return fmt.Sprintf("user turn: prompt %s; assistant turn: the answer, without a blank", c.Prompt)
	}
	return fmt.Sprintf("user turn: prompt %s; assistant turn: %s; one blank; the answer (the blank is tokenised with it)", c.Prompt, c.Opening)
}

// Place puts an answer into a context. It returns the prompt and the answer of an [llm.Score]
// request, the answer with its leading blank where the context asks for one.
// Errors: ErrUnknown where the set lacks the prompt, llm.ErrEmptyAnswer where there is no answer.
func (s *Set) Place(c Context, f Form, question, answer string) (llm.Prompt, string, error) {
	if answer == "" {
		return llm.Prompt{}, "", llm.ErrEmptyAnswer
	}
	text, err := s.Render(c.Prompt, question)
	if err != nil {
		return llm.Prompt{}, "", fmt.Errorf("context %s: %w", c.Name, err)
	}
	if f == Chat {
		if c.Opening != "" {
			answer = " " + answer
		}
		return llm.Chat(text, c.Opening), answer, nil
	}
	if c.Opening != "" {
		text += "\n" + c.Opening
	}
	return llm.Prompt{Text: text}, " " + answer, nil
}

// Ask returns the prompt of an [llm.Generate] request. A base model generates without the
// beginning-of-sequence token, and its answers are scored with it (appendix B.3 of the paper).
// Error: ErrUnknown where the set lacks the prompt.
func (s *Set) Ask(name Name, f Form, question string) (llm.Prompt, error) {
	text, err := s.Render(name, question)
	if err != nil {
		return llm.Prompt{}, err
	}
	if f == Plain {
		return llm.Prompt{Text: text, NoBOS: true}, nil
	}
	return llm.Chat(text, ""), nil
}
