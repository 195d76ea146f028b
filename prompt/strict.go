package prompt

import (
	"regexp"
	"slices"
	"strings"

	"github.com/credence-lab/credence/record"
)

// strictGuess returns the text of the first guess label, on its line or on the next one with text.
func strictGuess(text string) string {
	waiting, openBold := false, ""
	for line := range lines(text) {
		l := splitLabel(line)
		switch {
		case waiting && l.kind != noLabel:
			return ""
		case !waiting && l.kind != guessLabel:
			continue
		case !waiting:
			waiting, openBold = true, l.openBold
		}
		if guess := plain(l.rest, openBold); strings.Trim(guess, "*_ ") != "" {
			return guess
		}
	}
	return ""
}

func strictProbability(text string, scale Scale, truncated bool) (p record.Number, fallback bool) {
	all, labels := slices.Collect(lines(text)), false
	cut := truncated && !strings.HasSuffix(text, "\n")
	for i, line := range all {
		l := splitLabel(line)
		if l.kind == probabilityLabel {
			return strictNumber(l.rest, scale, cut && i == len(all)-1), false
		}
		labels = labels || l.kind != noLabel
	}
	if !labels {
		if p := onlyPercentage(text, scale); p.Missing() == record.Present {
			return p, true
		}
	}
	return record.Absent(record.NoProbability), false
}

// beforeNumber matches what may stand between a label and its number: a word of rounding, emphasis,
// quotes, an opening bracket. Group 1 is an angle bracket, which must be closed: "<0.9" is a bound.
var beforeNumber = regexp.MustCompile("(?i)^(?:about|around|approximately|approx\\.?|roughly)?[~≈\\s]*[*_`\"'“(\\[{]*[~≈]?(<?)$")

// strictNumber reads the text after a probability label. cut says that a token limit ended the reply
// where this text ends.
func strictNumber(rest string, scale Scale, cut bool) record.Number {
	found := slices.Collect(numerals(rest))
	switch {
	case cut && strings.Trim(rest, "*_ ") == "":
		return record.Absent(ProbabilityCutOff)
	case len(found) != 1:
		return record.Absent(record.MalformedProbability)
	}
	n := found[0]
	m, tail := beforeNumber.FindStringSubmatch(rest[:n.start]), rest[n.unitEnd:]
	switch {
	case m == nil || (m[1] == "<") != strings.HasPrefix(tail, ">"):
		return record.Absent(record.MalformedProbability)
	case cut && !n.percent && strings.Trim(tail, ".,") == "":
		return record.Absent(ProbabilityCutOff)
	}
	return n.probability(scale)
}

// onlyPercentage reads the single percentage of a text.
func onlyPercentage(text string, scale Scale) record.Number {
	p, count := record.Absent(record.NoProbability), 0
	for n := range numerals(text) {
		if n.percent {
			p = n.probability(scale)
			count++
		}
	}
	if count > 1 {
		return record.Absent(record.MalformedProbability)
	}
	return p
}
