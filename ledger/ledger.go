package ledger

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"time"
)

// Ledger is an open ledger. It is safe for concurrent use.
type Ledger struct {
	store   Store
	path    string
	owner   string
	lease   time.Duration
	flights flights
}

// InMemory returns an empty ledger that is gone when the program ends.
func InMemory() *Ledger { return New(NewMemory(), "(in memory)") }

// New returns a ledger on a store of its own; name stands for it in messages. Close closes the store.
func New(store Store, name string) *Ledger {
	return &Ledger{store: store, path: name, owner: newOwner(), lease: 10 * time.Second}
}

// Close waits for replies that are being written and closes the store.
func (l *Ledger) Close() error { return l.store.Close() }

// Path is the file of the ledger.
func (l *Ledger) Path() string { return l.path }

// Stats counts what the ledger holds.
func (l *Ledger) Stats(ctx context.Context) (Stats, error) { return l.store.Stats(ctx) }

// Find returns the call whose key begins with the hex digits prefix, and the attempts that failed
// before it. Where all attempts failed there is no call: it is nil. The errors are [ErrNotFound]
// and [ErrAmbiguous], in an [*Error].
func (l *Ledger) Find(ctx context.Context, prefix string) (*Call, []Attempt, error) {
	keys, err := l.store.Find(ctx, strings.ToLower(prefix), 2)
	switch {
	case err != nil:
		return nil, nil, err
	case len(keys) == 0:
		return nil, nil, &Error{Path: l.path, Err: fmt.Errorf("%w: %s", ErrNotFound, prefix)}
	case len(keys) > 1:
		return nil, nil, &Error{Path: l.path, Err: fmt.Errorf("%w: %s", ErrAmbiguous, prefix), Hint: "give more of the key"}
	}
	calls, err := l.store.Lookup(ctx, keys)
	if err != nil {
		return nil, nil, err
	}
	attempts, err := l.store.Attempts(ctx, keys[0])
	if err != nil {
		return nil, nil, err
	}
	if c, ok := calls[keys[0]]; ok {
		return &c, attempts, nil
	}
	return nil, attempts, nil
}

// newOwner names this ledger among all that claim calls: host, process, and digits of its own.
func newOwner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s %d %s", host, os.Getpid(), rand.Text())
}
