package llamacpp

import (
	"testing"
	"time"
)

// run plays batches on a machine where one unit of work takes so long with one thread and with all, and
// returns how many of them had one thread.
func (p *pace) run(n int, one, all time.Duration) (alone int) {
	for range n {
		threads := p.threads()
		d := all
		if threads == 1 {
			d, alone = one, alone+1
		}
		p.took(threads, 20, d*(fixedCost+20))
	}
	return alone
}

func TestPaceFollowsTheMachine(t *testing.T) {
	t.Parallel()
	p := newPace(2)
	if n := p.run(1000, 10*time.Millisecond, 6*time.Millisecond); n != 1 {
		t.Errorf("on an idle machine one thread ran %d of 1000 batches, want the trial alone", n)
	}
	if n := p.run(100, 20*time.Millisecond, 500*time.Millisecond); n < 90 {
		t.Errorf("on a busy machine one thread ran %d of 100 batches", n)
	}
	if n := p.run(200, 10*time.Millisecond, 6*time.Millisecond); n > 100 {
		t.Errorf("idle again, one thread still ran %d of 200 batches", n)
	}
	busy := newPace(2)
	if n := busy.run(100, 20*time.Millisecond, 500*time.Millisecond); n < 90 {
		t.Errorf("on a machine busy from the start one thread ran %d of 100 batches", n)
	}
	if n := newPace(1).run(50, time.Millisecond, time.Millisecond); n != 50 {
		t.Errorf("of one thread, %d of 50 batches had one", n)
	}
}
