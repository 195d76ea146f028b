package collect

import (
	"context"
	"errors"

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

// All collects every item, as [Each] does, and returns the records in the order of items.
func (s *Spec) All(ctx context.Context, ask Asker, items []record.Item, o Pace) (Records, error) {
	done := count[Records](o)
	parts, err := Each(ctx, items, o.Open, func(ctx context.Context, item record.Item) (Records, error) {
		return s.Item(ctx, ask, item)
	}, func(i int, got Records) {
		if o.Each != nil {
			o.Each(got)
		}
		done(i, got)
	})
	var all Records
	all.Add(parts...)
	return all, err
}

// count tells p how many parts are done.
func count[R any](p Pace) func(int, R) {
	done := 0
	return func(int, R) {
		done++
		if p.Done != nil {
			p.Done(done)
		}
	}
}

// Each does one thing for every part of list, as many at a time as open says (at least 1), and returns what
// they gave in the order of list, whatever order they came in. after is told of each part that is done, with
// its place in list, and never concurrently; it may be nil.
//
// An error that is of one request alone (see [Lost]) leaves its part out, and the others are asked all the same: at
// the end the error is a [*Lost], which names each. At the first error of another kind it begins no other part,
// waits for those that are under way, and returns the error. What was asked until then is in the ledger.
func Each[T, R any](ctx context.Context, list []T, open int, do func(context.Context, T) (R, error), after func(i int, gave R)) ([]R, error) {
	parts := make([]R, len(list))
	finished := make(chan int)
	var lost Lost
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, open) + 1) // one more for the counter
	group.Go(func() error {
		for range list {
			select {
			case i := <-finished:
				if after != nil && i >= 0 {
					after(i, parts[i])
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
				switch own, room := lost.takes(i, err); {
				case !own:
					return err
				case !room:
					return errTooMany
				}
			}
			parts[i] = part
			if err != nil {
				i = -1
			}
			select {
			case finished <- i:
			case <-ctx.Done():
			}
			return ctx.Err()
		})
	}
	err := group.Wait()
	if len(lost.errs) > 0 && (err == nil || errors.Is(err, errTooMany)) {
		return nil, lost.sorted()
	}
	if err != nil {
		return nil, err
	}
	return parts, nil
}
