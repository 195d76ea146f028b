package collect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

func shortAnswer(reply string, _ bool, _ int) (string, record.Missing) {
	return prompt.Parser{Rules: prompt.Strict}.ParseAnswer(reply)
}

func TestConsistencyPutsOneContextBeforeEachPerturbedSample(t *testing.T) {
	t.Parallel()
	model := sampled(func(sample int) string { return fmt.Sprintf("Answer: %d", sample) })
	c := &Consistency{
		Setting: record.Setting{Model: "m", Dataset: "d"}, Prompts: prompt.Default(), Prompt: prompt.AnswerOnly, Label: "answer-only", Read: shortAnswer,
		Samples: 2, Sampling: llm.Decoding{MaxTokens: 9, Temperature: 1}, Seed: 5,
		Contexts:    []Contexts{{"a", map[string][]string{"1": {"Bees hum.", "Kites fly."}}}, {"b", map[string][]string{"2": {"Not this item."}}}},
		Paraphrases: map[string][]string{"1": {"Italy's capital?"}},
	}
	got, err := c.All(t.Context(), model, []record.Item{capital}, Pace{Open: 1})
	if err != nil {
		t.Fatal(err)
	}
	one := got[0]
	if len(one.Original) != 2 || len(one.Perturbed[0]) != 2 || one.Perturbed[1] != nil || len(one.Paraphrased) != 1 {
		t.Fatalf("%+v", one)
	}
	for i, want := range []string{capital.Question, capital.Question, "Bees hum. " + capital.Question, "Kites fly. " + capital.Question, "Italy's capital?"} {
		r := model.requests[i]
		if !strings.HasSuffix(r.Prompt.Messages[0].Content, "The question: "+want+"\nAnswer:") || r.Seed != 5 || r.Decoding.Temperature != 1 {
			t.Errorf("request %d: %+v", i, r)
		}
	}
	ids := map[record.AnswerID]bool{}
	for _, t := range slices.Concat(one.Original, one.Perturbed[0], one.Paraphrased) {
		ids[t.ID] = true
	}
	if len(ids) != 5 || one.Perturbed[0][1].Context != "Kites fly." || one.Perturbed[0][1].Text != "1" || one.Original[0].Context != "" {
		t.Errorf("%+v", one)
	}
}

// Samples of the original prompt are the requests that quantifiers make, so that the ledger makes them once.
func TestSamplesAreSharedWithQuantifiers(t *testing.T) {
	t.Parallel()
	sampling, seed := llm.Decoding{MaxTokens: 9, Temperature: 1}, uint64(7)
	first, second := sampled(func(int) string { return "x" }), sampled(func(int) string { return "x" })
	u := &Uncertainty{Prompts: prompt.Default(), Prompt: prompt.AnswerOnly, Parser: prompt.Parser{Rules: prompt.Strict}, Samples: 3, Sampling: sampling, Seed: seed}
	if _, err := u.Item(t.Context(), first, capital); err != nil {
		t.Fatal(err)
	}
	c := &Consistency{Prompts: prompt.Default(), Prompt: prompt.AnswerOnly, Label: "answer-only", Read: shortAnswer, Samples: 3, Sampling: sampling, Seed: seed}
	got, err := c.Item(t.Context(), second, capital)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range second.requests {
		want := first.requests[i+1]
		if r.Sample != want.Sample || r.Seed != want.Seed || r.Decoding.MaxTokens != want.Decoding.MaxTokens || r.Prompt.Messages[0] != want.Prompt.Messages[0] {
			t.Errorf("sample %d is %+v, the quantifiers' is %+v", i, r, want)
		}
	}
	if origin := got.Original[2].ID.Origin; origin != (record.Origin{Source: record.Generated, Prompt: "answer-only", Sample: 3}) {
		t.Errorf("origin %v", origin)
	}
}

