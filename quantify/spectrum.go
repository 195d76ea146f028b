package quantify

import "math"

// tiny is 0 to matrices with elements around 1: the square of less would leave the range of float64.
const tiny = 1e-140

// spectrum computes eigenvalues and eigenvectors of small symmetric matrices. It keeps its working space,
// so that matrix after matrix costs no allocation; a general library spends more on finding its way than
// on ten rows. Householder's reduction to a tridiagonal matrix, then QL steps with implicit shifts.
//
// Elements are around 1 in size, or 0 to rounding. It serves one goroutine at a time.
type spectrum struct {
	n       int
	matrix  []float64 // n × n; the reduction overwrites it
	values  []float64 // the diagonal, in the end the eigenvalues, in no order
	beside  []float64 // the elements beside the diagonal
	vectors []float64 // row i is the eigenvector of values[i]
	column  []float64
	product []float64
	scales  []float64 // 2/vᵀv of each reflection
	keep    []float64 // for those who build on the spectrum
}

// size makes room for an n × n matrix and returns it, with whatever is in it.
func (s *spectrum) size(n int) []float64 {
	if cap(s.matrix) < n*n {
		s.matrix, s.vectors, s.keep = make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
		s.values, s.beside, s.column = make([]float64, n), make([]float64, n), make([]float64, n)
		s.product, s.scales = make([]float64, n), make([]float64, n)
	}
	s.n = n
	s.matrix, s.vectors, s.keep = s.matrix[:n*n], s.vectors[:n*n], s.keep[:n*n]
	s.values, s.beside, s.column = s.values[:n], s.beside[:n], s.column[:n]
	s.product, s.scales = s.product[:n], s.scales[:n]
	return s.matrix
}

// solve finds the eigenvalues of the matrix, and the eigenvectors if asked for. It reports whether it
// did: it does for every finite matrix.
func (s *spectrum) solve(vectors bool) bool {
	s.reduce()
	if vectors {
		s.accumulate()
	}
	for i := range s.n {
		if !s.settle(i, vectors) {
			return false
		}
	}
	return true
}

// reduce makes the matrix tridiagonal, column by column, by reflections I − scale·v·vᵀ. The v stay in the
// columns below the diagonal.
func (s *spectrum) reduce() {
	n, a := s.n, s.matrix
	for k := range n - 2 {
		norm := 0.0
		for i := k + 1; i < n; i++ {
			norm += a[i*n+k] * a[i*n+k]
		}
		norm = math.Sqrt(norm)
		s.values[k], s.scales[k] = a[k*n+k], 0
		if norm < tiny {
			s.beside[k] = 0
			continue
		}
		first := a[(k+1)*n+k]
		if first > 0 {
			norm = -norm
		}
		s.beside[k] = norm
		a[(k+1)*n+k] = first - norm
		s.scales[k] = 1 / (norm * (norm - first))
		s.reflect(k)
	}
	if n > 1 {
		s.values[n-2], s.beside[n-2] = a[(n-2)*n+n-2], a[(n-1)*n+n-2]
	}
	s.values[n-1], s.beside[n-1] = a[n*n-1], 0
}

// reflect applies the reflection of column k to the rows and columns behind k: A − v·wᵀ − w·vᵀ, in the
// lower triangle alone.
func (s *spectrum) reflect(k int) {
	n, a, scale := s.n, s.matrix, s.scales[k]
	v, w := s.column[k+1:n], s.product[k+1:n]
	for i := range v {
		v[i], w[i] = a[(k+1+i)*n+k], 0
	}
	for i := range v {
		row := a[(k+1+i)*n+k+1 : (k+1+i)*n+k+1+i]
		sum, vi := a[(k+1+i)*n+k+1+i]*v[i], v[i]
		for j, x := range row {
			sum += x * v[j]
			w[j] += x * vi
		}
		w[i] += sum
	}
	dot := 0.0
	for i := range w {
		w[i] *= scale
		dot += w[i] * v[i]
	}
	half := scale * dot / 2
	for i := range w {
		w[i] -= half * v[i]
	}
	for i := range v {
		row := a[(k+1+i)*n+k+1 : (k+1+i)*n+k+2+i]
		vi, wi := v[i], w[i]
		for j := range row {
			row[j] -= vi*w[j] + wi*v[j]
		}
	}
}

// accumulate multiplies the reflections into the rows of vectors.
func (s *spectrum) accumulate() {
	n := s.n
	clear(s.vectors)
	for i := range n {
		s.vectors[i*n+i] = 1
	}
	for k := n - 3; k >= 0; k-- {
		if s.scales[k] == 0 {
			continue
		}
		v := s.column[k+1 : n]
		for i := range v {
			v[i] = s.matrix[(k+1+i)*n+k]
		}
		for r := k + 1; r < n; r++ { // rows up to k are still those of the identity, and v is 0 there
			row, dot := s.vectors[r*n+k+1:r*n+n], 0.0
			for i, x := range v {
				dot += row[i] * x
			}
			dot *= s.scales[k]
			for i, x := range v {
				row[i] -= dot * x
			}
		}
	}
}

// steps is the most QL steps for one eigenvalue; two are usual.
const steps = 64

// settle makes the element beside diagonal element l negligible, so that this is an eigenvalue.
func (s *spectrum) settle(l int, vectors bool) bool {
	d, e := s.values, s.beside
	for range steps {
		m := l
		for ; m < s.n-1; m++ {
			if size := math.Abs(d[m]) + math.Abs(d[m+1]); math.Abs(e[m]) <= 0x1p-53*size+tiny {
				break
			}
		}
		if m == l {
			return true
		}
		s.step(l, m, vectors)
	}
	return false
}

// step is one QL step with an implicit shift on the rows l to m: rotations that chase one element up.
func (s *spectrum) step(l, m int, vectors bool) {
	d, e := s.values, s.beside
	shift := (d[l+1] - d[l]) / (2 * e[l])
	g := d[m] - d[l] + e[l]/(shift+math.Copysign(math.Hypot(shift, 1), shift))
	sin, cos, p := 1.0, 1.0, 0.0
	for i := m - 1; i >= l; i-- {
		f, b := sin*e[i], cos*e[i]
		r := math.Sqrt(f*f + g*g)
		e[i+1] = r
		if r == 0 { // the matrix has fallen apart here
			d[i+1] -= p
			e[m] = 0
			return
		}
		inverse := 1 / r
		sin, cos = f*inverse, g*inverse
		g = d[i+1] - p
		r = (d[i]-g)*sin + 2*cos*b
		p = sin * r
		d[i+1] = g + p
		g = cos*r - b
		if vectors {
			rotate(s.vectors[i*s.n:(i+1)*s.n], s.vectors[(i+1)*s.n:(i+2)*s.n], sin, cos)
		}
	}
	d[l] -= p
	e[l] = g
	e[m] = 0
}

func rotate(a, b []float64, sin, cos float64) {
	for k, x := range a {
		y := b[k]
		a[k], b[k] = cos*x-sin*y, sin*x+cos*y
	}
}
