package openai

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/credence-lab/credence/llm/internal/wire"
)

// Dialect is the kind of a server.
type Dialect string

// The dialects. Plain is what every OpenAI-compatible server can do: chat and plain text, generated tokens
// with their log-probabilities where the server gives them, no score of a given answer.
const (
	VLLM Dialect = "vllm"
	// SGLang is asked by its native routes, SGLangOpenAI by the OpenAI-compatible ones.
	SGLang       Dialect = "sglang"
	SGLangOpenAI Dialect = "sglang-openai"
	LlamaServer  Dialect = "llama-server"
	Ollama       Dialect = "ollama"
	OpenAI       Dialect = "openai"
	Plain        Dialect = "plain"
	// TGI is Hugging Face's text-generation-inference; LlamaCppPython the server of that package.
	TGI            Dialect = "tgi"
	LlamaCppPython Dialect = "llama-cpp-python"
)

// Dialects lists the dialects by name.
func Dialects() []string {
	return []string{string(VLLM), string(SGLang), string(SGLangOpenAI), string(LlamaServer), string(Ollama), string(OpenAI), string(Plain), string(TGI), string(LlamaCppPython)}
}

// Thinking says whether a model that can reason before it answers does.
type Thinking string

// ThinkingOff asks for none, where the server can be asked; it is the default, as a scored answer follows
// the prompt at once. ThinkingOn leaves it to the model.
const (
	ThinkingOff Thinking = "off"
	ThinkingOn  Thinking = "on"
)

// Config says which model of which server is asked. URL is needed; the zero value of all else is a choice
// that is documented with it.
type Config struct {
	// URL of the server, such as "http://127.0.0.1:8000"; a trailing "/v1" is understood. No credentials.
	URL string
	// Dialect of the server; empty asks it (see [Detect]).
	Dialect Dialect
	// Model is the served name; empty takes the only one that the server lists.
	Model string
	// Key is sent as a bearer token, if there is one.
	Key Key
	// ContextTokens is the longest prompt and answer together; 0 takes what the server says.
	ContextTokens int
	// Thinking is off if empty.
	Thinking Thinking
	// Concurrency is the most requests in flight; 0 is 32.
	Concurrency int
	// RequestsPerMinute and TokensPerMinute pace what is sent; 0 is no limit. Tokens are those of the
	// prompt, estimated where the server does not tokenise, and the most that may be generated.
	RequestsPerMinute, TokensPerMinute int
	// Attempts is the most times that one request is sent; 0 is 6.
	Attempts int
	// Timeout bounds one attempt, 0 is 5 minutes; Deadline bounds all attempts of a request and the
	// pauses between them, 0 is 30 minutes.
	Timeout, Deadline time.Duration
	// OnAttempt is told of each attempt that brought no usable answer; may be nil. It is called from many
	// goroutines.
	OnAttempt func(Attempt)
	// Transport replaces the connection to the server, for proxies and tests; nil takes Go's default, which
	// honours HTTPS_PROXY and the system's certificates.
	Transport http.RoundTripper
}

// settle fills the defaults in and checks what is not the client's.
func (c Config) settle() (Config, error) {
	switch {
	case c.Dialect != "" && !slices.Contains(Dialects(), string(c.Dialect)):
		return c, &ConfigError{What: fmt.Sprintf("there is no dialect %q; there are %s", c.Dialect, strings.Join(Dialects(), ", "))}
	case c.Thinking != "" && c.Thinking != ThinkingOff && c.Thinking != ThinkingOn:
		return c, &ConfigError{What: fmt.Sprintf("thinking is %q; it is on or off", c.Thinking)}
	case c.ContextTokens < 0:
		return c, &ConfigError{What: "context tokens must not be negative"}
	}
	if c.Thinking == "" {
		c.Thinking = ThinkingOff
	}
	return c, nil
}

// open makes the client.
func (c Config) open(ctx context.Context) (*client, error) {
	c, err := c.settle()
	if err != nil {
		return nil, err
	}
	w, err := wire.New(wire.Config{
		Endpoints: wire.SharedBy(ctx),
		URL:       c.URL, Key: c.Key, Concurrency: c.Concurrency, RequestsPerMinute: c.RequestsPerMinute, TokensPerMinute: c.TokensPerMinute,
		Attempts: c.Attempts, Timeout: c.Timeout, Deadline: c.Deadline, OnAttempt: c.OnAttempt, Transport: c.Transport,
	})
	if err != nil {
		return nil, err
	}
	return &client{w, c}, nil
}

// client is a connection with the choices that concern the model.
type client struct {
	*wire.Client
	c Config
}
