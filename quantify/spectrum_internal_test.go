package quantify

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// symmetric draws matrices with what makes eigenvalues hard: repeated ones, zeros, blocks, several scales.
func symmetric(t *rapid.T, n int) []float64 {
	element := rapid.Float64Range(-1, 1)
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 1:
		element = rapid.SampledFrom([]float64{0, 1})
	case 2:
		element = rapid.SampledFrom([]float64{0, 0, 0, 1e-9, 1, .5})
	case 3:
		element = rapid.Just(.5)
	}
	a := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			a[i*n+j] = element.Draw(t, "element")
			if math.Abs(a[i*n+j]) < 1e-100 { // gonum 0.17 panics on a matrix of such elements alone
				a[i*n+j] = 0
			}
			a[j*n+i] = a[i*n+j]
		}
	}
	return a
}

func TestSpectrumAgainstGonum(t *testing.T) {
	t.Parallel()
	var s spectrum // reused from size to size, as quantifiers do
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(t, "n")
		a := symmetric(t, n)
		var reference mat.EigenSym // with vectors: without, gonum 0.17 loses half the digits to tiny elements
		if !reference.Factorize(mat.NewSymDense(n, slices.Clone(a)), true) {
			t.Skip("gonum did not converge")
		}
		want := reference.Values(nil)
		for _, vectors := range []bool{false, true} {
			copy(s.size(n), a)
			if !s.solve(vectors) {
				t.Fatal("no solution")
			}
			got := slices.Clone(s.values)
			slices.Sort(got)
			for i := range n {
				if math.Abs(got[i]-want[i]) > 1e-12*float64(n) {
					t.Fatalf("eigenvalue %d of %d is %v, gonum has %v", i, n, got[i], want[i])
				}
			}
		}
		for i := range n {
			v := s.vectors[i*n : (i+1)*n]
			for j := range i + 1 {
				want := 0.0
				if i == j {
					want = 1
				}
				if d := dot(v, s.vectors[j*n:(j+1)*n]); math.Abs(d-want) > 1e-12*float64(n) {
					t.Fatalf("vectors %d and %d have the product %v", i, j, d)
				}
			}
			for r := range n {
				if av := dot(a[r*n:(r+1)*n], v); math.Abs(av-s.values[i]*v[r]) > 1e-12*float64(n) {
					t.Fatalf("A v = %v, λ v = %v", av, s.values[i]*v[r])
				}
			}
		}
	})
}

func TestSpectrumOfNaNEnds(t *testing.T) {
	t.Parallel()
	var s spectrum
	a := s.size(3)
	for i := range a {
		a[i] = math.NaN()
	}
	s.solve(true) // whatever it reports, it comes back
}
