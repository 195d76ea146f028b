package ledger

import (
	"sync"

	"github.com/credence-lab/credence/llm"
)

// flights joins equal calls of one process: the first to ask for a key leads, the others wait.
type flights struct {
	mu   sync.Mutex
	open map[Key]*flight
}

// flight is a call under way. The fields other than done are written before done is closed.
type flight struct {
	done   chan struct{}
	result llm.Result
	how    outcome
}

// outcome says how a flight ended.
type outcome uint8

const (
	// abandoned: whoever led it gave up without asking to the end. The next one may lead.
	abandoned outcome = iota
	recalled
	made
	failed
)

// board returns the flight of key and whether the caller leads it and so must land it.
func (f *flights) board(key Key) (*flight, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fl, ok := f.open[key]; ok {
		return fl, false
	}
	if f.open == nil {
		f.open = make(map[Key]*flight)
	}
	fl := &flight{done: make(chan struct{})}
	f.open[key] = fl
	return fl, true
}

// land ends a flight and tells all who wait for it.
func (f *flights) land(key Key, fl *flight, how outcome, result llm.Result) {
	fl.result, fl.how = result, how
	f.mu.Lock()
	delete(f.open, key)
	f.mu.Unlock()
	close(fl.done)
}
