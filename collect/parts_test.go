package collect_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

var choice = record.Item{
	ID: "q1", Question: "Which metal is liquid at room temperature?",
	References: []string{"mercury", "quicksilver"}, Incorrect: []string{"gallium", "lead", "tin", "zinc"},
	Choices: []string{"lead", "mercury", "tin", "zinc"},
}

// everything asks for free-text answers under three prompts and for a letter.
func everything(t *testing.T) *collect.Spec {
	s := spec(t, prompt.Chat)
	parser := s.Elicitations[0].Parser
	percent := parser
	percent.Scale = prompt.Percent
	s.Elicitations = append(s.Elicitations,
		collect.Elicitation{Prompt: prompt.AnswerOnly, Parser: parser, AnswerAlone: true, Decoding: llm.Decoding{MaxTokens: 32}, Contexts: []prompt.Context{prompt.BareContext, prompt.AnswerOnlyGenerating}},
		collect.Elicitation{Prompt: prompt.ConfidencePercent, Parser: percent, Decoding: llm.Decoding{MaxTokens: 32}, Contexts: []prompt.Context{prompt.PercentGuessSlot}},
		collect.Elicitation{Prompt: prompt.LetterConfidence, Parser: parser, Lettered: true, Decoding: llm.Decoding{MaxTokens: 20}, Contexts: prompt.LetterContexts()},
	)
	s.ReferenceContexts = []prompt.Context{prompt.BareContext, prompt.GuessSlot}
	s.Supply = collect.Supply{Prompt: prompt.Confidence, Parser: parser, Decoding: llm.Decoding{MaxTokens: 12}}
	return s
}

