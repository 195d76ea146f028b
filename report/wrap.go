package report

import (
	"strings"

	"github.com/credence-lab/credence/internal/termsafe"
)

// Wrap breaks text at blanks into lines of at most width columns of a terminal; lines after the first start with
// indent. A word that is longer than a line stands alone on one.
func Wrap(text string, width int, indent string) []string {
	var lines []string
	line := ""
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			line = word
		case termsafe.Width(line)+1+termsafe.Width(word) > width:
			lines = append(lines, line)
			line = indent + word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
