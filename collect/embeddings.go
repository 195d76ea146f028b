package collect

import (
	"context"
	"fmt"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// Vector is the embedding of a text, or the reason why there is none.
type Vector struct {
	Values  []float64
	Missing record.Missing
}

// Matrix has the embedding of each token of a text, or the reason why there is none.
type Matrix struct {
	Values  [][]float64
	Missing record.Missing
}

// Embeddings asks for the vector of every text once, however often it comes, and returns them by text. A
// text of blanks has none; one that does not fit the model has none either, rather than that of its
// beginning.
func Embeddings(ctx context.Context, ask Asker, texts []string, p Pace) (map[string]Vector, error) {
	return ofTexts(ctx, ask, llm.Embed, texts, p, func(reply llm.Reply, why record.Missing) (Vector, error) {
		return Vector{doubles(reply.Embedding), why}, nil
	})
}

// TokenEmbeddings is [Embeddings] for the vectors of every token of each text.
func TokenEmbeddings(ctx context.Context, ask Asker, texts []string, p Pace) (map[string]Matrix, error) {
	return ofTexts(ctx, ask, llm.EmbedTokens, texts, p, func(reply llm.Reply, why record.Missing) (Matrix, error) {
		m := Matrix{Missing: why}
		if why != record.Present {
			return m, nil
		}
		vectors, err := llm.TokenVectors(reply)
		for _, v := range vectors {
			m.Values = append(m.Values, doubles(v))
		}
		return m, err
	})
}

// ofTexts asks for something of every text once and returns it by text.
func ofTexts[T any](ctx context.Context, ask Asker, kind llm.Kind, texts []string, p Pace, of func(llm.Reply, record.Missing) (T, error)) (map[string]T, error) {
	found := map[string]T{}
	var wanted []string
	for _, text := range unique(texts) {
		if prompt.OneLine(text) != "" {
			wanted = append(wanted, text)
			continue
		}
		var err error
		if found[text], err = of(llm.Reply{}, record.EmptyAnswer); err != nil {
			return nil, err
		}
	}
	list, err := inBatches(ctx, wanted, p, func(ctx context.Context, batch []string) ([]T, error) {
		return embed(ctx, ask, kind, batch, of)
	})
	if err != nil {
		return nil, fmt.Errorf("embeddings: %w", err)
	}
	for i, text := range wanted {
		found[text] = list[i]
	}
	return found, nil
}

func embed[T any](ctx context.Context, ask Asker, kind llm.Kind, texts []string, of func(llm.Reply, record.Missing) (T, error)) ([]T, error) {
	requests := make([]llm.Request, len(texts))
	for i, text := range texts {
		requests[i] = llm.Request{Kind: kind, Prompt: llm.Prompt{Text: text}}
	}
	list := make([]T, len(texts))
	for i, result := range ask.Do(ctx, requests) {
		why, err := record.Present, error(nil)
		if result.Err != nil {
			if why, err = missing(result.Err); err != nil {
				return nil, err
			}
		}
		if list[i], err = of(result.Reply, why); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// doubles is nil for no number.
func doubles(values []float32) []float64 {
	if len(values) == 0 {
		return nil
	}
	out := make([]float64, len(values))
	for i, x := range values {
		out[i] = float64(x)
	}
	return out
}
