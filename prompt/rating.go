package prompt

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-lab/credence/record"
)

var (
	ratingFields  = set("score", "rating", "grade", "points", "verdict")
	ratingInBrack = regexp.MustCompile(`\[\[\s*([^\[\]]*?)\s*\]\]`)
	ratingLabel   = regexp.MustCompile(`(?i)\b(?:score|rating|grade|marks|points|verdict)\b[*_"]*\s*(?:[:=\x{ff1a}]|\bis\b|\bof\b)`)
	outOf         = regexp.MustCompile(`(?i)^[*_]*\s*(?:/|out of)\s*[*_]*(\d+(?:\.\d+)?)`)
)

// ParseRating reads the reply of a judge that was asked for a number from low to high. In this order, the
// first that is there decides, and of several the last counts:
//
//   - a field score, rating, grade or points of a JSON object;
//   - a number in double brackets: [[6]];
//   - the number behind a label such as "Score:" or "rating is";
//   - a number "out of" the scale's end: "8 out of 10", "8/10".
//
// "out of" another end than high is another scale, and unclear. The rating lies in [low, high] or is
// absent with a reason: [NoVerdict], [UnclearVerdict], record.OutOfRange, record.UnclosedThinking.
func ParseRating(reply string, low, high float64) (record.Number, Notes) {
	var notes Notes
	text, closed := afterThinking(reply)
	if !closed {
		return record.Absent(record.UnclosedThinking), notes
	}
	text = visibleText(text)
	found, repaired, text := jsonFields(text, ratingFields)
	if notes.Repaired = repaired; found == nil {
		found = ratings(text)
	}
	if len(found) == 0 {
		return record.Absent(NoVerdict), notes
	}
	rating := record.Absent(NoVerdict)
	for i, s := range found {
		next := ratingOf(s, low, high)
		notes.Several = notes.Several || i > 0 && next != rating
		rating = next
	}
	return rating, notes
}

// ratings returns where a text states a rating, each as the text from the number on.
func ratings(text string) (found []string) {
	for _, m := range ratingInBrack.FindAllStringSubmatch(text, -1) {
		if strings.ContainsAny(m[1], "0123456789") {
			found = append(found, m[1])
		}
	}
	if found != nil {
		return found
	}
	for _, m := range ratingLabel.FindAllStringIndex(text, -1) {
		line := firstLine(strings.TrimLeft(text[m[1]:], " \t\r\n*_\"'`([<$"))
		if strings.IndexFunc(line, numeralRune) == 0 && strings.ContainsAny(line[:1], "0123456789.+-") {
			found = append(found, line)
		}
	}
	if found != nil {
		return found
	}
	for n := range numerals(text) {
		if outOf.MatchString(text[n.start+len(n.text):]) {
			found = append(found, text[n.start:])
		}
	}
	return found
}

// ratingOf reads the number at the start of a text, and the scale where it names one.
func ratingOf(s string, low, high float64) record.Number {
	found := slices.Collect(numerals(firstLine(s)))
	if len(found) == 0 || strings.TrimLeft(s[:found[0].start], " \"'") != "" {
		return record.Absent(UnclearVerdict)
	}
	n := found[0]
	m := numberForm.FindStringSubmatch(strings.ReplaceAll(n.text, "−", "-"))
	if m == nil || n.percent || thousands.MatchString(m[2]) {
		return record.Absent(UnclearVerdict)
	}
	x, err := strconv.ParseFloat(strings.Replace(n.text, ",", ".", 1), 64)
	if scale := outOf.FindStringSubmatch(s[n.start+len(n.text):]); scale != nil {
		if end, _ := strconv.ParseFloat(scale[1], 64); end != high {
			return record.Absent(UnclearVerdict)
		}
	}
	if err != nil || !(x >= low && x <= high) {
		return record.Absent(record.OutOfRange)
	}
	return record.Known(x + 0) // -0 is 0
}
