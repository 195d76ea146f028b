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
	// Used is what the call took, as the engine counts it; where it does not, the ids and tokens of the
	// reply are counted, and what has neither is estimated at four bytes a token. Zero for calls that were
	// written before this was kept.
	Used llm.Usage
}

// Attempt is one try at a call that brought no reply. It never answers a later call. A call may have been
// tried several times before its reply came.
type Attempt struct {
	Key   Key
	Kind  llm.Kind
	Model llm.Identity
	Asked time.Time
	Took  time.Duration
	// Status is that of HTTP; 0 if there was none.
	Status int
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
	r.Told = settleTold(r.Told)
	if len(r.Observed) == 0 {
		r.Observed = nil
	}
	r.Usage = llm.Usage{} // kept beside it
	return r
}

// bytesPerToken is a rule of thumb for texts whose tokens nobody tells.
const bytesPerToken = 4

// UsedBy is what a call took: see Call.Used.
func UsedBy(q llm.Request, r llm.Reply) llm.Usage {
	if r.Usage != (llm.Usage{}) {
		return r.Usage
	}
	u := llm.Usage{Prompt: int64(len(r.PromptIDs))}
	if r.PromptIDs == nil {
		n := len(q.Prompt.Text) + len(q.Prompt.Opening)
		for _, m := range q.Prompt.Messages {
			n += len(m.Content)
		}
		u.Prompt = int64((n + bytesPerToken - 1) / bytesPerToken)
	}
	switch n := int64(len(r.Tokens)); {
	case q.Kind == llm.Score:
		u.Prompt += n // read after the prompt
	case n > 0:
		u.Generated = n
	default:
		u.Generated = int64((len(r.Text) + bytesPerToken - 1) / bytesPerToken)
	}
	return u
}
