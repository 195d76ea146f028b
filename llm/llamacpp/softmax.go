package llamacpp

import (
	"errors"
	"math"
)

// errNotFinite says that the model computed something that is no distribution.
var errNotFinite = errors.New("the model's logits are not finite: the weights are damaged, or do not suit this library")

// logSumExp is the logarithm of the sum of the exponentials of all logits, in float64. Subtracting it
// from a logit gives the raw log-probability. The order of summation is fixed.
func logSumExp(logits []float32) (float64, error) {
	top := highest(logits)
	peak := float64(top)
	if math.IsInf(peak, 0) || math.IsNaN(peak) {
		return 0, errNotFinite
	}
	// Four sums break the chain of additions, which would else be what the loop waits for.
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(logits); i += 4 {
		s0 += exp(max(float64(logits[i])-peak, lowest))
		s1 += exp(max(float64(logits[i+1])-peak, lowest))
		s2 += exp(max(float64(logits[i+2])-peak, lowest))
		s3 += exp(max(float64(logits[i+3])-peak, lowest))
	}
	for ; i < len(logits); i++ {
		s0 += exp(max(float64(logits[i])-peak, lowest))
	}
	sum := peak + math.Log((s0+s1)+(s2+s3))
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return 0, errNotFinite
	}
	return sum, nil
}

// highest is the largest logit; NaN where there is none.
func highest(logits []float32) float32 {
	if len(logits) == 0 {
		return float32(math.NaN())
	}
	return logits[argmax(logits)]
}

// argmax is the place of the highest logit, the lowest place on a tie.
func argmax(logits []float32) int {
	best := 0
	for i, x := range logits {
		if x > logits[best] {
			best = i
		}
	}
	return best
}

// logProb is the raw log-probability of one token under logits whose logSumExp is sum. Rounding may
// lift a certain token a hair above 0; that is cut.
func logProb(logits []float32, sum float64, token int32) (float64, error) {
	lp := float64(logits[token]) - sum
	if math.IsNaN(lp) || math.IsInf(lp, 0) {
		return 0, errNotFinite
	}
	return min(lp, 0), nil
}
