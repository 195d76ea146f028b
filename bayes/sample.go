package bayes

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/credence-lab/credence/measure"
)

// ChainReport is what one chain of the no-U-turn sampler says of itself.
type ChainReport struct {
	// StepSize is that of the integrator after warm-up.
	StepSize float64 `json:"step_size"`
	// Acceptance is the mean acceptance of the steps after warm-up, in [0,1]; near the target if the
	// warm-up was long enough.
	Acceptance float64 `json:"acceptance"`
	// Divergences counts the transitions after warm-up on which the integrator lost the energy: the
	// density bends there more sharply than the step size allows, and draws near it are missing.
	Divergences int `json:"divergences"`
	// Deepest counts the transitions after warm-up that were cut off at the maximal depth.
	Deepest int `json:"deepest"`
	// Leapfrogs counts the gradients after warm-up.
	Leapfrogs int `json:"leapfrogs"`
	// EBFMI is the energy diagnostic of Betancourt 2016, the Bayesian fraction of missing information:
	// near 1 is good; below .3 the chain moves too slowly between energies, as with heavy tails.
	EBFMI measure.Value `json:"e_bfmi"`
}

// Draws are the draws of several chains of a model, on the scale of its real vectors.
type Draws struct {
	dim    int
	chains [][]float64 // draws × dim of each chain
	// Chains says how each chain went.
	Chains []ChainReport
}

// Dim is the length of a draw.
func (d *Draws) Dim() int { return d.dim }

// At returns draw t of chain c; it must not be changed.
func (d *Draws) At(c, t int) []float64 { return d.chains[c][t*d.dim : (t+1)*d.dim] }

// Series returns what f makes of each draw. f must not keep its argument.
func (d *Draws) Series(f func(q []float64) float64) Series {
	s := make(Series, len(d.chains))
	for c, chain := range d.chains {
		s[c] = make([]float64, len(chain)/d.dim)
		for t := range s[c] {
			s[c][t] = f(d.At(c, t))
		}
	}
	return s
}

// Parameter returns the draws of parameter i.
func (d *Draws) Parameter(i int) Series {
	return d.Series(func(q []float64) float64 { return q[i] })
}

// Sample draws from the model with the no-U-turn sampler, chains beside each other. The draws depend
// on the model and the options alone, not on the number of processors.
//
// It is an error if an option makes no sense, if no start with a finite density is found, or if ctx
// ends first.
func Sample(ctx context.Context, m Model, o Options) (*Draws, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if m.Dim() < 1 {
		return nil, fmt.Errorf("bayes: a model without parameters")
	}
	d := &Draws{dim: m.Dim(), chains: make([][]float64, o.Chains), Chains: make([]ChainReport, o.Chains)}
	tick := newTicker(o)
	err = inParallel(o.Chains, func(c int) error {
		var err error
		d.chains[c], d.Chains[c], err = runChain(fork(m), o, c, func() error { tick.step(); return ctx.Err() })
		return err
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

func runChain(m Model, o Options, c int, halt func() error) ([]float64, ChainReport, error) {
	var report ChainReport
	s := newNUTS(m, generatorOf(o.Seed, c), o.MaxDepth)
	if err := s.findStart(); err != nil {
		return nil, report, err
	}
	if err := s.warmUp(o.Warmup, o.TargetAcceptance, halt); err != nil {
		return nil, report, err
	}
	report.StepSize = s.step
	draws, energy := make([]float64, 0, o.Draws*m.Dim()), make([]float64, o.Draws)
	for t := range o.Draws {
		if err := halt(); err != nil {
			return nil, report, err
		}
		s.transition()
		draws = append(draws, s.now.q...)
		energy[t] = s.now.energy
		report.Leapfrogs += s.leapfrogs
		report.Acceptance += s.acceptance / float64(o.Draws)
		if s.divergent {
			report.Divergences++
		} else if s.depth == s.maxDepth {
			report.Deepest++
		}
	}
	report.EBFMI = ebfmi(energy)
	return draws, report, nil
}

// findStart begins within (−2,2) of each parameter, as far apart as chains must be for R-hat to mean
// something.
func (s *nuts) findStart() error {
	for range 100 {
		for i := range s.now.q {
			s.now.q[i] = 4*s.random.Float64() - 2
		}
		s.now.logp = s.model.LogDensityGradient(s.now.q, s.now.grad)
		if finite(s.now.logp) && allFinite(s.now.grad) {
			return nil
		}
	}
	return fmt.Errorf("bayes: no start with a finite density and gradient in 100 tries within (-2,2); shift and scale the parameters to about 1")
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func allFinite(xs []float64) bool {
	for _, x := range xs {
		if !finite(x) {
			return false
		}
	}
	return true
}

// generatorOf gives each chain of a seed a stream of its own.
func generatorOf(seed uint64, chain int) *rand.Rand {
	return rand.New(rand.NewPCG(mix(seed), mix(seed^mix(uint64(chain)+1))))
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
