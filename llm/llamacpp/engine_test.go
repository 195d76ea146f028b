package llamacpp

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/credence-lab/credence/llm"
)

func TestTry(t *testing.T) {
	home := os.Getenv("CREDENCE_HOME")
	w := os.Getenv("W")
	e, err := New(Config{LibraryDir: filepath.Join(home, "lib"), Weights: filepath.Join(home, "weights", w)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	t.Log(e.Identity(), e.Capabilities())
	reqs := []llm.Request{
		{Kind: llm.Generate, Prompt: llm.Chat("What is the capital of France? Answer in one word.", ""), Decoding: llm.Decoding{MaxTokens: 16}},
		{Kind: llm.Score, Prompt: llm.Chat("What is the capital of France? Answer in one word.", ""), Answer: "Paris"},
		{Kind: llm.Score, Prompt: llm.Chat("What is the capital of France? Answer in one word.", ""), Answer: "The City of London"},
		{Kind: llm.Generate, Prompt: llm.Prompt{Text: "The capital of France is"}, Decoding: llm.Decoding{MaxTokens: 8, Temperature: 1}, Seed: 3},
	}
	for _, r := range e.Do(context.Background(), reqs) {
		t.Logf("%+v %v", r.Reply, r.Err)
	}
}
