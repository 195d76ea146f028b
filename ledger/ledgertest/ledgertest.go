// Package ledgertest has the contract of [ledger.Store] as tests. Each store runs them:
//
//	func TestStore(t *testing.T) {
//		ledgertest.Run(t, ledgertest.Harness{Open: func(t *testing.T) ledger.Store { … }})
//	}
package ledgertest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// Harness opens the store under test.
type Harness struct {
	// Open returns an empty store and closes it when the test ends.
	Open func(t *testing.T) ledger.Store
	// Reopen closes s and returns a store on the same medium, closed when the test ends. Nil for a
	// store that keeps nothing.
	Reopen func(t *testing.T, s ledger.Store) ledger.Store
}

// Run tests the contract.
func Run(t *testing.T, h Harness) {
	t.Run("an empty store", h.empty)
	t.Run("what was delivered comes back", h.roundTrip)
	t.Run("any call comes back, bit for bit", h.anyCall)
	t.Run("the first reply stays", h.firstStays)
	t.Run("samples of one prompt", h.samples)
	t.Run("many keys in one lookup", h.manyKeys)
	t.Run("claims", h.claims)
	t.Run("claims run out", h.claimsRunOut)
	t.Run("attempts are no replies", h.attempts)
	t.Run("marks of finished items", h.marks)
	t.Run("keys by their first digits", h.find)
	t.Run("counts", h.stats)
	t.Run("a cancelled context", h.cancelled)
	t.Run("writers beside each other", h.concurrent)
	t.Run("kept when closed", h.reopened)
}

// Model is an identity for tests; Call is a call to it, different for each n, with tokens and ids.
var Model = llm.Identity{Engine: "scripted", Version: "1", Model: "test", Settings: map[string]string{"cpu": "any"}}

// Call returns the n-th call for tests.
func Call(n int) ledger.Call {
	r := llm.Request{Kind: llm.Generate, Prompt: llm.Chat(fmt.Sprintf("What is %d?", n), "Answer:"),
		Decoding: llm.Decoding{MaxTokens: 8, Temperature: 0.7}, Seed: math.MaxUint64 - uint64(n), Sample: n}
	c := ledger.Call{Model: Model, Request: r, Asked: time.UnixMilli(1_750_000_000_000 + int64(n)).UTC(), Took: time.Duration(n) * time.Microsecond,
		Reply: llm.Reply{Text: fmt.Sprintf(" %d", n), Finish: llm.FinishEnd, PromptIDs: []int32{1, int32(n), 151643},
			Tokens: []record.Token{{ID: 220, Piece: []byte(" "), LogProb: -0.25}, {ID: int32(n), Piece: fmt.Append(nil, n), LogProb: -1 / float64(n+3)}}}}
	c.Key = key(c)
	return c
}

func key(c ledger.Call) ledger.Key {
	k, err := ledger.KeyOf(c.Model, c.Request, c.Generation)
	if err != nil {
		panic(err)
	}
	return k
}

func deliver(t *testing.T, s ledger.Store, calls ...ledger.Call) []bool {
	t.Helper()
	fresh, err := s.Deliver(t.Context(), ledger.Delivery{Calls: calls})
	if err != nil {
		t.Fatal(err)
	}
	return fresh
}

