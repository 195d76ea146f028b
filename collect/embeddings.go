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
	vectors, err := Each(ctx, unique, p.Open, func(ctx context.Context, text string) (Vector, error) {
		result := ask.Do(ctx, []llm.Request{{Kind: llm.Embed, Prompt: llm.Prompt{Text: text}}})[0]
		if result.Err != nil {
			why, err := missing(result.Err)
			return Vector{Missing: why}, err
		}
		values := make([]float64, len(result.Reply.Embedding))
		for k, x := range result.Reply.Embedding {
			values[k] = float64(x)
		}
		return Vector{Values: values}, nil
	}, count[Vector](p))
	if err != nil {
		return nil, err
	}
	for i, text := range unique {
		found[text] = vectors[i]
	}
	return found, nil
}
