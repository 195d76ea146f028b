package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/record"
)

var errLine = errors.New("connection refused")

func texts(results []llm.Result) []string {
	var list []string
	for _, r := range results {
		if r.Err != nil {
			list = append(list, "error: "+r.Err.Error())
			continue
		}
		list = append(list, r.Reply.Text)
	}
	return list
}

func expectCounts(t *testing.T, a *ledger.Asker, reused, made, failed int64) {
	t.Helper()
	if c := a.Counts(); c.Reused != reused || c.Made != made || c.Failed != failed {
		t.Errorf("reused %d, made %d, failed %d; want %d, %d, %d", c.Reused, c.Made, c.Failed, reused, made, failed)
	}
}

func open(t *testing.T, path string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// An engine behind a ledger is still an engine.
func TestAskerIsAnEngine(t *testing.T) {
	t.Parallel()
	llmtest.Conformance(t, func(*testing.T) llm.Engine {
		return ledger.InMemory().Through(llmtest.NewScripted(nil, llmtest.ContextOf(400)))
	}, llmtest.Expect{Exact: true, PromptIDs: true})
}

func TestKnownCallsAreNotMadeAgain(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/ledger.db"
	reqs := []llm.Request{question, sampled, forced, with(sampled, func(r *llm.Request) { r.Sample++ })}
	l := open(t, path)
	engine := llmtest.NewScripted(nil, llmtest.Observing(map[string]string{"fingerprint": "fp"}))
	first := l.Through(engine)
	want := first.Do(t.Context(), reqs)
	expectCounts(t, first, 0, 4, 0)
	c := first.Counts()
	if c.PromptTokens == 0 || c.GeneratedTokens == 0 || c.ScoredTokens != int64(len(want[2].Reply.Tokens)) {
		t.Errorf("tokens %+v", c)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, path).Through(engine)
	got := again.Do(t.Context(), reqs)
	expectCounts(t, again, 4, 0, 0)
	if n := len(engine.Calls()); n != 4 {
		t.Errorf("the engine was asked %d times", n)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("replies of the ledger differ from those of the engine:\n%s", d)
	}
}

// 30 samples from the ledger are the same 30 replies in order (inspect_ai#2580); a change of
// temperature or seed is another call (instructor#2585).
func TestSamplingIsInTheKey(t *testing.T) {
	t.Parallel()
	l := ledger.InMemory()
	var reqs []llm.Request
	for n := range 30 {
		reqs = append(reqs, with(sampled, func(r *llm.Request) { r.Sample = n }))
	}
	reqs = append(reqs, question, with(question, func(r *llm.Request) { r.Decoding.Temperature = 1 }),
		with(question, func(r *llm.Request) { r.Decoding.Temperature, r.Seed = 1, 2 }))
	a := l.Through(llmtest.NewScripted(nil))
	first := texts(a.Do(t.Context(), reqs))
	expectCounts(t, a, 0, 33, 0)
	if d := cmp.Diff(first, texts(a.Do(t.Context(), reqs))); d != "" {
		t.Error(d)
	}
	expectCounts(t, a, 33, 33, 0)
}

func TestEqualRequestsOfABatchAreOneCall(t *testing.T) {
	t.Parallel()
	engine := llmtest.NewScripted(nil)
	a := ledger.InMemory().Through(engine)
	got := texts(a.Do(t.Context(), []llm.Request{forced, question, with(question, func(r *llm.Request) { r.Seed = 5 }), question}))
	if n := len(engine.Calls()); n != 2 || got[1] != got[2] || got[1] != got[3] {
		t.Errorf("%d calls, %q", n, got)
	}
	expectCounts(t, a, 2, 2, 0)
}

func TestConcurrentEqualRequestsAreOneCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		engine := llmtest.NewScripted(nil, llmtest.Interrupted(func(context.Context, int, llm.Request) error {
			<-release
			return nil
		}))
		l := ledger.InMemory()
		a, b := l.Through(engine), l.Through(engine)
		var wg sync.WaitGroup
		for n := range 20 {
			asker := a
			if n%2 == 1 {
				asker = b
			}
			wg.Go(func() {
				// Each also has a call of its own, so that leading and joining mix.
				own := with(sampled, func(r *llm.Request) { r.Sample = 100 + n })
				reqs := []llm.Request{own, question}
				if n%3 == 0 {
					reqs = []llm.Request{question, own}
				}
				for _, r := range asker.Do(t.Context(), reqs) {
					if r.Err != nil {
						t.Error(r.Err)
					}
				}
			})
		}
		synctest.Wait()
		close(release)
		wg.Wait()
		if n := len(engine.Calls()); n != 21 {
			t.Errorf("%d calls, want 21", n)
		}
		if c := a.Counts().Add(b.Counts()); c.Made != 21 || c.Reused != 19 {
			t.Errorf("made %d, reused %d", c.Made, c.Reused)
		}
	})
}

