package tei

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/internal/wire"
)

// Config says which server is asked. URL is needed; the zero value of all else is a choice that is documented
// with it.
type Config struct {
	// URL of the server, such as "http://127.0.0.1:8080". No credentials.
	URL string
	// Key is sent as a bearer token, if there is one.
	Key Key
	// Labels says what the model's labels mean, where their names do not: label to "entails", "neither" or
	// "contradicts". For entailment only.
	Labels map[string]string
	// Tokens says that a vector for each token is wanted too ([llm.EmbedTokens]): a server that gives none is refused. For
	// embeddings only.
	Tokens bool
	// Concurrency is the most requests in flight; 0 is 8. The server itself refuses more texts at once than
	// it has room for.
	Concurrency int
	// Attempts, Timeout and Deadline bound one request; 0 is 6, 5 minutes and 30 minutes.
	Attempts          int
	Timeout, Deadline time.Duration
	// OnAttempt is told of each attempt that brought no usable answer; may be nil.
	OnAttempt func(Attempt)
	// Transport replaces the connection; nil takes Go's default.
	Transport http.RoundTripper
}

const (
	defaultConcurrency = 8
	// maxBatch bounds what is sent in one request, whatever the server allows.
	maxBatch = 64
)

// server is a connection to a server and what it says of itself.
type server struct {
	*wire.Client
	info   info
	batch  int
	closed atomic.Bool
}

type info struct {
	Model   string `json:"model_id"`
	SHA     string `json:"model_sha"`
	Version string `json:"version"`
	Type    struct {
		Classifier *struct {
			Labels map[string]string `json:"id2label"`
		} `json:"classifier"`
		Embedding *struct {
			Pooling string `json:"pooling"`
		} `json:"embedding"`
	} `json:"model_type"`
	MaxLength int `json:"max_input_length"`
	MaxBatch  int `json:"max_client_batch_size"`
}

func meet(ctx context.Context, c Config) (*server, error) {
	if c.Concurrency == 0 {
		c.Concurrency = defaultConcurrency
	}
	client, err := wire.New(wire.Config{
		URL: c.URL, Key: c.Key, Concurrency: c.Concurrency, Attempts: c.Attempts, Timeout: c.Timeout, Deadline: c.Deadline,
		OnAttempt: c.OnAttempt, Transport: c.Transport, Endpoints: wire.SharedBy(ctx),
	})
	if err != nil {
		return nil, err
	}
	s := &server{Client: client}
	err = client.Get(ctx, "/info", wire.Checked(&s.info, func(i *info) error {
		if i.Model == "" {
			return wire.Malformedf("it names no model")
		}
		return nil
	}))
	if err != nil {
		client.Close()
		return nil, fmt.Errorf("text-embeddings-inference server: %w", err)
	}
	s.batch = max(1, min(s.info.MaxBatch, maxBatch))
	return s, nil
}

func (s *server) identity(settings map[string]string) llm.Identity {
	if s.info.SHA != "" {
		settings["revision"] = wire.Line(s.info.SHA)
	}
	return llm.Identity{Engine: "tei", Version: wire.Line(s.info.Version), Model: wire.Line(s.info.Model), Settings: settings}
}

// errClosed is what is answered after Close.
var errClosed = errors.New("the connection to the server is closed")

func (s *server) shut() error {
	s.closed.Store(true)
	s.Close()
	return nil
}

// ready says whether texts may be sent.
func (s *server) ready(ctx context.Context, texts ...string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed.Load() {
		return errClosed
	}
	for _, t := range texts {
		switch {
		case !utf8.ValidString(t):
			return errors.New("text is not valid UTF-8")
		case strings.IndexByte(t, 0) >= 0:
			return errors.New("text holds a NUL character")
		}
	}
	return nil
}

// judged says what a refusal is about: a text that is too long, with the numbers of what the server takes and
// what it was given, or a text that it will not judge.
func (s *server) judged(err error) error {
	failed, ok := wire.AsError(err)
	switch {
	case !ok:
		return err
	case failed.Status == http.StatusUnprocessableEntity || failed.Status == http.StatusFailedDependency || failed.Status == http.StatusRequestEntityTooLarge:
		if failed.Cause == nil {
			return fmt.Errorf("%w: %w", llm.ErrRefused, err)
		}
	}
	if !errors.Is(err, llm.ErrContextOverflow) || s.info.MaxLength == 0 {
		return err
	}
	over := &llm.OverflowError{Need: s.info.MaxLength + 1, Have: s.info.MaxLength}
	for _, word := range strings.FieldsFunc(failed.What, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(word); err == nil {
			over.Need = max(over.Need, n)
		}
	}
	return over
}

// batches asks for n things, as many at a time as the server allows.
func (s *server) batches(n int, ask func(from, to int) error, failed func(i int, err error)) {
	wire.Batches(n, s.batch, ask, func(i int, err error) { failed(i, s.judged(err)) })
}
