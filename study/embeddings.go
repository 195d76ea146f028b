package study

import (
	"context"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/record"
)

// askEmbeddings asks for the vectors of texts; what is known is not asked again.
func (r *runner) askEmbeddings(ctx context.Context, ask collect.Asker, texts []string, pace collect.Pace) error {
	vectors, err := collect.Embeddings(ctx, ask, texts, pace)
	if r.vectors == nil {
		r.vectors = map[string]collect.Vector{}
	}
	for text, v := range vectors {
		r.vectors[text] = v
	}
	return err
}

// textsToEmbed are all answers, samples and references, each once.
func (r *runner) textsToEmbed() []string {
	var texts []string
	seen := map[string]bool{}
	add := func(text string) {
		if !seen[text] {
			seen[text], texts = true, append(texts, text)
		}
	}
	for _, d := range r.data {
		for _, item := range d.Items {
			for _, reference := range item.References {
				add(reference)
			}
		}
		for _, m := range r.file.Models {
			for _, text := range r.consistencyTexts(record.Setting{Model: m.Name, Dataset: d.Name}) {
				add(text)
			}
			for _, u := range r.uncertain[record.Setting{Model: m.Name, Dataset: d.Name}] {
				for _, s := range append([]collect.Sampled{u.Answer}, u.Samples...) {
					if s.Missing == record.Present {
						add(s.Text)
					}
				}
			}
		}
	}
	return texts
}
