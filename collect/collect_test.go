package collect_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func spec(t *testing.T, form prompt.Form) *collect.Spec {
	t.Helper()
	parser, err := prompt.NewParser("strict", prompt.Unit)
	if err != nil {
		t.Fatal(err)
	}
	return &collect.Spec{
		Setting: record.Setting{Model: "m", Dataset: "d"},
		Prompts: prompt.Default(),
		Form:    form,
		Elicitations: []collect.Elicitation{{
			Prompt:   prompt.Confidence,
			Parser:   parser,
			Decoding: llm.Decoding{MaxTokens: 32},
			Contexts: []prompt.Context{prompt.BareContext, prompt.AnswerSlot, prompt.GuessSlot, prompt.AnswerOnlyContext},
		}},
	}
}

var item = record.Item{ID: "q1", Question: "Which metal is liquid at room temperature?", References: []string{"mercury"}, Incorrect: []string{"gallium"}}

func TestOneAnswerIsScoredInEveryContext(t *testing.T) {
	t.Parallel()
	planted := llmtest.Confident(item, true, .85,
		llmtest.Level{Opening: "", LogProb: math.Log(.2)},
		llmtest.Level{Opening: "Guess:", LogProb: math.Log(.8)},
		llmtest.Level{Opening: "Answer:", User: "best guess", LogProb: math.Log(.6)},
		llmtest.Level{Opening: "Answer:", LogProb: math.Log(.4)},
	)
	model := llmtest.NewQuiz([]llmtest.Item{planted})
	got, err := spec(t, prompt.Chat).Item(t.Context(), model, item)
	if err != nil {
		t.Fatal(err)
	}
	answer := got.Answers[0]
	if answer.Text != "mercury" || answer.Missing != record.Present || answer.Truncated {
		t.Errorf("answer %+v", answer)
	}
	if p, ok := got.Stated[0].Value.Get(); !ok || p != .85 || got.Stated[0].Answer != answer.ID {
		t.Errorf("stated %+v", got.Stated[0])
	}
	want := map[string]float64{"bare": .2, "answer-slot": .4, "guess-slot": .8, "answer-only": .6}
	if len(got.Scorings) != len(want) {
		t.Fatalf("%d scorings, want %d", len(got.Scorings), len(want))
	}
	for _, s := range got.Scorings {
		blank := " "
		if s.Context == "bare" {
			blank = ""
		}
		text := ""
		for _, token := range s.Tokens {
			text += string(token.Piece)
			if math.Abs(token.LogProb-math.Log(want[s.Context])) > 1e-12 {
				t.Errorf("%s: token %q has %v, want ln %v", s.Context, token.Piece, token.LogProb, want[s.Context])
			}
		}
		if text != blank+"mercury" || s.Answer != answer.ID || len(s.ContextIDs) == 0 {
			t.Errorf("%s: scored %q of %s after %d tokens", s.Context, text, s.Answer, len(s.ContextIDs))
		}
	}
}

func TestWhatAModelCannotGiveIsMissingWithItsReason(t *testing.T) {
	t.Parallel()
	isScore := func(r llm.Request) bool { return r.Kind == llm.Score && r.Prompt.Opening == "Guess:" }
	for name, c := range map[string]struct {
		reply             string
		options           []llmtest.Option
		answer, stated    record.Missing
		bare, inGuessSlot record.Missing
	}{
		"no format":        {reply: "I do not know.", answer: record.NoAnswer, stated: record.NoProbability, bare: record.AnswerMissing, inGuessSlot: record.AnswerMissing},
		"no probability":   {reply: "Guess: mercury", stated: record.NoProbability},
		"unclosed thought": {reply: "<think>hmm Guess: x", answer: record.UnclosedThinking, stated: record.UnclosedThinking, bare: record.AnswerMissing, inGuessSlot: record.AnswerMissing},
		"overflow in one context": {
			reply:       "Guess: mercury\nProbability: 0.5",
			options:     []llmtest.Option{llmtest.FailWhere(isScore, &llm.OverflowError{Need: 9, Have: 8})},
			inGuessSlot: record.ContextOverflow,
		},
		"one context unsupported": {
			reply:       "Guess: mercury\nProbability: 0.5",
			options:     []llmtest.Option{llmtest.FailWhere(isScore, fmt.Errorf("here: %w", llm.ErrNotSupported))},
			inGuessSlot: record.NotSupported,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.NewQuiz([]llmtest.Item{{Question: item.Question, Reply: c.reply}}, c.options...)
			got, err := spec(t, prompt.Chat).Item(t.Context(), model, item)
			if err != nil {
				t.Fatal(err)
			}
			if got.Answers[0].Missing != c.answer || got.Stated[0].Value.Missing() != c.stated {
				t.Errorf("answer %q, stated %q", got.Answers[0].Missing, got.Stated[0].Value.Missing())
			}
			for _, s := range got.Scorings {
				want := c.bare
				if s.Context == "guess-slot" {
					want = c.inGuessSlot
				}
				if s.Missing != want || (s.Missing == record.Present) != (len(s.Tokens) > 0) {
					t.Errorf("%s: missing %q with %d tokens, want %q", s.Context, s.Missing, len(s.Tokens), want)
				}
			}
		})
	}
}

