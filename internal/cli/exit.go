package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/study"
)

// Exit codes. They are decided here and nowhere else.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitGate        = 3
	exitDiffers     = 4
	exitBudget      = 5
	exitInterrupted = 130
)

const exitCodesHelp = `
Exit codes:
  0    done
  1    failure
  2    wrong usage or input
  3    a gate was not met
  4    what was compared differs
  5    the budget of a study is spent
  130  interrupted
`

// errGate is returned, wrapped, by commands whose --gate falls short.
var errGate = errors.New("gate not met")

// errDiffers is returned by commands that have said how two things differ: that is their answer, and
// nothing is added to it.
var errDiffers = errors.New("different")

// badInput marks errors that the user's input or usage caused. Any package may implement it; the
// command then exits with 2 instead of 1.
type badInput interface{ BadInput() bool }

// usageError is wrong usage: a flag, an argument, a file that cannot be what was asked for.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string  { return e.err.Error() }
func (e *usageError) Unwrap() error  { return e.err }
func (e *usageError) BadInput() bool { return true }

// usagef returns an error that exits with 2.
func usagef(format string, args ...any) error { return &usageError{err: fmt.Errorf(format, args...)} }

// usageHint adds to err what the user can do about it, and makes it exit with 2.
func usageHint(err error, format string, args ...any) error {
	return &usageError{err: err, hint: fmt.Sprintf(format, args...)}
}

// hinted is an error with what the user can do about it, whatever its exit code.
type hinted struct {
	error
	hint string
}

func (e hinted) Unwrap() error { return e.error }

// conclude tells err and returns the exit code. What a file says may stand in it.
func (a *app) conclude(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errDiffers):
		return exitDiffers
	}
	code := exitFailure
	var bad badInput
	var spent *study.BudgetError
	switch {
	case errors.As(err, &spent):
		code = exitBudget
	case errors.Is(err, errGate):
		code = exitGate
	case errors.Is(err, context.Canceled):
		code = exitInterrupted
	case errors.As(err, &bad) && bad.BadInput():
		code = exitUsage
	}
	said := err.Error()
	if err == context.Canceled {
		said = "interrupted"
	}
	var usage *usageError
	var told hinted
	hint := ""
	switch {
	case errors.As(err, &usage):
		hint = usage.hint
	case errors.As(err, &told):
		hint = told.hint
	}
	if e := a.events(); e != nil {
		e.failed(code, said, hint)
		return code
	}
	fmt.Fprintf(a.err, "credence: %s\n", termsafe.Text(said))
	if hint != "" {
		fmt.Fprintf(a.err, "  %s\n", termsafe.Text(hint))
	}
	return code
}
