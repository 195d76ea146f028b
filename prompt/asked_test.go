package prompt

import (
	"errors"
	"strings"
	"testing"

	"github.com/credence-lab/credence/llm"
)

func TestIsTrueShowsIdeasAndCanSwapItsOptions(t *testing.T) {
	t.Parallel()
	p, err := IsTrue{Ideas: []string{"Mars", " \n", "Ve\nnus"}}.Force(Chat, asked, "Mars")
	if err != nil {
		t.Fatal(err)
	}
	text := p.Messages[0].Content
	for _, want := range []string{asked, "\n- Mars\n- Ve nus\n", "The possible answer: Mars\n", "(a) true\n(b) false\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	if p.Opening != OptionMarker {
		t.Errorf("opens with %q", p.Opening)
	}
	swapped, err := IsTrue{Swapped: true}.Force(Plain, asked, "Mars")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(swapped.Text, "(a) false\n(b) true\n") || !strings.HasSuffix(swapped.Text, "\n"+OptionMarker) || strings.Contains(swapped.Text, "ideas") {
		t.Errorf("swapped: %q", swapped.Text)
	}
	for i := range 2 {
		if err := (llm.Request{Kind: llm.Score, Prompt: p, Answer: Option(i)}).Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestEntailmentHasADirection(t *testing.T) {
	t.Parallel()
	there, err := Entailment(Chat, "", "a cat", "an animal")
	if err != nil {
		t.Fatal(err)
	}
	back, _ := Entailment(Chat, "", "an animal", "a cat")
	if there.Messages[0] == back.Messages[0] {
		t.Error("both directions are one question")
	}
	if !strings.Contains(there.Messages[0].Content, "Text: a cat\nStatement: an animal\n") || strings.Contains(there.Messages[0].Content, "question") {
		t.Errorf("%q", there.Messages[0].Content)
	}
	with, _ := Entailment(Chat, asked, "a", "b")
	if !strings.Contains(with.Messages[0].Content, asked) {
		t.Errorf("without the question: %q", with.Messages[0].Content)
	}
	if plain, _ := Entailment(Plain, "", "a", "b"); !strings.HasSuffix(plain.Text, "\n"+AnswerMarker) || there.Opening != AnswerMarker {
		t.Errorf("%q, %q: nothing opens the verdict", plain.Text, there.Opening)
	}
}

func TestNothingIsAskedOfNoAnswer(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func() (llm.Prompt, error){
		"is true":    func() (llm.Prompt, error) { return IsTrue{}.Force(Chat, asked, " \n") },
		"own answer": func() (llm.Prompt, error) { return OwnAnswer(Chat, asked, "") },
		"premise":    func() (llm.Prompt, error) { return Entailment(Chat, "", "\u2028", "b") },
		"hypothesis": func() (llm.Prompt, error) { return Entailment(Chat, "", "a", "") },
	} {
		if _, err := ask(); !errors.Is(err, llm.ErrEmptyAnswer) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range AskedTexts() {
		if text.Name == "" || !strings.Contains(text.Text, "{{.") {
			t.Errorf("%+v", text)
		}
	}
}
