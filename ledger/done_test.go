package ledger_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
)

// The digest of an item tells its calls: which, and in which order. What brought no reply cannot be marked.
func TestDigestOfAnItem(t *testing.T) {
	t.Parallel()
	a := ledger.InMemory().Through(llmtest.NewScripted(nil, llmtest.FailWhere(func(r llm.Request) bool { return r.Sample == 9 }, errLine)))
	digest := func(batches ...[]llm.Request) ledger.Digest {
		t.Helper()
		item := a.Item()
		for _, reqs := range batches {
			item.Do(t.Context(), reqs)
		}
		d, ok := item.Digest()
		if !ok {
			t.Errorf("%v lacks a reply", batches)
		}
		return d
	}
	asked := digest([]llm.Request{question, forced}, []llm.Request{sampled})
	if again := digest([]llm.Request{question}, []llm.Request{forced, sampled}); again != asked {
		t.Error("the same calls in other batches have another digest")
	}
	for name, other := range map[string]ledger.Digest{
		"nothing": digest(), "fewer": digest([]llm.Request{question, forced}), "another order": digest([]llm.Request{forced, question, sampled}),
		"another sample": digest([]llm.Request{question, forced, with(sampled, func(r *llm.Request) { r.Sample++ })}),
	} {
		if other == asked {
			t.Errorf("%s has the digest of the whole", name)
		}
	}
	failed := a.Item()
	failed.Do(t.Context(), []llm.Request{question, with(sampled, func(r *llm.Request) { r.Sample = 9 })})
	if _, ok := failed.Digest(); ok {
		t.Error("an item with a failed call can be marked")
	}
}

// Marks are there for the next process, also those of a run that was cancelled; see TestKilledProcessLosesNothing
// for one that was killed.
func TestMarksAreKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, err := ledger.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	scope, err := ledger.DigestOf("a scope")
	if err != nil {
		t.Fatal(err)
	}
	want := map[ledger.Digest]ledger.Done{}
	for n := range 150 {
		d := ledger.Done{Scope: scope, Item: ledger.Digest{byte(n)}, Calls: ledger.Digest{1}, Complete: n%2 == 0}
		want[d.Item] = d
		if err := l.MarkDone(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	view, err := ledger.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	got, err := view.Done(t.Context(), scope)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
}

// What is recalled is what the ledger has; the rest is said to be missing, and nothing is written.
func TestRecall(t *testing.T) {
	t.Parallel()
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	engine := llmtest.NewScripted(nil)
	asked := l.Through(engine).Do(t.Context(), []llm.Request{question})
	before, _ := l.Stats(t.Context())
	got := l.Recall(engine.Identity(), engine.Capabilities()).Do(t.Context(), []llm.Request{question, sampled})
	if d := cmp.Diff(asked[0], got[0]); d != "" || !errors.Is(got[1].Err, ledger.ErrNotFound) {
		t.Errorf("%v %s", got[1].Err, d)
	}
	other := engine.Identity()
	other.Model = "another"
	if got := l.Recall(other, engine.Capabilities()).Do(t.Context(), []llm.Request{question}); !errors.Is(got[0].Err, ledger.ErrNotFound) {
		t.Errorf("another model: %+v", got)
	}
	if after, _ := l.Stats(t.Context()); cmp.Diff(before, after) != "" || len(engine.Calls()) != 1 {
		t.Errorf("recalling left something: %+v, then %+v", before, after)
	}
}
