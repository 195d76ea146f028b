// Package collect asks a model, item by item, for what a study needs: the answer with its stated
// probability, and the log-probabilities of that answer's tokens in each context.
//
// The code of one item is plain: it asks for what it needs, in order. That nothing is asked twice is
// the ledger's work, and that batches fill is the engine's: [All] only keeps enough items open.
package collect

import (
	"context"
	"errors"
	"fmt"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// Asker is what collecting needs of a model: one result per request, in order. The ledger's asker
// and every llm.Engine are askers.
type Asker interface {
	Do(ctx context.Context, reqs []llm.Request) []llm.Result
}

// Spec says what is asked of every item of one setting.
type Spec struct {
	Setting record.Setting
	// Prompts and Form say how a question is put to the model.
	Prompts *prompt.Set
	Form    prompt.Form
	// Elicitation is the prompt that asks for an answer and its probability; Parser reads the reply.
	Elicitation prompt.Name
	Parser      prompt.Parser
	// Decoding of the answer; temperature 0 for the paper's protocol.
	Decoding llm.Decoding
	// Contexts in which the answer's tokens are scored.
	Contexts []prompt.Context
}

// Records is what one item gave, or many.
type Records struct {
	Answers  []record.Answer
	Stated   []record.Reading
	Scorings []record.Scoring
}

func (r *Records) add(other Records) {
	r.Answers = append(r.Answers, other.Answers...)
	r.Stated = append(r.Stated, other.Stated...)
	r.Scorings = append(r.Scorings, other.Scorings...)
}

// Item asks for one item's answer and scores it in every context. What a model cannot give is a
// missing value with its reason; an error means that asking itself failed and the study should stop.
func (s *Spec) Item(ctx context.Context, ask Asker, item record.Item) (Records, error) {
	answer, stated, err := s.answer(ctx, ask, item)
	if err != nil {
		return Records{}, fmt.Errorf("item %s: %w", item.ID, err)
	}
	scorings, err := s.score(ctx, ask, item, answer)
	if err != nil {
		return Records{}, fmt.Errorf("item %s: %w", item.ID, err)
	}
	return Records{[]record.Answer{answer}, []record.Reading{stated}, scorings}, nil
}

// usualReply is what a plan takes for a reply: about as long as those of instruction-tuned models.
const usualReply = "Guess: two words\nProbability: 0.85"

func (s *Spec) answer(ctx context.Context, ask Asker, item record.Item) (record.Answer, record.Reading, error) {
	p, err := s.Prompts.Ask(s.Elicitation, s.Form, item.Question)
	if err != nil {
		return record.Answer{}, record.Reading{}, err
	}
	id := record.AnswerID{
		Setting: s.Setting,
		Item:    item.ID,
		Origin:  record.Origin{Source: record.Generated, Prompt: string(s.Elicitation)},
	}
	answer := record.Answer{ID: id}
	stated := record.Reading{
		Answer:   id,
		Signal:   record.VerbalisedSignal,
		Protocol: record.Protocol{Elicitation: string(s.Elicitation)},
	}
	result := ask.Do(ctx, []llm.Request{{Kind: llm.Generate, Prompt: p, Decoding: s.Decoding, Usual: usualReply}})[0]
	if result.Err != nil {
		why, err := missing(result.Err)
		answer.Missing, stated.Value = why, record.Absent(why)
		return answer, stated, err
	}
	reply := result.Reply
	parsed := s.Parser.Parse(reply.Text, reply.Finish == llm.FinishLength)
	answer.Text, answer.Missing = parsed.Guess, parsed.GuessMissing
	answer.Reply, answer.Truncated = reply.Text, reply.Finish == llm.FinishLength
	stated.Value, stated.Fallback, stated.Reproducible = parsed.Probability, parsed.Fallback, reply.Reproducible
	return answer, stated, nil
}

// score asks for all contexts at once: they share the instruction, the question and the answer.
func (s *Spec) score(ctx context.Context, ask Asker, item record.Item, answer record.Answer) ([]record.Scoring, error) {
	scorings := make([]record.Scoring, len(s.Contexts))
	for i, c := range s.Contexts {
		scorings[i] = record.Scoring{Answer: answer.ID, Context: c.Name}
	}
	if answer.Missing != record.Present {
		for i := range scorings {
			scorings[i].Missing = record.AnswerMissing
		}
		return scorings, nil
	}
	requests := make([]llm.Request, len(s.Contexts))
	for i, c := range s.Contexts {
		before, text, err := s.Prompts.Place(c, s.Form, item.Question, answer.Text)
		if err != nil {
			return nil, err
		}
		requests[i] = llm.Request{Kind: llm.Score, Prompt: before, Answer: text}
	}
	for i, result := range ask.Do(ctx, requests) {
		if result.Err != nil {
			why, err := missing(result.Err)
			if err != nil {
				return nil, err
			}
			scorings[i].Missing = why
			continue
		}
		scorings[i].Tokens = result.Reply.Tokens
		scorings[i].ContextIDs = result.Reply.PromptIDs
		scorings[i].Reproducible = result.Reply.Reproducible
	}
	return scorings, nil
}

// missing tells what belongs to the item, and is a missing value, from what ends the study.
func missing(err error) (record.Missing, error) {
	switch {
	case errors.Is(err, llm.ErrContextOverflow):
		return record.ContextOverflow, nil
	case errors.Is(err, llm.ErrEmptyAnswer):
		return record.EmptyAnswer, nil
	case errors.Is(err, llm.ErrNotSupported):
		return record.NotSupported, nil
	}
	return record.CallFailed, err
}
