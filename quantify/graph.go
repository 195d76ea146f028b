package quantify

import (
	"math"

	"github.com/credence-lab/credence/measure"
)

// Affinity says how close two samples are, for the graph of samples: a number in [0,1], 1 for a sample
// with itself.
type Affinity uint8

const (
	// ByEntailment is the probability of entailment, the mean of both directions.
	ByEntailment Affinity = iota
	// ByNoncontradiction is 1 minus the probability of contradiction, the mean of both directions.
	ByNoncontradiction
	// ByJaccard is the Jaccard index of the sets of lower-case words between blanks. It asks no model.
	ByJaccard
)

// String returns "entailment", "noncontradiction" or "jaccard".
func (a Affinity) String() string { return [...]string{"entailment", "noncontradiction", "jaccard"}[a] }

func (a Affinity) needs(premise Premise, samples int) Needs {
	n := Needs{Samples: samples}
	if a == ByJaccard {
		return n
	}
	return premise.needs(n, AmongSamples)
}

func (a Affinity) id(name string, premise Premise) string {
	if a == ByJaccard {
		return id(name, a.String())
	}
	return id(name, a.String(), premise.variant())
}

// fill writes the affinities of the samples into w, m × m.
func (a Affinity) fill(w []float64, v *view, premise Premise) {
	m := len(v.Samples)
	if a == ByJaccard {
		v.jaccards(w)
		return
	}
	r := premise.of(v.Evidence)
	for i := range m {
		there := r.cells[(i+1)*r.n+1 : (i+2)*r.n]
		for j := range i + 1 {
			back := &r.cells[(j+1)*r.n+i+1]
			x := (there[j].Entails + back.Entails) / 2
			if a == ByNoncontradiction {
				x = 1 - (there[j].Contradicts+back.Contradicts)/2
			}
			w[i*m+j], w[j*m+i] = x, x
		}
	}
}

// laplacian fills the spectrum's matrix with D^-½ W D^-½, where D are the row sums of the affinities W. The
// symmetric normalised Laplacian is I minus it, so that it has the same eigenvectors and the eigenvalues
// λ = 1 − μ.
func (v *view) laplacian(a Affinity, premise Premise) {
	m := len(v.Samples)
	w := v.spectrum.size(m)
	a.fill(w, v, premise)
	root := v.spectrum.column
	for i := range m {
		sum := 0.0
		for _, x := range w[i*m : (i+1)*m] {
			sum += x
		}
		root[i] = 1 / math.Sqrt(sum)
	}
	for i := range m {
		for j := range m {
			w[i*m+j] *= root[i] * root[j]
		}
	}
}

// EigV is the effective number of meanings by the graph of samples: Σ_k max(0, 1 − λ_k), over the
// eigenvalues of the normalised Laplacian I − D^-½ W D^-½ of the affinities W. It is the number of
// connected components where affinities are 0 or 1.
//
// Uncertainty, range [1, m], a number of sets. Needs at least 2 samples, and their entailment unless the
// affinity is Jaccard; m calls and one for each ordered pair of distinct samples.
// Source: Lin, Trivedi and Sun 2024, section 4.2 (U_EigV).
func EigV(a Affinity, premise Premise) Quantifier {
	return Quantifier{
		ID: a.id("eigv", premise), Title: "sum of eigenvalues, " + a.String() + premise.inWords(),
		Formula:     "Σ_k max(0, 1 − λ_k), λ of I − D^-½ W D^-½",
		Orientation: measure.Uncertainty, Range: oneToM, Units: "sets",
		Needs:  a.needs(premise, 2),
		Source: "Lin, Trivedi and Sun 2024, section 4.2",
		Peer:   only(premise == TextsAlone, "lm-polygraph EigValLaplacian"),
		of: exactly(func(v *view) float64 {
			v.laplacian(a, premise)
			if !v.spectrum.solve(false) {
				return math.NaN()
			}
			sum := 0.0
			for _, mu := range v.spectrum.values {
				sum += math.Max(0, mu)
			}
			return sum
		}),
	}
}

// Degree is the mean distance of a sample from all samples: (1/m²) Σ_i (m − D_ii), D the row sums of the
// affinities.
//
// Uncertainty, range [0, 1], without units. Needs at least 2 samples, and their entailment unless the
// affinity is Jaccard; m calls and one for each ordered pair of distinct samples.
// Source: Lin, Trivedi and Sun 2024, section 4.2 (U_Deg).
func Degree(a Affinity, premise Premise) Quantifier {
	return Quantifier{
		ID: a.id("degree", premise), Title: "degree matrix, " + a.String() + premise.inWords(),
		Formula:     "(1/m²) Σ_i (m − D_ii), D_ii = Σ_j w_ij",
		Orientation: measure.Uncertainty, Range: unit, Units: "distance",
		Needs:  a.needs(premise, 2),
		Source: "Lin, Trivedi and Sun 2024, section 4.2",
		Peer:   only(premise == TextsAlone, "lm-polygraph DegMat"),
		of: exactly(func(v *view) float64 {
			m := len(v.Samples)
			w := v.spectrum.size(m)
			a.fill(w, v, premise)
			sum := 0.0
			for _, x := range w {
				sum += 1 - x
			}
			return sum / float64(m*m)
		}),
	}
}

// eccentric is the eigenvalue below which an eigenvector of the Laplacian speaks of clusters: 0.9, less
// what rounding can do, so that an eigenvalue of 0.9 falls on one side however the samples are ordered.
const eccentric = .9 - 1e-12

// Eccentricity is how far the samples lie from their centre in the space of the Laplacian's eigenvectors
// with λ < 0.9: ‖(v_k − mean v_k)_k‖, the Frobenius norm of these vectors, each less its mean over the samples.
//
// Uncertainty, range [0, √m], without units. Needs at least 2 samples, and their entailment unless the
// affinity is Jaccard; m calls and one for each ordered pair of distinct samples.
// Source: Lin, Trivedi and Sun 2024, section 4.2 (U_Ecc).
func Eccentricity(a Affinity, premise Premise) Quantifier {
	return Quantifier{
		ID: a.id("eccentricity", premise), Title: "eccentricity, " + a.String() + premise.inWords(),
		Formula:     "‖(v_k − mean v_k)_k‖, v_k eigenvectors of I − D^-½ W D^-½ with λ_k < 0.9",
		Orientation: measure.Uncertainty, Units: "distance",
		Range:  Range{Text: "[0, √m]", highOf: func(m int) float64 { return math.Sqrt(float64(m)) }},
		Needs:  a.needs(premise, 2),
		Source: "Lin, Trivedi and Sun 2024, section 4.2",
		Peer:   only(premise == TextsAlone, "lm-polygraph Eccentricity"),
		of: exactly(func(v *view) float64 {
			v.laplacian(a, premise)
			if !v.spectrum.solve(true) {
				return math.NaN()
			}
			m, sum := len(v.Samples), 0.0
			for k, mu := range v.spectrum.values {
				if 1-mu < eccentric {
					sum += spread(v.spectrum.vectors[k*m : (k+1)*m])
				}
			}
			return math.Sqrt(sum)
		}),
	}
}

// spread is the sum of squared distances from the mean.
func spread(x []float64) float64 {
	mean := 0.0
	for _, xi := range x {
		mean += xi
	}
	mean /= float64(len(x))
	sum := 0.0
	for _, xi := range x {
		sum += (xi - mean) * (xi - mean)
	}
	return sum
}
