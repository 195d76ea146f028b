package collect

import (
	"context"
	"fmt"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// Supply says how the probability of a given answer is asked for: the answer is put into the
// assistant's mouth after "Guess:", and the model goes on after "Probability:" ("Same Answer,
// Different Confidence", section 3.6 and appendix I).
type Supply struct {
	// Prompt is the user turn; the zero Supply asks nothing.
	Prompt prompt.Name
	Parser prompt.Parser
	// Decoding of the probability; 12 tokens and temperature 0 for the paper's protocol.
	Decoding llm.Decoding
}

const usualProbability = " 0.85"

// Given is an item with answers of which the model is asked how probable they are.
type Given struct {
	Item    record.Item
	Answers []record.Answer
}

// Supplied asks for the probability of each given answer. The readings carry the elicitation
// [prompt.Supplied]. An answer that is missing gives a reading that is missing, and no call.
func (s *Spec) Supplied(ctx context.Context, ask Asker, given Given) (Records, error) {
	got, err := s.supplied(ctx, ask, given)
	if err != nil {
		return Records{}, fmt.Errorf("item %s, supplied answers: %w", given.Item.ID, err)
	}
	return got, nil
}

func (s *Spec) supplied(ctx context.Context, ask Asker, given Given) (Records, error) {
	stated := make([]record.Reading, len(given.Answers))
	var requests []llm.Request
	var of []int // the reading of each request
	for i, answer := range given.Answers {
		stated[i] = record.Reading{Answer: answer.ID, Signal: record.VerbalisedSignal, Protocol: record.Protocol{Elicitation: prompt.Supplied}}
		if answer.Missing != record.Present {
			stated[i].Value = record.Absent(record.AnswerMissing)
			continue
		}
		p, err := s.Prompts.Supply(s.Supply.Prompt, s.Form, given.Item.Question, answer.Text)
		if why, failed := missing(err); err != nil && failed == nil {
			stated[i].Value = record.Absent(why)
			continue
		}
		if err != nil {
			return Records{}, err
		}
		requests = append(requests, llm.Request{Kind: llm.Generate, Prompt: p, Decoding: s.Supply.Decoding, Usual: usualProbability})
		of = append(of, i)
	}
	if len(requests) == 0 {
		return Records{Stated: stated}, nil
	}
	for k, result := range ask.Do(ctx, requests) {
		if err := s.Supply.read(&stated[of[k]], result); err != nil {
			return Records{}, err
		}
	}
	return Records{Stated: stated}, nil
}

func (s Supply) read(stated *record.Reading, result llm.Result) error {
	if result.Err != nil {
		why, err := missing(result.Err)
		stated.Value = record.Absent(why)
		return err
	}
	reply := result.Reply
	stated.Value, stated.Fallback = s.Parser.ParseSupplied(reply.Text, reply.Finish == llm.FinishLength)
	stated.Reproducible = reply.Reproducible
	return nil
}
