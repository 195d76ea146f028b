package prompt

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/credence-lab/credence/record"
)

// Reasons of the parser of lists.
const (
	// NoList: the reply holds no numbered or marked line.
	NoList record.Missing = "no list"
	// mostEntries bounds a list, whatever a reply holds.
	mostEntries = 200
)

var (
	numberedLine = regexp.MustCompile(`^\s*[*_(\[]*[0-9]{1,3}[.):\]]+[*_]*\s+(.*)$`)
	markedLine   = regexp.MustCompile(`^\s*[-*•–]\s+(.*)$`)
)

// ParseList reads a reply that is a list with one entry a line: the lines that begin with a number and a
// mark ("1.", "2)", "(3)"), or where there are none those that begin with a bullet. Other lines are no
// entries: what a model says before and after its list is not read, nor what stands in a thinking block. Of an
// entry go emphasis and quotation marks around it, control and format characters, and blanks at its edges;
// empty ones are left out. truncated says that the reply ended at its token limit: its last entry may be cut
// and is left out.
//
// Missing are [NoList] and record.UnclosedThinking.
func ParseList(reply string, truncated bool) (entries []string, missing record.Missing) {
	text, closed := afterThinking(reply)
	if !closed {
		return nil, record.UnclosedThinking
	}
	for _, mark := range []*regexp.Regexp{numberedLine, markedLine} {
		found, last := listEntries(text, mark)
		if truncated && last && len(found) > 0 && !strings.HasSuffix(text, "\n") {
			found = found[:len(found)-1]
		}
		if found != nil {
			for _, entry := range found {
				if entry != "" && len(entries) < mostEntries {
					entries = append(entries, entry)
				}
			}
			return entries, record.Present
		}
	}
	return nil, NoList
}

// listEntries are the entries behind a mark, and whether the last line of the text is one.
func listEntries(text string, mark *regexp.Regexp) (found []string, last bool) {
	for line := range lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		m := mark.FindStringSubmatch(line)
		if last = m != nil; last {
			found = append(found, entryOf(m[1]))
		}
	}
	return found, last
}

// quotes are pairs of marks around an entry.
var quotes = [][2]string{{`"`, `"`}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"‘", "’"}, {"'", "'"}}

func entryOf(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
	s = plain(strings.Join(strings.Fields(s), " "), "")
	for _, q := range quotes {
		inner, opened := strings.CutPrefix(s, q[0])
		inner, ended := strings.CutSuffix(inner, q[1])
		if opened && ended && !strings.Contains(inner, q[0]) && !strings.Contains(inner, q[1]) {
			return strings.TrimSpace(inner)
		}
	}
	return s
}
