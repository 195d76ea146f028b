package openai

import (
	"fmt"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/internal/wire"
)

const (
	// roundedUp is how far above 0 a log-probability may lie by rounding; it is then 0.
	roundedUp = 1e-3
	// floor is where numbers begin that stand for a value too small to write: servers write -9999, or the
	// lowest 32-bit number. No softmax over a vocabulary comes near it.
	floor = -9000
)

// logProb checks a log-probability of a server. A number that is none is a malformed answer; one that
// stands for a value that the server cannot write is [llm.ErrNoLogProb].
func logProb(x *float64) (float64, error) {
	switch {
	case x == nil:
		return 0, fmt.Errorf("%w: null", llm.ErrNoLogProb)
	case *x <= floor:
		return 0, fmt.Errorf("%w: %g stands for less than it can write", llm.ErrNoLogProb, *x)
	case *x > roundedUp:
		return 0, wire.Malformedf("log-probability %g is above 0", *x)
	case *x > 0:
		return 0, nil
	case *x <= 0:
		return *x, nil
	}
	return 0, wire.Malformedf("log-probability is not a number")
}
