package quantify

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/credence-lab/credence/internal/overlap"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

// Quantifier is one way of saying how sure a model is of an answer, with all its choices made. Take one
// from its constructor, such as [SemanticEntropy], or from [ByID]. The zero Quantifier is not valid.
type Quantifier struct {
	// ID names the quantifier with its variant. Stable.
	ID string
	// Title names it in words.
	Title string
	// Formula is its definition in one line: l are log-probabilities of tokens, m is the number of samples.
	Formula string
	// Orientation says which end is the sure one.
	Orientation measure.Orientation
	// Range is where its values lie.
	Range Range
	// Units are what a value counts, such as "nats" or "probability".
	Units string
	// Needs is what it reads of an Evidence, and so what it costs: see [Needs.Calls].
	Needs Needs
	// Source is the paper that defines it, by authors, year and section where it has one.
	Source string
	// Peer says under which name another toolkit gives the same number, if any does.
	Peer string

	of func(v *view) record.Number
}

// Range is an interval that may depend on the number of samples.
type Range struct {
	// Text is the interval for people, such as "[0, ln m]".
	Text string

	low, high float64
	highOf    func(samples int) float64 // replaces high
}

// Of returns the ends for a number of samples; they may be infinite.
func (r Range) Of(samples int) (low, high float64) {
	if r.highOf != nil {
		return r.low, r.highOf(samples)
	}
	return r.low, r.high
}

var (
	unit         = Range{Text: "[0, 1]", high: 1}
	nonNegative  = Range{Text: "[0, ∞)", high: math.Inf(1)}
	nonPositive  = Range{Text: "(−∞, 0]", low: math.Inf(-1)}
	upToLogM     = Range{Text: "[0, ln m]", highOf: func(m int) float64 { return math.Log(float64(m)) }}
	upToLogItems = Range{Text: "[0, ln(m+1)]", highOf: func(m int) float64 { return math.Log(float64(m + 1)) }}
	oneToM       = Range{Text: "[1, m]", low: 1, highOf: func(m int) float64 { return float64(m) }}
	line         = Range{Text: "(−∞, ∞)", low: math.Inf(-1), high: math.Inf(1)}
)

// Of computes the value. It is missing for the first reason that holds: the answer, then what is needed
// of its tokens, the samples and their tokens, entailment, similarity, embeddings, the model's replies. An
// error is a mistake in putting e together (see [Evidence.Check]).
func (q Quantifier) Of(e *Evidence) (record.Number, error) {
	values, err := Evaluate([]Quantifier{q}, e)
	if err != nil {
		return record.Number{}, err
	}
	return values[0], nil
}

// Evaluate computes the values of a set, in its order; see [Quantifier.Of].
func Evaluate(set []Quantifier, e *Evidence) ([]record.Number, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	v := views.Get().(*view)
	defer views.Put(v)
	v.Evidence = e
	defer func() { v.Evidence = nil }()
	values := make([]record.Number, len(set))
	for i, q := range set {
		values[i] = q.value(v)
	}
	return values, nil
}

func (q Quantifier) value(v *view) record.Number {
	if q.of == nil {
		panic(fmt.Sprintf("quantify: quantifier %q was not made by its constructor", q.ID))
	}
	if why := q.Needs.missing(v.Evidence); why != record.Present {
		return record.Absent(why)
	}
	value := q.of(v)
	if x, known := value.Get(); known && (math.IsNaN(x) || math.IsInf(x, 0)) {
		return record.Absent(NotFinite)
	}
	return value
}

// Reading is the value as a reading of an answer. Its signal is the quantifier's id, so that two of them
// are two columns; the value keeps the quantifier's own direction and range.
func (q Quantifier) Reading(answer record.AnswerID, e *Evidence) (record.Reading, error) {
	value, err := q.Of(e)
	if err != nil {
		return record.Reading{}, err
	}
	return record.Reading{
		Answer: answer, Signal: record.Signal(q.ID), Value: value, Reproducible: e.Reproducible,
	}, nil
}

// view is an evidence with room to compute in.
type view struct {
	*Evidence
	spectrum   spectrum
	logs       []float64
	vocabulary overlap.Vocabulary
	counter    overlap.Counter
}

var views = sync.Pool{New: func() any { return new(view) }}

// exactly makes the function of a quantifier that has a value whenever its needs are met.
func exactly(f func(v *view) float64) func(*view) record.Number {
	return func(v *view) record.Number { return record.Known(f(v)) }
}

// only is the name of a peer where the variant is the one that the peer computes.
func only(is bool, peer string) string {
	if is {
		return peer
	}
	return ""
}

// id joins a name and the parts of its variant that are not the default.
func id(name string, variant ...string) string {
	var b strings.Builder
	b.WriteString(name)
	for _, part := range variant {
		if part != "" {
			b.WriteString("." + part)
		}
	}
	return b.String()
}
