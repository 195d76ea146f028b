package tei

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/internal/wire"
)

// Embedder asks a server that serves an embedding model. Its methods are safe for concurrent use.
type Embedder struct {
	*server
	can llm.Capabilities
}

// OpenEmbedder asks the server what it serves, and embeds one word to learn how long its vectors are.
func OpenEmbedder(ctx context.Context, c Config) (*Embedder, error) {
	s, err := meet(ctx, c)
	if err != nil {
		return nil, err
	}
	e := &Embedder{server: s}
	if s.info.Type.Embedding == nil {
		s.Close()
		return nil, &wire.ConfigError{What: fmt.Sprintf("the server's model %s does not embed", wire.Line(s.info.Model))}
	}
	vectors, err := e.ask(ctx, []string{"word"})
	if err != nil {
		s.Close()
		return nil, err
	}
	e.can = llm.Capabilities{Embed: true, Dimensions: len(vectors[0]), ContextTokens: s.info.MaxLength}
	if c.Tokens {
		if err := e.tryTokens(ctx); err != nil {
			s.Close()
			return nil, err
		}
		e.can.EmbedTokens = true
	}
	return e, nil
}

// Identity is the model's name and revision, with the pooling of its tokens. See [llm.Engine].
func (e *Embedder) Identity() llm.Identity {
	return e.identity(map[string]string{"pooling": wire.Line(e.info.Type.Embedding.Pooling)})
}

// Capabilities is to embed texts, their tokens too if that was asked for, and nothing else. See [llm.Engine].
func (e *Embedder) Capabilities() llm.Capabilities { return e.can }

// Close closes idle connections. See [llm.Engine].
func (e *Embedder) Close() error { return e.shut() }

// Do embeds all texts, several to a request; see [llm.Engine].
func (e *Embedder) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	results := make([]llm.Result, len(reqs))
	var good, tokens []int
	var texts []string
	for i, r := range reqs {
		switch results[i].Err = e.admit(ctx, r); {
		case results[i].Err != nil:
		case r.Kind == llm.EmbedTokens:
			tokens = append(tokens, i)
		default:
			good, texts = append(good, i), append(texts, r.Prompt.Text)
		}
	}
	e.doTokens(ctx, reqs, tokens, results)
	e.batches(len(good), func(from, to int) error {
		vectors, err := e.ask(llm.AtRequest(ctx, good[from]), texts[from:to]) // what fails is told of the first
		for k := range vectors {
			results[good[from+k]] = llm.Result{Reply: llm.Reply{Embedding: vectors[k], Finish: llm.FinishEmbedded}}
		}
		return err
	}, func(i int, err error) { results[good[i]] = llm.Result{Err: err} })
	return results
}

func (e *Embedder) admit(ctx context.Context, r llm.Request) error {
	if err := e.ready(ctx, r.Prompt.Text); err != nil {
		return err
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
	return nil
}

// bytesPerToken estimates what a request costs.
const bytesPerToken = 4

// ask embeds a few texts.
func (e *Embedder) ask(ctx context.Context, texts []string) ([][]float32, error) {
	var units [][]float32
	size := 0
	for _, t := range texts {
		size += len(t)
	}
	body := map[string]any{"inputs": texts, "truncate": false, "normalize": true}
	err := e.Post(ctx, "/embed", size/bytesPerToken, body, func(answer []byte) (err error) {
		if bytes.Contains(answer, []byte("null")) { // it would be read as 0
			return wire.Malformedf("a vector has a place without a number")
		}
		var vectors [][]float64
		if err := wire.Into(&vectors)(answer); err != nil {
			return err
		}
		units, err = wire.Units(vectors, len(texts), e.can.Dimensions)
		return err
	})
	return units, err
}
