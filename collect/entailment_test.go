package collect_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// entailing says that a premise entails what it equals after its question, and refuses what holds "?!".
type entailing struct{ seen *[]llm.Pair }

func (entailing) Identity() llm.Identity { return llm.Identity{Engine: "tei", Model: "m"} }
func (entailing) Close() error           { return nil }

func (e entailing) Entail(_ context.Context, pairs []llm.Pair) []llm.EntailmentResult {
	*e.seen = append(*e.seen, pairs...)
	results := make([]llm.EntailmentResult, len(pairs))
	for i, p := range pairs {
		switch {
		case p.Hypothesis == "?!":
			results[i].Err = fmt.Errorf("%w: no", llm.ErrRefused)
		case p.Hypothesis == "broken":
			results[i].Err = errors.New("connection reset")
		default:
			results[i].Entailment = llm.Entailment{Entails: .7, Neither: .3}
		}
	}
	return results
}

func TestServedPairsAreAskedOnceWithTheirQuestions(t *testing.T) {
	t.Parallel()
	var seen []llm.Pair
	alone, with := collect.Pair{Premise: "a", Hypothesis: "b"}, collect.Pair{Question: "Which?", Premise: "a", Hypothesis: "b"}
	refused := collect.Pair{Premise: "a", Hypothesis: "?!"}
	how := collect.Entailment{Served: true}
	got, err := how.All(t.Context(), llm.Relating(entailing{&seen}), []collect.Pair{alone, with, alone, refused}, collect.Pace{Open: 1})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]llm.Pair{{Premise: "a", Hypothesis: "b"}, {Premise: "Which? a", Hypothesis: "Which? b"}, {Premise: "a", Hypothesis: "?!"}}, seen); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	for _, pair := range []collect.Pair{alone, with} {
		if r := got[pair]; math.Abs(r.Entails-.7) > 1e-12 || r.Contradicts != 0 || r.Missing != record.Present {
			t.Errorf("%+v: %+v", pair, r)
		}
	}
	if got[refused].Missing != collect.EntailmentRefused {
		t.Errorf("refused: %+v", got[refused])
	}
	if _, err := how.All(t.Context(), llm.Relating(entailing{&seen}), []collect.Pair{{Premise: "a", Hypothesis: "broken"}}, collect.Pace{Open: 1}); err == nil {
		t.Error("a broken connection became a missing value")
	}
}

func TestManyPairsKeepTheirRelations(t *testing.T) {
	t.Parallel()
	// What "False" has is by the premise's number, so that a mixed-up batch shows.
	var planted []llmtest.Item
	var pairs []collect.Pair
	n := float64(len(llmtest.Tokenise(prompt.TrueByText)))
	m := float64(len(llmtest.Tokenise(prompt.FalseByText)))
	for i := range 70 {
		premise := fmt.Sprintf("number %03d", i)
		planted = append(planted, llmtest.Item{Question: premise, Levels: []llmtest.Level{
			{Opening: prompt.AnswerMarker, Answer: "True", LogProb: -1 / n}, {Opening: prompt.AnswerMarker, Answer: "False", LogProb: (-1 - float64(i)/10) / m},
		}})
		pairs = append(pairs, collect.Pair{Premise: premise, Hypothesis: "x"})
	}
	told := 0
	got, err := collect.Entailment{Form: prompt.Chat}.All(t.Context(), llmtest.NewQuiz(planted), pairs, collect.Pace{Open: 3, Done: func(done int) { told = done }})
	if err != nil {
		t.Fatal(err)
	}
	for i, pair := range pairs {
		p := 1 / (1 + math.Exp(-float64(i)/10))
		want := collect.Relation{Entailment: llm.Entailment{Entails: p * p, Neither: 2 * p * (1 - p), Contradicts: (1 - p) * (1 - p)}}
		if diff := cmp.Diff(want, got[pair], cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Fatalf("pair %d (-want +got):\n%s", i, diff)
		}
	}
	if told != 70 {
		t.Errorf("told of %d pairs, there are 70", told)
	}
}

// p(True) = 3/4 gives 9/16, 6/16 and 1/16; equal verdicts give 1/4, 1/2 and 1/4.
func TestARelationByHand(t *testing.T) {
	t.Parallel()
	n := float64(len(llmtest.Tokenise(prompt.TrueByText)))
	m := float64(len(llmtest.Tokenise(prompt.FalseByText)))
	for yes, want := range map[float64]llm.Entailment{.75: {Entails: 9. / 16, Neither: 6. / 16, Contradicts: 1. / 16}, .5: {Entails: .25, Neither: .5, Contradicts: .25}} {
		model := llmtest.NewQuiz([]llmtest.Item{{Question: "an animal", Levels: []llmtest.Level{
			{User: "Text: a cat\nStatement: an animal", Opening: prompt.AnswerMarker, Answer: "True", LogProb: math.Log(yes) / n},
			{User: "Text: a cat\nStatement: an animal", Opening: prompt.AnswerMarker, Answer: "False", LogProb: math.Log(1-yes) / m},
		}}})
		pair := collect.Pair{Premise: "a cat", Hypothesis: "an animal"}
		got, err := collect.Entailment{}.Of(t.Context(), model, []collect.Pair{pair})
		if diff := cmp.Diff(collect.Relation{Entailment: want}, got[pair], cmpopts.EquateApprox(0, 1e-12)); err != nil || diff != "" {
			t.Errorf("p(True) = %v: %v (-want +got):\n%s", yes, err, diff)
		}
	}
}

func TestPairsWithoutTextAreMissing(t *testing.T) {
	t.Parallel()
	blank := collect.Pair{Premise: " ", Hypothesis: "x"}
	got, err := collect.Entailment{Form: prompt.Chat}.All(t.Context(), llmtest.NewQuiz(nil), []collect.Pair{blank}, collect.Pace{Open: 1})
	if err != nil || got[blank].Missing != record.EmptyAnswer {
		t.Errorf("%+v, %v", got, err)
	}
}
