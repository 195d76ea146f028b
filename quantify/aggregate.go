package quantify

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/record"
)

// Aggregation says how the probabilities of an answer's tokens become one number in [0,1].
// Source: "Same Answer, Different Confidence", sections 3.1 and 4.4.
type Aggregation string

const (
	// GeometricMean is exp of the mean log-probability: the paper's default, free of the answer's length.
	GeometricMean Aggregation = "geometric-mean"
	// Product is the probability of the whole token sequence.
	Product Aggregation = "product"
	// Minimum is the probability of the least probable token.
	Minimum Aggregation = "minimum"
	// FirstToken is the probability of the first token alone.
	FirstToken Aggregation = "first-token"
	// ArithmeticMean is the mean of the token probabilities.
	ArithmeticMean Aggregation = "arithmetic-mean"
)

// Aggregations lists every aggregation, the default first.
func Aggregations() []Aggregation {
	return []Aggregation{GeometricMean, Product, Minimum, FirstToken, ArithmeticMean}
}

// ParseAggregation returns the aggregation of that name; the error of an unknown one lists the names.
func ParseAggregation(name string) (Aggregation, error) {
	if a := Aggregation(name); slices.Contains(Aggregations(), a) {
		return a, nil
	}
	return "", fmt.Errorf("unknown aggregation %q; there are %v", name, Aggregations())
}

// Of aggregates the log-probabilities of an answer's tokens, in order, to a confidence in [0,1]; higher
// is surer. No token means no value, for the reason [record.EmptyAnswer]: an empty sum would read as
// certainty. A log-probability of -Inf gives 0 for every aggregation that it enters but the arithmetic
// mean.
func (a Aggregation) Of(tokens []record.Token) record.Number {
	if len(tokens) == 0 {
		return record.Absent(record.EmptyAnswer)
	}
	sum, low, mass := 0.0, math.Inf(1), 0.0
	for _, t := range tokens {
		sum += t.LogProb
		low = math.Min(low, t.LogProb)
		mass += math.Exp(t.LogProb)
	}
	n := float64(len(tokens))
	switch a {
	case GeometricMean:
		return record.Known(math.Exp(sum / n))
	case Product:
		return record.Known(math.Exp(sum))
	case Minimum:
		return record.Known(math.Exp(low))
	case FirstToken:
		return record.Known(math.Exp(tokens[0].LogProb))
	case ArithmeticMean:
		return record.Known(mass / n)
	}
	panic(fmt.Sprintf("quantify: unknown aggregation %q", a))
}

// Reading is the token-signal reading of a scoring under this aggregation. A scoring that is missing
// gives a reading that is missing for the same reason.
func (a Aggregation) Reading(s record.Scoring) record.Reading {
	r := record.Reading{
		Answer:       s.Answer,
		Signal:       record.TokenSignal,
		Protocol:     record.Protocol{Context: s.Context, Aggregation: string(a)},
		Reproducible: s.Reproducible,
	}
	if s.Missing != record.Present {
		r.Value = record.Absent(s.Missing)
		return r
	}
	r.Value = a.Of(s.Tokens)
	return r
}
