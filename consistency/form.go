package consistency

import (
	"fmt"
	"math"
)

// form is the kernel matrix of the pooled samples, original ones first, however it is kept.
type form interface {
	// sums adds up the kernel with weights of the original (x) and perturbed (y) samples, both of the
	// length of the pool.
	sums(x, y []float64) sums
	// dense is the form that is quick to sum many times.
	dense() coded
	// pick keeps the given samples, in this order.
	pick(samples []int) form
}

// sums are sums of k(i,j) over ordered pairs of samples with their weights.
type sums struct {
	xx, yy, xy float64 // all pairs
	dx, dy     float64 // Σ w² k(i,i), the pairs of a sample with itself
	x, y       float64 // Σ w
	x2, y2     float64 // Σ w²
}

func (s *sums) weigh(x, y []float64) {
	for i := range x {
		s.x += x[i]
		s.y += y[i]
		s.x2 += x[i] * x[i]
		s.y2 += y[i] * y[i]
	}
}

// withinX, withinY and cross are mean similarities. Pairs of a sample with itself, or with its copy in a
// resample, are not in them.
func (s sums) withinX() float64 { return (s.xx - s.dx) / (s.x*s.x - s.x2) }
func (s sums) withinY() float64 { return (s.yy - s.dy) / (s.y*s.y - s.y2) }
func (s sums) cross() float64   { return s.xy / (s.x * s.y) }

// coded numbers the distinct answers. Without a matrix k two answers are alike if their numbers are.
type coded struct {
	codes  []int32
	values int
	k      []float64 // values × values, symmetric; nil for the indicator
}

func (f coded) sums(x, y []float64) sums {
	cx, cy := make([]float64, f.values), make([]float64, f.values)
	for i, code := range f.codes {
		cx[code] += x[i]
		cy[code] += y[i]
	}
	var s sums
	s.weigh(x, y)
	if f.k == nil {
		for v := range cx {
			s.xx += cx[v] * cx[v]
			s.yy += cy[v] * cy[v]
			s.xy += cx[v] * cy[v]
		}
		s.dx, s.dy = s.x2, s.y2
		return s
	}
	for u := range cx {
		kx, ky := 0., 0.
		for v, k := range f.k[u*f.values : (u+1)*f.values] {
			kx += k * cx[v]
			ky += k * cy[v]
		}
		s.xx += cx[u] * kx
		s.xy += cx[u] * ky
		s.yy += cy[u] * ky
	}
	for i, code := range f.codes {
		self := f.k[int(code)*(f.values+1)]
		s.dx += x[i] * x[i] * self
		s.dy += y[i] * y[i] * self
	}
	return s
}

func (f coded) dense() coded { return f }

func (f coded) pick(samples []int) form {
	codes := make([]int32, len(samples))
	for i, s := range samples {
		codes[i] = f.codes[s]
	}
	return coded{codes, f.values, f.k}
}

// mapped applies g to every entry of the matrix. The indicator stays as it is: g(0) = 0 and g(1) = 1.
func (f coded) mapped(g func(float64) float64) coded {
	if f.k == nil {
		return f
	}
	k := make([]float64, len(f.k))
	for i, x := range f.k {
		k[i] = g(x)
	}
	return coded{f.codes, f.values, k}
}

// Real is a number of an embedding. Sums are taken in 64 bits either way.
type Real interface{ float32 | float64 }

// vectors are embeddings with one over their lengths; 0 for a zero vector.
type vectors[F Real] struct {
	rows    [][]F
	inverse []float64
}

func (f *vectors[F]) add(row []F) error {
	if len(f.rows) > 0 && len(row) != len(f.rows[0]) {
		return fmt.Errorf("%d dimensions, others have %d; embed all answers with one model", len(row), len(f.rows[0]))
	}
	inverse, err := inverseLength(row)
	if err != nil {
		return err
	}
	f.rows, f.inverse = append(f.rows, row), append(f.inverse, inverse)
	return nil
}

func inverseLength[F Real](row []F) (float64, error) {
	square := squareOf(row)
	switch {
	case !finite(square):
		return 0, fmt.Errorf("it holds a value that is no finite number")
	case square == 0:
		return 0, nil
	}
	return 1 / math.Sqrt(square), nil
}

