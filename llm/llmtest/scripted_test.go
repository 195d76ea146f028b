package llmtest_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/record"
)

var capital = record.Item{
	ID: "fr", Question: "What is the capital of France?",
	References: []string{"Paris"}, Incorrect: []string{"Lyon"},
}

func ask(t *testing.T, e llm.Engine, r llm.Request) llm.Reply {
	t.Helper()
	res := e.Do(t.Context(), []llm.Request{r})
	if len(res) != 1 || res[0].Err != nil {
		t.Fatalf("ask: %+v", res)
	}
	return res[0].Reply
}

func generate(p llm.Prompt) llm.Request {
	return llm.Request{Kind: llm.Generate, Prompt: p, Decoding: llm.Decoding{MaxTokens: 64}}
}

func score(p llm.Prompt, answer string) llm.Request {
	return llm.Request{Kind: llm.Score, Prompt: p, Answer: answer}
}

// geometricMean of the answer's token probabilities.
func geometricMean(tokens []record.Token) float64 {
	sum := 0.
	for _, t := range tokens {
		sum += t.LogProb
	}
	return math.Exp(sum / float64(len(tokens)))
}

func TestQuizStatesAndScoresWhatIsPlanted(t *testing.T) {
	t.Parallel()
	const instruction = "Answer and state a probability.\n\n"
	e := llmtest.NewQuiz([]llmtest.Item{
		llmtest.Confident(capital, false, .9,
			llmtest.Level{Opening: "Guess:", LogProb: math.Log(.25)},
			llmtest.Level{Opening: "Answer:", User: instruction, LogProb: math.Log(.5)},
			llmtest.Level{Opening: "Answer:", LogProb: math.Log(.125)},
			llmtest.Level{Opening: "Answer:", Answer: "Paris", LogProb: math.Log(.75)},
			llmtest.Level{LogProb: math.Log(.0625)},
		),
	})
	asked := llm.Chat(instruction+capital.Question, "")
	if got, want := ask(t, e, generate(asked)).Text, "Guess: Lyon\nProbability: 0.9"; got != want {
		t.Errorf("reply %q, want %q", got, want)
	}
	for _, c := range []struct {
		name   string
		prompt llm.Prompt
		answer string
		want   float64
	}{
		{"guess slot", llm.Chat(instruction+capital.Question, "Guess:"), " Lyon", .25},
		{"answer-only", llm.Chat(instruction+capital.Question, "Answer:"), " Lyon", .5},
		{"answer slot", llm.Chat(capital.Question, "Answer:"), " Lyon", .125},
		{"answer slot, other answer", llm.Chat(capital.Question, "Answer:"), " Paris", .75},
		{"bare", llm.Chat(capital.Question, ""), "Lyon", .0625},
		{"plain text", llm.Prompt{Text: "Q: " + capital.Question + "\nGuess:"}, " Lyon", .25},
	} {
		got := geometricMean(ask(t, e, score(c.prompt, c.answer)).Tokens)
		if math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: geometric mean %v, want %v", c.name, got, c.want)
		}
	}
}

func TestGenerationGoesOnFromTheOpening(t *testing.T) {
	t.Parallel()
	e := llmtest.NewQuiz([]llmtest.Item{llmtest.Confident(capital, true, .4)})
	got := ask(t, e, generate(llm.Chat(capital.Question, "Guess: Paris\nProbability:"))).Text
	if got != " 0.4" {
		t.Errorf("got %q", got)
	}
}

func TestTheLastAndLongestQuestionIsMeant(t *testing.T) {
	t.Parallel()
	e := llmtest.NewQuiz([]llmtest.Item{
		{Question: "Is it?", Reply: "short"},
		{Question: "Where is it?", Reply: "other"},
		{Question: "Why Is it?", Reply: "long"},
	})
	for asked, want := range map[string]string{
		"Where is it? Is it?":     "short",
		"Is it? Where is it?":     "other",
		"Is it? So: Why Is it? ?": "long",
	} {
		if got := ask(t, e, generate(llm.Chat(asked, ""))).Text; got != want {
			t.Errorf("%q: got %q, want %q", asked, got, want)
		}
	}
}

