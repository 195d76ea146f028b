package bayes

import (
	"math"
	"math/rand/v2"
)

// maxEnergyError is the error of the energy at which a trajectory counts as divergent: the integrator
// has lost the level set, and no trajectory of this step size explores what lies there.
const maxEnergyError = 1000

// point is a place in the space of parameters.
type point struct {
	q, grad []float64
	logp    float64
	energy  float64 // with the momentum that it was reached with
}

func newPoint(dim int) point {
	return point{q: make([]float64, dim), grad: make([]float64, dim)}
}

func (p *point) set(from *point) {
	copy(p.q, from.q)
	copy(p.grad, from.grad)
	p.logp, p.energy = from.logp, from.energy
}

// state is a point with a momentum: where the integrator stands.
type state struct {
	point
	p []float64
}

func newState(dim int) state { return state{newPoint(dim), make([]float64, dim)} }

func (s *state) set(from *state) {
	s.point.set(&from.point)
	copy(s.p, from.p)
}

// span is a piece of trajectory: what it takes to join it to its neighbour, and one of its points,
// drawn with the chance of its weight.
type span struct {
	left, right []float64 // momenta at the ends, in the order of time
	sum         []float64 // of the momenta of all points
	logWeight   float64
	proposal    point
	leaf        bool
}

func newSpan(dim int) *span {
	return &span{left: make([]float64, dim), right: make([]float64, dim), sum: make([]float64, dim), proposal: newPoint(dim)}
}

// nuts makes transitions of the no-U-turn sampler with multinomial sampling from the trajectory
// (Betancourt, "A Conceptual Introduction to Hamiltonian Monte Carlo", 2017, Appendix A) and a
// diagonal metric.
type nuts struct {
	model    Model
	random   *rand.Rand
	maxDepth int
	step     float64
	variance []float64 // the inverse of the mass of each parameter

	now         point
	moving      state
	ends        [2]state // the first and the last point of the trajectory
	whole       *span
	spans       []*span // spans[d] holds a tree of depth d while it is built; its halves need smaller ones
	startEnergy float64
	trajectory
}

// trajectory is what a transition leaves to be read.
type trajectory struct {
	depth, leapfrogs int
	divergent        bool
	acceptance       float64 // the sum of the acceptance of each step, until [nuts.transition] divides it
}

func newNUTS(m Model, random *rand.Rand, maxDepth int) *nuts {
	dim := m.Dim()
	s := &nuts{
		model: m, random: random, maxDepth: maxDepth, step: 1, variance: make([]float64, dim),
		now: newPoint(dim), moving: newState(dim), ends: [2]state{newState(dim), newState(dim)},
		whole: newSpan(dim), spans: make([]*span, maxDepth+1),
	}
	for i := range s.variance {
		s.variance[i] = 1
	}
	for d := range s.spans {
		s.spans[d] = newSpan(dim)
	}
	return s
}

// transition moves s.now to the next draw. The trajectory is doubled, forwards or backwards in time,
// until it turns back on itself.
func (s *nuts) transition() {
	s.trajectory = trajectory{}
	s.start()
	for s.depth < s.maxDepth {
		direction := 1
		if s.random.Uint64()&1 == 0 {
			direction = -1
		}
		end := &s.ends[(direction+1)/2]
		s.moving.set(end)
		half := s.spans[s.depth]
		whole := s.build(half, s.depth, direction)
		end.set(&s.moving)
		if !whole {
			break
		}
		s.depth++
		// Biased towards the new half, so that draws lie far from where they began.
		if half.logWeight >= s.whole.logWeight || s.random.Float64() < math.Exp(half.logWeight-s.whole.logWeight) {
			s.now.set(&half.proposal)
		}
		if !s.join(s.whole, half, direction) {
			break
		}
	}
	s.acceptance /= float64(max(s.leapfrogs, 1))
}

