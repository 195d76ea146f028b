package quantify

import (
	"fmt"
	"math"

	"github.com/credence-lab/credence/record"
)

// Similarities holds how alike each two of an answer (0) and its samples (1 to m) are, in [0,1]. It is
// symmetric and immutable.
type Similarities struct {
	n     int
	cells []record.Number
}

// NewSimilarities takes similarities by position. A pair scored in both orders with two results has
// their mean. It is an error if the matrix is not square or holds a known value outside [0,1].
func NewSimilarities(matrix [][]record.Number) (*Similarities, error) {
	n := len(matrix)
	for i, row := range matrix {
		if len(row) != n {
			return nil, fmt.Errorf("quantify: row %d of %d similarities in a matrix of %d", i, len(row), n)
		}
		for j, cell := range row {
			if x, ok := cell.Get(); ok && !(x >= 0 && x <= 1) {
				return nil, fmt.Errorf("quantify: similarity of texts %d and %d is %v, outside [0,1]", i, j, x)
			}
		}
	}
	s := &Similarities{n: n, cells: make([]record.Number, n*n)}
	for i := range n {
		for j := range n {
			s.cells[i*n+j] = middle(matrix[i][j], matrix[j][i])
		}
	}
	return s, nil
}

// middle is the mean of two numbers, or the reason of the first that is absent.
func middle(a, b record.Number) record.Number {
	x, known := a.Get()
	if !known {
		return a
	}
	y, known := b.Get()
	if !known {
		return b
	}
	return record.Known((x + y) / 2)
}

// At returns the similarity of two texts; see [Evidence] for the numbers.
func (s *Similarities) At(i, j int) record.Number {
	if i < 0 || i >= s.n || j < 0 || j >= s.n {
		panic(fmt.Sprintf("quantify: similarity %d, %d of %d texts", i, j, s.n))
	}
	return s.cells[i*s.n+j]
}

func (s *Similarities) texts() int {
	if s == nil {
		return 0
	}
	return s.n
}

// at returns a similarity that missing has found to be there.
func (s *Similarities) at(i, j int) float64 {
	x, _ := s.cells[i*s.n+j].Get()
	return x
}

func (s *Similarities) missing(pairs Pairs) record.Missing {
	if s == nil {
		return NoSimilarity
	}
	for i := range s.n {
		for j := range s.n {
			if !pairs.holds(i, j) {
				continue
			}
			if _, known := s.cells[i*s.n+j].Get(); !known {
				if why := s.cells[i*s.n+j].Missing(); why != record.Present {
					return why
				}
				return NoSimilarity
			}
		}
	}
	return record.Present
}

// cosine is the cosine of the angle between two vectors of one length, in [-1,1]; NaN if one is 0. It
// scales first, so that no square overflows.
func cosine(a, b []float64) float64 {
	high := func(v []float64) float64 {
		m := 0.0
		for _, x := range v {
			m = math.Max(m, math.Abs(x))
		}
		return m
	}
	ma, mb := high(a), high(b)
	dot, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		x, y := a[i]/ma, b[i]/mb
		dot += x * y
		aa += x * x
		bb += y * y
	}
	return math.Max(-1, math.Min(1, dot/math.Sqrt(aa*bb)))
}

// likeness is the cosine of two texts' embeddings brought to [0,1].
func likeness(e *Evidence, i, j int) float64 { return .5 + cosine(e.Embeddings[i], e.Embeddings[j])/2 }

func (e *Evidence) missingEmbeddings() record.Missing {
	if e.Embeddings == nil {
		return NoEmbedding
	}
	for _, vector := range e.Embeddings {
		if vector == nil {
			return NoEmbedding
		}
		zero := true
		for _, x := range vector {
			zero = zero && x == 0
		}
		if zero {
			return ZeroEmbedding
		}
	}
	return record.Present
}
