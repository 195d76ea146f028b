package prompt

import (
	"regexp"
	"strings"

	"github.com/credence-lab/credence/record"
)

// Reasons of the parser of code.
const (
	// NoCode: the reply holds no code block.
	NoCode record.Missing = "no code block"
	// CodeCutOff: the block does not end.
	CodeCutOff record.Missing = "code block cut off"
)

var fence = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})\\s*([^`]*)$")

// ParseCode reads the first fenced code block of a reply (CommonMark: three or more backticks or tildes, ended by
// at least as many of the same): its lines without blanks at their ends, "\n" between them. The rest of the
// reply and thinking blocks are not read. Missing: [NoCode], also for an empty block; [CodeCutOff];
// record.UnclosedThinking.
func ParseCode(reply string) (string, record.Missing) {
	text, closed := afterThinking(reply)
	if !closed {
		return "", record.UnclosedThinking
	}
	open, code := "", []string(nil)
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case open == "" && m != nil:
			open = m[1]
		case open == "":
		case m != nil && m[1][0] == open[0] && len(m[1]) >= len(open) && m[2] == "":
			if joined := strings.Trim(strings.Join(code, "\n"), "\n"); joined != "" {
				return joined, record.Present
			}
			return "", NoCode
		default:
			code = append(code, strings.TrimRight(line, " \t"))
		}
	}
	if open != "" {
		return "", CodeCutOff
	}
	return "", NoCode
}
