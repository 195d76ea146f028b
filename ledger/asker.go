package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/credence-lab/credence/llm"
)

// Asker is an engine that remembers: it answers what the ledger knows, joins equal requests that
// are under way, asks the engine behind it for the rest and stores each reply before it returns it.
// It is safe for concurrent use.
type Asker struct {
	ledger   *Ledger
	engine   llm.Engine
	model    llm.Identity
	declared []byte
	invalid  error
	found    *found // of a Peek
	counter  counter
}

var _ llm.Engine = (*Asker)(nil)

// Through returns engine with the ledger's memory before it.
func (l *Ledger) Through(engine llm.Engine) *Asker {
	model := engine.Identity()
	declared, err := declare(model)
	return &Asker{ledger: l, engine: engine, model: model, declared: declared, invalid: err}
}

// Peek is [Ledger.Through] for a plan: calls that the ledger knows are answered from it, the others
// go to engine once each, and the ledger is not written. engine states the identity of the model
// that is planned for.
func (l *Ledger) Peek(engine llm.Engine) *Asker {
	known := &found{keys: map[Key]bool{}}
	a := New(overlay{NewMemory(), l.store, known}, l.path).Through(engine)
	a.found = known
	return a
}

// Known is how many different calls of a [Ledger.Peek] the ledger has answered so far; 0 for other askers.
func (a *Asker) Known() int64 { return a.found.count() }

// Identity is that of the engine.
func (a *Asker) Identity() llm.Identity { return a.model }

// Capabilities are those of the engine.
func (a *Asker) Capabilities() llm.Capabilities { return a.engine.Capabilities() }

// Close closes the engine. The ledger stays open.
func (a *Asker) Close() error { return a.engine.Close() }

// Counts says what this asker did so far.
func (a *Asker) Counts() Counts { return a.counter.read() }

// Do returns one result for each request, in order. Equal requests, in reqs or from concurrent
// calls, are asked once. Requests that fail do not fail the others: the engine's error is returned
// and recorded as an attempt. A reply that could not be stored is not returned; its result has the
// store's [*Error]. When ctx ends, replies that the engine has already delivered are still stored.
//
// Replies may be shared with other callers: do not change their slices and maps.
func (a *Asker) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	return a.do(ctx, reqs, nil)
}

// do is Do, and tells the keys of the requests that have one unless keys is nil.
func (a *Asker) do(ctx context.Context, reqs []llm.Request, keys []Key) []llm.Result {
	results := make([]llm.Result, len(reqs))
	open, refused := a.distinct(reqs, results)
	if keys != nil {
		for _, q := range open {
			for _, i := range q.at {
				keys[i] = q.key
			}
		}
	}
	a.note(ctx, refused)
	for len(open) > 0 {
		open = a.round(ctx, open, results)
	}
	return results
}

// question is one distinct request of a batch.
type question struct {
	key Key
	req llm.Request
	// at are the positions that ask it.
	at     []int
	flight *flight
}

// distinct groups equal requests. Those that are no requests at all get their error as result, and
// those among them that have a key an attempt.
func (a *Asker) distinct(reqs []llm.Request, results []llm.Result) (list []*question, refused []Attempt) {
	byKey := make(map[Key]*question, len(reqs))
	for i, r := range reqs {
		key, err := a.key(r)
		if err == nil {
			if err = r.Validate(); err != nil {
				refused = append(refused, Attempt{Key: key, Kind: r.Kind, Model: a.model,
					Asked: time.Now().UTC().Truncate(time.Millisecond), Error: clip(err.Error())})
			}
		}
		if err != nil {
			results[i].Err = err
			a.counter.failed.Add(1)
			continue
		}
		q, ok := byKey[key]
		if !ok {
			q = &question{key: key, req: r}
			byKey[key] = q
			list = append(list, q)
		}
		q.at = append(q.at, i)
	}
	return list, refused
}

func (a *Asker) key(r llm.Request) (Key, error) {
	if a.invalid != nil {
		return Key{}, a.invalid
	}
	return keyOf(a.declared, r, 0)
}

// note records requests that were refused before anyone was asked. The caller learns why in any
// case, so a ledger that cannot be written is no reason to say something else.
func (a *Asker) note(ctx context.Context, refused []Attempt) {
	if len(refused) > 0 {
		_, _ = a.ledger.store.Deliver(context.WithoutCancel(ctx), Delivery{Owner: a.ledger.owner, Attempts: refused})
	}
}

// round asks for the questions that nobody else is asking, waits for the others, and returns those
// that were abandoned by whoever asked them.
func (a *Asker) round(ctx context.Context, open []*question, results []llm.Result) []*question {
	var led, joined []*question
	for _, q := range open {
		var lead bool
		if q.flight, lead = a.ledger.flights.board(q.key); lead {
			led = append(led, q)
		} else {
			joined = append(joined, q)
		}
	}
	a.fill(ctx, led)
	for _, q := range led {
		a.tell(q, results, q.flight.how)
	}
	var again []*question
	for _, q := range joined {
		select {
		case <-q.flight.done:
		case <-ctx.Done():
			a.fail(q, results, ctx.Err())
			continue
		}
		switch {
		case q.flight.how != abandoned:
			a.tell(q, results, recalled)
		case ctx.Err() != nil:
			a.fail(q, results, ctx.Err())
		default:
			again = append(again, q)
		}
	}
	return again
}

