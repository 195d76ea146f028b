package study

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/llm/tei"
)

// Embeddings says where the vectors of texts come from: weights that run in process, or a server. A text in the
// file is short for its weights. The zero Embeddings is none.
type Embeddings struct {
	// Weights is a name that "credence models" lists as embedding, or the path of a GGUF file.
	Weights string `yaml:"weights,omitempty"`
	// Engine is the kind of the server: "tei", or one that serves OpenAI's /v1/embeddings.
	Engine string `yaml:"engine,omitempty"`
	Server `yaml:",inline"`
	// Price of the server's tokens; nil where they cost nothing.
	Price *Price `yaml:"price,omitempty"`
	// Tokens says that the vectors of tokens are wanted as well. A study that has a judge which compares them says so.
	Tokens bool `yaml:"-"`
}

// Entailment says who judges what follows from what. A text in the file is short for By.
type Entailment struct {
	// By is [OwnEntailment], [LexicalEntailment], [NoEntailment], or the name of a model of the study, which is
	// then asked by forced choice. Empty where a server is.
	By string `yaml:"by,omitempty"`
	// Engine is the kind of the server: "tei".
	Engine string `yaml:"engine,omitempty"`
	Server `yaml:",inline"`
	// Price of the server's tokens; nil where they cost nothing.
	Price *Price `yaml:"price,omitempty"`
	// Labels says what the server's labels mean, where their names do not: label to "entails", "neither" or
	// "contradicts".
	Labels map[string]string `yaml:"labels,omitempty"`
}

// Who judges entailment without being a model of the study or a server.
const (
	// OwnEntailment: each model judges the texts that it wrote, by forced choice. The default.
	OwnEntailment = "own"
	// LexicalEntailment: nobody is asked; common words stand in for meaning. See quantify.LexicalRelation.
	LexicalEntailment = "lexical"
	// NoEntailment: nobody is asked.
	NoEntailment = "none"
)

// engineTEI is the kind of a text-embeddings-inference server.
const engineTEI = "tei"

// UnmarshalYAML reads the short or the long form.
func (e *Embeddings) UnmarshalYAML(read func(any) error) error {
	type long Embeddings
	if short, ok := shortForm(read); ok {
		*e = Embeddings{Weights: short}
		return nil
	}
	return read((*long)(e))
}

// UnmarshalYAML reads the short or the long form.
func (e *Entailment) UnmarshalYAML(read func(any) error) error {
	type long Entailment
	if short, ok := shortForm(read); ok {
		*e = Entailment{By: short}
		return nil
	}
	return read((*long)(e))
}

func shortForm(read func(any) error) (string, bool) {
	var short string
	err := read(&short)
	return short, err == nil
}

// IsZero reports whether the study names no embeddings, so that none are written.
func (e Embeddings) IsZero() bool { return e == Embeddings{} }

// OnServer reports whether a server gives the vectors.
func (e Embeddings) OnServer() bool { return e.Engine != "" }

// OnServer reports whether a server judges.
func (e Entailment) OnServer() bool { return e.Engine != "" }

// String names the source for people.
func (e Embeddings) String() string {
	if e.OnServer() {
		return e.Server.named(e.Engine)
	}
	return e.Weights
}

// String names the source for people.
func (e Entailment) String() string {
	if e.OnServer() {
		return e.Server.named(e.Engine)
	}
	return e.By
}

func (s Server) named(engine string) string {
	if s.Served != "" {
		return s.Served + " on " + engine
	}
	return engine
}

// embeddingEngines are the kinds of servers that give vectors.
func embeddingEngines() []string { return append([]string{engineTEI}, openai.Dialects()...) }

// checkSources says what is wrong with where embeddings and entailment come from.
func (f *File) checkSources() error {
	e := f.Embeddings
	const either = "write \"embeddings: all-minilm-l6-v2\", or \"engine:\" and \"url:\" of a server"
	switch {
	case e.IsZero() && f.at.has("$.embeddings"):
		return f.at.errorf("$.embeddings", either, "embeddings names nothing")
	case e.Weights != "" && e.OnServer():
		return f.at.errorf("$.embeddings", either, "embeddings names both weights and a server")
	case e.OnServer() && !slices.Contains(embeddingEngines(), e.Engine):
		return f.at.errorf("$.embeddings.engine", hintFor(e.Engine, embeddingEngines()), "no server of embeddings is of the kind %q", e.Engine)
	}
	if err := f.checkSource("$.embeddings", e.Engine, e.Server); err != nil {
		return err
	}
	n := f.Entailment
	if n.By != "" && n.OnServer() {
		return f.at.errorf("$.entailment", "keep one of them", "entailment is judged both by %q and by a server", n.By)
	}
	if err := f.checkSource("$.entailment", n.Engine, n.Server); err != nil {
		return err
	}
	if n.OnServer() {
		if n.Engine != engineTEI {
			return f.at.errorf("$.entailment.engine", hintFor(n.Engine, []string{engineTEI}), "no server of entailment is of the kind %q", n.Engine)
		}
		return nil
	}
	if len(n.Labels) > 0 {
		return f.at.errorf("$.entailment.labels", "remove them, or add \"engine: tei\" and \"url:\"", "labels are those of a server")
	}
	known := append([]string{OwnEntailment, LexicalEntailment, NoEntailment}, f.modelNames()...)
	if n.By != "" && !slices.Contains(known, n.By) {
		return f.at.errorf("$.entailment", hintFor(n.By, known), "there is no model %q to judge entailment", n.By)
	}
	return nil
}

