package study

import (
	"context"
	"errors"
	"fmt"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// askEmbeddings asks for the vectors of all answers, samples and references.
func (r *runner) askEmbeddings(ctx context.Context, ask collect.Asker, pace collect.Pace) error {
	var texts []string
	for _, d := range r.data {
		for _, item := range d.Items {
			texts = append(texts, item.References...)
		}
		for _, m := range r.file.Models {
			for _, u := range r.uncertain[record.Setting{Model: m.Name, Dataset: d.Name}] {
				for _, s := range append([]collect.Sampled{u.Answer}, u.Samples...) {
					if s.Missing == record.Present {
						texts = append(texts, s.Text)
					}
				}
			}
		}
	}
	var err error
	r.vectors, err = collect.Embeddings(ctx, ask, texts, pace)
	return err
}

// embed opens the model of embeddings, asks it, and closes it; no other model is open then.
func (r *runner) embed(ctx context.Context) (err error) {
	opener, ok := r.options.Open.(Embedder)
	if !ok {
		return &InputError{Path: "embeddings", What: "this engine cannot embed", Hint: "leave \"embeddings\" out of the study"}
	}
	engine, err := opener.OpenEmbedder(ctx, r.file.Embeddings)
	if err != nil {
		return fmt.Errorf("embeddings %s: %w", r.file.Embeddings, err)
	}
	ask := r.ledger.Through(engine)
	defer func() { err = errors.Join(err, ask.Close()) }()
	if err := engine.Capabilities().Check(llm.Embed); err != nil {
		return &InputError{Path: "embeddings " + r.file.Embeddings, What: err.Error(), Hint: "name a model of embeddings, see \"credence models\"", Err: err}
	}
	r.embedder = ask.Identity()
	return r.askEmbeddings(ctx, ask, collect.Pace{Open: openItems})
}
