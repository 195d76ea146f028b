package wire

import "golang.org/x/sync/errgroup"

// maxWaiting bounds the batches of one call that wait for their turn.
const maxWaiting = 64

// Batches asks for n things, size at a time. ask is about the things from..to, and says what went wrong with
// them as a whole; failed is told of each that has no answer. Where a server refuses several, one of them may
// be the cause: they are then asked for one by one.
func Batches(n, size int, ask func(from, to int) error, failed func(i int, err error)) {
	var group errgroup.Group
	group.SetLimit(maxWaiting)
	for from := 0; from < n; from += size {
		to := min(from+size, n)
		group.Go(func() error {
			err := ask(from, to)
			for i := from; err != nil && i < to; i++ {
				one := err
				if to-from > 1 && refused(err) {
					one = ask(i, i+1)
				}
				if one != nil {
					failed(i, one)
				}
			}
			return nil
		})
	}
	_ = group.Wait() // no part fails the others
}

func refused(err error) bool {
	failed, ok := AsError(err)
	return ok && failed.Kind == Refused
}
