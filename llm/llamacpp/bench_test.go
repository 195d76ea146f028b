//go:build unix

package llamacpp

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/credence-lab/credence/llm"
)

// The benchmarks run on Qwen2.5-Coder 0.5B with all threads, or with CREDENCE_THREADS. Each reports what a
// user waits for, and the same by processor time, which says more on a busy machine if there is one thread.
// Texts differ from round to round, so that nothing is found in the cells.

func benchEngine(b *testing.B, sequences int) *Engine {
	c := partsOf(b, qwen)
	if c.Threads, _ = strconv.Atoi(os.Getenv("CREDENCE_THREADS")); c.Threads == 0 {
		c.Threads = runtime.NumCPU()
	}
	c.Sequences = sequences
	e := open(b, c)
	load(b, e)
	return e
}

// processor is the time that this process had of all processors.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// report gives the rate of n things a round, by the clock and by processor time since start.
func report(b *testing.B, n int, unit string, start time.Duration) {
	total := float64(n) * float64(b.N)
	b.ReportMetric(total/b.Elapsed().Seconds(), unit+"/s")
	b.ReportMetric(total/(processor(b)-start).Seconds(), unit+"/cpu-s")
}

// fresh returns n tokens that no text of another round begins with.
func fresh(b *testing.B, e *Engine, round, n int) []int32 {
	ids := append([]int32(nil), passage(b, e, round, n)...)
	copy(ids, load(b, e).model.tokenise(fmt.Sprintf("Round %d:", round), false))
	return ids
}

func BenchmarkEnginePrompt512(b *testing.B) {
	e := benchEngine(b, 4)
	start := processor(b)
	for round := 0; b.Loop(); round++ {
		do(b, e, forced(b, e, fresh(b, e, round, 512), 1))
	}
	report(b, 512, "tokens", start)
}

func BenchmarkEngineAnswers(b *testing.B) {
	for _, shared := range []bool{false, true} {
		b.Run(map[bool]string{false: "fresh", true: "ten in one context"}[shared], func(b *testing.B) {
			e := benchEngine(b, 16)
			start := processor(b)
			for round := 0; b.Loop(); round++ {
				var jobs []*job
				for i := range 10 {
					k := round * 10
					if !shared {
						k += i
					}
					ids := fresh(b, e, k, 105)
					ids[100] = int32(1000 + i)
					jobs = append(jobs, forced(b, e, ids, 5))
				}
				do(b, e, jobs...)
			}
			report(b, 10, "answers", start)
		})
	}
}

func BenchmarkEngineGenerate(b *testing.B) {
	for _, n := range []int{1, 10, 30} {
		b.Run(fmt.Sprintf("%d samples of 24 tokens", n), func(b *testing.B) {
			e := benchEngine(b, 30)
			start := processor(b)
			for round := 0; b.Loop(); round++ {
				ids := fresh(b, e, round, 60)
				var jobs []*job
				for i := range n {
					jobs = append(jobs, written(b, e, ids, llm.Decoding{MaxTokens: 24, Temperature: 1}, uint64(i)))
				}
				do(b, e, jobs...)
			}
			report(b, 24*n, "tokens", start)
		})
	}
}

func BenchmarkEngineLoad(b *testing.B) {
	c := partsOf(b, qwen)
	for b.Loop() {
		e, err := New(c)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := e.start(context.Background()); err != nil {
			b.Fatal(err)
		}
		_ = e.Close()
	}
}
