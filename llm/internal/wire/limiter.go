package wire

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// limiter bounds the requests in flight by what the server takes: the bound grows with each success, as
// long as it is the bound that holds requests back, and is halved when the server complains. Until the
// first complaint it grows by one a success, which doubles it each round trip; after that by one a round
// (additive increase, multiplicative decrease; Chiu and Jain 1989). While the server asks to wait, nobody
// is let through.
type limiter struct {
	mu      sync.Mutex
	bound   float64
	ceiling float64
	flying  int
	steady  bool // a complaint was met
	round   int  // counts complaints that cut the bound
	closed  time.Time
	waiting list.List // of chan struct{}, closed when let through
	timer   *time.Timer
}

// firstBound is what a server gets before anything is known of it.
const firstBound = 8

func newLimiter(ceiling int) *limiter {
	return &limiter{bound: min(firstBound, float64(ceiling)), ceiling: float64(ceiling)}
}

// setCeiling bounds the requests in flight, whatever the server would take.
func (l *limiter) setCeiling(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ceiling = float64(n)
	l.bound = min(l.bound, l.ceiling)
	l.admit()
}

// pass is the leave for one request.
type pass struct{ round int }

// acquire waits for leave to send, first come, first served.
func (l *limiter) acquire(ctx context.Context) (pass, error) {
	l.mu.Lock()
	turn := make(chan struct{})
	place := l.waiting.PushBack(turn)
	l.admit()
	l.mu.Unlock()
	select {
	case <-turn:
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		select {
		case <-turn: // let through at the same moment
			l.flying--
		default:
			l.waiting.Remove(place)
		}
		l.admit()
		return pass{}, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return pass{l.round}, nil
}

// admit lets through whoever may go. The lock is held.
func (l *limiter) admit() {
	if wait := time.Until(l.closed); wait > 0 {
		if l.timer == nil {
			l.timer = time.AfterFunc(wait, l.reopen)
		}
		return
	}
	for l.waiting.Len() > 0 && l.flying < max(1, int(l.bound)) {
		close(l.waiting.Remove(l.waiting.Front()).(chan struct{}))
		l.flying++
	}
}

func (l *limiter) reopen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = nil
	l.admit()
}

// release ends a request that went well, or failed for a reason that says nothing of the load.
func (l *limiter) release(good bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	full := l.flying >= int(l.bound)
	l.flying--
	if good && full {
		step := 1.0
		if l.steady {
			step = 1 / l.bound
		}
		l.bound = min(l.bound+step, l.ceiling)
	}
	l.admit()
}

// complain ends a request that the server had too much to do for, and keeps everybody waiting for as long
// as it asks. Requests that were under way together cut the bound once.
func (l *limiter) complain(p pass, after time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flying--
	if p.round == l.round {
		l.bound, l.steady = max(1, l.bound/2), true
		l.round++
	}
	if until := time.Now().Add(after); after > 0 && until.After(l.closed) {
		l.closed = until
		if l.timer != nil && l.timer.Stop() {
			l.timer = nil
		}
	}
	l.admit()
}

// close stops the timer, so that nothing outlives the engine.
func (l *limiter) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}
