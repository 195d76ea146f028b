// Package llm says what a language model can be asked and what comes back, as plain types, and the
// small interface through which an engine is asked.
//
// A [Request] is stated in text, not in token ids: the engine renders the chat with the model's own
// template, tokenises, and reports in the [Reply] which ids it used. So a request can be written
// down, hashed and answered from a ledger without the model being there.
//
// Engines: llm/llamacpp runs a model in process, llm/openai asks servers that run one, llm/tei servers of
// embeddings and entailment. llm/llmtest has a scripted model and the conformance suite that every engine
// passes.
package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/record"
)

// Kind is the kind of a call.
type Kind string

const (
	// Generate asks for new text after the prompt.
	Generate Kind = "generate"
	// Score asks for the log-probabilities of a given answer after the prompt.
	Score Kind = "score"
	// Embed asks for a vector that stands for the meaning of a text. The text is Prompt.Text, and the
	// request has nothing else.
	Embed Kind = "embed"
	// EmbedTokens asks for a vector for each token of a text, which says what it means there. The request is as of
	// Embed. See [TokenVectors].
	EmbedTokens Kind = "embed-tokens"
	// Entail asks a model made for it whether a premise, Prompt.Text, entails a hypothesis, Answer. The request
	// has nothing else. See [Relating].
	Entail Kind = "entail"
)

// Role is who speaks in a message.
type Role string

const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn of a chat.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content"`
}

// Prompt is the text before the model's own words: either a chat, rendered by the model's template,
// or plain text for a model that has none. Exactly one of Messages and Text is set.
type Prompt struct {
	Messages []Message `json:"messages,omitempty"`
	// Opening is put at the start of the assistant turn, after what the template opens it with.
	Opening string `json:"opening,omitempty"`
	// Text is plain text, passed as it is.
	Text string `json:"text,omitempty"`
	// NoBOS leaves out the beginning-of-sequence token that the vocabulary would put before Text.
	NoBOS bool `json:"no_bos,omitempty"`
}

// Chat is a prompt of one user turn with the assistant turn opened by opening (may be empty).
func Chat(user, opening string) Prompt {
	return Prompt{Messages: []Message{{User, user}}, Opening: opening}
}

// Decoding says how the next token is chosen and when generation ends.
type Decoding struct {
	// MaxTokens is the most tokens to generate, at least 1. The end-of-turn token is not counted.
	MaxTokens int `json:"max_tokens"`
	// Temperature divides the logits; 0 is greedy (the highest logit, the lowest id on a tie).
	Temperature float64 `json:"temperature"`
	// TopK keeps the K most probable tokens; 0 keeps all. TopP keeps the smallest set whose mass
	// reaches P; 0 or 1 keeps all. MinP keeps tokens of at least MinP times the top probability.
	TopK int     `json:"top_k,omitempty"`
	TopP float64 `json:"top_p,omitempty"`
	MinP float64 `json:"min_p,omitempty"`
	// RepetitionPenalty divides positive and multiplies negative logits of tokens that the prompt or
	// the text so far holds (Keskar et al. 2019); 0 or 1 is none. Reported log-probabilities stay raw.
	RepetitionPenalty float64 `json:"repetition_penalty,omitempty"`
	// Stop ends generation when the text contains one of these; the text is cut before it.
	Stop []string `json:"stop,omitempty"`
}

// Request is one call. Its JSON form, without Usual, is its declared identity.
type Request struct {
	Kind   Kind   `json:"kind"`
	Prompt Prompt `json:"prompt"`
	// Answer is the text to score after Prompt (Score). It is tokenised apart from the prompt and
	// joined to it, without special tokens. A blank between marker and answer belongs to the answer. For
	// Entail it is the hypothesis.
	Answer string `json:"answer,omitempty"`
	// Decoding applies to Generate; the other kinds take none.
	Decoding Decoding `json:"decoding,omitzero"`
	// Seed and Sample fix the generator of a sampled call. Both matter only above temperature 0.
	Seed   uint64 `json:"seed,omitempty"`
	Sample int    `json:"sample,omitempty"`
	// Details of generated tokens that are wanted besides; only for Generate.
	Details Details `json:"details,omitzero"`
	// Usual is what a typical reply looks like. Only a plan reads it; it is no part of the identity.
	Usual string `json:"-"`
}

