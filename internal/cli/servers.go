package cli

import (
	"context"

	"github.com/credence-lab/credence/study"
)

// routed opens models that a server runs, and leaves the others to the opener behind it.
type routed struct {
	inner   study.Opener
	offline bool
}

// Open asks the model's server what it is, or opens the model in process.
func (r routed) Open(ctx context.Context, m study.Model) (study.Opened, error) {
	if !m.OnServer() {
		return r.inner.Open(ctx, m)
	}
	if err := r.allows(m); err != nil {
		return study.Opened{}, err
	}
	return study.OpenServer(ctx, m)
}

// Describe is Open for a plan; no server is asked.
func (r routed) Describe(m study.Model) (study.Opened, string, error) {
	if m.OnServer() {
		opened, note := study.DescribeServer(m)
		return opened, note, r.allows(m)
	}
	planner, ok := r.inner.(study.Planner)
	if !ok {
		return study.Opened{}, "", usagef("this engine cannot plan")
	}
	return planner.Describe(m)
}

// allows keeps to what offline means: nothing leaves this machine.
func (r routed) allows(m study.Model) error { return r.allowsServer("model "+m.Name, m.Server) }

func (r routed) allowsServer(who string, s study.Server) error {
	if r.offline && !s.Loopback() {
		return usageHint(usagef("%s: its server is not on this machine", who), "leave out --offline (CREDENCE_OFFLINE) to ask it")
	}
	return nil
}
