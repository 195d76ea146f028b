package collect_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/llm/openai/fake"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/prompt"
)

// Judged on a server: 50 items of 29 answers are 20,300 pairs to compare.
const (
	judgedItems   = 50
	judgedAnswers = 29
	judgedPairs   = judgedItems * judgedAnswers * (judgedAnswers - 1) / 2
)

// judgeServer is a server of the judge, and how often the judge was asked.
func judgeServer(t *testing.T) (ask *openai.Engine, asked *atomic.Int64) {
	t.Helper()
	model, asked := judgeModel()
	server := httptest.NewServer(fake.New("plain", model, fake.Lies{}))
	t.Cleanup(server.Close)
	engine, err := openai.Open(t.Context(), openai.Config{URL: server.URL, Dialect: "plain", Model: fake.ModelName})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	asked.Store(0)
	return engine, asked
}

// judgeModel says that two answers are the same if they begin with the same letter, and counts what it is asked.
func judgeModel() (model *llmtest.Scripted, asked *atomic.Int64) {
	asked = new(atomic.Int64)
	script := llmtest.Funcs{Reply: func(p llm.Prompt) []llmtest.Choice {
		asked.Add(1)
		_, rest, _ := strings.Cut(p.Messages[0].Content, "first answer: ")
		first, rest, _ := strings.Cut(rest, "\nThe second answer: ")
		second, _, _ := strings.Cut(rest, "\n")
		return []llmtest.Choice{{Text: map[bool]string{true: "True", false: "False"}[first[0] == second[0]]}}
	}}
	return llmtest.NewScripted(script), asked
}

// judgedLists are answers in twelve wordings of three meanings, by item.
func judgedLists() []collect.Answers {
	random := rand.New(rand.NewPCG(1, 2))
	var list []collect.Answers
	for i := range judgedItems {
		a := collect.Answers{Item: fmt.Sprint(i), Question: fmt.Sprintf("Question %d?", i)}
		var texts []string
		for range judgedAnswers {
			texts = append(texts, string("abc"[random.IntN(3)])+strings.Repeat("x", random.IntN(4)))
		}
		a.Groups = [][]string{texts}
		list = append(list, a)
	}
	return list
}

// c3Of are the C3s of the first 15 answers of each item against the others.
func c3Of(t *testing.T, list []collect.Answers, verdicts func(i int) *consistency.Verdicts) [][]string {
	t.Helper()
	var results [][]string
	for i, a := range list {
		original, perturbed := consistency.Answers(a.Groups[0][:15]...), consistency.Answers(a.Groups[0][15:]...)
		r, err := consistency.CompareJudged(original, perturbed, verdicts(i)).C3(consistency.Options{})
		if err != nil {
			t.Fatal(err)
		}
		numbers := []string{string(r.State), fmt.Sprint(r.Samples, r.PerturbedSamples)}
		for _, v := range []measure.Value{r.C3, r.Clipped, r.Original, r.Perturbed, r.Cross} {
			x, ok := v.Get()
			numbers = append(numbers, fmt.Sprint(x, ok, v.N)) // the kernel's name differs
		}
		results = append(results, numbers)
	}
	return results
}

// Twenty thousand judged pairs: what the server is asked with and without deduplication, and that the results are
// the same.
func TestJudgedPairsAreDeduplicated(t *testing.T) {
	t.Parallel()
	list := judgedLists()
	// Without deduplication every pair of answers is asked about, equal texts included; through the server, too,
	// under CREDENCE_STRESS.
	model, asked := judgeModel()
	var plain collect.Asker = model
	if os.Getenv("CREDENCE_STRESS") != "" {
		plain, asked = judgeServer(t)
	}
	naive := make([]*consistency.Verdicts, len(list))
	everyPair(t, plain, list, naive)
	if n := asked.Load(); n != judgedPairs || n < 20_000 {
		t.Fatalf("%d calls for %d pairs", n, judgedPairs)
	}
	want := c3Of(t, list, func(i int) *consistency.Verdicts { return naive[i] })

	for name, clusters := range map[string]bool{"pairs of different texts": false, "clusters": true} {
		engine, asked := judgeServer(t)
		l := ledger.InMemory()
		t.Cleanup(func() { _ = l.Close() })
		equating := &collect.Equating{Ask: l.Through(engine), Prompts: prompt.Default(), Clusters: clusters}
		found, err := equating.All(t.Context(), list, collect.Pace{Open: 16})
		if err != nil {
			t.Fatal(err)
		}
		pairs, distinct, calls := 0, 0, 0
		for _, e := range found {
			pairs, distinct, calls = pairs+e.Pairs, distinct+e.Distinct, calls+e.Asked
		}
		got := c3Of(t, list, func(i int) *consistency.Verdicts { return found[i].Verdicts })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: other results (-all pairs +deduplicated):\n%s", name, diff)
		}
		most := int64(map[bool]int{false: judgedPairs / 5, true: judgedPairs / 15}[clusters])
		if n := asked.Load(); pairs != judgedPairs || n != int64(calls) || n > most {
			t.Errorf("%s: %d calls of %d stated, at most %d meant", name, n, calls, most)
		}
		t.Logf("%s: %d pairs, %d of different texts, %d calls made, %d saved", name, pairs, distinct, calls, pairs-calls)
		// What was asked once is not asked again.
		before := asked.Load()
		if _, err := equating.All(t.Context(), list, collect.Pace{Open: 16}); err != nil || asked.Load() != before {
			t.Errorf("%s: asked %d again, %v", name, asked.Load()-before, err)
		}
	}
}

// everyPair asks about every pair, whatever was asked before.
func everyPair(t *testing.T, ask collect.Asker, list []collect.Answers, verdicts []*consistency.Verdicts) {
	t.Helper()
	_, err := collect.Each(t.Context(), list, 8, func(ctx context.Context, a collect.Answers) (*consistency.Verdicts, error) {
		v := &consistency.Verdicts{}
		texts := a.Groups[0]
		var requests []llm.Request
		var pairs []consistency.Pair
		for i, x := range texts {
			for _, y := range texts[:i] {
				p, err := prompt.Default().AskEquivalence(prompt.Chat, a.Question, x, y)
				if err != nil {
					return nil, err
				}
				requests = append(requests, llm.Request{Kind: llm.Generate, Prompt: p, Decoding: llm.Decoding{MaxTokens: prompt.VerdictTokens}})
				pairs = append(pairs, consistency.Pair{A: x, B: y})
			}
		}
		for i, result := range ask.Do(ctx, requests) {
			if result.Err != nil {
				return nil, result.Err
			}
			v.Set(pairs[i].A, pairs[i].B, prompt.ParseVerdict(result.Reply.Text).Verdict.String() == "correct")
		}
		return v, nil
	}, func(i int, v *consistency.Verdicts) { verdicts[i] = v })
	if err != nil {
		t.Fatal(err)
	}
}
