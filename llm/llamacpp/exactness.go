package llamacpp

import (
	"context"
	"sync"
)

// exactness is what the matrix gave for an engine that cannot promise it.
type exactness struct {
	sync.Mutex
	matrix *Matrix
	err    error
}

// Exactness runs the short matrix if exact mode is wanted and layers are on a GPU, whose kernels nobody has
// held against it, and returns what came out: replies are reproducible only if all rows are exact. It is run
// once, before the first request if nobody asked earlier. For other engines it returns nil: on the CPU exact
// mode is a promise, and fast mode makes none.
func (e *Engine) Exactness(ctx context.Context) (*Matrix, error) {
	if e.c.GPULayers == 0 || e.c.Mode != Exact || e.c.measuring {
		return nil, nil
	}
	e.exactness.Lock()
	defer e.exactness.Unlock()
	if e.exactness.matrix != nil || e.exactness.err != nil {
		return e.exactness.matrix, e.exactness.err
	}
	m, err := e.measure(ctx, ShortMatrix, nil)
	if ctx.Err() != nil {
		return nil, ctx.Err() // the next one who asks may wait for it
	}
	e.exactness.matrix, e.exactness.err = m, err
	return m, err
}

// Promises reports whether the engine promises exact values: in exact mode on the CPU.
func (e *Engine) Promises() bool { return e.c.Mode == Exact && e.c.GPULayers == 0 }

// reproducible reports whether a reply depends on its request alone.
func (e *Engine) reproducible() bool {
	if e.c.Mode != Exact {
		return false
	}
	if e.c.GPULayers == 0 {
		return true
	}
	e.exactness.Lock()
	defer e.exactness.Unlock()
	return e.exactness.matrix != nil && e.exactness.matrix.Exact()
}
