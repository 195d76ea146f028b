package llm

import (
	"fmt"
	"math"
)

// Unit brings a vector to length 1, as an [Embed] call returns it. A vector without length, or with a number
// that is none, is an error.
func Unit(v []float64) ([]float32, error) {
	sum := 0.
	for _, x := range v {
		sum += x * x
	}
	length := math.Sqrt(sum)
	if !(length > 0 && length <= math.MaxFloat32) {
		return nil, fmt.Errorf("a vector of %d numbers has length %g", len(v), length)
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x / length)
	}
	return out, nil
}
