package ledger

import (
	"context"
	"sync"
	"time"
)

// holder renews the claims on all calls that a ledger is making, while there are any. A renewal that fails is not an
// error: at worst the claim runs out, another process asks too, and the reply that is stored first counts.
type holder struct {
	every time.Duration
	renew func([]Key)

	mu   sync.Mutex
	held map[*held]struct{}
	// next is the renewal to come; nil while nothing is held. current is closed when the one under way has ended.
	next    *time.Timer
	current chan struct{}
}

// held is what one hold takes.
type held struct{ keys []Key }

// hold renews the claims on keys until release is called. After release no renewal of them is under way.
func (h *holder) hold(keys []Key) (release func()) {
	mine := &held{keys}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held == nil {
		h.held = make(map[*held]struct{})
	}
	h.held[mine] = struct{}{}
	if h.next == nil {
		h.next = time.AfterFunc(h.every, h.tick)
	}
	return func() {
		h.mu.Lock()
		delete(h.held, mine)
		current := h.current
		h.mu.Unlock()
		if current != nil {
			<-current
		}
	}
}

// tick renews what is held, and comes again if that was anything.
func (h *holder) tick() {
	h.mu.Lock()
	if len(h.held) == 0 {
		h.next = nil
		h.mu.Unlock()
		return
	}
	var keys []Key
	for one := range h.held {
		keys = append(keys, one.keys...)
	}
	current := make(chan struct{})
	h.current = current
	h.mu.Unlock()
	h.renew(keys)
	h.mu.Lock()
	h.current = nil
	h.next.Reset(h.every)
	h.mu.Unlock()
	close(current)
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
