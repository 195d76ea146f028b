package openai_test

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/llm/openai/fake"
)

// BenchmarkScore scores answers by a server that answers at once, 64 in flight, each in a context of its own.
// The time is that of client and server together: they share the machine.
func BenchmarkScore(b *testing.B) {
	for _, dialect := range []openai.Dialect{openai.VLLM, openai.SGLang} {
		b.Run(string(dialect), func(b *testing.B) { benchmark(b, dialect, llm.Score) })
	}
}

// BenchmarkGenerate writes eight tokens.
func BenchmarkGenerate(b *testing.B) {
	for _, dialect := range []openai.Dialect{openai.VLLM, openai.Plain} {
		b.Run(string(dialect), func(b *testing.B) { benchmark(b, dialect, llm.Generate) })
	}
}

func benchmark(b *testing.B, dialect openai.Dialect, kind llm.Kind) {
	server := httptest.NewServer(fake.New(string(dialect), llmtest.NewScripted(nil), fake.Lies{}))
	defer server.Close()
	e, err := openai.Open(b.Context(), openai.Config{URL: server.URL, Dialect: dialect, Concurrency: 64})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	reqs := make([]llm.Request, 256)
	next := 0
	b.ReportAllocs()
	for b.Loop() {
		for i := range reqs {
			next++
			reqs[i] = llm.Request{Kind: kind, Prompt: llm.Chat(fmt.Sprint("Question ", next), "")}
			if kind == llm.Score {
				reqs[i].Answer = "Paris"
			} else {
				reqs[i].Decoding.MaxTokens = 8
			}
		}
		for _, r := range e.Do(b.Context(), reqs) {
			if r.Err != nil {
				b.Fatal(r.Err)
			}
		}
	}
	b.ReportMetric(float64(len(reqs)*b.N)/b.Elapsed().Seconds(), "calls/s")
}