// Finish says why a reply ended.
type Finish string

const (
	// FinishEnd: the model ended its turn.
	FinishEnd Finish = "end"
	// FinishStop: a stop string was met.
	FinishStop Finish = "stop"
	// FinishLength: the token limit was met.
	FinishLength Finish = "length"
	// FinishScored: a Score call; nothing was generated.
	FinishScored Finish = "scored"
	// FinishEmbedded: an Embed or EmbedTokens call; nothing was generated.
	FinishEmbedded Finish = "embedded"
	// FinishRelated: an Entail call; nothing was generated.
	FinishRelated Finish = "related"
)

// Reply is what a model answered.
type Reply struct {
	// Text is the generated text: valid UTF-8 (bytes that form no character become U+FFFD), without
	// special tokens, cut before a stop string. Empty for the other kinds, which generate nothing.
	Text string
	// Tokens are the generated or the scored tokens in order, with their log-probabilities in nats. For
	// Generate they join to the uncut text. A reply whose text came without log-probabilities that can be
	// used has none; a Score has at least one. For Entail they are the three relations; see [EntailmentOf].
	Tokens []record.Token
	// Told is what the request's Details asked for; nil if they asked for nothing, or nothing is known.
	Told *Told
	// Embedding is the vector of an Embed call, of Capabilities.Dimensions numbers and length 1 (within
	// 1e-6), so that the cosine of two embeddings is the sum of their products, from -1 to 1: the higher,
	// the nearer in meaning. It is of the whole text: an engine that cannot take a text whole refuses it
	// with an [OverflowError]. For EmbedTokens it has the vectors of Tokens one after another; see [TokenVectors].
	// Nil for other kinds.
	Embedding []float32
	// PromptIDs are the ids before the first of Tokens, or those of the text that was embedded, marks of its
	// beginning and end included; nil where an engine does not know them.
	PromptIDs []int32
	Finish    Finish
	// Reproducible says that asking again gives the same bits, whatever else is asked beside it.
	Reproducible bool
	// Observed is what a server said of itself only with the reply, such as a fingerprint.
	Observed map[string]string
	// Usage is what the call took; zero where the engine does not count, and where a reply is remembered.
	Usage Usage
}

// Result is the outcome of one request: a reply, or the error that stands in its place.
type Result struct {
	// Reply counts only where Err is nil.
	Reply Reply
	// Err wraps one of the sentinel errors of this package, or is the engine's own.
	Err error
}

// Engine is a model that can be asked. Implementations are safe for concurrent use; requests of
// concurrent calls may share a batch.
type Engine interface {
	// Identity is everything that a reply depends on besides the request. It is known before the
	// first call and does not change.
	Identity() Identity
	// Capabilities says what may be asked; see [Capabilities.Check].
	Capabilities() Capabilities
	// Do answers all requests and returns one result for each, in order. A request that fails does
	// not fail the others. When ctx ends, results that are not there have its error.
	Do(ctx context.Context, reqs []Request) []Result
	// Close releases the model. Do must not be called afterwards.
	Close() error
}

// Capabilities is what an engine can do with its model.
type Capabilities struct {
	Generate, Score, Embed, EmbedTokens, Entail bool
	// Dimensions is the number of numbers of an embedding; 0 for an engine that gives none.
	Dimensions int
	// Chat says that the model has a chat template.
	Chat bool
	// Seeds says that sampled calls repeat for equal (Seed, Sample).
	Seeds bool
	// Details are what can be told of generated tokens: Alternatives is the most of them, 0 for an engine that
	// tells none.
	Details Details
	// ContextTokens is the longest prompt and answer together, or the longest text to embed; 0 if unknown.
	ContextTokens int
}

