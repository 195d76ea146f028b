package study

import (
	"context"
	"fmt"

	"github.com/credence-lab/credence/card"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/prompt"
)

// Opener makes the engine of a model, fetching what it needs. The command's opener knows the
// embedded engine and the cache; tests bring a scripted model.
type Opener interface {
	Open(ctx context.Context, m Model) (Opened, error)
}

// Sources opens what gives vectors of texts and what says what follows from what. An Opener that is also
// Sources can serve a study that names them.
type Sources interface {
	// OpenEmbeddings returns the engine of a source of embeddings, fetching what it needs.
	OpenEmbeddings(ctx context.Context, e Embeddings) (llm.Engine, error)
	// OpenEntailment returns the engine of a server of entailment.
	OpenEntailment(ctx context.Context, e Entailment) (llm.Engine, error)
}

// Opened is a model that can be asked, with what its release says of it.
type Opened struct {
	Engine llm.Engine
	// RepetitionPenalty of the released generation configuration; 0 where the release states none.
	RepetitionPenalty float64
	// PenaltySource says where that is stated.
	PenaltySource string
	// Licence of the weights; empty if unknown.
	Licence string
	// Speed is what to expect, for plans; zero if unknown.
	Speed Speed
	// Memory is what the model takes at most once it is loaded, in bytes, and MemoryFor what for, in words;
	// zero if unknown.
	Memory    int64
	MemoryFor string
	// Verify finds out whether what the model says can be relied on: whether exact mode holds on this machine,
	// or whether a server's numbers are true. Nil where that is not in question. It is called once, before the
	// first request.
	Verify func(context.Context) (Verified, error)
}

// Verified is what was found out of a model before the first request, for the card.
type Verified struct {
	// Words say it in short; empty if nothing was found out.
	Words string
	// Checks are those of a server, one by one.
	Checks []card.Check
}

// Speed is in tokens per second on the kind of machine that Where names.
type Speed struct {
	Prompt, Generate float64
	Where            string
}

// model is an opened model with the choices that follow from its capabilities.
type model struct {
	Model
	opened   Opened
	form     prompt.Form
	verified Verified
}

// mustAsk are the kinds of calls without which a study has nothing. One with quantifiers has something of a model that
// writes and does not score: what is scored is then missing, and said to be before the first call.
func (f *File) mustAsk() []llm.Kind {
	if len(f.Quantifiers) > 0 {
		return []llm.Kind{llm.Generate}
	}
	return []llm.Kind{llm.Generate, llm.Score}
}

// openModel opens m and holds what it can do against what must be asked of it.
func openModel(ctx context.Context, open Opener, m Model, maxTokens int, kinds ...llm.Kind) (*model, error) {
	opened, err := open.Open(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name, err)
	}
	described, err := withForm(m, opened, maxTokens, kinds...)
	if err != nil {
		return nil, closing(opened.Engine, err)
	}
	return described, nil
}

// withForm settles whether m is asked as a chat or in plain text, and with which repetition penalty.
func withForm(m Model, opened Opened, maxTokens int, kinds ...llm.Kind) (*model, error) {
	can := opened.Engine.Capabilities()
	if err := can.Check(kinds...); err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name, err)
	}
	form := prompt.FormOf(can)
	if can.ContextTokens > 0 && maxTokens >= can.ContextTokens {
		return nil, &InputError{Path: "model " + m.Name, What: fmt.Sprintf("holds %d tokens, and max_tokens %d leaves no room for a question", can.ContextTokens, maxTokens), Hint: "raise context_tokens or lower max_tokens"}
	}
	switch {
	case m.Format == "base":
		form = prompt.Plain
	case m.Format == "chat" && !can.Chat:
		return nil, &InputError{Path: "model " + m.Name, What: "has no chat template, and the study says format: chat", Hint: "use format: base"}
	}
	if m.RepetitionPenalty != nil {
		opened.RepetitionPenalty, opened.PenaltySource = *m.RepetitionPenalty, "the study file"
	}
	return &model{Model: m, opened: opened, form: form}, nil
}

func closing(e llm.Engine, err error) error {
	if cerr := e.Close(); cerr != nil {
		return fmt.Errorf("%w (and closing the engine: %v)", err, cerr)
	}
	return err
}

// decoding of the paper's protocol: greedy, the release's repetition penalty kept (Appendix A, Generation).
func (m *model) decoding(maxTokens int) llm.Decoding {
	d := llm.Decoding{MaxTokens: maxTokens}
	if m.penalty() != 1 {
		d.RepetitionPenalty = m.penalty()
	}
	return d
}

// capabilities are those of the engine, less what it cannot tell under this model's decoding.
func (m *model) capabilities() llm.Capabilities {
	can := m.opened.Engine.Capabilities()
	if m.Engine == string(openai.TGI) && m.penalty() != 1 {
		can.Details.Alternatives = 0 // it tells them after the penalty
	}
	return can
}

// group is the group of models in which summaries count this one.
func (m *model) group() string {
	switch {
	case m.Group != "":
		return m.Group
	case m.form == prompt.Plain:
		return "base"
	}
	return "instruct"
}

// penalty is the repetition penalty in force; 1 is none.
func (m *model) penalty() float64 {
	if m.opened.RepetitionPenalty == 0 {
		return 1
	}
	return m.opened.RepetitionPenalty
}
