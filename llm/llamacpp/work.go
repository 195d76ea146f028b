package llamacpp

import "sync/atomic"

// Work counts what an engine did so far, in tokens. Asked for without sharing, Decoded + Shared tokens
// would have been decoded.
type Work struct {
	// Decoded tokens went through the model; Shared ones were there already as another text's beginning.
	Decoded, Shared int64
	// Filling rows were computed and thrown away, to give a batch its shape.
	Filling int64
	// Batches is how often the weights were read.
	Batches int64
}

type counters struct{ decoded, shared, filling, batches atomic.Int64 }

// Work returns what the engine did so far. It may be asked at any time.
func (e *Engine) Work() Work {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.loaded == nil {
		return Work{}
	}
	w := &e.loaded.scheduler.work
	return Work{Decoded: w.decoded.Load(), Shared: w.shared.Load(), Filling: w.filling.Load(), Batches: w.batches.Load()}
}
