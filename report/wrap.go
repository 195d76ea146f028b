package report

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks text at blanks into lines of at most width characters; lines after the first start with
// indent. A word that is longer than a line stands alone on one.
func Wrap(text string, width int, indent string) []string {
	var lines []string
	line := ""
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines = append(lines, line)
			line = indent + word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
