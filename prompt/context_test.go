package prompt

import (
	"errors"
	"strings"
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/google/go-cmp/cmp"
)

// placed is a scoring request in the words of a test.
type placed struct{ User, Opening, Answer string }

func TestPlaceInAChat(t *testing.T) {
	t.Parallel()
	s := Default()
	for c, want := range map[Context]placed{
		// The answer opens the assistant turn without a blank; after a marker the blank is the answer's.
		BareContext:          {render(t, s, Bare), "", "Mars"},
		AnswerSlot:           {asked, "Answer:", " Mars"},
		GuessSlot:            {render(t, s, Confidence), "Guess:", " Mars"},
		AnswerOnlyContext:    {render(t, s, AnswerOnlyInstruction), "Answer:", " Mars"},
		AnswerOnlyGenerating: {render(t, s, AnswerOnly), "", "Mars"},
		PercentGuessSlot:     {render(t, s, ConfidencePercent), "Guess:", " Mars"},
		QuestionGuess:        {asked, "Guess:", " Mars"},
		AnswerOnlyGuess:      {render(t, s, AnswerOnlyInstruction), "Guess:", " Mars"},
		TemplateAnswer:       {render(t, s, ConfidenceWithoutProbability), "Answer:", " Mars"},
		TemplateGuess:        {render(t, s, ConfidenceWithoutProbability), "Guess:", " Mars"},
		ConfidenceAnswer:     {render(t, s, Confidence), "Answer:", " Mars"},
		LetterBare:           {render(t, s, Letter), "", "Mars"},
		LetterAnswerSlot:     {render(t, s, Letter), "Answer:", " Mars"},
		LetterGuessSlot:      {render(t, s, LetterConfidence), "Guess:", " Mars"},
	} {
		p, answer, err := s.Place(c, Chat, asked, "Mars")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(llm.Chat(want.User, want.Opening), p); diff != "" || answer != want.Answer {
			t.Errorf("%s: answer %q, want %q; prompt (-want +got):\n%s", c.Name, answer, want.Answer, diff)
		}
		if err := (llm.Request{Kind: llm.Score, Prompt: p, Answer: answer}).Validate(); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

func TestPlaceInPlainText(t *testing.T) {
	t.Parallel()
	s := Default()
	for c, text := range map[Context]string{
		BareContext:          asked + "\nAnswer:",
		AnswerSlot:           asked + "\nAnswer:",
		GuessSlot:            render(t, s, Confidence) + "\nGuess:",
		AnswerOnlyContext:    render(t, s, AnswerOnly),
		AnswerOnlyGenerating: render(t, s, AnswerOnly),
	} {
		p, answer, err := s.Place(c, Plain, asked, "Mars")
		if err != nil {
			t.Fatal(err)
		}
		// Scored with the beginning-of-sequence token.
		if diff := cmp.Diff(llm.Prompt{Text: text}, p); diff != "" || answer != " Mars" {
			t.Errorf("%s: answer %q; prompt (-want +got):\n%s", c.Name, answer, diff)
		}
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	s := Default()
	for form, want := range map[Form]llm.Prompt{
		Chat:  llm.Chat(render(t, s, Confidence), ""),
		Plain: {Text: render(t, s, Confidence), NoBOS: true},
	} {
		got, err := s.Ask(Confidence, form, asked)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", form, diff)
		}
	}
	if _, err := s.Ask("guess", Chat, asked); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown prompt is asked: %v", err)
	}
}

func TestNoAnswerHasNoPlace(t *testing.T) {
	t.Parallel()
	// With its blank an empty answer would be one token, and would have a score.
	if _, _, err := Default().Place(GuessSlot, Chat, asked, ""); !errors.Is(err, llm.ErrEmptyAnswer) {
		t.Errorf("got %v, want llm.ErrEmptyAnswer", err)
	}
}

func TestContextNamed(t *testing.T) {
	t.Parallel()
	for _, name := range ContextNames() {
		if c, err := ContextNamed(name); err != nil || c.Name != name {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	if _, err := ContextNamed("answer slot"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "answer-slot") {
		t.Errorf("an unknown context is not answered with the known ones: %v", err)
	}
}

func TestDescribeSaysWhereTheBlankIs(t *testing.T) {
	t.Parallel()
	for _, c := range Contexts() {
		for _, f := range []Form{Chat, Plain} {
			_, answer, err := Default().Place(c, f, asked, "x")
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(c.Describe(f), "one blank"); got != (answer == " x") {
				t.Errorf("%s, %s: %q, but the answer is %q", c.Name, f, c.Describe(f), answer)
			}
		}
	}
}

func TestFormOf(t *testing.T) {
	t.Parallel()
	if FormOf(llm.Capabilities{Chat: true}) != Chat || FormOf(llm.Capabilities{}) != Plain {
		t.Error("a model is asked in the other form")
	}
}