func lookup(t *testing.T, s ledger.Store, keys ...ledger.Key) map[ledger.Key]llm.Reply {
	t.Helper()
	found, err := s.Lookup(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func stored(t *testing.T, s ledger.Store, k ledger.Key) ledger.Call {
	t.Helper()
	c, ok, err := s.Call(t.Context(), k)
	if err != nil || !ok {
		t.Fatalf("call %v: there %v, %v", k, ok, err)
	}
	return c
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got, bits); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func (h Harness) empty(t *testing.T) {
	s := h.Open(t)
	equal(t, "lookup of nothing", lookup(t, s), map[ledger.Key]llm.Reply{})
	equal(t, "lookup", lookup(t, s, Call(1).Key), map[ledger.Key]llm.Reply{})
	if _, ok, err := s.Call(t.Context(), Call(1).Key); ok || err != nil {
		t.Errorf("call is there: %v, %v", ok, err)
	}
	st, err := s.Stats(t.Context())
	if err != nil || st.Calls() != 0 || len(st.Groups) != 0 {
		t.Errorf("stats %+v, %v", st, err)
	}
	if fresh := deliver(t, s); len(fresh) != 0 {
		t.Errorf("an empty delivery has %v", fresh)
	}
}

func (h Harness) roundTrip(t *testing.T) {
	s := h.Open(t)
	score := ledger.Call{Model: Model, Asked: time.UnixMilli(5).UTC(), Generation: 2,
		Request: llm.Request{Kind: llm.Score, Prompt: llm.Prompt{Text: "2 + 2 =", NoBOS: true}, Answer: " 4"},
		Reply: llm.Reply{Finish: llm.FinishScored, Reproducible: true, PromptIDs: []int32{},
			Tokens:   []record.Token{{ID: -1, LogProb: math.Inf(-1)}, {ID: math.MaxInt32, LogProb: math.Copysign(0, -1)}},
			Observed: map[string]string{"fingerprint": "fp_1", "": "\x00\""}}}
	score.Key = key(score)
	// One emoji in four tokens whose bytes a server lost: four positions all the same (ollama#13497).
	emoji := Call(2)
	emoji.Reply.Text, emoji.Reply.Tokens = "🦩", nil
	for _, lp := range []float64{-0.0260833, -0.0000832, -0.4043496, -0.0221568} {
		emoji.Reply.Tokens = append(emoji.Reply.Tokens, record.Token{ID: -1, Piece: []byte("\ufffd"), LogProb: lp})
	}
	embed := ledger.Call{Model: Model, Asked: time.UnixMilli(6).UTC(),
		Request: llm.Request{Kind: llm.Embed, Prompt: llm.Prompt{Text: "a text"}},
		Reply: llm.Reply{Finish: llm.FinishEmbedded, Reproducible: true, PromptIDs: []int32{101, 1037, 102},
			Embedding: []float32{1. / 3, float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, -math.MaxFloat32, 0x1.fffffep-2}}}
	embed.Key = key(embed)
	calls := []ledger.Call{Call(0), Call(1), score, emoji, embed}
	equal(t, "fresh", deliver(t, s, calls...), []bool{true, true, true, true, true})
	for _, c := range calls {
		equal(t, "call", stored(t, s, c.Key), c)
		equal(t, "reply", lookup(t, s, c.Key)[c.Key], c.Reply)
	}
}

func (h Harness) anyCall(t *testing.T) {
	s := h.Open(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		c := anyCall().Draw(rt, "call")
		n++ // no two draws are one call
		c.Generation = n
		c.Key = key(c)
		if _, err := s.Deliver(t.Context(), ledger.Delivery{Calls: []ledger.Call{c}}); err != nil {
			rt.Fatal(err)
		}
		got, ok, err := s.Call(t.Context(), c.Key)
		if err != nil || !ok {
			rt.Fatalf("there %v, %v", ok, err)
		}
		if key(got) != c.Key {
			rt.Errorf("the key of what was stored is another: %v", key(got))
		}
		if d := cmp.Diff(c, got, bits); d != "" {
			rt.Error(d)
		}
	})
}

// bits compares numbers by their bits: -0 is not 0.
var bits = cmp.Options{
	cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }),
	cmp.Comparer(func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }),
}

