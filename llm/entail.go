package llm

import "context"

// Pair is two texts of which one may follow from the other.
type Pair struct{ Premise, Hypothesis string }

// Entailment are the probabilities that the premise of a pair entails its hypothesis, contradicts it, or does
// neither. Each lies in [0,1], and they sum to 1 within .01, as some models round.
type Entailment struct{ Entails, Neither, Contradicts float64 }

// EntailmentResult is the outcome of one pair: an entailment, or the error that stands in its place.
type EntailmentResult struct {
	// Entailment counts only where Err is nil.
	Entailment Entailment
	// Err wraps one of the sentinel errors of this package, or is the model's own.
	Err error
}

// Entailer is a model that judges pairs of texts. Implementations are safe for concurrent use.
type Entailer interface {
	// Identity is everything that a judgement depends on besides the pair.
	Identity() Identity
	// Entail returns one result for each pair, in order. A pair that fails does not fail the others. A pair
	// that does not fit the model is an [ErrContextOverflow]; it is never cut. When ctx ends, results that
	// are not there have its error.
	Entail(ctx context.Context, pairs []Pair) []EntailmentResult
	// Close releases the model.
	Close() error
}
