package llamacpp

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestExpIsMathExp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := -rapid.Float64Range(0, 700).Draw(t, "x")
		got, want := exp(x), math.Exp(x)
		if bound := (3 - x) * 0x1p-52 * want; math.Abs(got-want) > bound {
			t.Errorf("exp(%v) = %v, math.Exp gives %v: further apart than %v", x, got, want, bound)
		}
	})
	for _, x := range []float64{0, math.Copysign(0, -1)} {
		if got := exp(x); got != 1 {
			t.Errorf("exp(%v) = %v, want 1", x, got)
		}
	}
	if got := exp(math.NaN()); !math.IsNaN(got) {
		t.Errorf("exp(NaN) = %v: a broken model would pass unseen", got)
	}
}

// The reference sums in 200 bits.
func TestLogSumExpAgainstBigFloat(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 5, 1000, 4099} {
		logits := make([]float32, n)
		for i := range logits {
			logits[i] = float32(rng.NormFloat64() * 9)
		}
		sum := new(big.Float).SetPrec(200)
		for _, x := range logits {
			sum.Add(sum, big.NewFloat(math.Exp(float64(x))))
		}
		s, _ := sum.Float64()
		got, err := logSumExp(logits)
		if want := math.Log(s); err != nil || math.Abs(got-want) > 1e-13*math.Abs(want)+1e-15 {
			t.Errorf("n=%d: %v (%v), want %v", n, got, err, want)
		}
	}
}

func TestLogitsThatAreNoDistributionAreAnError(t *testing.T) {
	t.Parallel()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, logits := range [][]float32{{}, {nan}, {1, nan, 2}, {nan, 1}, {1, inf}, {-inf, -inf}} {
		if _, err := logSumExp(logits); !errors.Is(err, errNotFinite) {
			t.Errorf("%v: error %v", logits, err)
		}
	}
	if _, err := logProb([]float32{0, -inf}, 0, 1); !errors.Is(err, errNotFinite) {
		t.Errorf("a token of probability 0 got a log-probability: %v", err)
	}
	if sum, err := logSumExp([]float32{3, -inf}); err != nil || sum != 3 {
		t.Errorf("one impossible token: %v, %v; want 3", sum, err)
	}
	if lp, err := logProb([]float32{5}, math.Nextafter(5, 0), 0); err != nil || lp != 0 {
		t.Errorf("a certain token: %v, %v; want 0", lp, err)
	}
}

func BenchmarkLogSumExp(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	logits := make([]float32, 151_936)
	for i := range logits {
		logits[i] = float32(rng.NormFloat64() * 3)
	}
	b.Run("row", func(b *testing.B) {
		for b.Loop() {
			_, _ = logSumExp(logits)
		}
	})
	b.Run("math.Exp", func(b *testing.B) {
		sum := 0.0
		for b.Loop() {
			for _, x := range logits {
				sum += math.Exp(float64(x) - 10)
			}
		}
	})
}
