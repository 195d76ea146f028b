package study

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/record"
)

// work is what one pass asks of one setting, item by item.
//
// What an item gave in this run is kept. Of an item that an earlier run has finished, the ledger's mark says so and no
// more: it is passed over, and recalled when something needs what it gave, at the latest for the analysis. So a resumed
// run asks first for what is not done, and a mark that is wrong changes the order of asking and no value.
type work[T any] struct {
	items []record.Item
	// item asks for everything of item i.
	item func(ctx context.Context, ask collect.Asker, i int) (T, error)
	// complete reports whether no value is missing.
	complete func(T) bool

	// marks is where finished items are marked; nil for a plan, which asks for all of them.
	marks  *ledger.Ledger
	recall *ledger.Asker
	scope  ledger.Digest
	names  []ledger.Digest // of the items
	done   map[ledger.Digest]ledger.Done

	mu   sync.Mutex
	gave []*T
}

// errWrongMark: the ledger says that an item is done, and lacks one of its calls.
var errWrongMark = errors.New("the ledger lacks calls of an item that it says is done")

// begin finds out what earlier runs have finished. A work that has begun goes on where it was.
func (w *work[T]) begin(ctx context.Context, l *ledger.Ledger, scope ledger.Digest, recall *ledger.Asker) (err error) {
	if w.marks != nil {
		return nil
	}
	w.marks, w.scope, w.recall = l, scope, recall
	w.names = make([]ledger.Digest, len(w.items))
	for i, item := range w.items {
		if w.names[i], err = ledger.DigestOf(item); err != nil {
			return fmt.Errorf("item %s: %w", item.ID, err)
		}
	}
	w.done, err = l.Done(ctx, scope)
	return err
}

// ask asks for every item that is not done. after is told how many are done and how many of those lack a value:
// once before the first, then after each.
func (w *work[T]) ask(ctx context.Context, ask *ledger.Asker, open int, after func(done, lacking int)) error {
	if w.gave == nil {
		w.gave = make([]*T, len(w.items))
	}
	var left []int
	done, lacking := 0, 0
	for i := range w.items {
		finished, complete := w.finished(i)
		if !finished {
			left = append(left, i)
			continue
		}
		done++
		if !complete {
			lacking++
		}
	}
	after(done, lacking)
	_, err := collect.Each(ctx, left, open, func(ctx context.Context, i int) (*T, error) {
		return w.do(ctx, ask, i)
	}, func(_ int, got *T) {
		done++
		if !w.complete(*got) {
			lacking++
		}
		after(done, lacking)
	})
	return err
}

func (w *work[T]) finished(i int) (finished, complete bool) {
	if got := w.gave[i]; got != nil {
		return true, w.complete(*got)
	}
	if w.marks == nil {
		return false, false
	}
	mark, ok := w.done[w.names[i]]
	return ok, mark.Complete
}

// do asks for one item, keeps what it gave and marks it as done.
func (w *work[T]) do(ctx context.Context, ask *ledger.Asker, i int) (*T, error) {
	calls := ask.Item()
	got, err := w.item(ctx, calls, i)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.gave[i] = &got
	var before ledger.Done
	if w.marks != nil {
		before = w.done[w.names[i]]
	}
	w.mu.Unlock()
	// An item of which a call brought no reply is asked again by the next run.
	if digest, ok := calls.Digest(); ok && w.marks != nil {
		mark := ledger.Done{Scope: w.scope, Item: w.names[i], Calls: digest, Complete: w.complete(got)}
		if mark != before {
			return &got, w.marks.MarkDone(ctx, mark)
		}
	}
	return &got, nil
}

// get returns what item i gave, recalled from the ledger where an earlier run asked for it. If it is not there, no
// mark is believed any more, so that every item is asked for; the ledger answers what it can.
func (w *work[T]) get(ctx context.Context, i int) (*T, error) {
	w.mu.Lock()
	got := w.gave[i]
	w.mu.Unlock()
	if got != nil {
		return got, nil
	}
	got, err := w.do(ctx, w.recall, i)
	if errors.Is(err, ledger.ErrNotFound) {
		w.mu.Lock()
		w.done = nil
		w.mu.Unlock()
		return nil, errWrongMark
	}
	return got, err
}

// recallAll gets what every item gave. after is told how many are there, if any has to be recalled.
func (w *work[T]) recallAll(ctx context.Context, after func(done, total int)) error {
	var left []int
	for i, got := range w.gave {
		if got == nil {
			left = append(left, i)
		}
	}
	if len(left) == 0 {
		return nil
	}
	there := len(w.items) - len(left)
	after(there, len(w.items))
	_, err := collect.Each(ctx, left, openItems, w.get, func(int, *T) {
		there++
		after(there, len(w.items))
	})
	return err
}

// take hands over what the items gave, in their order.
func (w *work[T]) take() []*T {
	list := w.gave
	w.gave = nil
	return list
}
