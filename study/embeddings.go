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

// openEmbedder opens the model of embeddings and holds what it can do against what is asked of it.
func (r *runner) openEmbedder(ctx context.Context) (llm.Engine, error) {
	opener, ok := r.options.Open.(Embedder)
	if !ok {
		return nil, &InputError{Path: "embeddings", What: "this engine cannot embed", Hint: "leave \"embeddings\" out of the study"}
	}
	engine, err := opener.OpenEmbedder(ctx, r.file.Embeddings)
	if err != nil {
		return nil, fmt.Errorf("embeddings %s: %w", r.file.Embeddings, err)
	}
	if err := engine.Capabilities().Check(llm.Embed); err != nil {
		what := &InputError{Path: "embeddings " + r.file.Embeddings, What: err.Error(), Hint: "name a model of embeddings, see \"credence models\"", Err: err}
		return nil, closing(engine, what)
	}
	return engine, nil
}

// embed asks the model of embeddings and closes it; no other model is open then.
func (r *runner) embed(ctx context.Context) (err error) {
	engine, err := r.openEmbedder(ctx)
	if err != nil {
		return err
	}
	ask := r.ledger.Through(r.meter.around(engine, nil))
	defer func() { err = errors.Join(err, ask.Close()) }()
	r.embedder = ask.Identity()
	return r.askEmbeddings(ctx, ask, collect.Pace{Open: openItems})
}
