package llamacpp

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
)

const minilm = "all-minilm-l6-v2"

func openEmbedder(t testing.TB, c Config) *Embedder {
	t.Helper()
	e, err := NewEmbedder(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func embedRequests(texts ...string) []llm.Request {
	reqs := make([]llm.Request, len(texts))
	for i, t := range texts {
		reqs[i] = llm.Request{Kind: llm.Embed, Prompt: llm.Prompt{Text: t}}
	}
	return reqs
}

func embedTexts(t testing.TB, e llm.Engine, texts ...string) []llm.Reply {
	t.Helper()
	replies := make([]llm.Reply, len(texts))
	for i, r := range e.Do(context.Background(), embedRequests(texts...)) {
		if r.Err != nil {
			t.Fatalf("%q: %v", texts[i], r.Err)
		}
		replies[i] = r.Reply
	}
	return replies
}

func dot(a, b []float32) float64 {
	sum := 0.
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// goldenVectors are what sentence-transformers gives for texts of ours in several scripts.
type goldenVectors struct {
	Cases []struct {
		Text   string
		IDs    []int32
		Vector []float32
	}
}

func readGoldenVectors(t testing.TB) goldenVectors {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "golden-all-minilm-l6-v2.json"))
	if err != nil {
		t.Fatal(err)
	}
	var g goldenVectors
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g goldenVectors) texts() []string {
	var list []string
	for _, c := range g.Cases {
		list = append(list, c.Text)
	}
	return list
}

// A dozen texts have the tokens and, but for rounding, the vectors of sentence-transformers, exact and fast.
func TestEmbeddingsAreThoseOfSentenceTransformers(t *testing.T) {
	g := readGoldenVectors(t)
	for mode, least := range map[Mode]float64{Exact: .99999, Fast: .9999} {
		c := partsOf(t, minilm)
		c.Mode, c.Threads = mode, 2
		worst := 1.
		for i, r := range embedTexts(t, openEmbedder(t, c), g.texts()...) {
			want := g.Cases[i]
			if d := cmp.Diff(want.IDs, r.PromptIDs); d != "" {
				t.Errorf("%s, %q: tokens (-want +got):\n%s", mode, want.Text, d)
			}
			if cosine := dot(want.Vector, r.Embedding); cosine < least {
				t.Errorf("%s, %q: cosine %v", mode, want.Text, cosine)
			} else {
				worst = min(worst, cosine)
			}
			if r.Reproducible != (mode == Exact) {
				t.Errorf("%s: reproducible %v", mode, r.Reproducible)
			}
		}
		t.Logf("%s: least cosine %.9f", mode, worst)
	}
}

func TestEmbedderConforms(t *testing.T) {
	for _, mode := range []Mode{Exact, Fast} {
		t.Run(string(mode), func(t *testing.T) {
			c := partsOf(t, minilm)
			c.Mode, c.Threads = mode, 2
			llmtest.Conformance(t, func(t *testing.T) llm.Engine {
				e, err := NewEmbedder(c)
				if err != nil {
					t.Fatal(err)
				}
				return e
			}, llmtest.Expect{Exact: mode == Exact, PromptIDs: true})
		})
	}
}

// Bits depend on the text alone: not on threads, on what is embedded beside or was before, nor on the bound
// on memory or length.
func TestExactEmbeddingsAreEqualToTheLastBit(t *testing.T) {
	golden := readGoldenVectors(t).texts()
	texts := []string{golden[0], golden[2], golden[7], golden[12], strings.Repeat("light on water ", 80)}
	c := partsOf(t, minilm)
	e := openEmbedder(t, c)
	var want [][]float32
	for _, text := range texts {
		want = append(want, embedTexts(t, e, text)[0].Embedding)
	}
	for name, change := range map[string]func(*Config){
		"four threads":       func(c *Config) { c.Threads = 4 },
		"as long as needed":  func(c *Config) { c.ContextTokens = 250 },
		"two, one for space": func(c *Config) { c.Threads, c.MemoryLimit = 2, e.Memory().Total() },
	} {
		other := c
		change(&other)
		o := openEmbedder(t, other)
		for _, order := range []func([]string){func([]string) {}, slices.Reverse[[]string]} {
			list := slices.Clone(texts)
			order(list)
			for i, r := range embedTexts(t, o, list...) {
				if at := slices.Index(texts, list[i]); !slices.Equal(r.Embedding, want[at]) {
					t.Errorf("%s: %.20q has another embedding than alone", name, list[i])
				}
			}
		}
		if name == "two, one for space" && o.Memory().Sequences != 1 {
			t.Errorf("%s: %d texts at once", name, o.Memory().Sequences)
		}
	}
}

// A text that is a token too long is refused with its numbers; one that just fits is embedded.
func TestTextsAreNeverCutInSilence(t *testing.T) {
	e := openEmbedder(t, partsOf(t, minilm))
	can := e.Capabilities()
	if can.ContextTokens != 256 || can.Dimensions != 384 || !can.Embed || can.Generate || can.Score {
		t.Errorf("capabilities %+v", can)
	}
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("light ", n)) }
	if r := embedTexts(t, e, words(254))[0]; len(r.PromptIDs) != 256 {
		t.Errorf("%d tokens, want 256", len(r.PromptIDs))
	}
	res := e.Do(context.Background(), embedRequests(words(255), words(1)))
	if want := (&llm.OverflowError{Need: 257, Have: 256}); !cmp.Equal(res[0].Err, error(want)) || res[1].Err != nil {
		t.Errorf("errors %v and %v, want %v and none", res[0].Err, res[1].Err, want)
	}
}

