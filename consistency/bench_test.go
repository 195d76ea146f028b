package consistency_test

import (
	"math/rand/v2"
	"testing"

	"github.com/credence-lab/credence/consistency"
)

// BenchmarkCosineStudy is C3 by cosine of 1,000 items with 30 + 30 answers, embedded in 384 dimensions: one
// operation is the whole study.
func BenchmarkCosineStudy(b *testing.B) {
	const items, n, d = 1000, 30, 384
	random := rand.New(rand.NewPCG(1, 2))
	study := func() [][][]float32 { // one block of numbers, as numpy has it
		flat, study := make([]float32, items*n*d), make([][][]float32, items)
		for i := range flat {
			flat[i] = float32(.3 + random.NormFloat64())
		}
		for i := range study {
			for range n {
				study[i], flat = append(study[i], flat[:d:d]), flat[d:]
			}
		}
		return study
	}
	original, perturbed := study(), study()
	b.ReportAllocs()
	for b.Loop() {
		for i := range items {
			c, err := consistency.CompareEmbeddings(original[i], perturbed[i])
			if err != nil {
				b.Fatal(err)
			}
			if _, err := c.C3(consistency.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkIndicatorStudy is C3 by counts of 1,000 items with 30 + 30 answers of six kinds.
func BenchmarkIndicatorStudy(b *testing.B) {
	const items, n = 1000, 30
	random := rand.New(rand.NewPCG(1, 2))
	answers := func() []consistency.Sample {
		s := make([]consistency.Sample, n)
		for i := range s {
			s[i].Answer = []string{"12", "14", "7", "120", "-3", "0.5"}[random.IntN(6)]
		}
		return s
	}
	original, perturbed := make([][]consistency.Sample, items), make([][]consistency.Sample, items)
	for i := range items {
		original[i], perturbed[i] = answers(), answers()
	}
	b.ReportAllocs()
	for b.Loop() {
		for i := range items {
			if _, err := consistency.CompareAnswers(original[i], perturbed[i]).C3(consistency.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkBootstrap is the interval of one item by 1,000 resamples.
func BenchmarkBootstrap(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	rows := func() [][]float32 {
		rows := make([][]float32, 30)
		for i := range rows {
			rows[i] = make([]float32, 384)
			for j := range rows[i] {
				rows[i][j] = float32(.3 + random.NormFloat64())
			}
		}
		return rows
	}
	c, err := consistency.CompareEmbeddings(rows(), rows())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Bootstrap(consistency.Options{}, consistency.Resampling{Level: .95, N: 1000}); err != nil {
			b.Fatal(err)
		}
	}
}
