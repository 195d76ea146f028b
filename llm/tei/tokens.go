package tei

import (
	"bytes"
	"context"
	"fmt"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/internal/wire"
	"github.com/credence-lab/credence/record"
)

// tokenBatch bounds how many texts are sent for the vectors of their tokens: hundreds of tokens of a thousand numbers
// are megabytes a text.
const tokenBatch = 4

// token is one of /tokenize. Special ones are those that the model puts around every text.
type token struct {
	ID      int32  `json:"id"`
	Text    string `json:"text"`
	Special bool   `json:"special"`
}

// tryTokens embeds one word's tokens, so that a server that cannot is refused before anything is asked of it.
func (e *Embedder) tryTokens(ctx context.Context) error {
	replies, err := e.askTokens(ctx, []string{"word"})
	if failed, ok := wire.AsError(err); ok && (failed.Kind == wire.Refused || failed.Kind == wire.Malformed || failed.Kind == wire.Failing) {
		return &wire.ConfigError{What: fmt.Sprintf("the server's model %s gives no vectors of tokens (/embed_all beside /tokenize): %s", wire.Line(e.info.Model), failed.What)}
	}
	if err == nil && len(replies[0].Tokens) == 0 {
		err = &wire.ConfigError{What: fmt.Sprintf("the server's model %s gives the vectors of special tokens alone", wire.Line(e.info.Model))}
	}
	return err
}

// doTokens answers the requests at these places.
func (e *Embedder) doTokens(ctx context.Context, reqs []llm.Request, at []int, results []llm.Result) {
	wire.Batches(len(at), min(e.batch, tokenBatch), func(from, to int) error {
		texts := make([]string, to-from)
		for k := range texts {
			texts[k] = reqs[at[from+k]].Prompt.Text
		}
		replies, err := e.askTokens(llm.AtRequest(ctx, at[from]), texts)
		for k, reply := range replies {
			if results[at[from+k]] = (llm.Result{Reply: reply}); len(reply.Tokens) == 0 {
				results[at[from+k]] = llm.Result{Err: llm.ErrEmptyText}
			}
		}
		return err
	}, func(i int, err error) { results[at[i]] = llm.Result{Err: e.judged(err)} })
}

// askTokens embeds the tokens of a few texts. The server's vectors are of all tokens, and only its tokeniser says
// which of them are special: both must tell as many.
func (e *Embedder) askTokens(ctx context.Context, texts []string) ([]llm.Reply, error) {
	size := 0
	for _, t := range texts {
		size += len(t)
	}
	var vectors [][][]float64
	err := e.Post(ctx, "/embed_all", size/bytesPerToken, map[string]any{"inputs": texts, "truncate": false}, func(answer []byte) error {
		if bytes.Contains(answer, []byte("null")) { // it would be read as 0
			return wire.Malformedf("a vector has a place without a number")
		}
		vectors = nil
		if err := wire.Into(&vectors)(answer); err != nil {
			return err
		}
		if len(vectors) != len(texts) {
			return wire.Malformedf("vectors of %d texts, %d were sent", len(vectors), len(texts))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	replies := make([]llm.Reply, len(texts))
	var lists [][]token
	err = e.Post(ctx, "/tokenize", 0, map[string]any{"inputs": texts, "add_special_tokens": true}, wire.Checked(&lists, func(lists *[][]token) error {
		if len(*lists) != len(texts) {
			return wire.Malformedf("tokens of %d texts, %d were sent", len(*lists), len(texts))
		}
		for i, list := range *lists {
			if len(list) != len(vectors[i]) {
				return wire.Malformedf("%d vectors for %d tokens", len(vectors[i]), len(list))
			}
			var err error
			if replies[i], err = e.tokenReply(list, vectors[i]); err != nil {
				return err
			}
		}
		return nil
	}))
	if err != nil {
		return nil, err
	}
	return replies, nil
}

// tokenReply leaves special tokens out.
func (e *Embedder) tokenReply(list []token, vectors [][]float64) (llm.Reply, error) {
	var tokens []record.Token
	var own [][]float64
	for i, t := range list {
		if !t.Special {
			tokens, own = append(tokens, record.Token{ID: t.ID, Piece: []byte(t.Text)}), append(own, vectors[i])
		}
	}
	units, err := wire.Units(own, len(own), 0) // a pooled vector may be projected to another length
	if err != nil {
		return llm.Reply{}, err
	}
	return llm.TokenReply(tokens, units), nil
}
