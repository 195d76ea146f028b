package collect

import (
	"context"
	"fmt"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// Judging asks a language model whether answers are correct. It shows question, references and answer,
// and never how sure anyone is of it.
type Judging struct {
	Prompt prompt.VerdictPrompt
	Form   prompt.Form
}

// Judged is an answer with its item and the forced log-probabilities of True and False.
type Judged struct {
	Item   record.Item
	Answer record.Answer
	Forced Forced
}

// Answer asks for the verdict on an answer and fills it in. Equal questions are one call, whoever answered,
// since the ledger joins them.
func (j *Judging) Answer(ctx context.Context, ask Asker, one *Judged) error {
	if err := j.judge(ctx, ask, one); err != nil {
		return fmt.Errorf("item %s, verdict: %w", one.Item.ID, err)
	}
	return nil
}

func (j *Judging) judge(ctx context.Context, ask Asker, one *Judged) error {
	switch {
	case one.Answer.Missing != record.Present:
		one.Forced.Missing = record.AnswerMissing
		return nil
	case len(one.Item.References) == 0:
		one.Forced.Missing = record.NoReference
		return nil
	}
	p, err := j.Prompt.Force(j.Form, one.Item.Question, one.Item.References, one.Answer.Text)
	if err != nil {
		why, err := missing(err)
		one.Forced.Missing = why
		return err
	}
	return fill(ctx, ask, []llm.Request{
		{Kind: llm.Score, Prompt: p, Answer: prompt.TrueVerdict},
		{Kind: llm.Score, Prompt: p, Answer: prompt.FalseVerdict},
	}, []*Forced{&one.Forced, &one.Forced})
}
