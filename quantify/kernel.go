package quantify

import (
	"math"

	"github.com/credence-lab/credence/measure"
)

// heat is the time for which the heat kernel spreads; the paper's default.
const heat = .3

// KernelLanguageEntropy is the von Neumann entropy of a kernel over the samples: −Σ_k e_k ln e_k, over the
// eigenvalues of the heat kernel K = exp(−0.3 (D − W)) of the graph of samples, brought to K_ij/√(K_ii K_jj)/m.
// W weighs entailment 1, neither ½ and contradiction 0, summed over both directions. Since the kernel
// spreads for a finite time, samples that all agree do not have the entropy 0.
//
// Uncertainty, range [0, ln m], in nats. Needs at least 2 samples and their entailment; m calls and one for
// each ordered pair of distinct samples.
// Source: Nikitin et al. 2024, sections 3 and 4 (KLE heat).
func KernelLanguageEntropy(premise Premise) Quantifier {
	return Quantifier{
		ID: id("kernel-language-entropy", premise.variant()), Title: "kernel language entropy" + premise.inWords(),
		Formula:     "−Σ_k e_k ln e_k, e of exp(−0.3 (D − W)) with unit trace and equal diagonal",
		Orientation: measure.Uncertainty, Range: upToLogM, Units: "nats",
		Needs:  premise.needs(Needs{Samples: 2}, AmongSamples),
		Source: "Nikitin et al. 2024, sections 3 and 4",
		of:     exactly(func(v *view) float64 { return v.kernelEntropy(premise) }),
	}
}

// NormalisedKernelLanguageEntropy is [KernelLanguageEntropy] divided by its maximum: H / ln m.
//
// Uncertainty, range [0, 1], without units. Needs at least 2 samples and their entailment; m calls and one
// for each ordered pair of distinct samples.
// Source: lm-polygraph 0.7.0, KernelLanguageEntropy (Nikitin et al. 2024).
func NormalisedKernelLanguageEntropy() Quantifier {
	return Quantifier{
		ID: "kernel-language-entropy.lm-polygraph", Title: "kernel language entropy divided by ln m",
		Formula:     "kernel-language-entropy / ln m",
		Orientation: measure.Uncertainty, Range: unit, Units: "share of ln m",
		Needs:  Needs{Samples: 2, Entailment: AmongSamples},
		Source: "lm-polygraph 0.7.0 (Nikitin et al. 2024)",
		Peer:   "lm-polygraph KernelLanguageEntropy",
		of: exactly(func(v *view) float64 {
			return v.kernelEntropy(TextsAlone) / math.Log(float64(len(v.Samples)))
		}),
	}
}

func (v *view) kernelEntropy(premise Premise) float64 {
	m, s := len(v.Samples), &v.spectrum
	laplacian := s.size(m)
	v.semanticWeights(laplacian, premise)
	for i := range m {
		degree := 0.0
		for j := range m {
			if i != j {
				degree += laplacian[i*m+j]
				laplacian[i*m+j] = -laplacian[i*m+j]
			}
		}
		laplacian[i*m+i] = degree
	}
	if !s.solve(true) {
		return math.NaN()
	}
	v.heatKernel()
	if !s.solve(false) {
		return math.NaN()
	}
	h := 0.0
	for _, e := range s.values {
		if e > 0 {
			h -= e * math.Log(e)
		}
	}
	return math.Max(0, math.Min(math.Log(float64(m)), h))
}

// semanticWeights fills w with p_e + ½ p_n of both directions, summed. The probabilities need not sum to 1
// to the last digit, so what is neither is what is left.
func (v *view) semanticWeights(w []float64, premise Premise) {
	r, m := premise.of(v.Evidence), len(v.Samples)
	for i := range m {
		there := r.cells[(i+1)*r.n+1 : (i+2)*r.n]
		for j := range i {
			back := &r.cells[(j+1)*r.n+i+1]
			x := 1 + (there[j].Entails+back.Entails-there[j].Contradicts-back.Contradicts)/2
			w[i*m+j], w[j*m+i] = x, x
		}
		w[i*m+i] = 0
	}
}

// heatKernel replaces the spectrum's matrix, of which it holds eigenvalues and vectors, by its heat kernel
// with diagonal 1/m.
func (v *view) heatKernel() {
	s := &v.spectrum
	m, k, half := s.n, s.matrix, s.keep
	// K = Hᵀ H, where row i of H is the eigenvector i times exp(−t λ_i / 2).
	for i := range m {
		factor := math.Exp(-heat * s.values[i] / 2)
		for j := range m {
			half[i*m+j] = s.vectors[i*m+j] * factor
		}
	}
	clear(k)
	for h := range m {
		row := half[h*m : (h+1)*m]
		for i, x := range row {
			out := k[i*m : i*m+i+1]
			for j := range out {
				out[j] += x * row[j]
			}
		}
	}
	root := s.column
	for i := range m {
		root[i] = math.Sqrt(k[i*m+i])
	}
	for i := range m {
		for j := range i + 1 {
			x := k[i*m+j] / (root[i] * root[j] * float64(m))
			k[i*m+j], k[j*m+i] = x, x
		}
	}
}
