package collect

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/credence-lab/credence/record"
)

// Pace of collecting many items.
type Pace struct {
	// Open is how many items are asked at the same time; at least 1.
	Open int
	// Done is called after each item with the number done so far, never concurrently. May be nil.
	Done func(done int)
	// Each is called before Done with what one item gave, never concurrently. May be nil.
	Each func(Records)
}

// All collects every item and returns the records in the order of items, whatever order they came in.
// At the first error it stops opening items, waits for those that are open, and returns the error:
// what was asked until then is in the ledger.
func (s *Spec) All(ctx context.Context, ask Asker, items []record.Item, o Pace) (Records, error) {
	return each(ctx, items, o, func(ctx context.Context, item record.Item) (Records, error) {
		return s.Item(ctx, ask, item)
	})
}

// AllSupplied asks for the probability of all given answers, as [Spec.All] does for answers.
func (s *Spec) AllSupplied(ctx context.Context, ask Asker, given []Given, o Pace) (Records, error) {
	return each(ctx, given, o, func(ctx context.Context, g Given) (Records, error) {
		return s.Supplied(ctx, ask, g)
	})
}

// each does one thing for every part, o.Open at a time.
func each[T any](ctx context.Context, list []T, o Pace, do func(context.Context, T) (Records, error)) (Records, error) {
	parts := make([]Records, len(list))
	finished := make(chan int)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, o.Open) + 1) // one more for the counter
	group.Go(func() error {
		for done := 1; done <= len(list); done++ {
			select {
			case i := <-finished:
				if o.Each != nil {
					o.Each(parts[i])
				}
				if o.Done != nil {
					o.Done(done)
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for i, one := range list {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			part, err := do(ctx, one)
			if err != nil {
				return err
			}
			parts[i] = part
			select {
			case finished <- i:
			case <-ctx.Done():
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return Records{}, err
	}
	var all Records
	all.Add(parts...)
	return all, nil
}
