package collect_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	// The log-probability of "c" is that of the premise's number, so that a mixed-up batch shows.
	var planted []llmtest.Item
	var pairs []collect.Pair
	for i := range 70 {
		premise := fmt.Sprintf("number %03d", i)
		planted = append(planted, llmtest.Item{Question: premise, Levels: []llmtest.Level{
			{Opening: prompt.OptionMarker, Answer: "a", LogProb: -1}, {Opening: prompt.OptionMarker, Answer: "b", LogProb: -1},
			{Opening: prompt.OptionMarker, Answer: "c", LogProb: -1 - float64(i)/10},
		}})
		pairs = append(pairs, collect.Pair{Premise: premise, Hypothesis: "x"})
	}
	told := 0
	got, err := collect.Entailment{Form: prompt.Chat}.All(t.Context(), llmtest.NewQuiz(planted), pairs, collect.Pace{Open: 3, Done: func(done int) { told = done }})
	if err != nil {
		t.Fatal(err)
	}
	n := float64(len(llmtest.Tokenise(prompt.Option(0))))
	for i, pair := range pairs {
		c := math.Exp(-n * float64(i) / 10)
		if r := got[pair]; math.Abs(r.Contradicts-c/(2+c)) > 1e-9 || math.Abs(r.Entails+r.Neither+r.Contradicts-1) > 1e-12 {
			t.Fatalf("pair %d: %+v, want %v", i, r, c/(2+c))
		}
	}
	if told != 70 {
		t.Errorf("told of %d pairs, there are 70", told)
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
