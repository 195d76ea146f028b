package bayes

import (
	"runtime"
	"sync"
)

// ticker tells progress, a hundred times a run.
type ticker struct {
	sync.Mutex
	tell        func(done, total int)
	done, total int
}

func newTicker(o Options) *ticker {
	return &ticker{tell: o.Progress, total: o.Chains * (o.Warmup + o.Draws)}
}

func (t *ticker) step() {
	if t.tell == nil {
		return
	}
	t.Lock()
	defer t.Unlock()
	t.done++
	if t.done%max(1, t.total/100) == 0 {
		t.tell(t.done, t.total)
	}
}

// inParallel does all pieces of work 0..n-1 and returns the error of the first that has one.
func inParallel(n int, work func(i int) error) error {
	var (
		next  = make(chan int)
		errs  = make([]error, n)
		group sync.WaitGroup
	)
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := range next {
				errs[i] = work(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
