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
	return r.textsWith(func(setting record.Setting, add func(string)) {
		for _, u := range r.uncertain[setting] {
			addPresent(add, u.Answer)
		}
	})
}

// textsToEmbed are all answers, samples and references, each once, where anything reads their vectors.
func (r *runner) textsToEmbed() []string {
	if !r.file.embedsTexts() {
		return nil
	}
	return r.textsWith(func(setting record.Setting, add func(string)) {
		for _, text := range r.consistencyTexts(setting) {
			add(text)
		}
		for _, u := range r.uncertain[setting] {
			addPresent(add, u.Answer)
			addPresent(add, u.Samples...)
		}
	})
}

// textsWith are the references and, of every setting, what said adds, each once.
func (r *runner) textsWith(said func(record.Setting, func(string))) []string {
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
			said(record.Setting{Model: m.Name, Dataset: d.Name}, add)
		}
	}
	return texts
}

// addPresent adds the texts of what is not missing.
func addPresent(add func(string), list ...collect.Sampled) {
	for _, s := range list {
		if s.Missing == record.Present {
			add(s.Text)
		}
	}
}
