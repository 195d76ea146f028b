package llamacpp

import (
	"context"
	"os"
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/weights"
)

// The models of the catalogue that the tests run on.
const (
	qwen   = "qwen2.5-coder-0.5b-instruct"
	smollm = "smollm2-135m-instruct"
	gemma  = "gemma-3-270m"
	larger = "qwen2.5-coder-1.5b-instruct"
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

// passage returns the ids of n tokens of our own text, from another sentence for each k.
func passage(t testing.TB, e *Engine, k, n int) []int32 {
	t.Helper()
	ids, err := load(t, e).model.passage(k, n)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func load(t testing.TB, e *Engine) *loaded {
	t.Helper()
	l, err := e.start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func probeOf(t testing.TB, e *Engine) *probe {
	t.Helper()
	p, err := e.probe(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// forced is a job that scores the last n of ids.
func forced(t testing.TB, e *Engine, ids []int32, n int) *job { return probeOf(t, e).forced(ids, n) }

// written is a job that writes d.MaxTokens tokens after ids.
func written(t testing.TB, e *Engine, ids []int32, d llm.Decoding, seed uint64) *job {
	return probeOf(t, e).written(ids, d, seed)
}

// do runs jobs together and returns their replies in order.
func do(t testing.TB, e *Engine, jobs ...*job) []llm.Reply {
	t.Helper()
	out, err := probeOf(t, e).do(jobs...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
