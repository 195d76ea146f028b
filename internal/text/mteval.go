package text

import (
	"regexp"
	"strings"
)

// The steps of the tokeniser 13a, in order: most signs are words; full stop and comma are, but within
// numbers; a hyphen after a digit is.
var mtevalSteps = []struct {
	find *regexp.Regexp
	put  string
}{
	{regexp.MustCompile("([{-~\\[-` -&(-+:-@/])"), " $1 "},
	{regexp.MustCompile(`([^0-9])([.,])`), "$1 $2 "},
	{regexp.MustCompile(`([.,])([^0-9])`), " $1 $2"},
	{regexp.MustCompile(`([0-9])(-)`), "$1 $2 "},
}

// mtevalEntities are replaced one after the other, so that "&amp;lt;" becomes "<".
var mtevalEntities = [][2]string{{"&quot;", `"`}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}}

// appendMTEval cuts as sacrebleu's tokeniser 13a does, that of the script mteval-v13a.
func appendMTEval(dst []string, s string) []string {
	s = strings.TrimRightFunc(s, IsBlank)
	s = strings.ReplaceAll(s, "<skipped>", "")
	s = strings.ReplaceAll(s, "-\n", "")
	s = strings.ReplaceAll(s, "\n", " ")
	if strings.IndexFunc(s, isPunctuation) < 0 {
		return appendFields(dst, s) // Nothing to part, and most answers are so.
	}
	for _, entity := range mtevalEntities {
		s = strings.ReplaceAll(s, entity[0], entity[1])
	}
	s = " " + s + " "
	for _, step := range mtevalSteps {
		s = step.find.ReplaceAllString(s, step.put)
	}
	return appendFields(dst, s)
}
