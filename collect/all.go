package collect

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/credence-lab/credence/record"
)

// Options of collecting many items.
type Options struct {
	// Open is how many items are asked at the same time; at least 1.
	Open int
	// Done is called after each item with the number done so far, never concurrently. May be nil.
	Done func(done int)
}

// All collects every item and returns the records in the order of items, whatever order they came in.
// At the first error it stops opening items, waits for those that are open, and returns the error:
// what was asked until then is in the ledger.
func (s *Spec) All(ctx context.Context, ask Asker, items []record.Item, o Options) (Records, error) {
	parts := make([]Records, len(items))
	finished := make(chan struct{})
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, o.Open) + 1) // one more for the counter
	group.Go(func() error {
		for done := 1; done <= len(items); done++ {
			select {
			case <-finished:
				if o.Done != nil {
					o.Done(done)
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for i, item := range items {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			part, err := s.Item(ctx, ask, item)
			if err != nil {
				return err
			}
			parts[i] = part
			select {
			case finished <- struct{}{}:
			case <-ctx.Done():
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return Records{}, err
	}
	var all Records
	for _, part := range parts {
		all.add(part)
	}
	return all, nil
}
