package quantify

import "strings"

// Pairs is a set of ordered pairs of texts: the answer with each sample, in either order, and the
// samples among themselves.
type Pairs uint8

const (
	// FromAnswer has the answer as premise and each sample as hypothesis.
	FromAnswer Pairs = 1 << iota
	// ToAnswer has each sample as premise and the answer as hypothesis.
	ToAnswer
	// AmongSamples has every two samples, in both orders.
	AmongSamples
)

// WithAnswer are the pairs of the answer and the samples in both orders.
const WithAnswer = FromAnswer | ToAnswer

// String names the pairs, such as "answer→samples, samples↔samples"; "none" for the empty set.
func (p Pairs) String() string {
	var names []string
	switch p & WithAnswer {
	case WithAnswer:
		names = append(names, "answer↔samples")
	case FromAnswer:
		names = append(names, "answer→samples")
	case ToAnswer:
		names = append(names, "samples→answer")
	}
	if p&AmongSamples != 0 {
		names = append(names, "samples↔samples")
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

// holds reports whether the pair of text i before text j is in the set; see [Evidence] for the numbers.
func (p Pairs) holds(i, j int) bool {
	switch {
	case i == j:
		return false
	case i == 0:
		return p&FromAnswer != 0
	case j == 0:
		return p&ToAnswer != 0
	}
	return p&AmongSamples != 0
}

// Pair is two texts in order: what an entailment model is asked.
type Pair struct{ Premise, Hypothesis string }

// Of lists the pairs that must be asked for: each ordered pair of texts once, and none of equal texts,
// in the order in which the texts come.
func (p Pairs) Of(answer string, samples []string) []Pair {
	texts := append([]string{answer}, samples...)
	seen := make(map[Pair]bool)
	var list []Pair
	for i, premise := range texts {
		for j, hypothesis := range texts {
			pair := Pair{premise, hypothesis}
			if p.holds(i, j) && premise != hypothesis && !seen[pair] {
				seen[pair] = true
				list = append(list, pair)
			}
		}
	}
	return list
}

// count is the number of pairs that Of lists at most, where distinct of the texts differ.
func (p Pairs) count(samples, distinct int) int {
	others := min(samples, distinct-1) // samples that are not the answer
	among := min(samples, distinct)
	n := 0
	switch {
	case p&AmongSamples != 0 && p&WithAnswer == WithAnswer:
		return distinct * (distinct - 1)
	case p&AmongSamples != 0:
		n = among * (among - 1)
	}
	if p&FromAnswer != 0 {
		n += others
	}
	if p&ToAnswer != 0 {
		n += others
	}
	return min(n, distinct*(distinct-1))
}