func TestFailuresDoNotFailTheOthersAndAreAskedAgain(t *testing.T) {
	t.Parallel()
	l := ledger.InMemory()
	engine := llmtest.NewScripted(nil, llmtest.ContextOf(60), llmtest.FailOn(2, fmt.Errorf("call 2: %w", errLine)))
	a := l.Through(engine)
	long := with(question, func(r *llm.Request) { r.Prompt = llm.Chat(strings.Repeat("word ", 100), "") })
	malformed := with(question, func(r *llm.Request) { r.Decoding.MaxTokens = 0 })
	latin1 := with(question, func(r *llm.Request) { r.Prompt = llm.Chat("caf\xe9", "") })
	reqs := []llm.Request{question, sampled, long, forced, malformed, latin1}
	got := a.Do(t.Context(), reqs)
	for i, want := range []error{nil, errLine, llm.ErrContextOverflow, nil} {
		if !errors.Is(got[i].Err, want) {
			t.Errorf("%d: %v, want %v", i, got[i].Err, want)
		}
	}
	if got[4].Err == nil || got[5].Err == nil {
		t.Errorf("malformed requests: %v, %v", got[4].Err, got[5].Err)
	}
	expectCounts(t, a, 0, 2, 4)
	for i, want := range []int{0, 1, 1, 0, 1} {
		_, attempts, err := l.Find(t.Context(), keyOf(t, a.Identity(), reqs[i], 0).String())
		if err != nil || len(attempts) != want {
			t.Errorf("request %d: %d attempts, %v; want %d", i, len(attempts), err, want)
		}
	}
	again := a.Do(t.Context(), reqs[:2])
	if again[1].Err != nil {
		t.Errorf("asked again: %v", again[1].Err)
	}
	if n := len(engine.Calls()); n != 5 { // the failed one, and it alone, a second time
		t.Errorf("%d calls", n)
	}
}

// half answers the first request of a batch and waits for the end of the context before the others.
type half struct{ *llmtest.Scripted }

func (h half) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	results := h.Scripted.Do(context.WithoutCancel(ctx), reqs[:1])
	<-ctx.Done()
	for range reqs[1:] {
		results = append(results, llm.Result{Err: ctx.Err()})
	}
	return results
}

func TestWhatWasDeliveredBeforeCancellingIsStored(t *testing.T) {
	t.Parallel()
	l := open(t, t.TempDir()+"/ledger.db")
	engine := llmtest.NewScripted(nil)
	ctx, cancel := context.WithCancel(t.Context())
	a := l.Through(half{engine})
	time.AfterFunc(0, cancel)
	got := a.Do(ctx, []llm.Request{question, sampled})
	if got[0].Err == nil && !errors.Is(got[1].Err, context.Canceled) {
		t.Errorf("results %v", got)
	}
	if len(engine.Calls()) == 0 {
		t.Skip("cancelled before anything was asked")
	}
	if got[0].Err != nil {
		t.Errorf("the delivered reply is lost: %v", got[0].Err)
	}
	st, err := l.Stats(t.Context())
	if err != nil || st.Calls() != 1 || st.Claims != 0 || st.Groups[0].Attempts != 0 {
		t.Errorf("stats %+v, %v; want one call, no claim, no attempt", st, err)
	}
}

