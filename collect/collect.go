// Package collect asks a model, item by item, for what a study needs: answers with their stated
// probabilities, the log-probabilities of an answer's tokens in each context, and the stated
// probability of answers that are supplied.
//
// The code of one item is plain: it asks for what it needs, in order. That nothing is asked twice is
// the ledger's work, and that batches fill is the engine's: [All] only keeps enough items open.
package collect

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	// Elicitations are the ways in which the model is asked for an answer of its own.
	Elicitations []Elicitation
	// ReferenceContexts are those in which the canonical reference answer is scored; none by default.
	ReferenceContexts []prompt.Context
	// Supply says how the probability of a given answer is asked for; see [Spec.Supplied].
	Supply Supply
	// OptionSeed fixes the order of shuffled options; see [OptionsOf].
	OptionSeed uint64
}

// Elicitation is one prompt under which answers are written, and where those answers are scored.
type Elicitation struct {
	Prompt prompt.Name
	// Parser reads the reply.
	Parser prompt.Parser
	// AnswerAlone says that the prompt asks for no probability, so that none is read.
	AnswerAlone bool
	// Lettered says that the prompt shows the item's options and asks for a letter. Items without
	// options are left out of this elicitation.
	Lettered bool
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

// Add appends what others hold.
func (r *Records) Add(others ...Records) {
	for _, o := range others {
		r.Answers = append(r.Answers, o.Answers...)
		r.Stated = append(r.Stated, o.Stated...)
		r.Scorings = append(r.Scorings, o.Scorings...)
	}
}

// Complete reports whether no value is missing: every answer, stated probability and scoring is there.
func (r Records) Complete() bool {
	return !slices.ContainsFunc(r.Answers, func(a record.Answer) bool { return a.Missing != record.Present }) &&
		!slices.ContainsFunc(r.Stated, func(s record.Reading) bool { _, ok := s.Value.Get(); return !ok }) &&
		!slices.ContainsFunc(r.Scorings, func(s record.Scoring) bool { return s.Missing != record.Present })
}

// Item asks for one item's answers under every elicitation and scores each in its contexts. What a
// model cannot give is a missing value with its reason; an error means that asking itself failed and
// the study should stop.
func (s *Spec) Item(ctx context.Context, ask Asker, item record.Item) (Records, error) {
	got, err := s.item(ctx, ask, item)
	if err != nil {
		return Records{}, fmt.Errorf("item %s: %w", item.ID, err)
	}
	return got, nil
}

func (s *Spec) item(ctx context.Context, ask Asker, item record.Item) (Records, error) {
	asked, err := s.questions(item)
	if err != nil {
		return Records{}, err
	}
	got, err := s.answers(ctx, ask, item, asked)
	if err != nil {
		return Records{}, err
	}
	var wanted []scored
	for i, q := range asked {
		wanted = append(wanted, q.scorings(got.Answers[i])...)
	}
	if len(s.ReferenceContexts) > 0 {
		reference := referenceAnswer(s.Setting, item)
		got.Answers = append(got.Answers, reference)
		wanted = append(wanted, question{text: item.Question, contexts: s.ReferenceContexts}.scorings(reference)...)
	}
	got.Scorings, err = s.score(ctx, ask, wanted)
	return got, err
}

// question is one elicitation of one item.
type question struct {
	*Elicitation
	// text takes the place of {{.Question}}; options are how many it shows.
	text     string
	options  int
	contexts []prompt.Context
}

// questions are the elicitations that this item can be asked.
func (s *Spec) questions(item record.Item) ([]question, error) {
	var list []question
	for i := range s.Elicitations {
		e := &s.Elicitations[i]
		q := question{Elicitation: e, text: item.Question, contexts: e.Contexts}
		if e.Lettered {
			options, ok := OptionsOf(item, s.OptionSeed)
			if !ok {
				continue
			}
			text, err := prompt.WithOptions(item.Question, options.Texts)
			if err != nil {
				return nil, err
			}
			q.text, q.options = text, len(options.Texts)
		}
		list = append(list, q)
	}
	return list, nil
}

// usual is what a plan takes for a reply: about as long as those of instruction-tuned models.
func (q question) usual() string {
	switch {
	case q.Lettered:
		return "Guess: A\nProbability: 0.85"
	case q.AnswerAlone:
		return "two words"
	}
	return "Guess: two words\nProbability: 0.85"
}

// answers asks under all elicitations at once: they share most of their words.
func (s *Spec) answers(ctx context.Context, ask Asker, item record.Item, asked []question) (Records, error) {
	requests := make([]llm.Request, len(asked))
	for i, q := range asked {
		p, err := s.Prompts.Ask(q.Prompt, s.Form, q.text)
		if err != nil {
			return Records{}, err
		}
		requests[i] = llm.Request{Kind: llm.Generate, Prompt: p, Decoding: q.Decoding, Usual: q.usual()}
	}
	var got Records
	for i, result := range ask.Do(ctx, requests) {
		origin := record.Origin{Source: record.Generated, Prompt: string(asked[i].Prompt)}
		answer, stated, err := asked[i].read(record.AnswerID{Setting: s.Setting, Item: item.ID, Origin: origin}, result)
		if err != nil {
			return Records{}, err
		}
		got.Answers = append(got.Answers, answer)
		if !asked[i].AnswerAlone {
			got.Stated = append(got.Stated, stated)
		}
	}
	return got, nil
}

// read takes the answer and its stated probability from a reply.
func (q question) read(id record.AnswerID, result llm.Result) (record.Answer, record.Reading, error) {
	answer := record.Answer{ID: id}
	stated := record.Reading{
		Answer:   id,
		Signal:   record.VerbalisedSignal,
		Protocol: record.Protocol{Elicitation: string(q.Prompt)},
	}
	if result.Err != nil {
		why, err := missing(result.Err)
		answer.Missing, stated.Value = why, record.Absent(why)
		return answer, stated, err
	}
	reply := result.Reply
	answer.Reply, answer.Truncated = reply.Text, reply.Finish == llm.FinishLength
	if q.AnswerAlone {
		answer.Text, answer.Missing = q.Parser.ParseAnswer(reply.Text)
		return answer, stated, nil
	}
	parsed := q.Parser.Parse(reply.Text, answer.Truncated)
	answer.Text, answer.Missing = parsed.Guess, parsed.GuessMissing
	if q.Lettered {
		answer.Text, answer.Missing = prompt.ParseLetter(reply.Text, q.options)
	}
	stated.Value, stated.Fallback, stated.Reproducible = parsed.Probability, parsed.Fallback, reply.Reproducible
	return answer, stated, nil
}

// scored is an answer to be scored in a context of a question.
type scored struct {
	answer  record.Answer
	context prompt.Context
	text    string
}

func (q question) scorings(answer record.Answer) []scored {
	list := make([]scored, len(q.contexts))
	for i, c := range q.contexts {
		list[i] = scored{answer, c, q.text}
	}
	return list
}

// score asks for all answers in all contexts at once: they share the instruction, the question and
// the answer.
func (s *Spec) score(ctx context.Context, ask Asker, wanted []scored) ([]record.Scoring, error) {
	scorings := make([]record.Scoring, len(wanted))
	var requests []llm.Request
	var of []int // the scoring of each request
	for i, w := range wanted {
		scorings[i] = record.Scoring{Answer: w.answer.ID, Context: w.context.Name}
		if w.answer.Missing != record.Present {
			scorings[i].Missing = record.AnswerMissing
			continue
		}
		before, text, err := s.Prompts.Place(w.context, s.Form, w.text, w.answer.Text)
		if err != nil {
			return nil, err
		}
		requests, of = append(requests, llm.Request{Kind: llm.Score, Prompt: before, Answer: text}), append(of, i)
	}
	if len(requests) == 0 {
		return scorings, nil
	}
	for k, result := range ask.Do(ctx, requests) {
		scoring := &scorings[of[k]]
		if result.Err != nil {
			why, err := missing(result.Err)
			if err != nil {
				return nil, err
			}
			scoring.Missing = why
			continue
		}
		scoring.Tokens = result.Reply.Tokens
		scoring.ContextIDs = result.Reply.PromptIDs
		scoring.Reproducible = result.Reply.Reproducible
	}
	return scorings, nil
}

// referenceAnswer is the item's canonical answer as one to be scored.
func referenceAnswer(setting record.Setting, item record.Item) record.Answer {
	answer := record.Answer{ID: record.AnswerID{
		Setting: setting, Item: item.ID,
		Origin: record.Origin{Source: record.Reference, Role: record.Canonical},
	}}
	if len(item.References) == 0 || item.References[0] == "" {
		answer.Missing = record.NoReference
		return answer
	}
	answer.Text = item.References[0]
	return answer
}

// Refused: a server that judges texts will not judge this one.
const Refused record.Missing = "refused by the server"

// missing tells what belongs to the item, and is a missing value, from what ends the study.
func missing(err error) (record.Missing, error) {
	switch {
	case errors.Is(err, llm.ErrContextOverflow):
		return record.ContextOverflow, nil
	case errors.Is(err, llm.ErrEmptyAnswer), errors.Is(err, llm.ErrEmptyText):
		return record.EmptyAnswer, nil
	case errors.Is(err, llm.ErrNoLogProb):
		return record.NoLogProb, nil
	case errors.Is(err, llm.ErrNotSupported):
		return record.NotSupported, nil
	case errors.Is(err, llm.ErrRefused):
		return Refused, nil
	}
	return record.CallFailed, err
}
