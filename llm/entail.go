package llm

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-lab/credence/record"
)

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

// Relating makes an engine of an entailer, so that its judgements are kept as all calls are: each [Entail]
// request is one pair.
func Relating(e Entailer) Engine { return relating{e} }

type relating struct{ Entailer }

func (r relating) Capabilities() Capabilities { return Capabilities{Entail: true} }

func (r relating) Do(ctx context.Context, reqs []Request) []Result {
	results := make([]Result, len(reqs))
	var pairs []Pair
	var of []int // the request of each pair
	for i, q := range reqs {
		if results[i].Err = q.Validate(); results[i].Err == nil {
			results[i].Err = r.Capabilities().Check(q.Kind)
		}
		if results[i].Err == nil {
			pairs, of = append(pairs, Pair{q.Prompt.Text, q.Answer}), append(of, i)
		}
	}
	if len(pairs) == 0 {
		return results
	}
	for k, found := range r.Entail(ctx, pairs) {
		results[of[k]] = Result{Err: found.Err}
		if found.Err == nil {
			results[of[k]].Reply = found.Entailment.Reply()
		}
	}
	return results
}

// The relations as the tokens of a reply, in their order.
var relationNames = [...]string{"entails", "neither", "contradicts"}

// Reply puts the three probabilities where a ledger keeps log-probabilities; see [EntailmentOf].
func (e Entailment) Reply() Reply {
	r := Reply{Finish: FinishRelated}
	for i, p := range [...]float64{e.Entails, e.Neither, e.Contradicts} {
		r.Tokens = append(r.Tokens, record.Token{ID: NoID, Piece: []byte(relationNames[i]), LogProb: math.Log(p)})
	}
	return r
}

// EntailmentOf reads the reply to an [Entail] request: its tokens are the relations entails, neither and
// contradicts, each with the natural logarithm of its probability. An error says that the reply is none of
// such a request.
func EntailmentOf(r Reply) (Entailment, error) {
	if len(r.Tokens) != len(relationNames) {
		return Entailment{}, fmt.Errorf("a reply of %d tokens is no entailment", len(r.Tokens))
	}
	var p [len(relationNames)]float64
	for i, t := range r.Tokens {
		if string(t.Piece) != relationNames[i] || !(t.LogProb <= 0) {
			return Entailment{}, fmt.Errorf("token %d of a reply, %q, is no relation with a probability", i+1, t.Piece)
		}
		p[i] = math.Exp(t.LogProb)
	}
	return Entailment{p[0], p[1], p[2]}, nil
}
