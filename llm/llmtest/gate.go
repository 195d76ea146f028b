package llmtest

import (
	"context"
	"sync"

	"github.com/credence-lab/credence/llm"
)

// Gate holds requests of a scripted model until the test lets them through, so that a test can look
// at what is in flight without waiting for any time to pass. Use it with [Interrupted](gate.Wait).
type Gate struct {
	arrived chan llm.Request
	pass    chan struct{}
	open    sync.Once
	opened  chan struct{}
}

// NewGate returns a closed gate.
func NewGate() *Gate {
	return &Gate{arrived: make(chan llm.Request), pass: make(chan struct{}), opened: make(chan struct{})}
}

// Wait is a [Before]: it announces the request and holds it until it is let through or ctx ends.
func (g *Gate) Wait(ctx context.Context, _ int, req llm.Request) error {
	select {
	case g.arrived <- req:
	case <-g.opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-g.pass:
		return nil
	case <-g.opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Next waits for the next request that arrives at the closed gate.
func (g *Gate) Next() llm.Request { return <-g.arrived }

// Pass lets one waiting request through.
func (g *Gate) Pass() { g.pass <- struct{}{} }

// Open lets all requests through, now and later.
func (g *Gate) Open() { g.open.Do(func() { close(g.opened) }) }