func TestWhatAnEmbedderDoesNotTake(t *testing.T) {
	c := partsOf(t, minilm)
	e := openEmbedder(t, c)
	for _, r := range []llm.Request{
		{Kind: llm.Generate, Prompt: llm.Prompt{Text: "a"}, Decoding: llm.Decoding{MaxTokens: 1}},
		{Kind: llm.Score, Prompt: llm.Prompt{Text: "a"}, Answer: "b"},
	} {
		if res := e.Do(context.Background(), []llm.Request{r}); !errors.Is(res[0].Err, llm.ErrNotSupported) || !strings.Contains(res[0].Err.Error(), "embedding model") {
			t.Errorf("%s: error %v", r.Kind, res[0].Err)
		}
	}
	if res := e.Do(context.Background(), embedRequests("\u200b\x01 \n")); !errors.Is(res[0].Err, llm.ErrEmptyText) {
		t.Errorf("nothing but what has no token: error %v", res[0].Err)
	}
	for name, tt := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"sequences":   {func(c *Config) { c.Sequences = 2 }, "sequences"},
		"GPU":         {func(c *Config) { c.GPULayers = 1 }, "GPU"},
		"too long":    {func(c *Config) { c.ContextTokens = 257 }, "trained for 256"},
		"too short":   {func(c *Config) { c.ContextTokens = 2 }, "no room"},
		"memory":      {func(c *Config) { c.MemoryLimit = 100 << 20 }, "too low: the least is"},
		"mode":        {func(c *Config) { c.Mode = "quick" }, "mode"},
		"other model": {func(c *Config) { c.Weights = partsOf(t, smollm).Weights }, `architecture "llama"`},
	} {
		bad := c
		tt.change(&bad)
		_, err := NewEmbedder(bad)
		var input interface{ BadInput() bool }
		if err == nil || !strings.Contains(err.Error(), tt.want) || !errors.As(err, &input) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
	if _, err := New(c); err == nil || !strings.Contains(err.Error(), "gives vectors for texts and writes none") {
		t.Errorf("as a model that writes: error %v", err)
	}
	writes := open(t, partsOf(t, smollm))
	if res := writes.Do(context.Background(), embedRequests("a")); !errors.Is(res[0].Err, llm.ErrNotSupported) {
		t.Errorf("an embedding of a model that writes: error %v", res[0].Err)
	}
}

// What the embedder takes with texts of full length on every thread is within what it states.
func TestEmbedderTakesNoMoreThanItStates(t *testing.T) {
	if underRace {
		t.Skip("the race detector takes memory of its own")
	}
	c := partsOf(t, minilm)
	c.Threads = 4
	before := residentBytes(t)
	e := openEmbedder(t, c)
	texts := make([]string, 8)
	for i := range texts {
		texts[i] = strings.TrimSpace(strings.Repeat("light ", 254-i))
	}
	embedTexts(t, e, texts...)
	took, stated := residentBytes(t)-before, e.Memory()
	if took > stated.Total() {
		t.Errorf("took %s, stated %s", megabytes(took), stated)
	}
	t.Logf("took %s, stated %s", megabytes(took), stated)
}

// near is the greatest difference of two vectors' numbers.
func near(a, b []float32) float64 {
	worst := 0.
	for i := range a {
		worst = max(worst, math.Abs(float64(a[i]-b[i])))
	}
	return worst
}

// Fast vectors are near the exact ones.
func TestFastEmbeddingsAreNear(t *testing.T) {
	texts := readGoldenVectors(t).texts()
	c := partsOf(t, minilm)
	exact := embedTexts(t, openEmbedder(t, c), texts...)
	c.Mode = Fast
	for i, r := range embedTexts(t, openEmbedder(t, c), texts...) {
		if d := near(exact[i].Embedding, r.Embedding); d > 1e-3 {
			t.Errorf("%.20q: %v apart", texts[i], d)
		}
	}
}
