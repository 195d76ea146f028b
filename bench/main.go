// Bench measures the embedded engine as a study uses it, and prints figures with the ratios that are wanted of
// them: how much sharing saves, what a study takes beside the engine's own rates, samples, memory. With
// -export it leaves the answers that it scored for the peers of peers.sh. "bench calls" measures how many calls
// a second a server is asked; see load.sh.
//
// docs/performance.md has its figures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"

	"github.com/credence-lab/credence/llm/llamacpp"
	"github.com/credence-lab/credence/study"
	"github.com/credence-lab/credence/weights"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	work := run
	if len(os.Args) > 1 && os.Args[1] == "calls" {
		work = func(ctx context.Context) error { return calls(ctx, os.Args[2:]) }
	}
	if err := work(ctx); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one run.
type bench struct {
	config llamacpp.Config
	items  int
	rounds int
	export string
}

func run(ctx context.Context) error {
	b := &bench{}
	model := flag.String("weights", study.DefaultWeights, "a name of the catalogue, or a GGUF file")
	mode := flag.String("mode", string(llamacpp.Exact), "exact or fast")
	threads := flag.Int("threads", 0, "threads to compute with; 0 takes one per core")
	flag.IntVar(&b.items, "items", 60, "questions of the built-in study")
	flag.IntVar(&b.rounds, "rounds", 3, "how often each figure but the study is measured; the best counts")
	flag.StringVar(&b.export, "export", "", "file for the scored answers, for the peers")
	flag.Parse()
	cache, err := weights.Open(weights.Options{})
	if err != nil {
		return err
	}
	parts, err := cache.Ensure(ctx, *model)
	if err != nil {
		return err
	}
	b.config = llamacpp.Config{
		LibraryDir: parts.Library, Weights: parts.Weights, WeightsSHA256: parts.SHA256,
		Mode: llamacpp.Mode(*mode), Threads: *threads,
	}
	fmt.Printf("%s, %s mode, %d CPUs, %s/%s\n\n", *model, *mode, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	// The study comes first: its peak of memory is that of a process that did nothing else.
	for _, figure := range []func(context.Context) error{b.study, b.sharing, b.samples} {
		if err := figure(ctx); err != nil {
			return err
		}
	}
	return nil
}

// wanted prints a figure with the bound that is wanted of it.
func wanted(what string, value float64, unit string, met bool, bound string) {
	word := "met"
	if !met {
		word = "NOT MET"
	}
	fmt.Printf("  %-58s %8.2f %-9s wanted %s: %s\n", what, value, unit, bound, word)
}

// told prints a figure that nothing is wanted of.
func told(what string, value float64, unit string) {
	fmt.Printf("  %-58s %8.2f %s\n", what, value, unit)
}
