package ledger

import (
	"context"
	"time"

	"github.com/credence-lab/credence/llm"
)

// Store is where a ledger keeps its calls. Implementations are safe for concurrent use, by several
// processes where the medium is shared. Package ledger/ledgertest states and tests the contract.
type Store interface {
	// Lookup returns the replies to those of keys that are stored.
	Lookup(ctx context.Context, keys []Key) (map[Key]llm.Reply, error)
	// Call returns all that is stored of one call, and false if it is not there.
	Call(ctx context.Context, key Key) (Call, bool, error)
	// Claim takes keys for owner until lease has passed, so that nobody else asks for them. A key
	// that owner holds already is renewed. The states are in the order of keys.
	Claim(ctx context.Context, owner string, lease time.Duration, keys []Key) ([]ClaimState, error)
	// Done returns the marks of a scope, by item.
	Done(ctx context.Context, scope Digest) (map[Digest]Done, error)
	// Deliver writes d, all of it or nothing, and returns when it is durable. fresh[i] is false where
	// a reply to d.Calls[i] was there before; that one stays.
	Deliver(ctx context.Context, d Delivery) (fresh []bool, err error)
	// Find returns the keys of calls and attempts that begin with the hex digits prefix, sorted, at most limit.
	Find(ctx context.Context, prefix string, limit int) ([]Key, error)
	// Attempts returns what was tried for a key without a reply, oldest first.
	Attempts(ctx context.Context, key Key) ([]Attempt, error)
	// Stats counts what is there.
	Stats(ctx context.Context) (Stats, error)
	// Close waits for writes under way. Nothing may be called afterwards.
	Close() error
}

// ClaimState says what became of a claim.
type ClaimState uint8

const (
	// ClaimHeld: another owner is asking; look again later.
	ClaimHeld ClaimState = iota
	// ClaimGranted: the owner may ask.
	ClaimGranted
	// ClaimStored: the reply is there; look it up.
	ClaimStored
)

// Delivery is what one answer of an engine brings to a store.
type Delivery struct {
	// Owner holds the claims of Release.
	Owner    string
	Calls    []Call
	Attempts []Attempt
	// Done are marks, each in place of an earlier one of its scope and item.
	Done []Done
	// Release ends claims of Owner.
	Release []Key
	// declared is the model of all calls in the form of the key, where whoever delivers has it.
	declared []byte
}

// Stats counts what a ledger holds.
type Stats struct {
	// Bytes is the size on disk; 0 for a ledger in memory.
	Bytes int64
	// Groups counts calls and failed attempts by model and kind, sorted by model, then kind.
	Groups []Group
	// Prompts is the number of distinct prompts among the calls.
	Prompts int
	// Claims is the number of calls that someone is making now.
	Claims int
}

// Group counts the calls of one kind to one model.
type Group struct {
	Model llm.Identity
	Kind  llm.Kind
	Calls int
	// Attempts is the number of tries that brought no reply.
	Attempts int
	// Used is the sum of what the calls took, but for the Uncounted calls, of which nothing is known.
	Used      llm.Usage
	Uncounted int
	// Observed are the distinct things that the server said of itself, at most 16, sorted.
	Observed []map[string]string
	// First and Last are when calls were made; zero without any.
	First, Last time.Time
}

// Calls is the number of calls of all groups.
func (s Stats) Calls() int {
	n := 0
	for _, g := range s.Groups {
		n += g.Calls
	}
	return n
}
