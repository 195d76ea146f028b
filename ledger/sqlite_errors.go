package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// hints say what to do about each cause.
var hints = map[error]string{
	ErrNewer:    "use a newer release of the program; the file was not changed",
	ErrDamaged:  "\"credence ledger check FILE\" says what is wrong, \"credence ledger repair FILE\" saves what is whole into a new file; or move the file away and run again: its calls are then made anew",
	ErrFull:     "free some space and run again: every reply that was announced is kept",
	ErrReadOnly: "make the file and its folder writable, or name another place",
	ErrBusy:     "another process is writing to it: wait for it, or end it, and run again",
}

// explain wraps err in an [*Error] that names the file, the cause and what to do. Nil stays nil, and
// so does the end of a context.
func explain(path string, err error) error {
	var done *Error
	if err == nil || errors.As(err, &done) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if cause := causeOf(err); cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	for cause, hint := range hints {
		if errors.Is(err, cause) {
			return &Error{Path: path, Err: err, Hint: hint}
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &Error{Path: path, Err: err, Hint: "check the name; the folder must be there"}
	}
	return &Error{Path: path, Err: err}
}

// causeOf maps what the system and SQLite say to the errors of this package, or nil.
func causeOf(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return ErrFull
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return ErrReadOnly
	}
	var e *driver.Error
	if !errors.As(err, &e) {
		return nil
	}
	switch e.Code() & 0xff { // the primary code
	case codes.SQLITE_FULL:
		return ErrFull
	case codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_PERM:
		return ErrReadOnly
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return ErrDamaged
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return ErrBusy
	}
	return nil
}
