package bayes

import "fmt"

// Defaults of [Options].
const (
	DefaultChains = 4
	DefaultWarmup = 1000
	DefaultDraws  = 2000
	DefaultTarget = .8
	DefaultDepth  = 10
)

// Options are the choices of a sampler. The zero value has the defaults.
type Options struct {
	// Seed decides all draws.
	Seed uint64
	// Chains is the number of independent chains; 0 means [DefaultChains].
	Chains int
	// Warmup is the number of transitions of each chain that adapt the sampler and are thrown away;
	// 0 means [DefaultWarmup].
	Warmup int
	// Draws is the number of draws kept of each chain, at least 4; 0 means [DefaultDraws].
	Draws int
	// TargetAcceptance is what the step size is adapted to, in (0,1); higher is slower and gets through
	// sharper bends. 0 means [DefaultTarget]. Gibbs has no use for it.
	TargetAcceptance float64
	// MaxDepth bounds a trajectory to 2^MaxDepth steps; 0 means [DefaultDepth]. Gibbs has no use for it.
	MaxDepth int
	// Progress is nil, or is called now and then with the number of transitions done, warm-up
	// included, never concurrently.
	Progress func(done, total int)
}

func (o Options) withDefaults() (Options, error) {
	def := func(x *int, to int) {
		if *x == 0 {
			*x = to
		}
	}
	def(&o.Chains, DefaultChains)
	def(&o.Warmup, DefaultWarmup)
	def(&o.Draws, DefaultDraws)
	def(&o.MaxDepth, DefaultDepth)
	if o.TargetAcceptance == 0 {
		o.TargetAcceptance = DefaultTarget
	}
	switch {
	case o.Chains < 1 || o.Chains > 1000:
		return o, fmt.Errorf("bayes: %d chains asked for; give 1 to 1000", o.Chains)
	case o.Warmup < 0:
		return o, fmt.Errorf("bayes: a warm-up of %d transitions asked for", o.Warmup)
	case o.Draws < 4:
		return o, fmt.Errorf("bayes: %d draws asked for; no diagnostic works on fewer than 4 of each chain", o.Draws)
	case o.MaxDepth < 1 || o.MaxDepth > 20:
		return o, fmt.Errorf("bayes: trees of depth %d asked for; give 1 to 20", o.MaxDepth)
	case !(o.TargetAcceptance > 0 && o.TargetAcceptance < 1):
		return o, fmt.Errorf("bayes: target acceptance %v lies outside (0,1)", o.TargetAcceptance)
	}
	return o, nil
}
