package quantify_test

import (
	"math/rand/v2"
	"testing"

	"github.com/credence-lab/credence/quantify"
)

// BenchmarkThousandItems computes one quantifier on 1,000 items of 10 samples with random entailment: the
// shape of the numpy baselines in docs/performance.md. An op is all 1,000 items, from their evidence.
func BenchmarkThousandItems(b *testing.B) {
	items := randomItems(1000, 10)
	for _, id := range []string{
		"eigv.entailment", "eccentricity.entailment", "kernel-language-entropy", "semantic-entropy", "lexical-similarity.rouge-l",
	} {
		q, err := quantify.ByID(id)
		if err != nil {
			b.Fatal(err)
		}
		set := []quantify.Quantifier{q}
		b.Run(id, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for i := range items {
					if _, err := quantify.Evaluate(set, &items[i]); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func randomItems(n, samples int) []quantify.Evidence {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"Paris", "Lyon", "Rome", "the capital", "of France", "I think", "Nice", "perhaps", "it is", "Bern"}
	items := make([]quantify.Evidence, n)
	for i := range items {
		texts := make([]string, samples)
		for j := range texts {
			texts[j] = words[r.IntN(len(words))] + " " + words[r.IntN(len(words))]
			logs := []float64{-r.Float64(), -r.Float64()}
			items[i].Samples = append(items[i].Samples, ofLogs(texts[j], logs))
		}
		items[i].Answer = ofLogs(texts[0], []float64{-r.Float64()})
		items[i].Entailment = quantify.Relate(texts[0], texts, func(string, string) quantify.Relation {
			e, c := r.Float64(), r.Float64()
			return quantify.Relation{Entails: e / 2, Contradicts: c / 2, Neither: 1 - e/2 - c/2}
		})
	}
	return items
}
