package cli

import (
	"context"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llamacpp"
	"github.com/credence-lab/credence/study"
)

var (
	_ study.Embedder = (*embedded)(nil)
	_ study.Embedder = routed{}
)

// OpenEmbedder leaves embedding to the opener behind it.
func (r routed) OpenEmbedder(ctx context.Context, weights string) (llm.Engine, error) {
	inner, ok := r.inner.(study.Embedder)
	if !ok {
		return nil, usagef("embeddings %s: this engine cannot embed", weights)
	}
	return inner.OpenEmbedder(ctx, weights)
}

// OpenEmbedder fetches what is missing of a model of embeddings and makes its engine.
func (e *embedded) OpenEmbedder(ctx context.Context, weights string) (llm.Engine, error) {
	if entry, err := e.cache.Catalogue().Model(weights); err == nil && entry.Embedding == nil {
		return nil, usagef("embeddings %s: this model writes and gives no vectors; choose one whose kind in \"credence models\" is embedding", entry.Name)
	}
	paths, err := e.cache.Ensure(ctx, weights)
	if err != nil {
		return nil, err
	}
	return llamacpp.NewEmbedder(llamacpp.Config{LibraryDir: paths.Library, Weights: paths.Weights, WeightsSHA256: paths.SHA256, Threads: e.flags.threads})
}
