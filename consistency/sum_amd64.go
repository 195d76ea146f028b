package consistency

import "golang.org/x/sys/cpu"

// addFourAVX adds by[0]·a + by[1]·b + by[2]·c + by[3]·d to the first n places of total; n is a positive
// multiple of 4.
//
//go:noescape
func addFourAVX(total *float64, n int, a, b, c, d *float32, by *[4]float64)

// squareAVX is the sum of the squares of n numbers; n is a positive multiple of 16.
//
//go:noescape
func squareAVX(v *float32, n int) float64

// square32 is square16, four places at a time.
func square32(v []float32) float64 {
	if !cpu.X86.HasAVX || len(v) == 0 {
		return square16(v)
	}
	return squareAVX(&v[0], len(v))
}

// addFour32 is addFour, for which Go's compiler takes one place at a time, four places at a time.
func addFour32(total []float64, rows *[4][]float32, by *[4]float64) {
	n := len(total) &^ 3
	if !cpu.X86.HasAVX || n == 0 {
		addFour(total, rows, by, 0)
		return
	}
	a, b, c, d := rows[0][:len(total)], rows[1][:len(total)], rows[2][:len(total)], rows[3][:len(total)]
	addFourAVX(&total[0], n, &a[0], &b[0], &c[0], &d[0], by)
	addFour(total, rows, by, n)
}