// anyCall draws calls with every field that a request and a reply have: text of all scripts, pieces
// that are no character, all float64 but NaN.
func anyCall() *rapid.Generator[ledger.Call] {
	return rapid.Custom(func(t *rapid.T) ledger.Call {
		text := rapid.OneOf(rapid.String(), rapid.Just(strings.Repeat("long text ", 5000)), rapid.Just(`\ufffd`), rapid.Just("\ufffd"))
		c := ledger.Call{Model: Model, Asked: time.UnixMilli(rapid.Int64Range(0, 1<<42).Draw(t, "asked")).UTC(),
			Took: time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "took")) * time.Microsecond}
		c.Request = llm.Request{Kind: llm.Generate, Seed: rapid.Uint64().Draw(t, "seed"), Sample: rapid.IntRange(0, 1<<20).Draw(t, "sample"),
			Decoding: llm.Decoding{MaxTokens: rapid.IntRange(1, 9999).Draw(t, "max"), Temperature: rapid.Float64Range(0.01, 2).Draw(t, "temperature"),
				TopK: rapid.IntRange(0, 9).Draw(t, "top-k"), Stop: rapid.SliceOfN(text, 1, 3).Draw(t, "stop")}}
		if rapid.Bool().Draw(t, "score") {
			c.Request = llm.Request{Kind: llm.Score, Answer: text.Draw(t, "answer")}
		}
		if rapid.Bool().Draw(t, "embed") {
			c.Request = llm.Request{Kind: llm.Embed}
		}
		if rapid.Bool().Draw(t, "chat") {
			c.Request.Prompt = llm.Chat(text.Draw(t, "user"), text.Draw(t, "opening"))
		} else {
			c.Request.Prompt = llm.Prompt{Text: text.Draw(t, "text"), NoBOS: rapid.Bool().Draw(t, "no bos")}
		}
		c.Reply = anyReply(t, text)
		if count := rapid.Int64Range(0, 1<<40); rapid.Bool().Draw(t, "counted") {
			c.Used = llm.Usage{Prompt: count.Draw(t, "prompt tokens"), Cached: count.Draw(t, "cached"), Generated: count.Draw(t, "generated")}
		}
		return c
	})
}

func anyReply(t *rapid.T, text *rapid.Generator[string]) llm.Reply {
	number := rapid.Custom(func(t *rapid.T) float64 {
		x := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if math.IsNaN(x) {
			return math.Inf(-1)
		}
		return x
	})
	r := llm.Reply{Finish: rapid.SampledFrom([]llm.Finish{llm.FinishEnd, llm.FinishStop, llm.FinishLength, llm.FinishScored, llm.FinishEmbedded, llm.FinishRelated}).Draw(t, "finish"),
		Reproducible: rapid.Bool().Draw(t, "reproducible")}
	for range rapid.IntRange(0, 20).Draw(t, "tokens") {
		token := record.Token{ID: rapid.Int32().Draw(t, "id"), LogProb: number.Draw(t, "log-probability")}
		if piece := rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, "piece"); len(piece) > 0 {
			token.Piece = piece
		}
		r.Tokens = append(r.Tokens, token)
	}
	if numbers := rapid.SliceOfN(rapid.Float32(), 0, 9).Draw(t, "embedding"); len(numbers) > 0 {
		r.Embedding = numbers
	}
	var joined string
	for _, token := range r.Tokens {
		joined += string(token.Piece)
	}
	switch rapid.IntRange(0, 3).Draw(t, "kind of text") {
	case 0:
		r.Text = text.Draw(t, "reply")
	case 1:
		r.Text = joined
	case 2:
		r.Text = joined[:rapid.IntRange(0, len(joined)).Draw(t, "cut")]
	}
	if rapid.Bool().Draw(t, "ids known") {
		r.PromptIDs = append([]int32{}, rapid.SliceOf(rapid.Int32()).Draw(t, "ids")...)
	}
	if said := rapid.MapOfN(rapid.String(), rapid.String(), 0, 2).Draw(t, "observed"); len(said) > 0 {
		r.Observed = said
	}
	return r
}

func (h Harness) firstStays(t *testing.T) {
	s := h.Open(t)
	first, second := Call(1), Call(1)
	second.Reply.Text = "another"
	equal(t, "first", deliver(t, s, first), []bool{true})
	equal(t, "second", deliver(t, s, Call(2), second, Call(3)), []bool{true, false, true})
	equal(t, "what stays", stored(t, s, first.Key), first)
	twice := Call(4)
	equal(t, "twice in one delivery", deliver(t, s, twice, twice), []bool{true, false})
}

