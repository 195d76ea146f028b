package ledger

import (
	"context"
	"sync"
	"time"
)

// hold renews the claims on keys until stop is called. A renewal that fails is not an error: at
// worst the claim runs out, another process asks too, and the reply that is stored first counts.
func (l *Ledger) hold(ctx context.Context, keys []Key) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(l.lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_, _ = l.store.Claim(ctx, l.owner, l.lease, keys)
			}
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// pause is the wait between two looks at a claim that another process holds: short at first, since
// most calls are, then longer.
type pause struct{ next time.Duration }

const longestPause = 500 * time.Millisecond

func newPause() *pause { return &pause{next: 10 * time.Millisecond} }

func (p *pause) wait(ctx context.Context) {
	timer := time.NewTimer(p.next)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	p.next = min(2*p.next, longestPause)
}