// tell copies the outcome of a flight to all positions that asked, and counts it.
func (a *Asker) tell(q *question, results []llm.Result, how outcome) {
	for _, i := range q.at {
		results[i] = q.flight.result
	}
	n := int64(len(q.at))
	switch {
	case q.flight.result.Err != nil:
		a.counter.failed.Add(n)
	case how == made:
		a.counter.made.Add(1)
		a.counter.reused.Add(n - 1)
	default:
		a.counter.reused.Add(n)
	}
}

func (a *Asker) fail(q *question, results []llm.Result, err error) {
	for _, i := range q.at {
		results[i].Err = err
	}
	a.counter.failed.Add(int64(len(q.at)))
}

// errUnfinished is what joined callers see of a call whose engine panicked; they ask again.
var errUnfinished = errors.New("the call was not finished")

// fill lands the flights of led: from the store, from the engine, or from another process that
// holds the claim. Whatever is not landed when it returns, for whatever cause, is abandoned.
func (a *Asker) fill(ctx context.Context, led []*question) {
	defer func() {
		for _, q := range unlanded(led) {
			a.land(q, abandoned, llm.Result{Err: cmp.Or(ctx.Err(), errUnfinished)})
		}
	}()
	pause := newPause()
	// A claim says, too, that a reply is there: where nothing was known for long, it is all that is asked.
	known := a.found != nil || a.ledger.unknown.Load() < manyUnknown
	for open := led; len(open) > 0; open = unlanded(open) {
		if known {
			if err := a.recall(ctx, open); err != nil {
				a.giveUp(ctx, open, err)
				return
			}
			open = unlanded(open)
		}
		if len(open) == 0 || ctx.Err() != nil {
			return
		}
		mine, stored, err := a.claim(ctx, open)
		if err != nil {
			a.giveUp(ctx, open, err)
			return
		}
		if len(mine) > 0 {
			a.ask(ctx, mine)
		}
		if !known && stored > 0 {
			a.ledger.unknown.Store(0)
		} else if len(mine) < len(open) {
			pause.wait(ctx)
		}
		known = true
	}
}

// manyUnknown is how many calls in a row the store did not know, before it is no longer looked into for calls that
// are new in all likelihood.
const manyUnknown = 64

// giveUp lands questions whose store failed, unless it failed only because ctx ended.
func (a *Asker) giveUp(ctx context.Context, open []*question, err error) {
	if ctx.Err() != nil {
		return
	}
	for _, q := range open {
		a.land(q, failed, llm.Result{Err: err})
	}
}

func (a *Asker) land(q *question, how outcome, r llm.Result) {
	a.ledger.flights.land(q.key, q.flight, how, r)
}

// recall lands what the store knows.
func (a *Asker) recall(ctx context.Context, open []*question) error {
	known, err := a.ledger.store.Lookup(ctx, keysOf(open))
	if err != nil {
		return err
	}
	if len(known) > 0 {
		a.ledger.unknown.Store(0)
	} else {
		a.ledger.unknown.Add(int64(len(open)))
	}
	for _, q := range open {
		if reply, ok := known[q.key]; ok {
			a.land(q, recalled, llm.Result{Reply: reply})
		}
	}
	return nil
}

// claim returns those of open that this process may ask. The replies to stored others are there; somebody else is
// asking the rest.
func (a *Asker) claim(ctx context.Context, open []*question) (mine []*question, stored int, err error) {
	states, err := a.ledger.store.Claim(ctx, a.ledger.owner, lease, keysOf(open))
	if err != nil {
		return nil, 0, err
	}
	for i, q := range open {
		switch states[i] {
		case ClaimGranted:
			mine = append(mine, q)
		case ClaimStored:
			stored++
		}
	}
	return mine, stored, nil
}

// ask puts questions to the engine, stores what comes back, and lands all that the store took.
func (a *Asker) ask(ctx context.Context, mine []*question) {
	var tried tries
	results, asked, took := a.consultHolding(llm.WithAttempts(ctx, tried.tell), mine)
	a.counter.asking.Add(int64(took))
	d := Delivery{Owner: a.ledger.owner, Release: keysOf(mine), declared: a.declared}
	var replied []*question
	for i, q := range mine {
		for _, t := range tried.of(i) {
			d.Attempts = append(d.Attempts, Attempt{Key: q.key, Kind: q.req.Kind, Model: a.model,
				Asked: t.Asked.UTC().Truncate(time.Millisecond), Took: t.Took.Round(time.Microsecond), Status: t.Status, Error: clip(t.Err.Error())})
		}
		switch err := results[i].Err; {
		case err == nil:
			replied = append(replied, q)
			d.Calls = append(d.Calls, Call{Key: q.key, Model: a.model, Request: Canonical(q.req),
				Reply: settle(results[i].Reply), Asked: asked, Took: took, Used: UsedBy(q.req, results[i].Reply)})
		case !ended(ctx, err) && !unasked(err) && !tried.last(i, err):
			d.Attempts = append(d.Attempts, Attempt{Key: q.key, Kind: q.req.Kind, Model: a.model,
				Asked: asked, Took: took, Error: clip(err.Error())})
		}
	}
	// What was delivered is stored even if ctx has ended meanwhile.
	fresh, err := a.ledger.store.Deliver(context.WithoutCancel(ctx), d)
	a.landReplies(replied, d.Calls, fresh, err)
	for i, q := range mine {
		if e := results[i].Err; e != nil && !ended(ctx, e) {
			a.land(q, failed, llm.Result{Err: e})
		}
	}
}

