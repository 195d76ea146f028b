package bayes

import (
	"fmt"
	"math"
)

// A Bound is the range of one parameter. Samplers move on the real line; a bound says how the line
// is mapped into the range. The zero Bound is the real line itself.
type Bound struct {
	kind         boundKind
	lower, upper float64
}

type boundKind uint8

const (
	unbounded boundKind = iota
	above
	between
)

// Above is the range of numbers greater than lower; x = lower + exp(u).
func Above(lower float64) Bound { return Bound{kind: above, lower: lower} }

// Between is the open range from lower to upper, lower < upper; x = lower + (upper − lower)·logistic(u).
func Between(lower, upper float64) Bound { return Bound{kind: between, lower: lower, upper: upper} }

// Value maps u of the real line into the range.
func (b Bound) Value(u float64) float64 {
	x, _, _, _ := b.at(u)
	return x
}

// at returns the value at u, its derivative, the logarithm of that, and the derivative of the
// logarithm.
func (b Bound) at(u float64) (x, slope, logSlope, bend float64) {
	switch b.kind {
	case above:
		e := math.Exp(u)
		return b.lower + e, e, u, 1
	case between:
		s := unitOf(u)
		width := b.upper - b.lower
		return b.lower + width*s.p, width * s.p * s.rest, math.Log(width) + s.logP + s.logRest, s.rest - s.p
	}
	return u, 1, 0, 0
}

// Bounded is a density over parameters with bounds, made into a model over real vectors: the
// logarithm of the Jacobian is added, so that draws, mapped by [Bounded.Values], follow the density.
type Bounded struct {
	density Model
	bounds  []Bound
	x, gx   []float64
}

// NewBounded takes the density in terms of the bounded parameters, with one bound for each.
func NewBounded(density Model, bounds []Bound) (*Bounded, error) {
	if len(bounds) != density.Dim() {
		return nil, fmt.Errorf("bayes: %d bounds for %d parameters; give one for each", len(bounds), density.Dim())
	}
	for i, b := range bounds {
		if b.kind == between && !(b.lower < b.upper) {
			return nil, fmt.Errorf("bayes: parameter %d is to lie between %v and %v, which holds nothing", i, b.lower, b.upper)
		}
	}
	n := len(bounds)
	return &Bounded{density: density, bounds: bounds, x: make([]float64, n), gx: make([]float64, n)}, nil
}

// Dim is the number of parameters.
func (m *Bounded) Dim() int { return len(m.bounds) }

// Fork returns an equal model with memory of its own.
func (m *Bounded) Fork() Model {
	n := len(m.bounds)
	return &Bounded{density: fork(m.density), bounds: m.bounds, x: make([]float64, n), gx: make([]float64, n)}
}

// LogDensityGradient is the density of the parameters at the image of u, times the Jacobian.
func (m *Bounded) LogDensityGradient(u, grad []float64) float64 {
	total := 0.0
	for i, b := range m.bounds {
		x, _, logSlope, _ := b.at(u[i])
		m.x[i] = x
		total += logSlope
	}
	total += m.density.LogDensityGradient(m.x, m.gx)
	for i, b := range m.bounds {
		_, slope, _, bend := b.at(u[i])
		grad[i] = m.gx[i]*slope + bend
	}
	return total
}

// Values maps a real vector to the parameters, into x.
func (m *Bounded) Values(u, x []float64) {
	for i, b := range m.bounds {
		x[i] = b.Value(u[i])
	}
}

// unit is a probability with its complement, both exact near 0 and near 1, and their logarithms.
type unit struct{ p, rest, logP, logRest float64 }

// unitOf is the logistic function.
func unitOf(u float64) unit {
	e := math.Exp(-math.Abs(u))
	small, large := e/(1+e), 1/(1+e)
	logLarge := -math.Log1p(e)
	logSmall := logLarge - math.Abs(u)
	if u < 0 {
		return unit{small, large, logSmall, logLarge}
	}
	return unit{large, small, logLarge, logSmall}
}
