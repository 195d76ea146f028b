package wire

import (
	"context"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// pace spreads requests and their tokens over the minutes.
type pace struct{ requests, tokens perMinute }

// perMinute allows so many a minute, a sixth of them at once; until it is set it allows any.
type perMinute struct{ rate atomic.Pointer[rate.Limiter] }

func (p *perMinute) set(n int) {
	p.rate.Store(rate.NewLimiter(rate.Limit(float64(n)/60), max(1, n/6)))
}

// wait returns when one request of so many tokens may be sent. One of more tokens than may go at once
// waits until all of those may.
func (p *pace) wait(ctx context.Context, tokens int) error {
	if err := p.requests.take(ctx, 1); err != nil {
		return err
	}
	return p.tokens.take(ctx, tokens)
}

func (p *perMinute) take(ctx context.Context, n int) error {
	from := p.rate.Load()
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
