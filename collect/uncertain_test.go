package collect_test

import (
	"context"
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

func uncertainty(t *testing.T) *collect.Uncertainty {
	s := spec(t, prompt.Chat)
	parser := s.Elicitations[0].Parser
	return &collect.Uncertainty{
		Setting: s.Setting, Prompts: s.Prompts, Prompt: prompt.AnswerOnly, Parser: parser,
		Decoding: llm.Decoding{MaxTokens: 32}, Samples: 8, Sampling: llm.Decoding{MaxTokens: 32, Temperature: 1}, Seed: 3,
		Questions: []collect.Asked{
			{Name: "is-true", IsTrue: &prompt.IsTrue{}}, {Name: "swapped", IsTrue: &prompt.IsTrue{Swapped: true}},
			{Name: "ideas", IsTrue: &prompt.IsTrue{}, WithIdeas: true}, {Name: "own"},
		},
		Supply: collect.Supply{Parser: parser, Decoding: llm.Decoding{MaxTokens: 12}},
	}
}

func TestUncertaintyOfOneItem(t *testing.T) {
	t.Parallel()
	planted := llmtest.Item{Question: item.Question, Answer: "mercury", Replies: []llmtest.Reply{
		{User: "you gave before", Choices: []llmtest.Choice{{Text: " 0.75"}}},
		{User: "no other words", Choices: []llmtest.Choice{{Text: "mercury\nIt is.", Weight: 1.1}, {Text: "gallium", Weight: 1}}},
	}, Levels: []llmtest.Level{
		{User: "some ideas", Opening: prompt.OptionMarker, Answer: "a", LogProb: -9},
		{User: "Some ideas", Opening: prompt.OptionMarker, Answer: "a", LogProb: -.5},
		{User: "(a) true", Opening: prompt.OptionMarker, Answer: "a", LogProb: -.1}, {User: "(a) true", Opening: prompt.OptionMarker, Answer: "b", LogProb: -2},
		{User: "(a) false", Opening: prompt.OptionMarker, Answer: "a", LogProb: -3}, {User: "(a) false", Opening: prompt.OptionMarker, Answer: "b", LogProb: -.2},
	}}
	model := &recorder{Asker: llmtest.NewQuiz([]llmtest.Item{planted})}
	got, err := uncertainty(t).Item(t.Context(), model, item)
	if err != nil {
		t.Fatal(err)
	}
	if got.Answer.Text != "mercury" || got.Answer.ID.Origin.Sample != 0 || len(got.Samples) != 8 {
		t.Fatalf("answer %+v, %d samples", got.Answer, len(got.Samples))
	}
	texts := map[string]int{}
	for i, s := range got.Samples {
		texts[s.Text]++
		spelled := ""
		for _, token := range s.Tokens {
			spelled += string(token.Piece)
		}
		if s.ID.Origin.Sample != i+1 || spelled != s.Text || s.NoTokens != record.Present {
			t.Errorf("sample %d %q has the tokens %q of %s (%s)", i, s.Text, spelled, s.ID.Origin, s.NoTokens)
		}
	}
	if len(texts) != 2 {
		t.Errorf("samples %v", texts)
	}
	// The swapped options are put back: true is first in all.
	want := map[string][]float64{"is-true": {-.1, -2}, "swapped": {-.2, -3}, "ideas": {-.5, -2}}
	for name, f := range got.Forced {
		if diff := cmp.Diff(want[name], f.LogProbs); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if p, _ := got.Stated["own"].Get(); p != .75 {
		t.Errorf("stated %v", got.Stated["own"])
	}
	seeds := map[int]bool{}
	for _, r := range model.requests {
		if r.Kind == llm.Generate && r.Decoding.Temperature > 0 {
			seeds[r.Sample] = true
			if r.Seed != 3 {
				t.Errorf("sample %d has seed %d", r.Sample, r.Seed)
			}
		}
	}
	if len(seeds) != 8 {
		t.Errorf("%d different samples asked for", len(seeds))
	}
}

func TestWithoutAnAnswerNothingIsAskedOfIt(t *testing.T) {
	t.Parallel()
	model := &recorder{Asker: llmtest.NewQuiz([]llmtest.Item{{Question: item.Question, Reply: "<think>hm"}})}
	got, err := uncertainty(t).Item(t.Context(), model, item)
	if err != nil {
		t.Fatal(err)
	}
	if got.Answer.Missing != record.UnclosedThinking || got.Answer.NoTokens != record.AnswerMissing || len(model.requests) != 9 {
		t.Errorf("answer %+v, %d calls", got.Answer, len(model.requests))
	}
}

func TestUncertaintyOfManyKeepsTheirOrder(t *testing.T) {
	t.Parallel()
	items, planted := quiz(20)
	for i := range planted {
		planted[i].Reply = fmt.Sprintf("thing %d", i)
	}
	model := llmtest.NewQuiz(planted)
	got, err := collect.Each(t.Context(), items, 5, func(ctx context.Context, item record.Item) (collect.Uncertain, error) {
		return uncertainty(t).Item(ctx, model, item)
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, u := range got {
		if u.Item != items[i].ID || u.Answer.Text != planted[i].Reply {
			t.Errorf("position %d holds %s %q", i, u.Item, u.Answer.Text)
		}
	}
}

func TestVerdictsAreForcedAndMissingWithAReason(t *testing.T) {
	t.Parallel()
	planted := llmtest.Item{Question: item.Question, Levels: []llmtest.Level{
		{Opening: prompt.VerdictMarker, Answer: "True", LogProb: -.25}, {Opening: prompt.VerdictMarker, Answer: "False", LogProb: -1.5},
	}}
	list := []collect.Judged{
		{Item: item, Answer: record.Answer{Text: "mercury"}},
		{Item: item, Answer: record.Answer{Missing: record.NoAnswer}},
		{Item: record.Item{ID: "x", Question: item.Question}, Answer: record.Answer{Text: "mercury"}},
		{Item: item, Answer: record.Answer{Text: "\n"}},
	}
	judging := &collect.Judging{Prompt: prompt.DefaultVerdict(), Form: prompt.Chat, Forced: true}
	model := llmtest.NewQuiz([]llmtest.Item{planted})
	for i := range list {
		if err := judging.Answer(t.Context(), model, &list[i]); err != nil {
			t.Fatal(err)
		}
	}
	tokens := func(s string) float64 { return float64(len(llmtest.Tokenise(" " + s))) }
	if got, want := list[0].Forced.LogProbs, []float64{-.25 * tokens("True"), -1.5 * tokens("False")}; !slices.Equal(got, want) {
		t.Errorf("forced %v, want %v", got, want)
	}
	for i, want := range []record.Missing{record.Present, record.AnswerMissing, record.NoReference, record.EmptyAnswer} {
		if list[i].Missing != want {
			t.Errorf("%d: missing %q, want %q", i, list[i].Missing, want)
		}
	}
}
