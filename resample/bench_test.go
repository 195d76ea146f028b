package resample_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/resample"
)

// simulated is a setting of n items with a continuous token score, a verbalised score of 21 levels and
// labels that both know something of.
func simulated(n int, seed uint64) (token, verbalised, correct []float64) {
	r := rand.New(rand.NewPCG(seed, 1))
	beta := func() float64 { // Beta(2,2): the median of three uniforms
		a, b, c := r.Float64(), r.Float64(), r.Float64()
		return max(min(a, b), min(max(a, b), c))
	}
	unit := func(x, low, high float64) float64 { return max(low, min(high, x)) }
	for range n {
		q, y := beta(), 0.
		if r.Float64() < q {
			y = 1
		}
		token = append(token, unit(q+.2*r.NormFloat64(), 1e-4, 1-1e-4))
		verbalised = append(verbalised, math.Round(unit(.5+.5*q+.2*r.NormFloat64(), 0, 1)*20)/20)
		correct = append(correct, y)
	}
	return token, verbalised, correct
}

var papers = []metric.Statistic{metric.ECE(10, metric.LeftClosed), metric.AUROC(), metric.AURC()}

// BenchmarkPairedStudy is the bootstrap of a whole study: 20 settings of 1,000 items, two scores, 10,000
// resamples of ECE, AUROC and AURC, and the intervals of their differences.
func BenchmarkPairedStudy(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		for s := range uint64(20) {
			token, verbalised, correct := simulated(1_000, s)
			d := paired(b, correct, [][]float64{token, verbalised}, papers, resample.Options{Seed: s})
			for k := range papers {
				d.Contrast("difference", .95, difference(k)...)
			}
		}
	}
}

// BenchmarkPaired shows what each part costs an item and resample.
func BenchmarkPaired(b *testing.B) {
	token, verbalised, correct := simulated(1_000, 1)
	for _, bench := range []struct {
		name  string
		score []float64
		stats []metric.Statistic
	}{
		{"continuous/ece", token, papers[:1]},
		{"continuous/auroc", token, papers[1:2]},
		{"continuous/aurc", token, papers[2:]},
		{"continuous/all", token, papers},
		{"verbalised/all", verbalised, papers},
		{"continuous/kendall", token, []metric.Statistic{metric.Kendall()}},
		{"continuous/spearman", token, []metric.Statistic{metric.Spearman()}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			const n = 2_000
			for b.Loop() {
				paired(b, correct, [][]float64{bench.score}, bench.stats, resample.Options{N: n})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n/1_000, "ns/item")
		})
	}
}