// Sentinel errors for single requests. They are deterministic: asking again gives them again.
var (
	// ErrNotSupported: the engine cannot answer this kind of request.
	ErrNotSupported = errors.New("not supported by the engine")
	// ErrContextOverflow: the request does not fit the model's context; see [OverflowError].
	ErrContextOverflow = errors.New("context overflow")
	// ErrEmptyAnswer: the answer to score has no token.
	ErrEmptyAnswer = errors.New("answer has no token")
	// ErrEmptyText: the text to embed has no token.
	ErrEmptyText = errors.New("text has no token")
	// ErrRefused: a server that judges texts understood the request and will not judge this one.
	ErrRefused = errors.New("refused by the server")
	// ErrNoLogProb: a token has a probability that the engine has no number for, such as one too small
	// for a server to write.
	ErrNoLogProb = errors.New("no log-probability")
)

// NoID is the id of a token whose number a server does not tell.
const NoID int32 = -1

// OverflowError is an ErrContextOverflow with its numbers, in tokens.
type OverflowError struct{ Need, Have int }

func (e *OverflowError) Error() string {
	return fmt.Sprintf("context overflow: %d tokens needed, %d available", e.Need, e.Have)
}

// Is reports whether target is [ErrContextOverflow].
func (e *OverflowError) Is(target error) bool { return target == ErrContextOverflow }

// Check returns an error that wraps [ErrNotSupported] if any of kinds cannot be asked. Call it
// before the first request, so that a study that cannot work does not start.
func (c Capabilities) Check(kinds ...Kind) error {
	for _, k := range kinds {
		if (k == Generate && !c.Generate) || (k == Score && !c.Score) || (k == Embed && !c.Embed) || (k == EmbedTokens && !c.EmbedTokens) || (k == Entail && !c.Entail) {
			return fmt.Errorf("%s: %w", k, ErrNotSupported)
		}
	}
	return nil
}

// Validate says what is wrong with a request, whatever the engine; nil if nothing is. A kind that does
// not exist is [ErrNotSupported], a Score without Answer [ErrEmptyAnswer], an Embed or Entail without text
// [ErrEmptyText].
func (r Request) Validate() error {
	switch r.Kind {
	case Embed, EmbedTokens:
		return r.validateEmbed()
	case Entail:
		return r.validateEntail()
	}
	if (len(r.Prompt.Messages) == 0) == (r.Prompt.Text == "") {
		return errors.New("prompt: exactly one of messages and text must be given")
	}
	if r.Prompt.Text != "" && r.Prompt.Opening != "" {
		return errors.New("prompt: an opening needs a chat")
	}
	d := r.Decoding
	switch r.Kind {
	case Score:
		if r.Answer == "" {
			return ErrEmptyAnswer
		}
	case Generate:
		if r.Answer != "" {
			return errors.New("generate: an answer is scored, not generated")
		}
		if d.MaxTokens < 1 {
			return fmt.Errorf("generate: max_tokens is %d, must be at least 1", d.MaxTokens)
		}
		// Stated as what must hold, so that NaN does not pass.
		inRange := d.Temperature >= 0 && d.Temperature <= math.MaxFloat64 && d.TopK >= 0 && d.TopP >= 0 && d.TopP <= 1 &&
			d.MinP >= 0 && d.MinP <= 1 && d.RepetitionPenalty >= 0 && d.RepetitionPenalty <= math.MaxFloat64
		if !inRange {
			return fmt.Errorf("generate: decoding out of range: %+v", d)
		}
		if err := r.Details.validate(); err != nil {
			return err
		}
		if slices.Contains(d.Stop, "") {
			return errors.New("generate: a stop string is empty")
		}
	default:
		return fmt.Errorf("kind %q: %w", r.Kind, ErrNotSupported)
	}
	return nil
}

func (r Request) validateEmbed() error {
	switch {
	case len(r.Prompt.Messages) > 0 || r.Prompt.Opening != "" || r.Prompt.NoBOS:
		return errors.New("embed: what is embedded is a plain text, without messages, opening or no_bos")
	case r.Answer != "":
		return errors.New("embed: an answer is scored, not embedded; give it as the prompt's text")
	case r.Prompt.Text == "":
		return ErrEmptyText
	}
	return nil
}

func (r Request) validateEntail() error {
	switch {
	case len(r.Prompt.Messages) > 0 || r.Prompt.Opening != "" || r.Prompt.NoBOS:
		return errors.New("entail: premise and hypothesis are plain texts, without messages, opening or no_bos")
	case r.Prompt.Text == "" || r.Answer == "":
		return ErrEmptyText
	}
	return nil
}
