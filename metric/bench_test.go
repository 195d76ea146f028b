package metric_test

import (
	"math/rand/v2"
	"testing"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
)

const million = 1_000_000

func simulated(n int) (score, quality []float64) {
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		s, y := r.Float64(), 0.
		if r.Float64() < s {
			y = 1
		}
		score, quality = append(score, s), append(quality, y)
	}
	return score, quality
}

// BenchmarkPrepare sorts and collapses a million items of one continuous score.
func BenchmarkPrepare(b *testing.B) {
	score, quality := simulated(million)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := metric.Prepare(score, quality, measure.Confidence); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOn is every usual statistic on a million items of one continuous score.
func BenchmarkOn(b *testing.B) {
	score, quality := simulated(million)
	p := prepare(b, score, quality)
	for _, s := range metric.All() {
		b.Run(s.ID, func(b *testing.B) {
			for b.Loop() {
				s.On(p)
			}
		})
	}
}
