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

// Embeddings asks for the vector of every text once, however often it comes, and returns them by text. A
// text of blanks has none; one that does not fit the model has none either, rather than that of its
// beginning.
func Embeddings(ctx context.Context, ask Asker, texts []string, p Pace) (map[string]Vector, error) {
	found := map[string]Vector{}
	var wanted []string
	for _, text := range unique(texts) {
		if prompt.OneLine(text) == "" {
			found[text] = Vector{Missing: record.EmptyAnswer}
			continue
		}
		wanted = append(wanted, text)
	}
	vectors, err := inBatches(ctx, wanted, p, func(ctx context.Context, batch []string) ([]Vector, error) {
		return embed(ctx, ask, batch)
	})
	if err != nil {
		return nil, fmt.Errorf("embeddings: %w", err)
	}
	for i, text := range wanted {
		found[text] = vectors[i]
	}
	return found, nil
}

func embed(ctx context.Context, ask Asker, texts []string) ([]Vector, error) {
	requests := make([]llm.Request, len(texts))
	for i, text := range texts {
		requests[i] = llm.Request{Kind: llm.Embed, Prompt: llm.Prompt{Text: text}}
	}
	vectors := make([]Vector, len(texts))
	for i, result := range ask.Do(ctx, requests) {
		if result.Err != nil {
			why, err := missing(result.Err)
			if err != nil {
				return nil, err
			}
			vectors[i].Missing = why
			continue
		}
		values := make([]float64, len(result.Reply.Embedding))
		for k, x := range result.Reply.Embedding {
			values[k] = float64(x)
		}
		vectors[i].Values = values
	}
	return vectors, nil
}
