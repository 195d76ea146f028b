package llmtest

import (
	"strings"

	"github.com/credence-lab/credence/llm"
)

// Script is what a scripted model says and how sure it is. Its methods are pure functions, and safe
// for concurrent use.
type Script interface {
	// Replies is the distribution of what follows p in the open turn. None: the model babbles.
	Replies(p llm.Prompt) []Choice
	// LogProb is the planted log-probability of a token in its place, at most 0. Where nothing is
	// planted (false), the model takes a number from a hash of the place.
	LogProb(at Position) (float64, bool)
}

// Choice is one text that the model may say.
type Choice struct {
	// Text may be empty, and may hold bytes that form no character.
	Text string
	// Weight is the relative frequency at temperature 1; if all choices have 0, they are equally
	// frequent. Greedy decoding takes the heaviest choice, the first on a tie.
	Weight float64
	// Finish replaces why the reply ended, unless a stop string or the token limit came first.
	// [llm.FinishLength] makes a truncated reply.
	Finish llm.Finish
}

// Position is the place of one token. It is the same whether the token is generated there or forced:
// that is why the two have equal log-probabilities.
type Position struct {
	// Messages are the closed turns of a chat; nil for plain text.
	Messages []llm.Message
	NoBOS    bool
	// Before is the text between the closed turns and the token: opening and what follows it. For
	// plain text it is all text before the token.
	Before string
	Piece  string
}

// context is the text that the model was asked with: the last user turn, or all plain text.
func (at Position) context() string {
	if at.Messages == nil {
		return at.Before
	}
	return lastUser(at.Messages)
}

func start(p llm.Prompt) Position {
	if p.Text != "" {
		return Position{NoBOS: p.NoBOS, Before: p.Text}
	}
	return Position{Messages: p.Messages, Before: p.Opening}
}

func lastUser(messages []llm.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == llm.User {
			return messages[i].Content
		}
	}
	return ""
}

// Babble is the empty script: seeded words, hashed log-probabilities.
type Babble struct{}

// Replies returns nothing.
func (Babble) Replies(llm.Prompt) []Choice { return nil }

// LogProb plants nothing.
func (Babble) LogProb(Position) (float64, bool) { return 0, false }

// Funcs is a script of two functions; either may be nil.
type Funcs struct {
	Reply func(llm.Prompt) []Choice
	Level func(Position) (float64, bool)
}

// Replies calls Reply.
func (f Funcs) Replies(p llm.Prompt) []Choice {
	if f.Reply == nil {
		return nil
	}
	return f.Reply(p)
}

// LogProb calls Level.
func (f Funcs) LogProb(at Position) (float64, bool) {
	if f.Level == nil {
		return 0, false
	}
	return f.Level(at)
}

// under reports whether text is a beginning of whole that goes beyond opening, with one blank
// allowed between opening and answer.
func under(opening, answer, before, piece string) bool {
	if len(before) < len(opening) {
		return false
	}
	text := before + piece
	return strings.HasPrefix(opening+answer, text) || strings.HasPrefix(opening+" "+answer, text)
}
