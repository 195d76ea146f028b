package bayes

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func spanOf(momenta ...[]float64) *span {
	s := newSpan(len(momenta[0]))
	copy(s.left, momenta[0])
	copy(s.right, momenta[len(momenta)-1])
	for _, p := range momenta {
		for i, x := range p {
			s.sum[i] += x
		}
	}
	s.leaf = len(momenta) == 1
	return s
}

func joiner(dim int) *nuts { return newNUTS(zero(dim), rand.New(rand.NewPCG(1, 1)), 3) }

type zero int

func (z zero) Dim() int                                     { return int(z) }
func (z zero) LogDensityGradient(_, grad []float64) float64 { clear(grad); return 0 }

// Whether a trajectory grew forwards or backwards must not matter for what it is.
func TestJoiningIsAlikeInBothDirections(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	turned := 0
	for range 300 {
		momenta := make([][]float64, 4)
		for i := range momenta {
			momenta[i] = []float64{1 + random.NormFloat64(), random.NormFloat64()}
		}
		s := joiner(2)
		forwards, backwards := spanOf(momenta[0], momenta[1]), spanOf(momenta[2], momenta[3])
		a := s.join(forwards, spanOf(momenta[2], momenta[3]), 1)
		b := s.join(backwards, spanOf(momenta[0], momenta[1]), -1)
		if a != b {
			t.Fatalf("%v goes on %v forwards, %v backwards", momenta, a, b)
		}
		if !a {
			turned++
		}
		for _, s := range []*span{forwards, backwards} {
			if !slices.Equal(s.left, momenta[0]) || !slices.Equal(s.right, momenta[3]) {
				t.Fatalf("ends are %v and %v of %v", s.left, s.right, momenta)
			}
		}
	}
	if turned == 0 || turned == 300 {
		t.Errorf("%d of 300 turned", turned)
	}
}

// The ends of the whole still part from each other, but the first half with the point after it has turned: the sum
// of its momenta is 1 + 1 − 3, against 1.
func TestATurnBetweenTheHalvesIsSeen(t *testing.T) {
	t.Parallel()
	s := joiner(1)
	first, second := spanOf([]float64{1}, []float64{1}), spanOf([]float64{-3}, []float64{4})
	if s.join(first, second, 1) {
		t.Error("a trajectory that turned between its halves goes on")
	}
	if s := joiner(1); !s.join(spanOf([]float64{1}, []float64{1}), spanOf([]float64{1}, []float64{1}), 1) {
		t.Error("a straight trajectory does not go on")
	}
}
