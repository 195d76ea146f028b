package prompt

import (
	"iter"
	"regexp"
	"strings"
)

type labelKind uint8

const (
	noLabel labelKind = iota
	guessLabel
	probabilityLabel
)

// labelLine matches a line that begins with a label. Groups: list marks and emphasis before the
// label, the label, emphasis between label and colon or after it.
var labelLine = regexp.MustCompile(`(?i)^[\s>#•-]*(?:\*\s+)?([*_]*)(guess|answer|probability|confidence)([*_]*)\s*[:\x{ff1a}]([*_]*)`)

// labelled is a line split at its label.
type labelled struct {
	kind labelKind
	// rest is the text after the label, trimmed; the whole line where there is no label.
	rest string
	// openBold is the emphasis that began before the label and did not end with it.
	openBold string
}

func splitLabel(line string) labelled {
	m := labelLine.FindStringSubmatch(line)
	if m == nil {
		return labelled{rest: strings.TrimSpace(line)}
	}
	l := labelled{kind: probabilityLabel, rest: strings.TrimSpace(line[len(m[0]):])}
	if word := strings.ToLower(m[2]); word == "guess" || word == "answer" {
		l.kind = guessLabel
	}
	before, after := m[1], m[3]+m[4]
	switch {
	case before == "":
		// "Guess: **Paris**": the emphasis belongs to the answer.
		l.rest = strings.TrimSpace(after + l.rest)
	case after == "":
		l.openBold = before
	}
	return l
}

// lines yields the lines of a text, whatever ends them.
func lines(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(text, func(r rune) bool {
		return r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029'
	})
}

// plain drops emphasis around a whole answer, and the end of one that began before its label.
func plain(answer, openBold string) string {
	if openBold != "" {
		answer = strings.TrimSpace(strings.TrimSuffix(answer, openBold))
	}
	for _, mark := range []string{"**", "*"} {
		inner, opened := strings.CutPrefix(answer, mark)
		inner, ended := strings.CutSuffix(inner, mark)
		if opened && ended && !strings.Contains(inner, mark) {
			answer = strings.TrimSpace(inner)
		}
	}
	return answer
}
