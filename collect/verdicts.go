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
	// Forced asks by forced choice of True and False, Written has the model write its verdict.
	Forced, Written bool
	// Swapped also forces the choice with the two verdicts in the other order, Turned with the references turned
	// by one: what should not matter.
	Swapped, Turned bool
	// Repeats is how often a verdict is written at Temperature above 0, from generators of Seed; 0 asks for none.
	Repeats     int
	Temperature float64
	Seed        uint64
}

// Judged is an answer with its item and what a model said of it.
type Judged struct {
	Item   record.Item
	Answer record.Answer
	// Missing says why nothing was asked.
	Missing record.Missing
	// Forced are the log-probabilities of True and False; Swapped and Turned the same for what should not
	// matter.
	Forced, Swapped, Turned Forced
	// Written is the verdict in words, Repeats are those at a temperature above 0.
	Written Written
	Repeats []Written
	// Calls are the requests behind Forced and Written, in this order.
	Calls []llm.Request
}

// Written is a reply in words, or the reason why there is none.
type Written struct {
	Reply     string
	Truncated bool
	Missing   record.Missing
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
		one.Missing = record.AnswerMissing
		return nil
	case len(one.Item.References) == 0:
		one.Missing = record.NoReference
		return nil
	case prompt.OneLine(one.Answer.Text) == "":
		one.Missing = record.EmptyAnswer
		return nil
	}
	if err := j.force(ctx, ask, one); err != nil {
		return err
	}
	return j.write(ctx, ask, one)
}

// force asks for all forced choices at once.
func (j *Judging) force(ctx context.Context, ask Asker, one *Judged) error {
	references := one.Item.References
	var requests []llm.Request
	var into []*Forced
	for _, way := range []struct {
		wanted     bool
		prompt     prompt.VerdictPrompt
		references []string
		place      *Forced
	}{
		{j.Forced, j.Prompt, references, &one.Forced},
		{j.Swapped, j.Prompt.FalseFirst(), references, &one.Swapped},
		{j.Turned, j.Prompt, turned(references), &one.Turned},
	} {
		if !way.wanted {
			continue
		}
		p, err := way.prompt.Force(j.Form, one.Item.Question, way.references, one.Answer.Text)
		if err != nil {
			return err
		}
		requests = append(requests, llm.Request{Kind: llm.Score, Prompt: p, Answer: prompt.TrueVerdict}, llm.Request{Kind: llm.Score, Prompt: p, Answer: prompt.FalseVerdict})
		into = append(into, way.place, way.place)
	}
	if j.Forced {
		one.Calls = append(one.Calls, requests[:2]...)
	}
	return fill(ctx, ask, requests, into)
}

// turned are the references with the first one last.
func turned(references []string) []string {
	return append(append([]string{}, references[1:]...), references[0])
}

// write asks for all verdicts in words at once.
func (j *Judging) write(ctx context.Context, ask Asker, one *Judged) error {
	p, err := j.Prompt.Ask(j.Form, one.Item.Question, one.Item.References, one.Answer.Text)
	if err != nil {
		return err
	}
	decoding := llm.Decoding{MaxTokens: prompt.VerdictTokens}
	var requests []llm.Request
	if j.Written {
		requests = append(requests, llm.Request{Kind: llm.Generate, Prompt: p, Decoding: decoding, Usual: usualVerdict})
		one.Calls = append(one.Calls, requests...)
	}
	decoding.Temperature = j.Temperature
	for i := range j.Repeats {
		requests = append(requests, llm.Request{Kind: llm.Generate, Prompt: p, Decoding: decoding, Seed: j.Seed, Sample: i, Usual: usualVerdict})
	}
	if len(requests) == 0 {
		return nil
	}
	for i, result := range ask.Do(ctx, requests) {
		said, err := written(result)
		if err != nil {
			return err
		}
		if i == 0 && j.Written {
			one.Written = said
		} else {
			one.Repeats = append(one.Repeats, said)
		}
	}
	return nil
}

const usualVerdict = "True"

// written is a reply in words.
func written(result llm.Result) (Written, error) {
	if result.Err != nil {
		why, err := missing(result.Err)
		return Written{Missing: why}, err
	}
	return Written{Reply: result.Reply.Text, Truncated: result.Reply.Finish == llm.FinishLength}, nil
}
