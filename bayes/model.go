package bayes

// A Model is a density over real vectors, known up to a factor.
type Model interface {
	// Dim is the length of the vectors, at least 1.
	Dim() int
	// LogDensityGradient returns the logarithm of the density at q, up to a constant, and writes its
	// gradient into grad, both of length Dim. Minus infinity or NaN say that q lies outside of the support; grad
	// may then hold anything. q must not be changed or kept.
	LogDensityGradient(q, grad []float64) float64
}

// A Forker is a model that needs memory to work in: Fork returns an equal model with memory of its
// own. Each chain works on its own fork. A model without Fork must be safe for use by several
// goroutines.
type Forker interface {
	Model
	Fork() Model
}

func fork(m Model) Model {
	if f, ok := m.(Forker); ok {
		return f.Fork()
	}
	return m
}
