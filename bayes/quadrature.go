package bayes

import (
	"fmt"
	"math"
	"slices"
)

// rule is a quadrature rule: Σ w·f(x) is the mean of f under a Beta distribution.
type rule struct {
	x, rest []float64 // the nodes in (0,1), ascending, and 1 − x
	w       []float64 // their weights; they sum to 1
}

// gaussJacobi is the rule with n nodes that is exact for polynomials up to degree 2n−1 under the Beta
// distribution.
//
// Nodes are the eigenvalues of the matrix of the recurrence of the orthonormal polynomials (Golub and
// Welsch 1969). Weights are Christoffel's numbers 1/Σp²(x), which keep their relative accuracy where
// they are small.
func gaussJacobi(n int, b Beta) (rule, error) {
	diagonal, off := recurrence(n, b)
	x := append([]float64(nil), diagonal...)
	if err := eigenvalues(x, append([]float64(nil), off...)); err != nil {
		return rule{}, err
	}
	slices.Sort(x)
	r := rule{x: x, rest: make([]float64, n), w: make([]float64, n)}
	total := 0.0
	for i, x := range r.x {
		r.rest[i] = 1 - x
		r.w[i] = 1 / sumOfSquares(x, diagonal, off)
		total += r.w[i]
	}
	for i := range r.w {
		r.w[i] /= total
	}
	return r, nil
}

// recurrence returns the diagonal and the off-diagonal of the matrix of the polynomials that are
// orthonormal under the Beta distribution on [0,1]: off[k] stands between rows k−1 and k; off[0] is 0.
func recurrence(n int, b Beta) (diagonal, off []float64) {
	diagonal, off = make([]float64, n), make([]float64, n)
	left, right := b.A-1, b.B-1 // the exponents at 0 and at 1
	s := left + right
	for k := range n {
		t := 2*float64(k) + s
		switch k {
		case 0:
			diagonal[0] = b.A / (b.A + b.B)
			continue
		case 1:
			off[1] = math.Sqrt((1 + left) * (1 + right) / ((2 + s) * (2 + s) * (3 + s)))
		default:
			k := float64(k)
			off[int(k)] = math.Sqrt(k * (k + left) * (k + right) * (k + s) / (t * t * (t + 1) * (t - 1)))
		}
		diagonal[k] = .5 + .5*(left-right)*s/(t*(t+2))
	}
	return diagonal, off
}

// sumOfSquares of the first n orthonormal polynomials at x.
func sumOfSquares(x float64, diagonal, off []float64) float64 {
	before, now := 0.0, 1.0
	sum := 1.0
	for k := 1; k < len(diagonal); k++ {
		before, now = now, ((x-diagonal[k-1])*now-off[k-1]*before)/off[k]
		sum += now * now
	}
	return sum
}

// eigenvalues replaces the diagonal of a symmetric tridiagonal matrix by its eigenvalues, in no
// particular order (the implicit QL method of Bowdler, Martin, Reinsch and Wilkinson 1968). off[0] is
// not used, and off is destroyed.
func eigenvalues(d, off []float64) error {
	n := len(d)
	e := append(off[1:], 0) // e[i] stands between i and i+1
	for l := range n {
		for sweep := 0; ; sweep++ {
			m := l
			for m < n-1 && math.Abs(e[m]) > 0x1p-53*(math.Abs(d[m])+math.Abs(d[m+1])) {
				m++
			}
			if m == l {
				break
			}
			if sweep == 60 {
				return fmt.Errorf("bayes: the nodes of a quadrature rule of %d nodes did not settle", n)
			}
			qlSweep(d, e, l, m)
		}
	}
	return nil
}

// qlSweep chases one implicit shift through rows l..m.
func qlSweep(d, e []float64, l, m int) {
	g := (d[l+1] - d[l]) / (2 * e[l])
	r := math.Hypot(g, 1)
	g = d[m] - d[l] + e[l]/(g+math.Copysign(r, g))
	s, c, p := 1.0, 1.0, 0.0
	for i := m - 1; i >= l; i-- {
		f, b := s*e[i], c*e[i]
		r = math.Hypot(f, g)
		e[i+1] = r
		if r == 0 {
			d[i+1] -= p
			e[m] = 0
			return
		}
		s, c = f/r, g/r
		g = d[i+1] - p
		r = (d[i]-g)*s + 2*c*b
		p = s * r
		d[i+1] = g + p
		g = c*r - b
	}
	d[l] -= p
	e[l] = g
	e[m] = 0
}
