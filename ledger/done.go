package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"sync"

	"github.com/credence-lab/credence/llm"
)

// Digest is the first half of a SHA-256.
type Digest [sha256.Size / 2]byte

// String returns the digest in 32 lower-case hex digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// DigestOf returns the digest of v in the JSON form that keys are made of, see [KeyOf].
func DigestOf(v any) (Digest, error) {
	declared, err := declare(v)
	if err != nil {
		return Digest{}, err
	}
	sum := sha256.Sum256(declared)
	return Digest(sum[:len(Digest{})]), nil
}

// Done marks an item as finished: all that was asked of it is in the ledger, so that whoever resumes can ask
// for the others first. A mark answers nothing. What the item gave is read from its calls, which a wrong mark
// cannot change: it only puts them into another order.
type Done struct {
	// Scope is the digest of all that decides what is asked, besides the item; Item is that of the item.
	Scope, Item Digest
	// Calls is the digest of the keys of the item's calls, in order; see [Item.Digest].
	Calls Digest
	// Complete is for whoever marks: no value of the item was missing.
	Complete bool
}

// Done returns the marks of a scope, by item.
func (l *Ledger) Done(ctx context.Context, scope Digest) (map[Digest]Done, error) {
	return l.store.Done(ctx, scope)
}

// MarkDone marks an item as finished, in place of an earlier mark. Marks are written some at a time: what a
// killed process had marked last is looked up once more, and no call is lost by it. [Ledger.FlushDone] writes
// what has gathered.
func (l *Ledger) MarkDone(ctx context.Context, d Done) error {
	if full := l.marks.add(d); full != nil {
		return l.deliverDone(ctx, full)
	}
	return nil
}

// FlushDone writes the marks that have gathered, also if ctx has ended.
func (l *Ledger) FlushDone(ctx context.Context) error {
	return l.deliverDone(context.WithoutCancel(ctx), l.marks.take())
}

func (l *Ledger) deliverDone(ctx context.Context, list []Done) error {
	if len(list) == 0 {
		return nil
	}
	_, err := l.store.Deliver(ctx, Delivery{Owner: l.owner, Done: list})
	return err
}

// gatheredMarks bounds how many items a resumed run looks up again after a kill.
const gatheredMarks = 64

// marks gathers them.
type marks struct {
	mu   sync.Mutex
	list []Done
}

// add returns all that has gathered when that is enough to be written.
func (m *marks) add(d Done) []Done {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.list = append(m.list, d); len(m.list) < gatheredMarks {
		return nil
	}
	full := m.list
	m.list = nil
	return full
}

func (m *marks) take() []Done {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.list
	m.list = nil
	return list
}

// Item asks through an [Asker] for the calls of one item and keeps their digest. It is for one goroutine.
type Item struct {
	ask   *Asker
	calls hash.Hash
	lacks bool
}

// Item returns an asker for one item.
func (a *Asker) Item() *Item { return &Item{ask: a, calls: sha256.New()} }

// Do is [Asker.Do].
func (i *Item) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	keys := make([]Key, len(reqs))
	results := i.ask.do(ctx, reqs, keys)
	for n, r := range results {
		_, _ = i.calls.Write(keys[n][:])
		i.lacks = i.lacks || r.Err != nil
	}
	return results
}

// Digest is that of the keys of all calls so far. ok is false if one of them brought no reply: the ledger
// does not have it then, and the item cannot be marked as done.
func (i *Item) Digest() (d Digest, ok bool) {
	return Digest(i.calls.Sum(nil)[:len(d)]), !i.lacks
}

// Recall returns an asker that answers from the ledger alone, as model would have been asked. A call that is
// not there has [ErrNotFound] for a result, and nothing is written.
func (l *Ledger) Recall(model llm.Identity, can llm.Capabilities) *Asker {
	return l.Peek(forgetful{model, can, l.path})
}

// forgetful is an engine that answers nothing.
type forgetful struct {
	model llm.Identity
	can   llm.Capabilities
	path  string
}

func (f forgetful) Identity() llm.Identity         { return f.model }
func (f forgetful) Capabilities() llm.Capabilities { return f.can }
func (f forgetful) Close() error                   { return nil }

func (f forgetful) Do(_ context.Context, reqs []llm.Request) []llm.Result {
	results := make([]llm.Result, len(reqs))
	for i := range results {
		results[i].Err = &Error{Path: f.path, Err: ErrNotFound}
	}
	return results
}