// Whoever joins a call does not share the fate of the one who led it.
func TestJoinersGoOnWhenTheLeaderGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := llmtest.NewScripted(nil, llmtest.Interrupted(func(ctx context.Context, n int, _ llm.Request) error {
			if n > 1 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}))
		a := ledger.InMemory().Through(engine)
		ctx, cancel := context.WithCancel(t.Context())
		var led, joined []llm.Result
		var wg sync.WaitGroup
		wg.Go(func() { led = a.Do(ctx, []llm.Request{question}) })
		synctest.Wait()
		wg.Go(func() { joined = a.Do(t.Context(), []llm.Request{question}) })
		synctest.Wait()
		cancel()
		wg.Wait()
		if !errors.Is(led[0].Err, context.Canceled) || joined[0].Err != nil {
			t.Errorf("leader %v, joiner %v", led[0].Err, joined[0].Err)
		}
	})
}

func TestJoinersGoOnWhenTheEnginePanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		engine := llmtest.NewScripted(nil, llmtest.Interrupted(func(_ context.Context, n int, _ llm.Request) error {
			if n == 1 {
				<-release
				panic("out of memory")
			}
			return nil
		}))
		l := ledger.InMemory()
		a := l.Through(engine)
		var wg sync.WaitGroup
		wg.Go(func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			a.Do(t.Context(), []llm.Request{question})
		})
		synctest.Wait()
		var joined []llm.Result
		wg.Go(func() { joined = a.Do(t.Context(), []llm.Request{question}) })
		synctest.Wait()
		close(release)
		wg.Wait()
		if joined[0].Err != nil {
			t.Error(joined[0].Err)
		}
	})
}

// broken is an engine that breaks its contract.
type broken struct {
	*llmtest.Scripted
	do func([]llm.Request) []llm.Result
}

func (b broken) Do(_ context.Context, reqs []llm.Request) []llm.Result { return b.do(reqs) }

