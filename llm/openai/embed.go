package openai

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/internal/wire"
)

// Embedder asks a server for embeddings by OpenAI's route, or by Ollama's own, which alone can be told not to
// cut a text. Its methods are safe for concurrent use.
type Embedder struct {
	client   *client
	dialect  Dialect
	identity llm.Identity
	can      llm.Capabilities
	closed   atomic.Bool
}

var _ llm.Engine = (*Embedder)(nil)

const (
	// embedBatch is how many texts are sent in one request: fewer than any server takes.
	embedBatch = 32
	embedPath  = "/v1/embeddings"
)

// OpenEmbedder asks the server what it is, and embeds one word to learn how long its vectors are.
func OpenEmbedder(ctx context.Context, c Config) (*Embedder, error) {
	client, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	e := &Embedder{client: client, dialect: c.Dialect}
	if err := e.meet(ctx); err != nil {
		client.Close()
		return nil, err
	}
	return e, nil
}

func (e *Embedder) meet(ctx context.Context) (err error) {
	if e.dialect == "" {
		if e.dialect, err = detect(ctx, e.client); err != nil {
			return err
		}
	}
	list, err := models(ctx, e.client)
	if err != nil {
		return err
	}
	m, err := choose(list, e.client.c.Model)
	if err != nil {
		return err
	}
	e.identity = llm.Identity{Engine: string(e.dialect), Model: m.ID, Settings: map[string]string{"kind": "embeddings"}}
	vectors, err := e.ask(ctx, []string{"word"})
	if err != nil {
		return fmt.Errorf("%s server: %w", e.dialect, err)
	}
	e.can = llm.Capabilities{Embed: true, Dimensions: len(vectors[0]), ContextTokens: e.client.c.ContextTokens}
	if e.can.ContextTokens == 0 {
		e.can.ContextTokens = m.MaxLen
	}
	return nil
}

// Identity is the kind of server and the served name of the model. See [llm.Engine].
func (e *Embedder) Identity() llm.Identity { return e.identity }

// Capabilities is to embed, and nothing else. See [llm.Engine].
func (e *Embedder) Capabilities() llm.Capabilities { return e.can }

// Close closes idle connections. See [llm.Engine].
func (e *Embedder) Close() error {
	e.closed.Store(true)
	e.client.Close()
	return nil
}

// Do embeds all texts, several to a request; see [llm.Engine].
func (e *Embedder) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	results := make([]llm.Result, len(reqs))
	var good []int
	var texts []string
	for i, r := range reqs {
		if results[i].Err = e.admit(ctx, r); results[i].Err == nil {
			good, texts = append(good, i), append(texts, r.Prompt.Text)
		}
	}
	wire.Batches(len(good), embedBatch, func(from, to int) error {
		vectors, err := e.ask(llm.AtRequest(ctx, good[from]), texts[from:to]) // what fails is told of the first
		for k := range vectors {
			results[good[from+k]] = llm.Result{Reply: llm.Reply{Embedding: vectors[k], Finish: llm.FinishEmbedded}}
		}
		return err
	}, func(i int, err error) { results[good[i]] = llm.Result{Err: counted(err, e.can.ContextTokens)} })
	return results
}

func (e *Embedder) admit(ctx context.Context, r llm.Request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if e.closed.Load() {
		return errClosed
	}
	if err := r.Validate(); err != nil {
		return err
	}
	if err := e.can.Check(r.Kind); err != nil {
		return err
	}
	if strings.TrimSpace(r.Prompt.Text) == "" {
		return llm.ErrEmptyText
	}
	return sendable(r)
}

// ask embeds a few texts.
func (e *Embedder) ask(ctx context.Context, texts []string) ([][]float32, error) {
	size := 0
	for _, t := range texts {
		size += len(t)
	}
	path, body := embedPath, map[string]any{"model": e.identity.Model, "input": texts, "encoding_format": "float"}
	if e.dialect == Ollama {
		path, body = "/api/embed", map[string]any{"model": e.identity.Model, "input": texts, "truncate": false}
	}
	var units [][]float32
	err := e.client.Post(ctx, path, size/bytesPerToken, body, func(answer []byte) (err error) {
		units, err = e.read(answer, len(texts))
		return err
	})
	return units, err
}

// read takes the vectors of n texts out of an answer, each at its index.
func (e *Embedder) read(answer []byte, n int) ([][]float32, error) {
	if bytes.Contains(answer, []byte("[null")) || bytes.Contains(answer, []byte(",null")) { // it would be read as 0
		return nil, wire.Malformedf("a vector has a place without a number")
	}
	var a struct {
		Data []struct {
			Index  int       `json:"index"`
			Vector []float64 `json:"embedding"`
		} `json:"data"`
		Vectors [][]float64 `json:"embeddings"`
	}
	if err := wire.Into(&a)(answer); err != nil {
		return nil, err
	}
	vectors := a.Vectors
	if a.Data != nil {
		vectors = make([][]float64, len(a.Data))
		for _, d := range a.Data {
			if d.Index < 0 || d.Index >= len(vectors) || vectors[d.Index] != nil {
				return nil, wire.Malformedf("vector %d of %d comes twice or is beyond them", d.Index, len(vectors))
			}
			vectors[d.Index] = d.Vector
		}
	}
	return wire.Units(vectors, n, e.can.Dimensions)
}
