package wire

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/credence-lab/credence/llm"
)

// Kind says what went wrong with one attempt, and with it whether another may go better.
type Kind string

const (
	// Unreachable: no connection, one that broke, or no answer in time. Repeated.
	Unreachable Kind = "unreachable"
	// Busy: the server asks to come back later (408, 409, 425, 429, 503). Repeated when it says.
	Busy Kind = "busy"
	// Failing: the server met an error of its own (500, 502, 504 and others from 500 on). Repeated.
	Failing Kind = "failing"
	// Malformed: an answer that is none: cut short, no JSON, not about what was asked. Repeated twice.
	Malformed Kind = "malformed"
	// Exhausted: the account has no more to spend. Not repeated.
	Exhausted Kind = "exhausted"
	// Unauthorised: the key is missing or not accepted (401, 403). Not repeated.
	Unauthorised Kind = "unauthorised"
	// Refused: the server understood and will not (400, 404, 413, 422, 424 and others). Not repeated.
	Refused Kind = "refused"
)

// Repeatable reports whether an attempt that failed so may go better when it is made again.
func (k Kind) Repeatable() bool {
	return k == Unreachable || k == Busy || k == Failing || k == Malformed
}

// Error is an attempt that brought no usable answer. Its text holds no credential and is one line.
type Error struct {
	Kind Kind
	// Op is what was asked, such as "POST /v1/completions".
	Op string
	// Status is the HTTP status, or the one in the body where a server hides it there; 0 if there was none.
	Status int
	// What is what the server or the connection said, shortened.
	What string
	// After is how long the server asks to wait; 0 if it does not say.
	After time.Duration
	// Attempts is how many were made, in the error that is returned at last.
	Attempts int

	// Cause is a sentinel error of package llm, or the error of the connection; may be nil.
	Cause error
	// Final says that another attempt would go no better, whatever the kind.
	Final bool
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", e.Op, e.Kind)
	if e.Status != 0 {
		fmt.Fprintf(&b, " (%d)", e.Status)
	}
	if e.What != "" {
		b.WriteString(": " + e.What)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (%d attempts)", e.Attempts)
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// repeatable reports whether another attempt is to be made.
func (e *Error) repeatable() bool { return e.Kind.Repeatable() && !e.Final }

// OfRequest reports whether what went wrong may be that of this one request, so that others can go well: it was
// refused, failed on, or answered in no usable way as often as it was sent.
func (e *Error) OfRequest() bool {
	return e.Kind == Refused || e.Kind == Failing || e.Kind == Malformed
}

// congested reports whether the server, or the way to it, has too much to do.
func (e *Error) congested() bool {
	return e.Kind == Busy || errors.Is(e.Cause, context.DeadlineExceeded)
}

// Malformedf makes the error of an answer that cannot be used. Callers leave out what was asked.
func Malformedf(format string, args ...any) *Error {
	return &Error{Kind: Malformed, What: fmt.Sprintf(format, args...)}
}

// maxWhat bounds what an error repeats of a server's answer: some send a whole page.
const maxWhat = 300

// Line makes one short line of what a server sent.
func Line(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if len(text) > maxWhat {
		text = strings.ToValidUTF8(text[:maxWhat], "") + "…"
	}
	return text
}

// overflowWords are how servers say that a request does not fit the model's context.
var overflowWords = []string{"context length", "context size", "context window", "maximum context", "exceed_context_size", "context_length_exceeded", "longer than the model's", "must have less than", "must have at most"}

// causeOf finds the sentinel error that a refusal amounts to; nil where there is none.
func causeOf(text string) error {
	lower := strings.ToLower(text)
	for _, w := range overflowWords {
		if strings.Contains(lower, w) {
			return llm.ErrContextOverflow
		}
	}
	// What Python's JSON writer says of a log-probability of minus infinity: this answer cannot be scored there.
	if strings.Contains(lower, "out of range float values") {
		return llm.ErrNoLogProb
	}
	return nil
}

// AsError finds an [*Error] in err.
func AsError(err error) (*Error, bool) { return errors.AsType[*Error](err) }