func TestBrokenRepliesAreNotStored(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func([]llm.Request) []llm.Result{
		"a result too few": func([]llm.Request) []llm.Result { return []llm.Result{{}} },
		"a log-probability that is no number": func(reqs []llm.Request) []llm.Result {
			r := llm.Result{Reply: llm.Reply{Text: "x", Tokens: []record.Token{{LogProb: math.NaN()}}}}
			return []llm.Result{r, r}
		},
		"an embedding that is no number": func([]llm.Request) []llm.Result {
			nan := llm.Result{Reply: llm.Reply{Embedding: []float32{1, float32(math.NaN())}}}
			inf := llm.Result{Reply: llm.Reply{Embedding: []float32{float32(math.Inf(-1)), 1}}}
			return []llm.Result{nan, inf}
		},
		"a text without end": func(reqs []llm.Request) []llm.Result {
			r := llm.Result{Reply: llm.Reply{Text: strings.Repeat("x", 65<<20)}}
			return []llm.Result{r, r}
		},
		"a reply beside its error": func(reqs []llm.Request) []llm.Result {
			r := llm.Result{Reply: llm.Reply{Text: "x"}, Err: errLine}
			return []llm.Result{r, r}
		},
	} {
		l := ledger.InMemory()
		a := l.Through(broken{llmtest.NewScripted(nil), do})
		for _, r := range a.Do(t.Context(), []llm.Request{question, sampled}) {
			if r.Err == nil || r.Reply.Text != "" || r.Reply.Embedding != nil {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if st, err := l.Stats(t.Context()); err != nil || st.Calls() != 0 || st.Groups[0].Attempts != 2 {
			t.Errorf("%s: %+v, %v", name, st, err)
		}
	}
}

// failing is a store whose writes fail at will.
type failing struct {
	ledger.Store
	claims, deliveries error
}

func (f failing) Claim(ctx context.Context, owner string, lease time.Duration, keys []ledger.Key) ([]ledger.ClaimState, error) {
	if f.claims != nil {
		return nil, f.claims
	}
	return f.Store.Claim(ctx, owner, lease, keys)
}

func (f failing) Deliver(ctx context.Context, d ledger.Delivery) ([]bool, error) {
	if f.deliveries != nil {
		return nil, f.deliveries
	}
	return f.Store.Deliver(ctx, d)
}

func TestNothingIsAskedThatCannotBeStored(t *testing.T) {
	t.Parallel()
	engine := llmtest.NewScripted(nil)
	full := &ledger.Error{Path: "x.db", Err: ledger.ErrFull}
	a := ledger.New(failing{Store: ledger.NewMemory(), claims: full}, "x.db").Through(engine)
	if got := a.Do(t.Context(), []llm.Request{question}); !errors.Is(got[0].Err, ledger.ErrFull) {
		t.Error(got[0].Err)
	}
	if n := len(engine.Calls()); n != 0 {
		t.Errorf("asked %d times", n)
	}
	a = ledger.New(failing{Store: ledger.NewMemory(), deliveries: full}, "x.db").Through(engine)
	if got := a.Do(t.Context(), []llm.Request{question}); !errors.Is(got[0].Err, ledger.ErrFull) || got[0].Reply.Text != "" {
		t.Errorf("a reply that is not stored was announced: %+v", got[0])
	}
	expectCounts(t, a, 0, 0, 1)
}

// Two ledgers on one store stand for two processes.
func TestAnotherProcessIsAsking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := ledger.NewMemory()
		release := make(chan struct{})
		slow := llmtest.NewScripted(nil, llmtest.Interrupted(func(context.Context, int, llm.Request) error {
			<-release
			return nil
		}))
		quick := llmtest.NewScripted(nil)
		one, two := ledger.New(store, "one").Through(slow), ledger.New(store, "two").Through(quick)
		var first, second []llm.Result
		var wg sync.WaitGroup
		wg.Go(func() { first = one.Do(t.Context(), []llm.Request{question}) })
		synctest.Wait()
		wg.Go(func() { second = two.Do(t.Context(), []llm.Request{forced, question}) })
		time.Sleep(time.Hour) // of the bubble: far beyond the lease, which is renewed
		close(release)
		wg.Wait()
		if d := cmp.Diff(first[0], second[1]); d != "" {
			t.Error(d)
		}
		if n := len(quick.Calls()); n != 1 {
			t.Errorf("the second process asked %d times, want once for its own call", n)
		}
		expectCounts(t, two, 1, 1, 0)

		ctx, cancel := context.WithCancel(t.Context())
		if _, err := store.Claim(ctx, "gone", time.Minute, []ledger.Key{keyOf(t, one.Identity(), sampled, 0)}); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if got := two.Do(t.Context(), []llm.Request{sampled}); got[0].Err != nil {
			t.Error(got[0].Err)
		}
		if waited := time.Since(start); waited < time.Minute || waited > 2*time.Minute {
			t.Errorf("waited %v for a claim of one minute", waited)
		}
		cancel()
	})
}

// A process that was held up longer than its lease tells what is in the ledger, not what it got.
func TestTheFirstReplyCounts(t *testing.T) {
	t.Parallel()
	store := ledger.NewMemory()
	l := ledger.New(store, "x")
	var early llm.Reply
	engine := llmtest.NewScripted(nil, llmtest.Interrupted(func(ctx context.Context, _ int, r llm.Request) error {
		early = llm.Reply{Text: "the first", Finish: llm.FinishEnd}
		c := ledger.Call{Model: llmtest.NewScripted(nil).Identity(), Request: ledger.Canonical(r), Reply: early}
		c.Key = keyOf(t, c.Model, r, 0)
		_, err := store.Deliver(ctx, ledger.Delivery{Calls: []ledger.Call{c}})
		return err
	}))
	a := l.Through(engine)
	if got := a.Do(t.Context(), []llm.Request{question}); got[0].Reply.Text != early.Text {
		t.Errorf("announced %+v", got[0])
	}
	expectCounts(t, a, 1, 0, 0)
}

