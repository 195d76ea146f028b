//go:build !amd64

package consistency

func addFour32(total []float64, rows *[4][]float32, by *[4]float64) { addFour(total, rows, by, 0) }

func square32(v []float32) float64 { return square16(v) }
