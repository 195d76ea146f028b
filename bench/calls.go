package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/openai"
)

// calls asks a local server as a study does, every reply durable before anyone is told of it, and prints how
// many calls that makes a second. With -serve it is that server instead, which knows one answer.
func calls(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("calls", flag.ContinueOnError)
	serve := flags.String("serve", "", "serve at this address of the own machine, such as 127.0.0.1:8099")
	wait := flags.Duration("wait", 0, "how long the server takes for an answer")
	url := flags.String("url", "", "server to ask; without one, one in this process")
	n := flags.Int("n", 20_000, "calls to make")
	flight := flags.Int("in-flight", 64, "calls in flight")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *serve != "" {
		server, err := serveAt(*serve, *wait)
		if err != nil {
			return err
		}
		defer server.close()
		<-ctx.Done()
		return nil
	}
	if *url == "" {
		server, err := serveAt("127.0.0.1:0", *wait)
		if err != nil {
			return err
		}
		defer server.close()
		*url = server.url()
	}
	return askCalls(ctx, *url, *n, *flight, *wait)
}

func askCalls(ctx context.Context, url string, n, flight int, wait time.Duration) error {
	folder, err := os.MkdirTemp("", "credence-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	l, err := ledger.Open(filepath.Join(folder, "ledger.db"))
	if err != nil {
		return err
	}
	defer l.Close()
	engine, err := openai.Open(ctx, openai.Config{URL: url, Dialect: openai.Plain, Model: "one", Concurrency: flight})
	if err != nil {
		return err
	}
	ask := l.Through(engine)
	defer ask.Close()
	// The bound on requests in flight grows in the first calls, as in a study; they are not counted.
	warm := 4 * flight
	if _, err := askAll(ctx, ask, -warm, warm, flight); err != nil {
		return err
	}
	before, _ := processorTime()
	took, err := askAll(ctx, ask, 0, n, flight)
	if err != nil {
		return err
	}
	after, known := processorTime()
	told(fmt.Sprintf("durable calls, %d in flight", flight), float64(n)/took.Seconds(), "a second")
	if wait > 0 {
		told("of the time of the calls in flight, busy", 100*float64(n)*wait.Seconds()/(float64(flight)*took.Seconds()), "%")
	}
	if known {
		told("processor time of this process for a thousand calls", 1000*(after-before).Seconds()/float64(n), "s")
	}
	if mb, known := peakMB(); known {
		told("peak of memory", mb, "MB")
	}
	return nil
}

// askAll makes the calls from..from+n, each of a prompt of its own of 400 bytes or so.
func askAll(ctx context.Context, ask *ledger.Asker, from, n, flight int) (time.Duration, error) {
	var next atomic.Int64
	var group sync.WaitGroup
	// As in a study, there are more to send than may be in flight, so that a reply that is being written keeps no
	// place empty.
	errs := make([]error, 4*flight)
	began := time.Now()
	for worker := range errs {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || errs[worker] != nil {
					return
				}
				errs[worker] = ask.Do(ctx, []llm.Request{{
					Kind: llm.Generate, Prompt: llm.Prompt{Text: question(from + i)}, Decoding: llm.Decoding{MaxTokens: 16},
				}})[0].Err
			}
		})
	}
	group.Wait()
	return time.Since(began), errors.Join(errs...)
}

// question is also what the peer asks.
func question(i int) string {
	return fmt.Sprintf("Provide your best guess and the probability that it is correct (0.0 to 1.0) for the following question. Give ONLY the guess and probability, no other words or explanation. "+
		"For example: Guess: <most likely guess, as short as possible>. Probability: <the probability between 0.0 and 1.0 that your guess is correct>. The question is: what is the capital of country number %d of the list of all countries, sorted by name?", i)
}