func TestEveryElicitationGivesItsOwnAnswerScoredInItsOwnContexts(t *testing.T) {
	t.Parallel()
	planted := llmtest.Item{Question: choice.Question, Answer: "mercury", Replies: []llmtest.Reply{
		{User: "one letter", Choices: []llmtest.Choice{{Text: "Guess: (B)\nProbability: 0.7"}}},
		{User: "0 to 100", Choices: []llmtest.Choice{{Text: "Guess: lead\nProbability: 40"}}},
		{User: "Probability", Choices: []llmtest.Choice{{Text: "Guess: tin\nProbability: 0.9"}}},
		{User: "no other words", Choices: []llmtest.Choice{{Text: "zinc\n"}}},
	}}
	got, err := everything(t).Item(t.Context(), llmtest.NewQuiz([]llmtest.Item{planted}), choice)
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{}
	for _, a := range got.Answers {
		answers[a.ID.Origin.String()] = a.Text
	}
	want := map[string]string{
		"generated:confidence:0": "tin", "generated:answer-only:0": "zinc", "generated:confidence-percent:0": "lead",
		"generated:letter-confidence:0": "B", "reference:canonical": "mercury",
	}
	if diff := cmp.Diff(want, answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	stated := map[string]float64{}
	for _, r := range got.Stated {
		p, _ := r.Value.Get()
		stated[r.Answer.Origin.Prompt] = p
	}
	if diff := cmp.Diff(map[string]float64{"confidence": .9, "confidence-percent": .4, "letter-confidence": .7}, stated); diff != "" {
		t.Errorf("stated (-want +got):\n%s", diff)
	}
	contexts := map[string][]string{}
	for _, s := range got.Scorings {
		text := ""
		for _, token := range s.Tokens {
			text += string(token.Piece)
		}
		key := s.Answer.Origin.String()
		contexts[key] = append(contexts[key], s.Context+"="+text)
	}
	wantContexts := map[string][]string{
		"generated:confidence:0":         {"bare=tin", "answer-slot= tin", "guess-slot= tin", "answer-only= tin"},
		"generated:answer-only:0":        {"bare=zinc", "answer-only-generating=zinc"},
		"generated:confidence-percent:0": {"guess-slot-percent= lead"},
		"generated:letter-confidence:0":  {"letter-bare=B", "letter-answer-slot= B", "letter-guess-slot= B"},
		"reference:canonical":            {"bare=mercury", "guess-slot= mercury"},
	}
	if diff := cmp.Diff(wantContexts, contexts); diff != "" {
		t.Errorf("scorings (-want +got):\n%s", diff)
	}
}

func TestALetterOutsideTheOptionsIsNoAnswer(t *testing.T) {
	t.Parallel()
	s := everything(t)
	s.Elicitations = s.Elicitations[3:]
	for reply, want := range map[string]record.Missing{"d.": record.Present, "E": record.NoAnswer, "lead": record.NoAnswer, "": record.NoAnswer} {
		planted := llmtest.Item{Question: choice.Question, Reply: "Guess: " + reply + "\nProbability: 0.5"}
		got, err := s.Item(t.Context(), llmtest.NewQuiz([]llmtest.Item{planted}), choice)
		if err != nil {
			t.Fatal(err)
		}
		if a := got.Answers[0]; a.Missing != want || want == record.Present && a.Text != "D" {
			t.Errorf("%q: %q, missing %q", reply, a.Text, a.Missing)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	own, ok := collect.OptionsOf(choice, 1)
	if !ok || own.Gold != "B" || !slices.Equal(own.Texts, choice.Choices) {
		t.Errorf("choices in their own order: %+v %v", own, ok)
	}
	listed := choice
	listed.Choices = nil
	seen := map[string]bool{}
	for i := range 40 {
		listed.ID = fmt.Sprint("q", i)
		o, ok := collect.OptionsOf(listed, 1)
		again, _ := collect.OptionsOf(listed, 1)
		at := slices.Index(o.Texts, "mercury")
		if !ok || len(o.Texts) != 4 || at < 0 || prompt.Letters[at:at+1] != o.Gold || !slices.Equal(o.Texts, again.Texts) || slices.Contains(o.Texts, "zinc") {
			t.Fatalf("question %d: %+v, then %+v", i, o, again)
		}
		seen[o.Gold] = true
	}
	if len(seen) != 4 {
		t.Errorf("the accepted answer stands only at %v", seen)
	}
	for name, item := range map[string]record.Item{
		"no gold among the choices": {References: []string{"gold"}, Choices: []string{"a", "b"}},
		"two golds":                 {References: []string{"mercury", "quicksilver"}, Choices: []string{"Mercury", "quicksilver "}},
		"one choice":                {References: []string{"a"}, Choices: []string{"a"}},
		"nothing to choose from":    {References: []string{"a"}},
		"no reference":              {Choices: []string{"a", "b"}},
	} {
		if o, ok := collect.OptionsOf(item, 1); ok {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

func TestItemsWithoutOptionsAreNotAskedForALetter(t *testing.T) {
	t.Parallel()
	plain := record.Item{ID: "q1", Question: item.Question, References: []string{"mercury"}}
	got, err := everything(t).Item(t.Context(), llmtest.NewQuiz([]llmtest.Item{llmtest.Confident(plain, true, .5)}), plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range got.Answers {
		if a.ID.Origin.Prompt == string(prompt.LetterConfidence) {
			t.Errorf("asked: %+v", a)
		}
	}
}

func given(role record.Role, text string) record.Answer {
	a := record.Answer{ID: record.AnswerID{Item: "q1", Origin: record.Origin{Source: record.Supplied, Role: role}}, Text: text}
	if text == "" {
		a.Missing = record.NoReference
	}
	return a
}

func TestSuppliedAnswersAreRatedUnderTheirOwnIdentity(t *testing.T) {
	t.Parallel()
	planted := llmtest.Item{Question: choice.Question, Reply: "x", Replies: []llmtest.Reply{
		{Opening: "Guess: mercury\nProbability:", Choices: []llmtest.Choice{{Text: " 0.8"}}},
		{Opening: "Guess: lead\nProbability:", Choices: []llmtest.Choice{{Text: " maybe"}}},
	}}
	model := llmtest.NewQuiz([]llmtest.Item{planted})
	seen := &recorder{Asker: model}
	answers := []record.Answer{given(record.Canonical, "mercury"), given(record.PlausibleWrong, "lead"), given(record.Alias, ""), given(record.OffType, "\n")}
	got, err := everything(t).Supplied(t.Context(), seen, collect.Given{Item: choice, Answers: answers})
	if err != nil {
		t.Fatal(err)
	}
	want := []record.Number{record.Known(.8), record.Absent(record.MalformedProbability), record.Absent(record.AnswerMissing), record.Absent(record.EmptyAnswer)}
	for i, r := range got.Stated {
		if r.Answer != answers[i].ID || r.Protocol.Elicitation != prompt.Supplied || r.Value != want[i] {
			t.Errorf("%s: %+v, want %+v", answers[i].ID.Origin, r, want[i])
		}
	}
	if len(seen.requests) != 2 {
		t.Errorf("%d calls for two answers", len(seen.requests))
	}
	for _, r := range seen.requests {
		if r.Decoding.MaxTokens != 12 || r.Decoding.Temperature != 0 {
			t.Errorf("decoding %+v", r.Decoding)
		}
	}
	broken := errors.New("gone")
	if _, err := everything(t).Supplied(t.Context(), llmtest.NewQuiz([]llmtest.Item{planted}, llmtest.FailOn(1, broken)), collect.Given{Item: choice, Answers: answers}); !errors.Is(err, broken) {
		t.Errorf("a failed call: %v", err)
	}
}
