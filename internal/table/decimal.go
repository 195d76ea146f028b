package table

import (
	"math"
	"math/bits"
)

// shortDecimal reads digits with an optional minus and point, at most 19 of them and no exponent, as
// nearly all numbers in tables are. Of any other text it says nothing: ok is false.
func shortDecimal(text []byte) (x float64, ok bool) {
	digits := text
	if len(text) > 0 && text[0] == '-' {
		digits = text[1:]
	}
	var whole uint64 // the digits without their point
	point := len(digits)
	for i, c := range digits {
		switch {
		case c-'0' <= 9:
			whole = 10*whole + uint64(c-'0')
		case c == '.' && point == len(digits):
			point = i
		default:
			return 0, false
		}
	}
	n, places := len(digits), 0
	if point < len(digits) {
		n, places = n-1, n-1-point
	}
	if n < 1 || n > maxDigits {
		return 0, false
	}
	x = quotient(whole, places)
	if len(digits) < len(text) {
		x = -x
	}
	return x, true
}

// maxDigits is how many digits always fit into 64 bits.
const maxDigits = 19

// powersOfTen are those that fit into 64 bits.
var powersOfTen = func() (powers [maxDigits + 1]uint64) {
	powers[0] = 1
	for k := range maxDigits {
		powers[k+1] = 10 * powers[k]
	}
	return powers
}()

// quotient is whole/10^places as the nearest float64, the even one of two: the integers are divided to
// at least 62 bits, what remains counting as one bit more, so that the conversion rounds and nothing else.
func quotient(whole uint64, places int) float64 {
	if whole == 0 {
		return 0
	}
	by := powersOfTen[places]
	up, down := bits.LeadingZeros64(whole), bits.LeadingZeros64(by)
	whole, by = whole<<up, by<<down
	q, rest := bits.Div64(whole>>2, whole<<62, by)
	if rest != 0 {
		q |= 1
	}
	return float64(int64(q)) * powerOfTwo(down-up-62)
}

// powerOfTwo is 2^k, neither so small nor so large that it would be no normal number.
func powerOfTwo(k int) float64 { return math.Float64frombits(uint64(k+1023) << 52) }