func TestLetteredItemsShowTheirOptionsAfterTheContext(t *testing.T) {
	t.Parallel()
	model := sampled(func(int) string { return "B" })
	c := &Consistency{
		Prompts: prompt.Default(), Prompt: prompt.Letter, Lettered: true, Samples: 1, Sampling: llm.Decoding{MaxTokens: 9, Temperature: 1},
		Contexts: []Contexts{{"a", map[string][]string{"1": {"Bees hum."}}}},
		Read: func(reply string, _ bool, options int) (string, record.Missing) {
			return prompt.ParseLetter(reply, options)
		},
	}
	got, err := c.Item(t.Context(), model, capital)
	if err != nil || got.Gold != "A" || got.Original[0].Text != "B" {
		t.Fatalf("%+v, %v", got, err)
	}
	if text := model.requests[1].Prompt.Messages[0].Content; !strings.HasSuffix(text, "Bees hum. What is the capital of Italy?\nA. Rome\nB. Milan") {
		t.Error(text)
	}
	got, err = c.Item(t.Context(), model, record.Item{ID: "2", Question: "q", References: []string{"r"}})
	if err != nil || got.Missing != NoOptions || len(model.requests) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

// parity judges two numbers the same if both are even or both odd.
type parity struct{ calls int }

func (p *parity) Do(_ context.Context, reqs []llm.Request) []llm.Result {
	results := make([]llm.Result, len(reqs))
	for i, r := range reqs {
		p.calls++
		var a, b int
		text := r.Prompt.Messages[0].Content
		fmt.Sscanf(text[strings.Index(text, "first answer: ")+len("first answer: "):], "%d", &a)
		fmt.Sscanf(text[strings.Index(text, "second answer: ")+len("second answer: "):], "%d", &b)
		results[i].Reply = llm.Reply{Text: map[bool]string{true: "True", false: "False."}[a%2 == b%2], Finish: llm.FinishEnd}
	}
	return results
}

func TestPairsAreAskedOnceAndClustersLess(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "6"}), 2, 20).Draw(t, "texts")
		answers := Answers{Item: "i", Question: "q", Groups: [][]string{texts, texts[:2]}}
		var all, few parity
		full, err := (&Equating{Ask: &all, Prompts: prompt.Default()}).Item(t.Context(), answers)
		if err != nil {
			t.Fatal(err)
		}
		closed, err := (&Equating{Ask: &few, Prompts: prompt.Default(), Clusters: true}).Item(t.Context(), answers)
		if err != nil {
			t.Fatal(err)
		}
		unique := slices.Clone(texts)
		slices.Sort(unique)
		u := len(slices.Compact(unique))
		if full.Asked != u*(u-1)/2 || all.calls != full.Asked || full.Pairs != len(texts)*(len(texts)-1)/2+1 {
			t.Fatalf("%d different texts: %+v", u, full)
		}
		if few.calls != closed.Asked || few.calls > 2*u {
			t.Fatalf("%d calls for %d texts in at most 2 clusters", few.calls, u)
		}
		for _, a := range texts {
			for _, b := range texts {
				want := (a[0]-b[0])%2 == 0
				x, ok := full.Verdicts.Same(a, b)
				y, known := closed.Verdicts.Same(b, a)
				if !ok || !known || x != want || y != want {
					t.Fatalf("%s and %s: %v %v, %v %v", a, b, x, ok, y, known)
				}
			}
		}
	})
}

func TestAnUnclearVerdictIsNone(t *testing.T) {
	t.Parallel()
	model := sampled(func(int) string { return "Hard to say." })
	answers := Answers{Groups: [][]string{{"a", "b"}}, Question: "q"}
	for _, clusters := range []bool{false, true} {
		got, err := (&Equating{Ask: model, Prompts: prompt.Default(), Clusters: clusters}).Item(t.Context(), answers)
		if err != nil || got.Unclear != 1 || got.Asked != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		r, err := consistency.CompareJudged(consistency.Answers("a", "a"), consistency.Answers("b", "b"), got.Verdicts).C3(consistency.Options{})
		if err != nil || r.State != consistency.Missing || r.C3.Reason() != consistency.NotJudged {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

func TestTopicsAreReadFromTheTextAlone(t *testing.T) {
	t.Parallel()
	replies := []string{"B", "b. code", "I cannot tell", "Z"}
	n := -1
	model := sampled(func(int) string { n++; return replies[n] })
	topics := &Topics{Ask: model, Prompts: prompt.Default(), Domains: []string{"arithmetic", "code"}}
	got, why, err := topics.All(t.Context(), []string{"w", "x", "y", "z"}, Pace{Open: 1})
	if err != nil || n != 3 {
		t.Fatal(err)
	}
	counts := map[int]int{}
	for i, d := range got {
		counts[d]++
		if (d < 0) != (why[i] != record.Present) {
			t.Errorf("%d beside %q", d, why[i])
		}
	}
	if counts[1] != 2 || counts[-1] != 2 {
		t.Errorf("%v", got)
	}
}