// landReplies lands the calls that were stored. Where another reply was first, the next recall
// finds that one.
func (a *Asker) landReplies(replied []*question, calls []Call, fresh []bool, err error) {
	for i, q := range replied {
		switch {
		case err != nil:
			a.land(q, failed, llm.Result{Err: fmt.Errorf("the reply could not be stored: %w", err)})
		case fresh[i]:
			a.counter.tokens(q.req.Kind, calls[i].Reply)
			a.land(q, made, llm.Result{Reply: calls[i].Reply})
		}
	}
}

// consultHolding consults the engine and renews the claims meanwhile. If the engine panics the
// claims are released, so that nobody waits for them.
func (a *Asker) consultHolding(ctx context.Context, mine []*question) ([]llm.Result, time.Time, time.Duration) {
	reqs := make([]llm.Request, len(mine))
	for i, q := range mine {
		reqs[i] = q.req
	}
	stop := a.ledger.held.hold(keysOf(mine))
	returned := false
	defer func() {
		stop()
		if !returned {
			_, _ = a.ledger.store.Deliver(context.WithoutCancel(ctx), Delivery{Owner: a.ledger.owner, Release: keysOf(mine)})
		}
	}()
	results, asked, took := a.consult(ctx, reqs)
	returned = true
	return results, asked, took
}

// consult asks the engine and holds it to its contract.
func (a *Asker) consult(ctx context.Context, reqs []llm.Request) ([]llm.Result, time.Time, time.Duration) {
	start := time.Now()
	results := a.engine.Do(ctx, reqs)
	took := time.Since(start).Round(time.Microsecond)
	if len(results) != len(reqs) {
		err := fmt.Errorf("%s gave %d results for %d requests", a.model.Engine, len(results), len(reqs))
		results = make([]llm.Result, len(reqs))
		for i := range results {
			results[i].Err = err
		}
	}
	for i := range results {
		if results[i].Err == nil {
			results[i].Err = checkReply(results[i].Reply)
		}
		if results[i].Err != nil {
			results[i].Reply = llm.Reply{}
		}
	}
	return results, start.UTC().Truncate(time.Millisecond), took
}

// checkReply refuses replies that no analysis could use and that would stay in the memo for ever.
func checkReply(r llm.Reply) error {
	size := len(r.Text) + numberBytes*len(r.Embedding)
	for i, x := range r.Embedding {
		if x := float64(x); math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("number %d of the embedding is %v", i, x)
		}
	}
	if err := r.Told.Check(len(r.Tokens)); err != nil {
		return err
	}
	size += toldBytes(r.Told)
	for i, t := range r.Tokens {
		if math.IsNaN(t.LogProb) {
			return fmt.Errorf("log-probability of token %d is not a number", i)
		}
		size += len(t.Piece) + tokenBytes
	}
	if size > maxBytes {
		return fmt.Errorf("reply of %d bytes is larger than a ledger takes (%d)", size, maxBytes)
	}
	return nil
}

// tokenBytes is at least what a token takes besides its piece.
const tokenBytes = 24

// numberBytes is what a number of an embedding takes.
const numberBytes = 4

// ended reports whether err only says that ctx was cancelled: nothing that the engine did wrong.
func ended(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}

// unasked reports whether err says that the engine was not asked at all: there was no attempt.
func unasked(err error) bool {
	var u interface{ Unasked() bool }
	return errors.As(err, &u) && u.Unasked()
}

// tries are the attempts that an engine told of, by request.
type tries struct {
	mu   sync.Mutex
	list map[int][]llm.Attempt
}

func (t *tries) tell(request int, a llm.Attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.list == nil {
		t.list = make(map[int][]llm.Attempt)
	}
	t.list[request] = append(t.list[request], a)
}

func (t *tries) of(request int) []llm.Attempt {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list[request]
}

// last reports whether the error of a request is that of its last attempt, which is then told already.
func (t *tries) last(request int, err error) bool {
	list := t.of(request)
	return len(list) > 0 && errors.Is(err, list[len(list)-1].Err)
}

func clip(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), MaxErrorBytes)], "\uFFFD")
}

func keysOf(list []*question) []Key {
	keys := make([]Key, len(list))
	for i, q := range list {
		keys[i] = q.key
	}
	return keys
}

func unlanded(list []*question) []*question {
	var open []*question
	for _, q := range list {
		select {
		case <-q.flight.done:
		default:
			open = append(open, q)
		}
	}
	return open
}
