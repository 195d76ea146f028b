//go:build unix

package judge

import (
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/credence-lab/credence/record"
)

// shortPairs are answers and references of the shape that short questions have: one to four words
// in a reference, one to six in an answer, a third of them the same, some with an article or a full stop.
func shortPairs(n int) (answers []record.Answer, items []record.Item) {
	words := strings.Fields("Paris London New York River Mount William The Of A State United Kingdom George Washington 1969 2001 Forty Two " +
		"North South City Capital Running Enjoyed King Queen Battle War President Film Actor Born Album Song Team Cup World Europe Asia Lake Blue Red Green")
	r := rand.New(rand.NewPCG(8, 0))
	draw := func(k int) []string {
		list := make([]string, k)
		for i := range list {
			list[i] = words[r.IntN(len(words))]
		}
		return list
	}
	for range n {
		reference := draw(1 + r.IntN(4))
		answer := reference
		if r.Float64() >= .35 {
			answer = draw(1 + r.IntN(6))
		}
		if r.Float64() < .3 {
			answer = append([]string{"The"}, answer...)
		}
		text := strings.Join(answer, " ")
		if r.Float64() < .3 {
			text += "."
		}
		answers = append(answers, record.Answer{Text: text})
		items = append(items, record.Item{References: []string{strings.Join(reference, " ")}})
	}
	return answers, items
}

// BenchmarkTextJudges judges 100,000 short answers; "four" is exact match, token F1, BLEU and ROUGE-L at nine
// thresholds each.
func BenchmarkTextJudges(b *testing.B) {
	answers, items := shortPairs(100_000)
	four := []string{"exact-match.squad"}
	for _, judge := range []string{"token-f1.squad", "bleu.method1", "rouge-l"} {
		four = append(four, Grid(judge)...)
	}
	for _, test := range []struct {
		name string
		ids  []string
	}{
		{"four", four},
		{"exact-match", []string{"exact-match"}},
		{"exact-match.squad", []string{"exact-match.squad"}},
		{"token-f1.squad", Grid("token-f1.squad")},
		{"bleu.method1", Grid("bleu.method1")},
		{"rouge-l", Grid("rouge-l")},
		{"rouge-l.stem", Grid("rouge-l.stem")},
		{"rouge-l.unicode", Grid("rouge-l.unicode")},
		{"all", textIDs()},
	} {
		b.Run(test.name, func(b *testing.B) {
			set, err := NewSet(test.ids...)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			var outcomes []Outcome
			start := processor(b)
			for b.Loop() {
				for i, a := range answers {
					outcomes = set.Outcomes(outcomes[:0], a, items[i])
				}
			}
			b.ReportMetric((processor(b)-start).Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}

// processor is the time that this process had of all processors.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
