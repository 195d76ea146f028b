package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llamacpp"
	"github.com/credence-lab/credence/study"
	"github.com/credence-lab/credence/weights"
)

var (
	_ study.Sources       = (*embedded)(nil)
	_ study.SourcePlanner = (*embedded)(nil)
	_ study.Sources       = routed{}
	_ study.SourcePlanner = routed{}
)

// OpenEmbeddings asks a server, or leaves embedding to the opener behind it.
func (r routed) OpenEmbeddings(ctx context.Context, e study.Embeddings) (llm.Engine, error) {
	if e.OnServer() {
		if err := r.allowsServer("embeddings", e.Server); err != nil {
			return nil, err
		}
		return study.OpenEmbeddings(ctx, e)
	}
	inner, ok := r.inner.(study.Sources)
	if !ok {
		return nil, usagef("embeddings %s: this engine cannot embed", e)
	}
	return inner.OpenEmbeddings(ctx, e)
}

// OpenEntailment asks the server of entailment.
func (r routed) OpenEntailment(ctx context.Context, e study.Entailment) (llm.Engine, error) {
	if err := r.allowsServer("entailment", e.Server); err != nil {
		return nil, err
	}
	return study.OpenEntailment(ctx, e)
}

// DescribeEmbeddings is OpenEmbeddings for a plan; no server is asked.
func (r routed) DescribeEmbeddings(e study.Embeddings) (llm.Engine, string, error) {
	if e.OnServer() {
		return unasked(e.Engine, e.Served, llm.Capabilities{Embed: true, EmbedTokens: e.Tokens}), serverNote, r.allowsServer("embeddings", e.Server)
	}
	inner, ok := r.inner.(study.SourcePlanner)
	if !ok {
		return nil, "", usagef("embeddings %s: this engine cannot embed", e)
	}
	return inner.DescribeEmbeddings(e)
}

// DescribeEntailment is OpenEntailment for a plan.
func (r routed) DescribeEntailment(e study.Entailment) (llm.Engine, string, error) {
	return unasked(e.Engine, e.Served, llm.Capabilities{Entail: true}), serverNote, r.allowsServer("entailment", e.Server)
}

const serverNote = "the server was not asked: what an earlier run of it made counts as new"

// OpenEmbeddings fetches what is missing of a model of embeddings and makes its engine.
func (e *embedded) OpenEmbeddings(ctx context.Context, of study.Embeddings) (llm.Engine, error) {
	if err := e.embeds(of); err != nil {
		return nil, err
	}
	paths, err := e.cache.Ensure(ctx, of.Weights)
	if err != nil {
		return nil, err
	}
	return e.newEmbedder(paths)
}

// OpenEntailment is for servers alone.
func (e *embedded) OpenEntailment(context.Context, study.Entailment) (llm.Engine, error) {
	return nil, usagef("entailment: no model made for it runs in process")
}

// DescribeEmbeddings is OpenEmbeddings for a plan; nothing is fetched.
func (e *embedded) DescribeEmbeddings(of study.Embeddings) (llm.Engine, string, error) {
	if err := e.embeds(of); err != nil {
		return nil, "", err
	}
	local, err := weights.Open(weights.Options{Offline: true, EngineLibrary: e.flags.library})
	if err != nil {
		return nil, "", err
	}
	paths, err := local.Ensure(context.Background(), of.Weights)
	var missing *weights.UnavailableError
	switch {
	case err == nil:
		engine, err := e.newEmbedder(paths)
		return engine, "", err
	case !errors.As(err, &missing):
		return nil, "", err
	}
	return unasked("llamacpp", of.Weights, llm.Capabilities{Embed: true}), fmt.Sprintf("to fetch first: %s", missing.Name), nil
}

// DescribeEntailment is for servers alone.
func (e *embedded) DescribeEntailment(study.Entailment) (llm.Engine, string, error) {
	return nil, "", usagef("entailment: no model made for it runs in process")
}

func (e *embedded) embeds(of study.Embeddings) error {
	if entry, err := e.cache.Catalogue().Model(of.Weights); err == nil && entry.Embedding == nil {
		return usagef("embeddings %s: this model writes and gives no vectors; choose one whose kind in \"credence models\" is embedding", entry.Name)
	}
	return nil
}

func (e *embedded) newEmbedder(paths weights.Paths) (llm.Engine, error) {
	engine, err := llamacpp.NewEmbedder(llamacpp.Config{LibraryDir: paths.Library, Weights: paths.Weights, WeightsSHA256: paths.SHA256, Threads: e.flags.threads})
	if err != nil {
		return nil, err
	}
	return engine, nil
}

// unasked stands for a model that a plan does not ask.
func unasked(engine, model string, can llm.Capabilities) llm.Engine {
	return notAsked{llm.Identity{Engine: engine, Model: model}, can}
}

type notAsked struct {
	identity llm.Identity
	can      llm.Capabilities
}

func (n notAsked) Identity() llm.Identity         { return n.identity }
func (n notAsked) Capabilities() llm.Capabilities { return n.can }
func (n notAsked) Close() error                   { return nil }

func (n notAsked) Do(_ context.Context, reqs []llm.Request) []llm.Result {
	results := make([]llm.Result, len(reqs))
	for i := range results {
		results[i].Err = fmt.Errorf("%s was not asked", n.identity)
	}
	return results
}
