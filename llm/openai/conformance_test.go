package openai_test

import (
	"net/http/httptest"
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/llm/openai/fake"
)

// serve starts a local server of a dialect and returns an engine that asks it.
func serve(t *testing.T, dialect openai.Dialect, model *llmtest.Scripted, lies fake.Lies) *openai.Engine {
	t.Helper()
	return open(t, dialect, fake.New(string(dialect), model, lies))
}

// open starts f and returns an engine that asks it.
func open(t *testing.T, dialect openai.Dialect, f *fake.Server) *openai.Engine {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	e, err := openai.Open(t.Context(), openai.Config{URL: server.URL, Dialect: dialect})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func TestConformance(t *testing.T) {
	t.Parallel()
	specials := map[string]int32{llmtest.EndOfTurn: llmtest.EndOfTurnID}
	ids := llmtest.Expect{PromptIDs: true, Tolerance: 1e-9}
	for _, c := range []struct {
		name    string
		dialect openai.Dialect
		lies    fake.Lies
		expect  llmtest.Expect
		options []llmtest.Option
	}{
		{name: "vllm", dialect: openai.VLLM, expect: ids},
		{name: "vllm without chat template", dialect: openai.VLLM, expect: ids, options: []llmtest.Option{llmtest.Lacking(func(c *llm.Capabilities) { c.Chat = false })}},
		{name: "sglang", dialect: openai.SGLang, expect: ids},
		{name: "sglang, OpenAI routes", dialect: openai.SGLangOpenAI, expect: ids},
		{name: "llama-server", dialect: openai.LlamaServer, expect: llmtest.Expect{PromptIDs: true, Tolerance: 1e-9, Specials: specials}},
		{name: "tgi", dialect: openai.TGI, expect: ids},
		// Its scores have a test of their own: the scripted tokens span every border but that of a blank.
		{name: "llama-cpp-python, generating", dialect: openai.LlamaCppPython, lies: fake.Lies{IgnoreEcho: true}},
		{name: "ollama", dialect: openai.Ollama},
		{name: "openai", dialect: openai.OpenAI},
		{name: "plain", dialect: openai.Plain},
		{name: "plain without log-probabilities", dialect: openai.Plain, lies: fake.Lies{NoLogProbs: true}, expect: llmtest.Expect{TextOnly: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.NewScripted(nil, append(c.options, llmtest.ContextOf(512))...)
			llmtest.Conformance(t, func(t *testing.T) llm.Engine { return serve(t, c.dialect, model, c.lies) }, c.expect)
		})
	}
}