// squareOf is the squared length.
func squareOf[F Real](row []F) float64 {
	n := len(row) &^ 15
	var sum float64
	if v, ok := any(row).([]float32); ok {
		sum = square32(v[:n])
	} else {
		sum = square16(row[:n])
	}
	for _, x := range row[n:] {
		sum += float64(x) * float64(x)
	}
	return sum
}

// square16 is the squared length of a vector with a multiple of 16 places. Sixteen sums, so that an addition
// need not wait for the one before, and in a fixed order.
func square16[F Real](row []F) float64 {
	var s [16]float64
	for ; len(row) >= len(s); row = row[len(s):] {
		for j, x := range row[:len(s)] {
			s[j] += float64(x) * float64(x)
		}
	}
	var lanes [4]float64
	for j := range lanes {
		lanes[j] = (s[j] + s[j+4]) + (s[j+8] + s[j+12])
	}
	return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
}

// sums uses Σ_ij w_i w_j <u_i, u_j> = |Σ w_i u_i|² for unit vectors u: O((n + m) d) and no matrix.
func (f vectors[F]) sums(x, y []float64) sums {
	var s sums
	s.weigh(x, y)
	sx, sy := f.sum(x), f.sum(y)
	s.xx, s.yy, s.xy = dot(sx, sx), dot(sy, sy), dot(sx, sy)
	for i, inverse := range f.inverse {
		if inverse != 0 {
			s.dx += x[i] * x[i]
			s.dy += y[i] * y[i]
		}
	}
	return s
}

// sum is Σ w_i u_i. Four vectors are added at a time, so that the sum is read and
// written a quarter as often.
func (f vectors[F]) sum(w []float64) []float64 {
	if len(f.rows) == 0 {
		return nil
	}
	total := make([]float64, len(f.rows[0]))
	var rows [4][]F
	var by [4]float64
	add, held := adderOf[F](), 0
	for i, row := range f.rows {
		if w[i] == 0 || f.inverse[i] == 0 {
			continue
		}
		rows[held], by[held] = row, w[i]*f.inverse[i]
		if held++; held == len(rows) {
			add(total, &rows, &by)
			held = 0
		}
	}
	if held > 0 {
		for h := held; h < len(rows); h++ {
			rows[h], by[h] = rows[0], 0
		}
		add(total, &rows, &by)
	}
	return total
}

// adderOf is the quickest addFour for the type.
func adderOf[F Real]() func(total []float64, rows *[4][]F, by *[4]float64) {
	if add, ok := any(addFour32).(func([]float64, *[4][]F, *[4]float64)); ok {
		return add
	}
	return func(total []float64, rows *[4][]F, by *[4]float64) { addFour(total, rows, by, 0) }
}

// addFour adds four vectors, each times a factor, from a place on.
func addFour[F Real](total []float64, rows *[4][]F, by *[4]float64, from int) {
	n := len(total)
	a, b, c, d := rows[0][:n], rows[1][:n], rows[2][:n], rows[3][:n]
	for j := from; j < n; j++ {
		total[j] += (by[0]*float64(a[j]) + by[1]*float64(b[j])) + (by[2]*float64(c[j]) + by[3]*float64(d[j]))
	}
}

func (f vectors[F]) dense() coded {
	n := len(f.rows)
	g := coded{codes: make([]int32, n), values: n, k: make([]float64, n*n)}
	for i := range n {
		g.codes[i] = int32(i)
		if f.inverse[i] != 0 {
			g.k[i*n+i] = 1
		}
		for j := range i {
			cos := dot(f.rows[i], f.rows[j]) * f.inverse[i] * f.inverse[j]
			g.k[i*n+j], g.k[j*n+i] = cos, cos
		}
	}
	return g
}

// dot has four sums, so that an addition need not wait for the one before.
func dot[F Real](v, w []F) float64 {
	var a, b, c, d float64
	for len(v) >= 4 && len(w) >= 4 {
		a += float64(v[0]) * float64(w[0])
		b += float64(v[1]) * float64(w[1])
		c += float64(v[2]) * float64(w[2])
		d += float64(v[3]) * float64(w[3])
		v, w = v[4:], w[4:]
	}
	for j, x := range v {
		a += float64(x) * float64(w[j])
	}
	return (a + b) + (c + d)
}

func (f vectors[F]) pick(samples []int) form {
	var g vectors[F]
	for _, s := range samples {
		g.rows, g.inverse = append(g.rows, f.rows[s]), append(g.inverse, f.inverse[s])
	}
	return g
}
