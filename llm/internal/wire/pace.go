package wire

import (
	"context"

	"golang.org/x/time/rate"
)

// pace spreads requests and their tokens over the minutes.
type pace struct{ requests, tokens *rate.Limiter }

func newPace(requests, tokens int) pace {
	return pace{perMinute(requests), perMinute(tokens)}
}

// perMinute allows n a minute, a sixth of them at once; nil if n is 0.
func perMinute(n int) *rate.Limiter {
	if n == 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(float64(n)/60), max(1, n/6))
}

// wait returns when one request of so many tokens may be sent. One of more tokens than may go at once
// waits until all of those may.
func (p pace) wait(ctx context.Context, tokens int) error {
	if err := take(ctx, p.requests, 1); err != nil {
		return err
	}
	return take(ctx, p.tokens, tokens)
}

func take(ctx context.Context, from *rate.Limiter, n int) error {
	for from != nil && n > 0 {
		part := min(n, from.Burst())
		if err := from.WaitN(ctx, part); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return context.DeadlineExceeded // it sees that the wait would outlast the deadline
		}
		n -= part
	}
	return nil
}
