package ledger

import (
	"slices"
	"time"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// Call is one request to a model with its reply.
type Call struct {
	Key   Key
	Model llm.Identity
	// Request is in its canonical form, see [Canonical].
	Request llm.Request
	// Generation is 0 for a call that was made once, see [KeyOf].
	Generation int
	Reply      llm.Reply
	// Asked is when the engine was asked, in UTC to the millisecond.
	Asked time.Time
	// Took is how long the engine took, to the microsecond. Calls that were asked together share it.
	Took time.Duration
}

// Attempt is a call that brought no reply. It never answers a later call.
type Attempt struct {
	Key   Key
	Kind  llm.Kind
	Model llm.Identity
	Asked time.Time
	Took  time.Duration
	// Error is what the engine said, at most [MaxErrorBytes] of it.
	Error string
}

// MaxErrorBytes bounds the text of an attempt: some servers answer with a whole page.
const MaxErrorBytes = 4096

// settle brings a reply into the one form that it also has when it is read back: no empty slice
// where nil says the same. A PromptIDs that is empty but not nil stays: the engine knew it.
func settle(r llm.Reply) llm.Reply {
	if len(r.Tokens) == 0 {
		r.Tokens = nil
	}
	if slices.ContainsFunc(r.Tokens, func(t record.Token) bool { return t.Piece != nil && len(t.Piece) == 0 }) {
		r.Tokens = slices.Clone(r.Tokens)
		for i := range r.Tokens {
			if len(r.Tokens[i].Piece) == 0 {
				r.Tokens[i].Piece = nil
			}
		}
	}
	if len(r.Embedding) == 0 {
		r.Embedding = nil
	}
	if len(r.Observed) == 0 {
		r.Observed = nil
	}
	return r
}
