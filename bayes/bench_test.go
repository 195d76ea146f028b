package bayes_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/credence-lab/credence/bayes"
)

// BenchmarkJudges fits 100 published answers with the default 4 × (1,000 + 2,000) draws. ess/s is the
// smallest bulk ESS over all quantities of the fit, by the clock, everything included.
func BenchmarkJudges(b *testing.B) {
	d := published(b)
	one, all := d, d
	one.Judges, all.Judges = d.Judges[19:20], d.Judges[:48]
	b.Run("1", func(b *testing.B) { benchmarkFit(b, one, bayes.NUTS) })
	b.Run("48", func(b *testing.B) { benchmarkFit(b, all, bayes.NUTS) })
	b.Run("48/gibbs", func(b *testing.B) { benchmarkFit(b, all, bayes.Gibbs) })
}

// BenchmarkThousands fits 48 judges on simulated answers, nearly all of which are judged differently,
// the worst case of the model; and on the published ones as if there were more of them.
func BenchmarkThousands(b *testing.B) {
	for _, items := range []int{1000, 10_000} {
		if items > 1000 && os.Getenv("CREDENCE_STRESS") == "" {
			b.Logf("%d items take minutes; set CREDENCE_STRESS=1", items)
			continue
		}
		b.Run(fmt.Sprint("resampled/", items), func(b *testing.B) { benchmarkFit(b, resampled(published(b), items), bayes.NUTS) })
		b.Run(fmt.Sprint("simulated/", items), func(b *testing.B) { benchmarkFit(b, simulated(items, 48), bayes.NUTS) })
	}
}

func benchmarkFit(b *testing.B, d bayes.JudgeData, s bayes.Sampler) {
	b.ReportAllocs()
	ess, leapfrogs := 0.0, 0
	for b.Loop() {
		p, err := bayes.FitJudges(b.Context(), d, bayes.PaperPriors(), s, bayes.Options{Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		least, _ := p.Convergence.BulkESS.Get()
		ess += least
		for _, c := range p.Convergence.Chains {
			leapfrogs += c.Leapfrogs
		}
		for _, w := range p.Convergence.Warnings {
			b.Log(w.Text)
		}
	}
	b.ReportMetric(ess/b.Elapsed().Seconds(), "ess/s")
	b.ReportMetric(ess/float64(b.N), "ess/fit")
	b.ReportMetric(float64(leapfrogs)/float64(b.N)/bayes.DefaultChains/bayes.DefaultDraws, "leapfrogs/draw")
}

// resampled draws items with replacement.
func resampled(d bayes.JudgeData, items int) bayes.JudgeData {
	random := rand.New(rand.NewPCG(1, 1))
	out := bayes.JudgeData{Judges: make([]bayes.Judge, 48)}
	for j := range out.Judges {
		out.Judges[j].Name = d.Judges[j].Name
	}
	for range items {
		i := random.IntN(len(d.People))
		out.People = append(out.People, d.People[i])
		for j := range out.Judges {
			out.Judges[j].Counts = append(out.Judges[j].Counts, d.Judges[j].Counts[i])
		}
	}
	return out
}

// simulated draws labels of two people and independent judges of all qualities.
func simulated(items, judges int) bayes.JudgeData {
	random := rand.New(rand.NewPCG(1, 1))
	d := bayes.JudgeData{Judges: make([]bayes.Judge, judges), People: make([]bayes.Votes, items)}
	sens, spec := make([]float64, judges), make([]float64, judges)
	for j := range judges {
		d.Judges[j] = bayes.Judge{Name: fmt.Sprint(j), Counts: make([]bayes.Count, items)}
		sens[j], spec[j] = .2+.75*random.Float64(), .2+.75*random.Float64()
	}
	for i := range items {
		correct := random.Float64() < .65
		if correct {
			d.People[i].Correct = 2
		} else {
			d.People[i].Incorrect = 2
		}
		for j := range judges {
			accept := 1 - spec[j]
			if correct {
				accept = sens[j]
			}
			if random.Float64() < accept {
				d.Judges[j].Counts[i].Correct = 1
			} else {
				d.Judges[j].Counts[i].Incorrect = 1
			}
		}
	}
	return d
}
