package prompt

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const asked = "Which {{.Planet}} is {{template \"x\"}} called the red one?"

func render(t *testing.T, s *Set, name Name) string {
	t.Helper()
	text, err := s.Render(name, asked)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestQuestionIsData(t *testing.T) {
	t.Parallel()
	s := Default()
	for _, name := range Names() {
		if text := render(t, s, name); strings.Count(text, asked) != 1 {
			t.Errorf("%s changes the question:\n%s", name, text)
		}
	}
}

func TestQuestionComesLast(t *testing.T) {
	t.Parallel()
	s := Default()
	for name, after := range map[Name]string{
		AnswerOnly: "\nAnswer:", AnswerOnlyInstruction: "",
		Confidence: "", ConfidenceWithoutProbability: "", ConfidencePercent: "",
	} {
		if text := render(t, s, name); !strings.HasSuffix(text, "The question: "+asked+after) {
			t.Errorf("%s: the question is not last, so items share no prefix:\n%s", name, text)
		}
	}
}

func TestMarkerMovesOutOfTheUserTurn(t *testing.T) {
	t.Parallel()
	s := Default()
	for name, from := range map[Name]Name{Question: Bare, AnswerOnlyInstruction: AnswerOnly} {
		if got, want := render(t, s, name)+"\nAnswer:", render(t, s, from); got != want {
			t.Errorf("%s with its marker is %q, want %s: %q", name, got, from, want)
		}
	}
	if got := render(t, s, Question); got != asked {
		t.Errorf("the question alone is %q", got)
	}
}

func TestMentionsCanBeRemovedOneByOne(t *testing.T) {
	t.Parallel()
	text := builtin(Confidence)
	for i, mention := range Mentions() {
		if strings.Count(builtin(Confidence), mention) != 1 {
			t.Errorf("mention %d, %q, is not in the confidence prompt exactly once", i, mention)
		}
		text = strings.Replace(text, mention, "", 1)
	}
	if text != builtin(ConfidenceWithoutProbability) {
		t.Errorf("without its mentions the confidence prompt is\n%s\nwant\n%s", text, builtin(ConfidenceWithoutProbability))
	}
	if strings.Contains(strings.ToLower(text), "probab") {
		t.Errorf("a mention of the probability remains:\n%s", text)
	}
}

func TestReplacedPrompts(t *testing.T) {
	t.Parallel()
	s, err := New(map[Name]string{
		Bare:       "Q: {{.Question}}\r\nAnswer:\n",
		Confidence: "{{.Question}} Write Guess: and Probability:",
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := render(t, s, Question), "Q: "+asked; got != want {
		t.Errorf("question follows bare: got %q, want %q", got, want)
	}
	if _, err := s.Render(ConfidenceWithoutProbability, asked); !errors.Is(err, ErrUnknown) {
		t.Errorf("an ablation of another prompt than the user's is offered: %v", err)
	}
	own := map[Name]bool{}
	for _, text := range s.Texts() {
		own[text.Name] = text.Own
		if !strings.Contains(text.Text, "{{.Question}}") {
			t.Errorf("card text of %s: %q", text.Name, text.Text)
		}
	}
	want := map[Name]bool{
		Bare: true, Question: true, Confidence: true,
		AnswerOnly: false, AnswerOnlyInstruction: false, ConfidencePercent: false,
		Letter: false, LetterConfidence: false, Code: false,
	}
	if diff := cmp.Diff(want, own); diff != "" {
		t.Errorf("own prompts (-want +got):\n%s", diff)
	}
}

func TestBrokenReplacements(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name Name
		text string
		want string
	}{
		{Confidence, "Guess: Probability:", "{{.Question}} is missing"},
		{Confidence, "", "{{.Question}} is missing"},
		{Confidence, "{{.Question}} Guess: Probability: {{.Answer}}", "line 1: {{.Answer}}"},
		{Confidence, "Guess: Probability:\n{{.question}}", "line 2: {{.question}}"},
		{Confidence, "Guess: Probability: {{.Question | printf \"%99999999s\"}}", "only field"},
		{Confidence, "Guess: Probability: {{range .Question}}{{end}}", "only {{.Question}} may"},
		{Confidence, "Guess: Probability: {{if .Question}}{{.Question}}{{end}}", "only {{.Question}} may"},
		{Confidence, "{{define \"a\"}}{{template \"a\"}}{{end}}Guess: Probability: {{.Question}}", "template"},
		{Confidence, "Guess: Probability: {{.Question", "unclosed action"},
		{Confidence, "Guess: Probability: {{.Question}}\x00", "UTF-8"},
		{Confidence, "Guess: Probability: {{.Question}}\xff", "UTF-8"},
		{Confidence, "Guess: Probability: {{.Question}}" + strings.Repeat("x", maxTemplate), "at most 65536"},
		{Confidence, "{{.Question}}", `labels "Guess:" and "Probability:"`},
		{ConfidencePercent, "{{.Question}} Guess:", `labels "Guess:" and "Probability:"`},
		{ConfidenceWithoutProbability, "{{.Question}} Guess: Probability:", `not for "Probability:"`},
		{Bare, "{{.Question}}", `must end in a line "Answer:"`},
		{Bare, "{{.Question}} Answer:", `must end in a line "Answer:"`},
		{AnswerOnly, "Be brief. {{.Question}}\nReply:", `must end in a line "Answer:"`},
		{Question, "{{.Question}}", "cannot be replaced"},
		{"confidense", "{{.Question}}", "the prompts are bare, question"},
	} {
		_, err := New(map[Name]string{test.name: test.text})
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), string(test.name)) {
			t.Errorf("%s %.60q: error %v, want one with %q", test.name, test.text, err, test.want)
		}
		if _, single := Override(string(test.name), test.text); single == nil || err != nil && single.Error() != err.Error() {
			t.Errorf("%s: checked alone: %v; in a set: %v", test.name, single, err)
		}
	}
}

func TestErrorsOfASetComeInOneOrder(t *testing.T) {
	t.Parallel()
	broken := map[Name]string{Bare: "a", AnswerOnly: "b", Confidence: "c", ConfidencePercent: "d"}
	_, first := New(broken)
	for range 20 {
		if _, err := New(broken); err.Error() != first.Error() {
			t.Fatalf("the order of a map shows:\n%v\n\n%v", err, first)
		}
	}
	if n := strings.Count(first.Error(), "is missing"); n != len(broken) {
		t.Errorf("%d of %d errors are reported", n, len(broken))
	}
}

func FuzzOverride(f *testing.F) {
	f.Add("{{.Question}} Guess: Probability:", "q")
	f.Add("{{/* c */}}{{- .Question -}} Guess: Probability:", "{{.X}}")
	f.Add("{{block \"a\" .}}{{end}}{{.Question}}Guess:Probability:", "")
	f.Fuzz(func(t *testing.T, text, question string) {
		s, err := New(map[Name]string{Confidence: text})
		if err != nil {
			return
		}
		got, err := s.Render(Confidence, question)
		if err != nil || !strings.Contains(got, question) || len(got) > len(text)*(1+len(question)) {
			t.Fatalf("%q with %q: %q, %v", text, question, got, err)
		}
	})
}