func TestPeekWritesNothing(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/ledger.db"
	l := open(t, path)
	engine := llmtest.NewScripted(nil)
	known := l.Through(engine).Do(t.Context(), []llm.Request{question})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	view, err := ledger.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	before, _ := view.Stats(t.Context())
	var usual []string
	planner := llmtest.NewScripted(nil, llmtest.Interrupted(func(_ context.Context, _ int, r llm.Request) error {
		usual = append(usual, r.Usual)
		return nil
	}))
	a := view.Peek(planner)
	asked := with(sampled, func(r *llm.Request) { r.Usual = "Paris" })
	got := a.Do(t.Context(), []llm.Request{question, asked})
	if d := cmp.Diff(known[0], got[0]); d != "" || got[1].Err != nil {
		t.Error(d, got[1].Err)
	}
	a.Do(t.Context(), []llm.Request{asked})
	expectCounts(t, a, 2, 1, 0)
	if d := cmp.Diff([]string{"Paris"}, usual); d != "" {
		t.Errorf("what the planning engine was told:\n%s", d)
	}
	after, _ := view.Stats(t.Context())
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("the ledger changed:\n%s", d)
	}
	if r := view.Through(engine).Do(t.Context(), []llm.Request{forced}); !errors.Is(r[0].Err, ledger.ErrReadOnly) {
		t.Errorf("asked through a ledger that is only read: %v", r[0].Err)
	}
}

func TestFindByPrefix(t *testing.T) {
	t.Parallel()
	l := ledger.InMemory()
	a := l.Through(llmtest.NewScripted(nil))
	var reqs []llm.Request
	for n := range 40 {
		reqs = append(reqs, with(sampled, func(r *llm.Request) { r.Sample = n }))
	}
	a.Do(t.Context(), reqs)
	k := keyOf(t, a.Identity(), reqs[3], 0)
	call, _, err := l.Find(t.Context(), strings.ToUpper(k.String()[:16]))
	if err != nil || call == nil || call.Request.Sample != 3 {
		t.Errorf("%+v, %v", call, err)
	}
	if _, _, err := l.Find(t.Context(), ""); !errors.Is(err, ledger.ErrAmbiguous) {
		t.Errorf("no digits: %v", err)
	}
	if _, _, err := l.Find(t.Context(), "zz"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("no hex digits: %v", err)
	}
}

// lookups counts how often a store is looked into.
type lookups struct {
	ledger.Store
	n *atomic.Int64
}

func (l lookups) Lookup(ctx context.Context, keys []ledger.Key) (map[ledger.Key]llm.Reply, error) {
	l.n.Add(1)
	return l.Store.Lookup(ctx, keys)
}

// After many calls that were new the store is no longer looked into first; what it knows is found all the same, and
// from then on it is looked into again.
func TestNewCallsAreOnlyClaimed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	store, err := ledger.OpenSQLite(path)
	if err != nil {
		t.Fatal(err)
	}
	var looked atomic.Int64
	l := ledger.New(lookups{store, &looked}, path)
	defer l.Close()
	engine := llmtest.NewScripted(nil)
	a := l.Through(engine)
	ask := func(a *ledger.Asker, n int) string {
		return texts(a.Do(t.Context(), []llm.Request{with(sampled, func(r *llm.Request) { r.Sample = n })}))[0]
	}
	const many = ledger.ManyUnknown
	var first []string
	for n := range 2 * many {
		first = append(first, ask(a, n))
	}
	if n := looked.Load(); n != many {
		t.Errorf("looked %d times into the store for new calls, want %d", n, many)
	}
	other := open(t, path).Through(llmtest.NewScripted(nil))
	theirs := ask(other, 2*many)
	for n, want := range append(first, theirs) {
		if got := ask(a, n); got != want {
			t.Errorf("sample %d: %q, stored was %q", n, got, want)
		}
	}
	if n := looked.Load(); n != many+2*many+1 {
		t.Errorf("looked %d times into the store, want once more for each known call", n)
	}
	if n := len(engine.Calls()); n != 2*many {
		t.Errorf("%d calls, want %d", n, 2*many)
	}
	expectCounts(t, a, 2*many+1, 2*many, 0)
}
