package consistency

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What the processor's vectors give must be what plain Go gives, bit for bit, so that results do not depend
// on the processor.
func TestVectorSumsHaveTheBitsOfPlainGo(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 5))
	for n := range 70 {
		var rows [4][]float32
		var by [4]float64
		for r := range rows {
			by[r] = random.NormFloat64()
			for range n {
				rows[r] = append(rows[r], float32(random.NormFloat64()*math.Pow(10, float64(random.IntN(12)-6))))
			}
		}
		if n%16 == 0 {
			if got, want := square32(rows[0]), square16(rows[0]); math.Float64bits(got) != math.Float64bits(want) {
				t.Errorf("squared length of %d places: %v, plain Go %v", n, got, want)
			}
		}
		got, want := make([]float64, n), make([]float64, n)
		for j := range n {
			got[j] = random.NormFloat64()
		}
		copy(want, got)
		addFour32(got, &rows, &by)
		addFour(want, &rows, &by, 0)
		for j := range n {
			if math.Float64bits(got[j]) != math.Float64bits(want[j]) {
				t.Errorf("place %d of %d: %v, plain Go %v", j, n, got[j], want[j])
			}
		}
	}
}
