package prompt

import (
	"regexp"
	"strings"

	"github.com/credence-lab/credence/record"
)

var (
	lenientGuessLabel       = regexp.MustCompile(`(?i)\bguess\s*:`)
	lenientProbabilityLabel = regexp.MustCompile(`(?i)\bprobability\s*:\s*`)
	lenientLabelLine        = regexp.MustCompile(`(?i)^\W*(?:guess|probability)\s*:`)
)

func lenientGuess(text string) string {
	if m := lenientGuessLabel.FindStringIndex(text); m != nil {
		return lenientAfterLabel(text[m[1]:])
	}
	for line := range lines(text) {
		if line = strings.TrimSpace(line); line != "" && !lenientLabelLine.MatchString(line) {
			return line
		}
	}
	return ""
}

// lenientAfterLabel returns the first line with text, unless the next label comes before it.
func lenientAfterLabel(text string) string {
	for line := range lines(text) {
		if lenientLabelLine.MatchString(line) {
			return ""
		}
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

func lenientProbability(text string, scale Scale) (p record.Number, fallback bool) {
	labels := lenientProbabilityLabel.FindAllStringIndex(text, -1)
	for _, m := range labels {
		n, _ := numeralAt(text, m[1])
		if p := n.probability(scale); n.start == m[1] && p.Missing() != record.MalformedProbability {
			return p, false
		}
	}
	if scale == Unit {
		for n := range numerals(text) {
			p := n.probability(Unit)
			if _, ok := p.Get(); ok && !n.percent {
				return p, true
			}
		}
	}
	if len(labels) > 0 {
		return record.Absent(record.MalformedProbability), false
	}
	return record.Absent(record.NoProbability), false
}