// samples has replies in the order of their sample numbers, never one for all (inspect_ai#2580).
func (h Harness) samples(t *testing.T) {
	s := h.Open(t)
	var calls []ledger.Call
	for n := range 30 {
		c := Call(7)
		c.Request.Sample = n
		c.Reply.Text = fmt.Sprint("reply ", n)
		// An engine that makes other tokens of the same prompt is not believed to have made the first.
		c.Reply.PromptIDs = []int32{int32(n / 20)}
		c.Key = key(c)
		calls = append(calls, c)
	}
	deliver(t, s, calls...)
	for _, c := range calls {
		equal(t, "call", stored(t, s, c.Key), c)
	}
	st, err := s.Stats(t.Context())
	if err != nil || st.Prompts != 1 || st.Calls() != 30 {
		t.Errorf("%d prompts, %d calls, %v; want 1 and 30", st.Prompts, st.Calls(), err)
	}
}

func (h Harness) manyKeys(t *testing.T) {
	s := h.Open(t)
	var calls []ledger.Call
	var keys []ledger.Key
	for n := range 700 {
		calls = append(calls, Call(n))
		keys = append(keys, Call(n).Key, Call(n+10_000).Key)
	}
	deliver(t, s, calls...)
	found := lookup(t, s, keys...)
	if len(found) != len(calls) {
		t.Errorf("found %d of %d", len(found), len(calls))
	}
	for _, c := range calls {
		if found[c.Key].Text != c.Reply.Text {
			t.Fatalf("reply %q, want %q", found[c.Key].Text, c.Reply.Text)
		}
	}
}

func (h Harness) claim(t *testing.T, s ledger.Store, owner string, keys ...ledger.Key) []ledger.ClaimState {
	t.Helper()
	states, err := s.Claim(t.Context(), owner, time.Hour, keys)
	if err != nil {
		t.Fatal(err)
	}
	return states
}

func (h Harness) claims(t *testing.T) {
	const granted, held, there = ledger.ClaimGranted, ledger.ClaimHeld, ledger.ClaimStored
	s := h.Open(t)
	a, b, c := Call(1), Call(2), Call(3)
	deliver(t, s, c)
	equal(t, "first", h.claim(t, s, "one", a.Key, c.Key), []ledger.ClaimState{granted, there})
	equal(t, "other", h.claim(t, s, "two", a.Key, b.Key), []ledger.ClaimState{held, granted})
	equal(t, "again", h.claim(t, s, "one", a.Key, b.Key), []ledger.ClaimState{granted, held})
	if _, err := s.Deliver(t.Context(), ledger.Delivery{Owner: "two", Release: []ledger.Key{a.Key}}); err != nil {
		t.Fatal(err)
	}
	equal(t, "not theirs to release", h.claim(t, s, "two", a.Key), []ledger.ClaimState{held})
	if _, err := s.Deliver(t.Context(), ledger.Delivery{Owner: "one", Calls: []ledger.Call{a}, Release: []ledger.Key{a.Key}}); err != nil {
		t.Fatal(err)
	}
	equal(t, "stored", h.claim(t, s, "two", a.Key), []ledger.ClaimState{there})
	if _, err := s.Deliver(t.Context(), ledger.Delivery{Owner: "two", Release: []ledger.Key{b.Key}}); err != nil {
		t.Fatal(err)
	}
	equal(t, "released without a reply", h.claim(t, s, "one", b.Key), []ledger.ClaimState{granted})
}

func (h Harness) claimsRunOut(t *testing.T) {
	s := h.Open(t)
	k := Call(1).Key
	if _, err := s.Claim(t.Context(), "one", -time.Second, []ledger.Key{k}); err != nil {
		t.Fatal(err)
	}
	equal(t, "after its lease", h.claim(t, s, "two", k), []ledger.ClaimState{ledger.ClaimGranted})
	equal(t, "lost to another", h.claim(t, s, "one", k), []ledger.ClaimState{ledger.ClaimHeld})
}

