package llamacpp

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/weights"
)

// The models of the catalogue that the tests run on.
const (
	qwen   = "qwen2.5-coder-0.5b-instruct"
	smollm = "smollm2-135m-instruct"
	gemma  = "gemma-3-270m"
)

// partsOf returns where a model and its library lie in the cache. Nothing is fetched. Without them the
// test is skipped, or fails if CREDENCE_REQUIRE_ENGINE is set.
func partsOf(t testing.TB, model string) Config {
	t.Helper()
	cache, err := weights.Open(weights.Options{Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	p, err := cache.Ensure(context.Background(), model)
	if err != nil {
		if os.Getenv("CREDENCE_REQUIRE_ENGINE") != "" {
			t.Fatalf("the engine is required: %v", err)
		}
		t.Skipf("the model is not in the cache (credence pull %s): %v", model, err)
	}
	return Config{LibraryDir: p.Library, Weights: p.Weights, WeightsSHA256: p.SHA256, Threads: 1}
}

// open makes an engine that is closed with the test.
func open(t testing.TB, c Config, change ...func(*settled)) *Engine {
	t.Helper()
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(&e.c)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// stress reports whether the long tests are wanted.
func stress() bool { return os.Getenv("CREDENCE_STRESS") != "" }

// passage returns the ids of n tokens of our own text, from another sentence for each k. No two of them
// begin alike.
func passage(t testing.TB, e *Engine, k, n int) []int32 {
	t.Helper()
	raw, err := os.ReadFile("testdata/passage.txt")
	if err != nil {
		t.Fatal(err)
	}
	sentences := strings.SplitAfter(string(raw), ". ")
	k %= len(sentences)
	text := strings.Join(sentences[k:], "") + strings.Join(sentences[:k], "")
	l := load(t, e)
	ids := withBeginning(l.model, l.model.tokenise(text+text, false))
	if len(ids) < n {
		t.Fatalf("the passage has %d tokens, %d are wanted", len(ids), n)
	}
	return ids[:n]
}

func load(t testing.TB, e *Engine) *loaded {
	t.Helper()
	l, err := e.start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// forced is a job that scores the last n of ids.
func forced(t testing.TB, e *Engine, ids []int32, n int) *job {
	m := load(t, e).model
	at := len(ids) - n
	return newJob(context.Background(), ids[:len(ids)-1:len(ids)-1], at-1, newScoring(ids[:at], ids[at:], m), false)
}

// written is a job that writes n tokens after ids; it does not stop before.
func written(t testing.TB, e *Engine, ids []int32, d llm.Decoding, seed uint64) *job {
	m := load(t, e).model
	r := llm.Request{Kind: llm.Generate, Decoding: d, Seed: seed}
	return newJob(context.Background(), append([]int32(nil), ids...), len(ids)-1, newGeneration(r, ids, endless{m}), true)
}

// endless is a vocabulary in which no token ends a text.
type endless struct{ *model }

func (endless) ends(int32) bool { return false }

// do runs jobs together and returns their replies in order.
func do(t testing.TB, e *Engine, jobs ...*job) []llm.Reply {
	t.Helper()
	load(t, e).scheduler.submit(jobs...)
	out := make([]llm.Reply, len(jobs))
	for i, j := range jobs {
		<-j.done
		if j.err != nil {
			t.Fatal(j.err)
		}
		out[i] = j.out.reply()
	}
	return out
}
