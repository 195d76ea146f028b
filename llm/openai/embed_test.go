package openai_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/llm/openai/fake"
)

func TestEmbedderConforms(t *testing.T) {
	t.Parallel()
	for _, dialect := range []openai.Dialect{openai.Plain, openai.OpenAI, openai.Ollama} {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(fake.New(string(dialect), llmtest.NewScripted(nil, llmtest.ContextOf(512)), fake.Lies{}))
			t.Cleanup(server.Close)
			llmtest.Conformance(t, func(t *testing.T) llm.Engine {
				e, err := openai.OpenEmbedder(t.Context(), openai.Config{URL: server.URL, Dialect: dialect, ContextTokens: 512})
				if err != nil {
					t.Fatal(err)
				}
				return e
			}, llmtest.Expect{})
		})
	}
}

func TestVectorsThatCannotBe(t *testing.T) {
	t.Parallel()
	one := func(vector string) string { return `{"data":[{"index":0,"embedding":` + vector + `}]}` }
	for name, body := range map[string]string{
		"none": `{"data":[]}`, "two": `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]}]}`, "index": strings.Replace(one("[0.6,0.8]"), ":0", ":1", 1),
		"twice": `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, "zero": one("[0,0]"), "null": one("[null,1]"), "NaN": one("[NaN,1]"),
		"shorter": one("[1]"), "text": one(`"AAAA"`), "other": `{}`,
	} {
		server := &fake.Faulty{Server: fake.New("plain", llmtest.NewScripted(nil), fake.Lies{}), Path: "/v1/embeddings",
			Faults: append([]fake.Fault{fake.Status(200, one("[0.6,0.8]"))}, fake.Always(9, fake.Status(200, body))...)}
		e, err := openai.OpenEmbedder(t.Context(), openai.Config{URL: "http://s", Dialect: openai.Plain, Transport: fake.Direct{Handler: server}, Attempts: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Do(t.Context(), []llm.Request{{Kind: llm.Embed, Prompt: llm.Prompt{Text: "a"}}})[0]; got.Err == nil {
			t.Errorf("%s: %v", name, got.Reply.Embedding)
		}
		_ = e.Close()
	}
}
