package bayes

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkGradient is what a step of NUTS costs: 48 independent judges, so that nearly all items are
// judged differently.
func BenchmarkGradient(b *testing.B) {
	for _, items := range []int{100, 1000, 10_000} {
		random := rand.New(rand.NewPCG(1, 1))
		d := JudgeData{People: make([]Votes, items), Judges: make([]Judge, 48)}
		for i := range d.People {
			d.People[i] = Votes{Correct: float64(2 * (i % 2)), Incorrect: float64(2 - 2*(i%2))}
		}
		for j := range d.Judges {
			for range d.People {
				c := random.IntN(2)
				d.Judges[j].Counts = append(d.Judges[j].Counts, Count{c, 1 - c})
			}
		}
		priors := PaperPriors()
		m, err := newMarginal(d, priors, patternsOf(d, priors))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(items), func(b *testing.B) {
			q, grad := make([]float64, m.Dim()), make([]float64, m.Dim())
			for b.Loop() {
				m.LogDensityGradient(q, grad)
			}
		})
	}
}
