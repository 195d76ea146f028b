package bayes_test

import (
	"testing"

	"github.com/credence-lab/credence/bayes"
)

// Of the 100 published answers: one judge, and all 48 automatic ones together. The effective number of
// draws is the smallest bulk ESS of sensitivities, specificities and mean correctness.
func BenchmarkOneJudge(b *testing.B)  { benchmarkJudges(b, 1, 1) }
func BenchmarkAllJudges(b *testing.B) { benchmarkJudges(b, 48, 1) }

// The same judgements as if of 10,000 different answers.
func benchmarkJudges(b *testing.B, judges, _ int) {
	d := published(b)
	if judges == 1 {
		d.Judges = d.Judges[19:20]
	} else {
		d.Judges = d.Judges[:judges]
	}
	fit(b, d)
}

func fit(b *testing.B, d bayes.JudgeData) {
	b.ReportAllocs()
	ess := 0.0
	for b.Loop() {
		p, err := bayes.FitJudges(b.Context(), d, bayes.PaperPriors(), bayes.NUTS, bayes.Options{Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		least, _ := p.Convergence.BulkESS.Get()
		r, _ := p.Convergence.RHat.Get()
		leaps := 0
		for _, c := range p.Convergence.Chains {
			leaps += c.Leapfrogs
		}
		b.Logf("rhat %.4f ess %.0f leapfrogs/draw %.1f warnings %v", r, least, float64(leaps)/8000, p.Convergence.Warnings)
		ess += least
	}
	b.ReportMetric(ess/b.Elapsed().Seconds(), "ess/s")
}
