package llamacpp

import "math"

// exp is e^x for x between -700 and 0, with a relative error below (3+|x|)·2^-52: exact to the last digits
// where a summand matters in a sum with one of 1, as the summands of a softmax do. Callers cut x off at
// lowest, whose power counts for nothing beside 1.
//
// A softmax takes one of these for each token of the vocabulary at every position. This one is small
// enough to be inlined into such loops, and several times as fast as math.Exp.
//
// x = (256k+j+r)·ln2/256 with |r| <= 1/2, so e^x = 2^k · 2^(j/256) · 2^(r/256), with a table for the second
// factor and four terms of the series for the third (after Tang 1989).
func exp(x float64) float64 {
	const (
		h     = math.Ln2 / 256
		shift = 0x1.8p52 // adding it rounds to a whole number, which then stands in the low bits
	)
	t := x * (1 / h)
	n := t + shift
	r := t - (n - shift)
	bits := math.Float64bits(n)
	f := powers[bits%256]
	f += f * r * (h + r*(h*h/2+r*(h*h*h/6+r*(h*h*h*h/24))))
	return math.Float64frombits(math.Float64bits(f) + bits>>8<<52)
}

// lowest is the least x for exp.
const lowest = -700

// powers are 2^(j/256).
var powers = func() (p [256]float64) {
	for j := range p {
		p[j] = math.Exp2(float64(j) / 256)
	}
	return p
}()