func TestSamplesFollowThePlantedDistribution(t *testing.T) {
	t.Parallel()
	e := llmtest.NewQuiz([]llmtest.Item{{Question: "Q?", Replies: []llmtest.Reply{{Choices: []llmtest.Choice{
		{Text: "never"}, {Text: "a", Weight: 4}, {Text: "b", Weight: 1},
	}}}}})
	for _, c := range []struct{ temperature, share float64 }{{1, .8}, {.5, 16. / 17}, {2, 2. / 3}} {
		const n = 4000
		count := map[string]int{}
		for i := range n {
			r := generate(llm.Chat("Q?", ""))
			r.Decoding.Temperature, r.Seed, r.Sample = c.temperature, 3, i
			count[ask(t, e, r).Text]++
		}
		if count["never"] > 0 {
			t.Errorf("a choice of weight 0 was drawn %d times", count["never"])
		}
		got, sd := float64(count["a"])/n, math.Sqrt(c.share*(1-c.share)/n)
		if math.Abs(got-c.share) > 4*sd {
			t.Errorf("temperature %v: share %v, want %v", c.temperature, got, c.share)
		}
	}
	if got := ask(t, e, generate(llm.Chat("Q?", ""))).Text; got != "a" {
		t.Errorf("greedy: %q", got)
	}
}

func TestFaultsArePlanted(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	e := llmtest.NewQuiz([]llmtest.Item{
		{Question: "Empty?", Reply: ""},
		{Question: "Cut?", Replies: []llmtest.Reply{{Choices: []llmtest.Choice{{Text: "Guess:", Finish: llm.FinishLength}}}}},
		{Question: "Bytes?", Reply: "caf\xc3"},
	}, llmtest.FailOn(2, boom), llmtest.FailWhere(func(r llm.Request) bool { return r.Answer == "x" }, boom))
	p := llm.Chat("Empty?", "")
	res := e.Do(t.Context(), []llm.Request{generate(p), generate(p), generate(p), score(p, "x")})
	for i, fails := range []bool{false, true, false, true} {
		if errors.Is(res[i].Err, boom) != fails {
			t.Errorf("request %d: error %v", i+1, res[i].Err)
		}
	}
	if r := res[2].Reply; r.Text != "" || r.Finish != llm.FinishEnd {
		t.Errorf("empty reply: %+v", r)
	}
	if r := ask(t, e, generate(llm.Chat("Cut?", ""))); r.Text != "Guess:" || r.Finish != llm.FinishLength {
		t.Errorf("truncated reply: %+v", r)
	}
	if r := ask(t, e, generate(llm.Chat("Bytes?", ""))); r.Text != "caf\uFFFD" {
		t.Errorf("half a character: %q", r.Text)
	}
	if g, s := e.Count(llm.Generate), e.Count(llm.Score); g != 5 || s != 1 {
		t.Errorf("counted %d generations and %d scores", g, s)
	}
	if diff := cmp.Diff([]int{4, 1, 1}, e.Batches()); diff != "" {
		t.Error(diff)
	}
}

func TestGateHoldsRequestsInFlight(t *testing.T) {
	t.Parallel()
	gate := llmtest.NewGate()
	e := llmtest.NewScripted(nil, llmtest.Interrupted(gate.Wait))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan []llm.Result)
	go func() {
		done <- e.Do(ctx, []llm.Request{generate(llm.Chat("one", "")), generate(llm.Chat("two", "")), generate(llm.Chat("three", ""))})
	}()
	if got := gate.Next().Prompt.Messages[0].Content; got != "one" {
		t.Errorf("first at the gate: %q", got)
	}
	gate.Pass()
	gate.Next()
	cancel()
	res := <-done
	if res[0].Err != nil || !errors.Is(res[1].Err, context.Canceled) || !errors.Is(res[2].Err, context.Canceled) {
		t.Errorf("results: %+v", res)
	}
	gate.Open()
	ask(t, e, generate(llm.Chat("four", "")))
}

func TestTokeniserIsReversible(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		if got := strings.Join(llmtest.Tokenise(text), ""); got != text {
			t.Fatalf("got %q, want %q", got, text)
		}
	})
}

func TestAnswerHasTheSameTokensAloneAndInAReply(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		answer := " " + rapid.StringMatching(`[a-zé東 ]{1,12}[a-z]`).Draw(t, "answer")
		whole := llmtest.Tokenise("Guess:" + answer + "\nProbability: 1")
		part := llmtest.Tokenise(answer)
		from := len(llmtest.Tokenise("Guess:"))
		if diff := cmp.Diff(part, whole[from:from+len(part)]); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestNewQuizRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	for name, items := range map[string][]llmtest.Item{
		"repeated question": {{Question: "Q"}, {Question: "Q"}},
		"empty question":    {{}},
		"positive level":    {{Question: "Q", Levels: []llmtest.Level{{LogProb: .1}}}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: accepted", name)
				}
			}()
			llmtest.NewQuiz(items)
		}()
	}
}