func (h Harness) attempts(t *testing.T) {
	s := h.Open(t)
	c := Call(1)
	var want []ledger.Attempt
	for n := range 3 {
		a := ledger.Attempt{Key: c.Key, Kind: llm.Generate, Model: Model, Asked: time.UnixMilli(int64(n)).UTC(),
			Took: time.Second, Status: 500 + n, Error: fmt.Sprintf("no connection, try %d\x1b[31m", n)}
		want = append(want, a)
		if _, err := s.Deliver(t.Context(), ledger.Delivery{Attempts: []ledger.Attempt{a}}); err != nil {
			t.Fatal(err)
		}
	}
	if found := lookup(t, s, c.Key); len(found) != 0 {
		t.Errorf("an attempt answered: %v", found)
	}
	got, err := s.Attempts(t.Context(), c.Key)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "attempts", got, want)
	equal(t, "a reply after them", deliver(t, s, c), []bool{true})
	if none, err := s.Attempts(t.Context(), Call(2).Key); err != nil || len(none) != 0 {
		t.Errorf("attempts of another call: %v, %v", none, err)
	}
}

func (h Harness) marks(t *testing.T) {
	s := h.Open(t)
	marks := func(scope ledger.Digest) map[ledger.Digest]ledger.Done {
		t.Helper()
		found, err := s.Done(t.Context(), scope)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	mark := func(list ...ledger.Done) {
		t.Helper()
		if _, err := s.Deliver(t.Context(), ledger.Delivery{Done: list}); err != nil {
			t.Fatal(err)
		}
	}
	one, other := ledger.Digest{1}, ledger.Digest{2}
	if found := marks(one); len(found) != 0 {
		t.Errorf("marks of nothing: %v", found)
	}
	a := ledger.Done{Scope: one, Item: ledger.Digest{0xff}, Calls: ledger.Digest{3}, Complete: true}
	b := ledger.Done{Scope: other, Item: a.Item, Calls: ledger.Digest{4}}
	c := ledger.Done{Scope: one, Item: ledger.Digest{}, Calls: ledger.Digest{5}}
	mark(a, b, c)
	equal(t, "marks", marks(one), map[ledger.Digest]ledger.Done{a.Item: a, c.Item: c})
	equal(t, "of another scope", marks(other), map[ledger.Digest]ledger.Done{b.Item: b})
	a.Calls, a.Complete = ledger.Digest{6}, false
	mark(a)
	equal(t, "the latest mark counts", marks(one), map[ledger.Digest]ledger.Done{a.Item: a, c.Item: c})
	if h.Reopen != nil {
		s = h.Reopen(t, s)
		equal(t, "kept", marks(one), map[ledger.Digest]ledger.Done{a.Item: a, c.Item: c})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Done(ctx, one); err == nil {
		t.Error("marks were read after the context had ended")
	}
}

func (h Harness) find(t *testing.T) {
	s := h.Open(t)
	c, lone := Call(1), Call(2)
	deliver(t, s, c)
	if _, err := s.Deliver(t.Context(), ledger.Delivery{Attempts: []ledger.Attempt{{Key: lone.Key, Kind: llm.Score, Model: Model, Asked: time.UnixMilli(0).UTC()}}}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		prefix string
		want   []ledger.Key
	}{
		{c.Key.String(), []ledger.Key{c.Key}},
		{c.Key.String()[:7], []ledger.Key{c.Key}},
		{lone.Key.String()[:9], []ledger.Key{lone.Key}},
		{strings.Repeat("f", 64), nil},
		{c.Key.String() + "0", nil},
		{"no digits", nil},
		{"%", nil},
	} {
		got, err := s.Find(t.Context(), tc.prefix, 10)
		if err != nil {
			t.Errorf("%q: %v", tc.prefix, err)
		}
		equal(t, tc.prefix, got, tc.want)
	}
	all, err := s.Find(t.Context(), "", 10)
	if err != nil || len(all) != 2 || all[0].String() > all[1].String() {
		t.Errorf("all keys, sorted: %v, %v", all, err)
	}
	if one, err := s.Find(t.Context(), "", 1); err != nil || len(one) != 1 {
		t.Errorf("at most one: %v, %v", one, err)
	}
}

func (h Harness) stats(t *testing.T) {
	s := h.Open(t)
	other := llm.Identity{Engine: "scripted", Model: "another"}
	var calls []ledger.Call
	for n := range 5 {
		c := Call(n)
		c.Reply.Observed = map[string]string{"fingerprint": fmt.Sprint(n % 2)}
		if n > 0 {
			c.Used = llm.Usage{Prompt: int64(n), Cached: 1, Generated: 10}
		}
		if n == 4 {
			c.Model, c.Reply.Observed = other, nil
			c.Request = llm.Request{Kind: llm.Score, Prompt: Call(0).Request.Prompt, Answer: "x"}
		}
		c.Key = key(c)
		calls = append(calls, c)
	}
	_, err := s.Deliver(t.Context(), ledger.Delivery{Calls: calls,
		Attempts: []ledger.Attempt{{Key: Call(9).Key, Kind: llm.Generate, Model: other, Asked: time.UnixMilli(0).UTC(), Error: "refused"}}})
	if err != nil {
		t.Fatal(err)
	}
	h.claim(t, s, "one", Call(10).Key)
	got, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got.Bytes = 0
	equal(t, "stats", got, ledger.Stats{Prompts: 4, Claims: 1, Groups: []ledger.Group{
		{Model: other, Kind: llm.Generate, Attempts: 1},
		{Model: other, Kind: llm.Score, Calls: 1, Used: llm.Usage{Prompt: 4, Cached: 1, Generated: 10}, First: calls[4].Asked, Last: calls[4].Asked},
		{Model: Model, Kind: llm.Generate, Calls: 4, Used: llm.Usage{Prompt: 6, Cached: 3, Generated: 30}, Uncounted: 1, First: calls[0].Asked, Last: calls[3].Asked,
			Observed: []map[string]string{{"fingerprint": "0"}, {"fingerprint": "1"}}},
	}})
}

func (h Harness) cancelled(t *testing.T) {
	s := h.Open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Lookup(ctx, []ledger.Key{Call(1).Key}); err == nil {
		t.Error("lookup went on")
	}
	if _, err := s.Claim(ctx, "one", time.Hour, []ledger.Key{Call(1).Key}); err == nil {
		t.Error("claim went on")
	}
	if _, err := s.Deliver(ctx, ledger.Delivery{Calls: []ledger.Call{Call(1)}}); err == nil {
		t.Error("delivery went on")
	}
	if found := lookup(t, s, Call(1).Key); len(found) != 0 {
		t.Error("a refused delivery is there")
	}
}

func (h Harness) concurrent(t *testing.T) {
	s := h.Open(t)
	const writers, each = 8, 40
	var wg sync.WaitGroup
	var mu sync.Mutex
	firsts := 0
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				// Each call comes from two writers; one of them is first.
				c := Call(n*writers + w/2)
				fresh, err := s.Deliver(context.Background(), ledger.Delivery{Calls: []ledger.Call{c}})
				if err != nil {
					t.Error(err)
					return
				}
				if fresh[0] {
					mu.Lock()
					firsts++
					mu.Unlock()
				}
				if found, err := s.Lookup(context.Background(), []ledger.Key{c.Key}); err != nil || len(found) != 1 {
					t.Errorf("call %d is not there after it was announced: %v", n, err)
				}
			}
		})
	}
	wg.Wait()
	if firsts != each*writers/2 {
		t.Errorf("%d calls were first, want %d", firsts, each*writers/2)
	}
}

func (h Harness) reopened(t *testing.T) {
	if h.Reopen == nil {
		t.Skip("keeps nothing")
	}
	s := h.Open(t)
	deliver(t, s, Call(1), Call(2))
	s = h.Reopen(t, s)
	equal(t, "call", stored(t, s, Call(2).Key), Call(2))
	equal(t, "first stays", deliver(t, s, Call(1), Call(3)), []bool{false, true})
	s = h.Reopen(t, s)
	equal(t, "call", stored(t, s, Call(3).Key), Call(3))
}
