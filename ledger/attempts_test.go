package ledger_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
)

// tryer fails twice with each request, as a client of a server may, and then answers, or fails for good.
type tryer struct {
	llm.Engine
	lasting error
}

var errBusy = errors.New("POST /v1/completions: busy (429): slow down")

func (e tryer) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	for i := range reqs {
		for n := range 2 {
			llm.TellAttempt(llm.AtRequest(ctx, i), llm.Attempt{Asked: time.UnixMilli(int64(1000*i + n)), Took: time.Second, Status: 429, Err: errBusy})
		}
	}
	results := e.Engine.Do(ctx, reqs)
	for i := range results {
		if e.lasting != nil {
			results[i] = llm.Result{Err: e.lasting}
		}
	}
	return results
}

func ask(n string) llm.Request {
	return llm.Request{Kind: llm.Generate, Prompt: llm.Chat("What is "+n+"?", ""), Decoding: llm.Decoding{MaxTokens: 4}}
}

// Attempts that an engine makes by itself are kept with the call that they were made for, also where a reply came.
func TestAttemptsOfAnEngineAreKept(t *testing.T) {
	t.Parallel()
	for name, lasting := range map[string]error{"then a reply": nil, "then the same error": errBusy, "then another error": errLine} {
		l := open(t, t.TempDir()+"/ledger.db")
		a := l.Through(tryer{llmtest.NewScripted(nil), lasting})
		reqs := []llm.Request{ask("one"), ask("two")}
		a.Do(t.Context(), reqs)
		for i, r := range reqs {
			key, err := ledger.KeyOf(a.Identity(), r, 0)
			if err != nil {
				t.Fatal(err)
			}
			call, attempts, err := l.Find(t.Context(), key.String())
			if err != nil {
				t.Fatal(err)
			}
			want := 2
			if lasting == errLine { // it is no attempt that was told
				want = 3
			}
			if (call == nil) != (lasting != nil) || len(attempts) != want {
				t.Fatalf("%s: call %v, %d attempts", name, call, len(attempts))
			}
			first := ledger.Attempt{Key: key, Kind: llm.Generate, Model: a.Identity(), Asked: time.UnixMilli(int64(1000 * i)).UTC(), Took: time.Second, Status: 429, Error: errBusy.Error()}
			if d := cmp.Diff(first, attempts[0]); d != "" {
				t.Errorf("%s: %s", name, d)
			}
		}
	}
}

type refusal struct{}

func (refusal) Error() string { return "the budget is spent" }
func (refusal) Unasked() bool { return true }

// What was never asked is no attempt.
func TestUnaskedIsNoAttempt(t *testing.T) {
	t.Parallel()
	l := open(t, t.TempDir()+"/ledger.db")
	a := l.Through(llmtest.NewScripted(nil, llmtest.FailWhere(func(llm.Request) bool { return true }, refusal{})))
	if r := a.Do(t.Context(), []llm.Request{ask("one")})[0]; !errors.Is(r.Err, refusal{}) {
		t.Errorf("%v", r.Err)
	}
	if st, err := l.Stats(t.Context()); err != nil || len(st.Groups) != 0 {
		t.Errorf("%+v, %v", st, err)
	}
}

// counting says what its replies took.
type counting struct {
	llm.Engine
	used llm.Usage
}

func (e counting) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	results := e.Engine.Do(ctx, reqs)
	for i := range results {
		results[i].Reply.Usage = e.used
	}
	return results
}

// silent knows neither ids nor tokens.
type silent struct{ llm.Engine }

func (e silent) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	results := e.Engine.Do(ctx, reqs)
	for i := range results {
		results[i].Reply.PromptIDs, results[i].Reply.Tokens = nil, nil
	}
	return results
}

// What a call took is what the server says, else what can be counted, else an estimate; a remembered reply
// says nothing of it.
func TestUsageIsKeptBesideTheReply(t *testing.T) {
	t.Parallel()
	script := llmtest.NewQuiz([]llmtest.Item{{Question: "What is one?", Reply: strings.Repeat("word ", 8)}})
	r := ask("one") // 12 bytes
	r.Decoding.MaxTokens = 100
	counted := script.Do(t.Context(), []llm.Request{r})[0].Reply
	told := llm.Usage{Prompt: 100, Cached: 60, Generated: 7}
	for name, c := range map[string]struct {
		engine llm.Engine
		want   llm.Usage
	}{
		"told":      {counting{script, told}, told},
		"counted":   {script, llm.Usage{Prompt: int64(len(counted.PromptIDs)), Generated: int64(len(counted.Tokens))}},
		"estimated": {silent{script}, llm.Usage{Prompt: 3, Generated: 10}},
	} {
		l := open(t, t.TempDir()+"/ledger.db")
		a := l.Through(c.engine)
		for range 2 { // the second from the ledger
			if got := a.Do(t.Context(), []llm.Request{r})[0]; got.Err != nil || got.Reply.Usage != (llm.Usage{}) {
				t.Errorf("%s: %+v, %v", name, got.Reply.Usage, got.Err)
			}
		}
		st, err := l.Stats(t.Context())
		if err != nil || len(st.Groups) != 1 || st.Groups[0].Used != c.want || st.Groups[0].Uncounted != 0 {
			t.Errorf("%s: %+v, %v; want %+v", name, st.Groups, err, c.want)
		}
	}
}