// start draws a momentum and makes the trajectory the point at which it begins.
func (s *nuts) start() {
	m := &s.moving
	m.point.set(&s.now)
	for i, v := range s.variance {
		m.p[i] = s.random.NormFloat64() / math.Sqrt(v)
	}
	m.energy = s.energyOf(m)
	s.now.energy = m.energy
	s.startEnergy = m.energy
	s.ends[0].set(m)
	s.ends[1].set(m)
	s.leaf(s.whole)
}

func (s *nuts) energyOf(m *state) float64 {
	kinetic := 0.0
	for i, p := range m.p {
		kinetic += s.variance[i] * p * p
	}
	return kinetic/2 - m.logp
}

// leaf makes a span of the point where the integrator stands.
func (s *nuts) leaf(into *span) {
	m := &s.moving
	copy(into.left, m.p)
	copy(into.right, m.p)
	copy(into.sum, m.p)
	into.logWeight = s.startEnergy - m.energy
	into.proposal.set(&m.point)
	into.leaf = true
}

// build goes 2^depth steps on in the direction of time and makes a span of them. It returns false if
// they diverge or turn back, and has then gone no further than that.
func (s *nuts) build(into *span, depth, direction int) bool {
	if depth == 0 {
		s.leapfrog(direction)
		if s.divergent {
			return false
		}
		s.leaf(into)
		return true
	}
	if !s.build(into, depth-1, direction) {
		return false
	}
	second := s.spans[depth-1] // into is that of a greater depth
	if !s.build(second, depth-1, direction) {
		return false
	}
	if s.random.Float64() < math.Exp(second.logWeight-logAdd(into.logWeight, second.logWeight)) {
		into.proposal, second.proposal = second.proposal, into.proposal
	}
	return s.join(into, second, direction)
}

// leapfrog takes one step.
func (s *nuts) leapfrog(direction int) {
	m := &s.moving
	step := s.step * float64(direction)
	for i, v := range s.variance {
		m.p[i] += step / 2 * m.grad[i]
		m.q[i] += step * v * m.p[i]
	}
	m.logp = s.model.LogDensityGradient(m.q, m.grad)
	for i, g := range m.grad {
		m.p[i] += step / 2 * g
	}
	s.leapfrogs++
	m.energy = s.energyOf(m)
	lost := m.energy - s.startEnergy
	if !(lost <= maxEnergyError) { // NaN diverges too
		s.divergent = true
		return
	}
	s.acceptance += min(1, math.Exp(-lost))
}

// join appends b to a in the direction of time and reports whether the whole still goes on: neither
// end turns back towards the other, nor does a half together with the nearest point of the other
// half, which catches turns that fall between the halves.
func (s *nuts) join(a, b *span, direction int) bool {
	early, late := a, b
	if direction < 0 {
		early, late = b, a
	}
	var whole, first, last [2]float64
	for i, v := range s.variance {
		sumE, sumL := early.sum[i], late.sum[i]
		left, right := v*early.left[i], v*late.right[i]
		whole[0] += left * (sumE + sumL)
		whole[1] += right * (sumE + sumL)
		reach := sumE + late.left[i]
		first[0] += left * reach
		first[1] += v * late.left[i] * reach
		reach = sumL + early.right[i]
		last[0] += v * early.right[i] * reach
		last[1] += right * reach
	}
	goesOn := whole[0] > 0 && whole[1] > 0
	if !early.leaf || !late.leaf {
		goesOn = goesOn && first[0] > 0 && first[1] > 0 && last[0] > 0 && last[1] > 0
	}
	if direction > 0 {
		a.right, b.right = b.right, a.right
	} else {
		a.left, b.left = b.left, a.left
	}
	for i := range a.sum {
		a.sum[i] += b.sum[i]
	}
	a.logWeight = logAdd(a.logWeight, b.logWeight)
	a.leaf = false
	return goesOn
}

// logAdd is log(exp(a) + exp(b)).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}
