package ledger

import (
	"errors"
	"fmt"
)

// Why a ledger cannot be used. Each comes wrapped in an [Error] that names the file.
var (
	// ErrNotLedger: the file is something else.
	ErrNotLedger = errors.New("not a ledger")
	// ErrNewer: a later version of the program wrote it.
	ErrNewer = errors.New("ledger is newer than this program")
	// ErrDamaged: the file, or one call in it, cannot be read as written.
	ErrDamaged = errors.New("ledger is damaged")
	// ErrFull: no space is left on the disk.
	ErrFull = errors.New("disk is full")
	// ErrReadOnly: the file or its folder cannot be written.
	ErrReadOnly = errors.New("ledger cannot be written")
	// ErrBusy: another process held the ledger longer than this one would wait.
	ErrBusy = errors.New("ledger is in use")
	// ErrNotFound: no call has such a key.
	ErrNotFound = errors.New("no such call")
	// ErrAmbiguous: several calls have keys that begin so.
	ErrAmbiguous = errors.New("several calls begin with these digits")
	// ErrClosed: the ledger was closed.
	ErrClosed = errors.New("ledger is closed")
)

// Error says which ledger failed, how, and what to do about it.
type Error struct {
	Path string
	// Err wraps one of the errors of this package where one fits.
	Err error
	// Hint says what to do; may be empty.
	Hint string
}

func (e *Error) Error() string {
	s := fmt.Sprintf("ledger %s: %v", e.Path, e.Err)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// BadInput says that the user named a file that cannot be used, so that a command can tell that
// from a failure of its own.
func (e *Error) BadInput() bool {
	for _, target := range []error{ErrNotLedger, ErrNewer, ErrReadOnly, ErrNotFound, ErrAmbiguous} {
		if errors.Is(e.Err, target) {
			return true
		}
	}
	return false
}
