package ledger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// Ledger is an open ledger. It is safe for concurrent use.
type Ledger struct {
	store   Store
	path    string
	owner   string
	flights flights
	marks   marks
	held    *holder
	// unknown counts the calls that the store was asked for and did not know, since it last knew one.
	unknown atomic.Int64
}

// Open opens the ledger in the file path and creates it if it is not there; its folder must be.
// Several processes may have it open: each call is made by one of them, and the others wait for it.
//
// Errors are an [*Error]: [ErrNotLedger], [ErrNewer], [ErrDamaged], [ErrReadOnly], [ErrFull],
// [ErrBusy]. A file that cannot be used is left as it was.
func Open(path string) (*Ledger, error) {
	store, err := OpenSQLite(path)
	if err != nil {
		return nil, err
	}
	return New(store, path), nil
}

// OpenReadOnly opens the ledger in the file path to look at. The error of a file that is not there
// wraps fs.ErrNotExist; whatever asks through such a ledger can only [Ledger.Peek].
func OpenReadOnly(path string) (*Ledger, error) {
	store, err := OpenSQLiteReadOnly(path)
	if err != nil {
		return nil, err
	}
	return New(store, path), nil
}

// InMemory returns an empty ledger that is gone when the program ends.
func InMemory() *Ledger { return New(NewMemory(), "(in memory)") }

// lease is how long a claim lasts that nobody renews.
const lease = 10 * time.Second

// New returns a ledger on a store of its own; name stands for it in messages. Close closes the store.
func New(store Store, name string) *Ledger {
	l := &Ledger{store: store, path: name, owner: newOwner()}
	l.held = &holder{every: lease / 3, renew: func(keys []Key) {
		_, _ = l.store.Claim(context.Background(), l.owner, lease, keys)
	}}
	return l
}

// Close waits for replies that are being written, writes the marks that have gathered, and closes the store.
func (l *Ledger) Close() error {
	return errors.Join(l.FlushDone(context.Background()), l.store.Close())
}

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
	call, ok, err := l.store.Call(ctx, keys[0])
	if err != nil {
		return nil, nil, err
	}
	attempts, err := l.store.Attempts(ctx, keys[0])
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		return nil, attempts, nil
	}
	return &call, attempts, nil
}
