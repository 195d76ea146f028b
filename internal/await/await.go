// Package await lets an interruption end work that cannot be called off, such as reading from a
// terminal or opening a pipe that nobody writes to.
package await

import "context"

// Result returns what work returns, or the error of ctx if that ends first. Work then goes on by
// itself until it ends or the process does, and what it returns is lost: let it hold nothing that
// must be given back in order.
func Result[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := work()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}
