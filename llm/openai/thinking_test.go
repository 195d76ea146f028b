package openai_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/llm/openai/fake"
)

// TestThinkingIsSwitchedOff looks at what is sent where a template is rendered or a chat is asked.
func TestThinkingIsSwitchedOff(t *testing.T) {
	t.Parallel()
	for _, way := range []struct {
		dialect       openai.Dialect
		path, off, on string
	}{
		{openai.VLLM, "/tokenize", `"chat_template_kwargs":{"enable_thinking":false}`, ""},
		{openai.SGLang, "/tokenize", `"chat_template_kwargs":{"enable_thinking":false}`, ""},
		{openai.LlamaServer, "/apply-template", `"chat_template_kwargs":{"enable_thinking":false}`, ""},
		{openai.TGI, "/chat_tokenize", `"chat_template_kwargs":{"enable_thinking":false}`, ""},
		{openai.Ollama, "/api/chat", `"think":false`, `"think":true`},
	} {
		for _, thinking := range []openai.Thinking{"", openai.ThinkingOff, openai.ThinkingOn} {
			sent := sentTo(t, way.dialect, way.path, thinking)
			want, never := way.off, way.on
			if thinking == openai.ThinkingOn {
				want, never = way.on, way.off
			}
			if !strings.Contains(sent, want) || never != "" && strings.Contains(sent, never) || sent == "" {
				t.Errorf("%s, thinking %q: %s", way.dialect, thinking, sent)
			}
		}
	}
}

// sentTo asks one question and returns what came to the path.
func sentTo(t *testing.T, dialect openai.Dialect, path string, thinking openai.Thinking) string {
	t.Helper()
	server := fake.New(string(dialect), llmtest.NewScripted(nil), fake.Lies{})
	var mu sync.Mutex
	var sent strings.Builder
	spy := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.URL.Path == path {
			mu.Lock()
			sent.Write(body)
			mu.Unlock()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		server.ServeHTTP(w, r)
	})
	e, err := openai.Open(t.Context(), openai.Config{URL: "http://s", Dialect: dialect, Thinking: thinking, Transport: fake.Direct{Handler: spy}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if r := e.Do(t.Context(), []llm.Request{{Kind: llm.Generate, Prompt: llm.Chat("Hello?", ""), Decoding: llm.Decoding{MaxTokens: 2}}})[0]; r.Err != nil {
		t.Fatal(r.Err)
	}
	mu.Lock()
	defer mu.Unlock()
	return sent.String()
}

// A reply that the model wrote with its reasoning inside keeps it, for the parser to take off; one that is
// reasoning alone says so by its tags.
func TestReasoningIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, dialect := range []openai.Dialect{openai.Plain, openai.Ollama} {
		for lies, want := range map[fake.Lies]string{
			{Reasoning: "hmm", NoAnswer: true}: "<think>hmm",
			{Reasoning: "hmm"}:                 "",
		} {
			e := serve(t, dialect, sensible(), lies)
			r := e.Do(t.Context(), []llm.Request{{Kind: llm.Generate, Prompt: llm.Chat("Hello?", ""), Decoding: llm.Decoding{MaxTokens: 3}}})[0]
			if r.Err != nil || want != "" && (r.Reply.Text != want || r.Reply.Tokens != nil) || want == "" && strings.Contains(r.Reply.Text, "hmm") {
				t.Errorf("%s: %+v, %v", dialect, r.Reply, r.Err)
			}
		}
	}
}
