package collect

import (
	"context"

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
	var unique []string
	for _, text := range texts {
		if _, seen := found[text]; !seen {
			found[text] = Vector{Missing: record.EmptyAnswer}
			if prompt.OneLine(text) != "" {
				unique = append(unique, text)
			}
		}
	}
	vectors := make([]Vector, len(unique))
	at := make([]int, len(unique))
	for i := range at {
		at[i] = i
	}
	_, err := each(ctx, at, p, func(ctx context.Context, i int) (Records, error) {
		result := ask.Do(ctx, []llm.Request{{Kind: llm.Embed, Prompt: llm.Prompt{Text: unique[i]}}})[0]
		if result.Err != nil {
			why, err := missing(result.Err)
			vectors[i] = Vector{Missing: why}
			return Records{}, err
		}
		values := make([]float64, len(result.Reply.Embedding))
		for k, x := range result.Reply.Embedding {
			values[k] = float64(x)
		}
		vectors[i] = Vector{Values: values}
		return Records{}, nil
	})
	if err != nil {
		return nil, err
	}
	for i, text := range unique {
		found[text] = vectors[i]
	}
	return found, nil
}