// checkSource says what is wrong with a source's server.
func (f *File) checkSource(node, engine string, s Server) error {
	switch {
	case engine == "" && s != (Server{}):
		return f.at.errorf(node, "add \"engine:\", such as tei", "there are settings of a server, and no engine says of which kind")
	case engine == "":
		return nil
	case s.URL == "":
		return f.at.errorf(node, "add \"url:\", such as http://127.0.0.1:8080", "the server has no address")
	case engine == engineTEI && (s.Served != "" || s.RequestsPerMinute != 0 || s.TokensPerMinute != 0):
		return f.at.errorf(node, "remove them", "a tei server has one model and is not paced: model, requests_per_minute and tokens_per_minute mean nothing to it")
	case s.Thinking != "":
		return f.at.errorf(node+".thinking", "remove it", "a server of %s does not think", strings.TrimPrefix(node, "$."))
	}
	return f.checkAddress(node, s)
}

func (f *File) modelNames() []string {
	var names []string
	for _, m := range f.Models {
		names = append(names, m.Name)
	}
	return names
}

// OpenEmbeddings asks a server of embeddings what it serves.
func OpenEmbeddings(ctx context.Context, e Embeddings) (llm.Engine, error) {
	if e.Engine == engineTEI {
		c, err := e.Server.tei()
		if err != nil {
			return nil, err
		}
		c.Tokens = e.Tokens
		return engineOrError(tei.OpenEmbedder(ctx, c))
	}
	m := Model{Engine: e.Engine, Server: e.Server}
	c, err := m.config()
	if err != nil {
		return nil, err
	}
	return engineOrError(openai.OpenEmbedder(ctx, c))
}

// OpenEntailment asks a server of entailment what it serves.
func OpenEntailment(ctx context.Context, e Entailment) (llm.Engine, error) {
	c, err := e.Server.tei()
	if err != nil {
		return nil, err
	}
	c.Labels = e.Labels
	entailer, err := tei.OpenEntailer(ctx, c)
	if err != nil {
		return nil, err
	}
	return llm.Relating(entailer), nil
}

// engineOrError keeps a nil pointer from becoming an engine.
func engineOrError[E llm.Engine](e E, err error) (llm.Engine, error) {
	if err != nil {
		return nil, err
	}
	return e, nil
}

// tei is how a text-embeddings-inference server is asked.
func (s Server) tei() (tei.Config, error) {
	key, err := s.key()
	return tei.Config{URL: s.URL, Key: key, Concurrency: s.Concurrency}, err
}

// openEmbeddings opens the source of embeddings and holds what it can do against what is asked of it.
func (r *runner) openEmbeddings(ctx context.Context) (llm.Engine, error) {
	engine, err := openVectors(ctx, r.options.Open, r.file.embeddingsWanted(), "leave \"embeddings\" out of the study")
	if err != nil {
		return nil, err
	}
	if err := r.calibratedVectors(engine.Identity()); err != nil {
		return nil, closing(engine, err)
	}
	return engine, nil
}

// embeddingsWanted are the study's embeddings with what is wanted of them.
func (f *File) embeddingsWanted() Embeddings {
	e := f.Embeddings
	e.Tokens = len(f.tokenJudges()) > 0
	return e
}

// openVectors opens a source of embeddings; hint says what to do where the opener has none.
func openVectors(ctx context.Context, open Opener, e Embeddings, hint string) (llm.Engine, error) {
	sources, ok := open.(Sources)
	if !ok {
		return nil, &InputError{Path: "embeddings", What: "this engine cannot embed", Hint: hint}
	}
	engine, err := sources.OpenEmbeddings(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("embeddings %s: %w", e, err)
	}
	if err := engine.Capabilities().Check(llm.EmbedTokens); err != nil && e.Tokens {
		what := &InputError{Path: "embeddings " + e.String(), What: "it gives no vectors of tokens, and a judge compares them", Hint: "leave BERTScore out of \"judges\", or name a server that gives them", Err: err}
		return nil, closing(engine, what)
	}
	if err := engine.Capabilities().Check(llm.Embed); err != nil {
		what := &InputError{Path: "embeddings " + e.String(), What: err.Error(), Hint: "name a model of embeddings, see \"credence models\"", Err: err}
		return nil, closing(engine, what)
	}
	return engine, nil
}

// openEntailment opens the server of entailment.
func (r *runner) openEntailment(ctx context.Context) (llm.Engine, error) {
	sources, ok := r.options.Open.(Sources)
	if !ok {
		return nil, &InputError{Path: "entailment", What: "this engine asks no server of entailment", Hint: "use \"entailment: own\""}
	}
	engine, err := sources.OpenEntailment(ctx, r.file.Entailment)
	if err != nil {
		return nil, fmt.Errorf("entailment %s: %w", r.file.Entailment, err)
	}
	return engine, nil
}
