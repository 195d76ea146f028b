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

// askTokenEmbeddings asks for the vectors of every token of texts.
func (r *runner) askTokenEmbeddings(ctx context.Context, ask collect.Asker, texts []string, pace collect.Pace) (err error) {
	r.matrices, err = collect.TokenEmbeddings(ctx, ask, texts, pace)
	return err
}

// textsOfTokens are all answers and references, each once, where a judge compares their tokens.
func (r *runner) textsOfTokens() []string {
	if len(r.file.tokenJudges()) == 0 {
		return nil
	}
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
			for _, u := range r.uncertain[record.Setting{Model: m.Name, Dataset: d.Name}] {
				if u.Answer.Missing == record.Present {
					add(u.Answer.Text)
				}
			}
		}
	}
	return texts
}

// textsToEmbed are all answers, samples and references, each once, where anything reads their vectors.
func (r *runner) textsToEmbed() []string {
	if !r.file.embedsTexts() {
		return nil
	}
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