func TestAFailedCallEndsTheStudyAndNamesTheItem(t *testing.T) {
	t.Parallel()
	broken := errors.New("socket closed")
	for n := 1; n <= 2; n++ {
		model := llmtest.NewQuiz([]llmtest.Item{llmtest.Confident(item, true, .5)}, llmtest.FailOn(n, broken))
		_, err := spec(t, prompt.Chat).Item(t.Context(), model, item)
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "q1") {
			t.Errorf("call %d failed: %v", n, err)
		}
	}
}

func TestABaseModelIsAskedInPlainText(t *testing.T) {
	t.Parallel()
	model := llmtest.NewQuiz([]llmtest.Item{llmtest.Confident(item, true, .5)})
	seen := &recorder{Asker: model}
	if _, err := spec(t, prompt.Plain).Item(t.Context(), seen, item); err != nil {
		t.Fatal(err)
	}
	for _, r := range seen.requests {
		if len(r.Prompt.Messages) > 0 || r.Prompt.Opening != "" || r.Prompt.Text == "" {
			t.Errorf("asked as a chat: %+v", r.Prompt)
		}
		if (r.Kind == llm.Generate) != r.Prompt.NoBOS {
			t.Errorf("%s with NoBOS %v: answers are generated without and scored with the beginning-of-sequence token", r.Kind, r.Prompt.NoBOS)
		}
		if r.Kind == llm.Score && r.Answer != " mercury" {
			t.Errorf("scored %q, want a leading blank in every context", r.Answer)
		}
	}
}

// recorder keeps the requests that pass through it.
type recorder struct {
	collect.Asker
	mu       sync.Mutex
	requests []llm.Request
}

func (r *recorder) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	r.mu.Lock()
	r.requests = append(r.requests, reqs...)
	r.mu.Unlock()
	return r.Asker.Do(ctx, reqs)
}

func quiz(n int) ([]record.Item, []llmtest.Item) {
	items, planted := make([]record.Item, n), make([]llmtest.Item, n)
	for i := range n {
		items[i] = record.Item{ID: fmt.Sprintf("q%d", i), Question: fmt.Sprintf("What is item %d?", i), References: []string{fmt.Sprintf("thing %d", i)}}
		planted[i] = llmtest.Confident(items[i], true, .5)
	}
	return items, planted
}

func TestAllKeepsTheOrderOfItemsAndCountsEachOnce(t *testing.T) {
	t.Parallel()
	items, planted := quiz(40)
	var counted []int
	got, err := spec(t, prompt.Chat).All(t.Context(), llmtest.NewQuiz(planted), items, collect.Pace{Open: 7, Done: func(done int) { counted = append(counted, done) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Answers) != 40 || len(got.Stated) != 40 || len(got.Scorings) != 160 {
		t.Fatalf("%d answers, %d stated, %d scorings", len(got.Answers), len(got.Stated), len(got.Scorings))
	}
	for i, a := range got.Answers {
		if a.ID.Item != items[i].ID || a.Text != items[i].References[0] || got.Scorings[4*i].Answer != a.ID {
			t.Fatalf("position %d holds %s %q", i, a.ID, a.Text)
		}
	}
	for i, done := range counted {
		if done != i+1 {
			t.Fatalf("progress %v", counted)
		}
	}
	if len(counted) != 40 {
		t.Errorf("progress called %d times", len(counted))
	}
}

func TestAllKeepsItemsOpenSideBySide(t *testing.T) {
	t.Parallel()
	items, planted := quiz(6)
	gate := llmtest.NewGate()
	model := llmtest.NewQuiz(planted, llmtest.Interrupted(gate.Wait))
	done := make(chan error, 1)
	go func() {
		_, err := spec(t, prompt.Chat).All(t.Context(), model, items, collect.Pace{Open: 3})
		done <- err
	}()
	// With one item open at a time the second question could not arrive before the first was answered.
	seen := map[string]bool{}
	for range 3 {
		seen[gate.Next().Prompt.Messages[0].Content] = true
	}
	gate.Open()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(seen) != 3 {
		t.Errorf("%d different items were open together, want 3", len(seen))
	}
}

func TestAllStopsAtTheFirstErrorAndAtTheEndOfItsContext(t *testing.T) {
	t.Parallel()
	items, planted := quiz(30)
	broken := errors.New("gone")
	model := llmtest.NewQuiz(planted, llmtest.FailOn(12, broken))
	if _, err := spec(t, prompt.Chat).All(t.Context(), model, items, collect.Pace{Open: 4}); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := spec(t, prompt.Chat).All(ctx, llmtest.NewQuiz(planted), items, collect.Pace{Open: 4, Done: func(done int) {
		if done == 5 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestAllOfNothing(t *testing.T) {
	t.Parallel()
	got, err := spec(t, prompt.Chat).All(t.Context(), llmtest.NewQuiz(nil), nil, collect.Pace{})
	if err != nil || len(got.Answers) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestEachItemIsToldWithWhatItGave(t *testing.T) {
	t.Parallel()
	items, planted := quiz(12)
	planted[3].Reply, planted[7].Reply = "I do not know.", "Guess: something"
	told, incomplete := 0, 0
	_, err := spec(t, prompt.Chat).All(t.Context(), llmtest.NewQuiz(planted), items, collect.Pace{Open: 5, Each: func(got collect.Records) {
		told++
		if len(got.Answers) != 1 {
			t.Errorf("%d answers of one item", len(got.Answers))
		}
		if !got.Complete() {
			incomplete++
		}
	}})
	if err != nil || told != 12 || incomplete != 2 {
		t.Errorf("told of %d items, %d incomplete, %v", told, incomplete, err)
	}
}
