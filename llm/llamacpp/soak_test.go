package llamacpp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/credence-lab/credence/llm"
)

// Two thousand mixed requests of several callers, a third of which give up at some moment, leave no slot
// taken and no memory behind.
func TestSoak(t *testing.T) {
	if !stress() {
		t.Skip("only with CREDENCE_STRESS: it asks for some 40,000 tokens")
	}
	c := partsOf(t, smollm)
	c.ContextTokens, c.Sequences = 256, 8
	e := open(t, c)
	soak(t, e, 1, 250)
	before := residentBytes(t)
	for round := range uint64(7) {
		soak(t, e, 2+round, 250)
	}
	if grown := residentBytes(t) - before; grown > 64<<20 {
		t.Errorf("memory grew by %d MB over 1,750 requests", grown>>20)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for i, s := range e.loaded.scheduler.slots {
		if s.job != nil {
			t.Errorf("slot %d is still taken", i)
		}
	}
}

func soak(t *testing.T, e *Engine, seed uint64, requests int) {
	var wg sync.WaitGroup
	const callers = 5
	for caller := range uint64(callers) {
		rng := rand.New(rand.NewPCG(seed, caller))
		wg.Go(func() {
			for left := requests / callers; left > 0; {
				n := min(1+rng.IntN(8), left)
				left -= n
				soakOnce(t, e, rng, n)
			}
		})
	}
	wg.Wait()
}

func soakOnce(t *testing.T, e *Engine, rng *rand.Rand, n int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	reqs := make([]llm.Request, n)
	for i := range reqs {
		p := llm.Chat(fmt.Sprintf("Question %d: %s?", rng.IntN(6), strings.Repeat("why ", rng.IntN(20))), "")
		if reqs[i] = (llm.Request{Kind: llm.Score, Prompt: p, Answer: strings.Repeat("because ", 1+rng.IntN(5))}); rng.IntN(2) == 0 {
			d := llm.Decoding{MaxTokens: 1 + rng.IntN(20), Temperature: float64(rng.IntN(2))}
			reqs[i] = llm.Request{Kind: llm.Generate, Prompt: p, Decoding: d, Sample: i}
		}
	}
	gaveUp := rng.IntN(3) == 0
	if gaveUp {
		go cancel()
	}
	for i, r := range e.Do(ctx, reqs) {
		if r.Err != nil && !(gaveUp && errors.Is(r.Err, context.Canceled)) {
			t.Errorf("%+v: %v", reqs[i], r.Err)
		}
	}
}

// residentBytes is the memory of this process; the test is skipped where the system does not tell.
func residentBytes(t *testing.T) int64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("resident memory: %v", err)
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(raw), &size, &resident); err != nil {
		t.Fatal(err)
	}
	return resident * int64(os.Getpagesize())
}
