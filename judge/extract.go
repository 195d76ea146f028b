package judge

import (
	"math/big"
	"slices"
	"strings"

	"github.com/credence-lab/credence/record"
)

// NumberIn is the number that a text gives for an answer, found as the judge "number" finds it and written in one
// form: "2,000.50" and "2000.5" are 2000.5, what is no decimal is a fraction, several that belong together are
// joined by commas, and a percentage keeps its sign. Equal texts are equal numbers and the other way round.
// Missing: [NoNumber].
func NumberIn(text string) (string, record.Missing) {
	s := statedIn(text)
	if !s.ok() {
		return "", NoNumber
	}
	words := make([]string, len(s.numbers))
	for i, x := range s.numbers {
		words[i] = written(x)
	}
	number := strings.Join(words, ",")
	if s.percent {
		number += "%"
	}
	return number, record.Present
}

func written(x *big.Rat) string {
	if digits, exact := x.FloatPrec(); exact {
		return x.FloatString(digits)
	}
	return x.RatString()
}

// HasRange reports whether a reference states the range that is accepted, as the judge "number-range" reads it.
func HasRange(references []string) bool {
	return slices.ContainsFunc(references, func(r string) bool { return statedIn(r).high != nil })
}

// NamesInRange reports whether a text names, anywhere, a number in a range that a reference states: whoever reads
// the text is shown an accepted answer. False where no reference states one.
func NamesInRange(references []string, text string) bool {
	return slices.ContainsFunc(references, func(r string) bool {
		accepted := statedIn(r)
		return accepted.high != nil && slices.ContainsFunc(figures(text), func(f figure) bool { return accepted.within(stated{figure: f}) })
	})
}
