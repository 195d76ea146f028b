package scores_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/scores"
)

// BenchmarkMillion reads a million rows of a label and four scores from CSV and computes every metric
// of every score, without intervals.
func BenchmarkMillion(b *testing.B) {
	const n = 1_000_000
	g := rand.New(rand.NewPCG(7, 8))
	var text bytes.Buffer
	text.WriteString("correct,a,b,c,d\n")
	for range n {
		p := g.Float64()
		y := 0
		if g.Float64() < p {
			y = 1
		}
		fmt.Fprintf(&text, "%d,%v,%v,%v,%v\n", y, p, g.Float64(), float64(int(20*p))/20, p*p)
	}
	metrics, err := scores.Metrics([]string{scores.AllMetrics})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r, err := table.New(bytes.NewReader(text.Bytes()), "a.csv", table.Options{})
		if err != nil {
			b.Fatal(err)
		}
		t, err := scores.Read(r, scores.Spec{})
		if err != nil {
			b.Fatal(err)
		}
		got, err := scores.Evaluate(b.Context(), t, scores.Options{Metrics: metrics, Level: .95})
		if err != nil || len(got) != 4*len(metrics) || t.Rows != n {
			b.Fatalf("%d results of %d rows, %v", len(got), t.Rows, err)
		}
	}
}
