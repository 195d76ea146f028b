package prompt

import (
	"iter"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/credence-lab/credence/record"
)

// A numeral is a run of characters around a digit: everything that would change the number if it
// were cut off. "0.9.5", "B2" and "90+" are numerals that state no number.
type numeral struct {
	text    string
	start   int // byte offset of text in its line
	percent bool
	unitEnd int // byte offset after text, or after its percent sign
}

var (
	numberForm  = regexp.MustCompile(`^([+-]?)(\d+(?:[.,]\d+)?|\.\d+)(?:[eE]([+-]?\d{1,4}))?$`)
	percentSign = regexp.MustCompile(`(?i)^[*_ \t\x{a0}\x{2009}\x{202f}]*(?:[%\x{ff05}]|per ?cent\b|pct\b)`)
	thousands   = regexp.MustCompile(`[1-9]\d*,\d{3}$`)
)

// numerals yields the numerals of a line, from left to right.
func numerals(line string) iter.Seq[numeral] {
	return func(yield func(numeral) bool) {
		for from := 0; ; {
			start := strings.IndexFunc(line[from:], numeralRune)
			if start < 0 {
				return
			}
			n, end := numeralAt(line, from+start)
			if n.text != "" && !yield(n) {
				return
			}
			from = end
		}
	}
}

// numeralAt returns the numeral of the run that begins at start, empty where the run holds no digit,
// and where the run ends.
func numeralAt(line string, start int) (n numeral, end int) {
	end = len(line)
	if i := strings.IndexFunc(line[start:], func(r rune) bool { return !numeralRune(r) }); i >= 0 {
		end = start + i
	}
	run := strings.TrimLeft(line[start:end], "_") // Emphasis.
	start = end - len(run)
	run = strings.TrimRight(run, ".,_") // A full stop ends the sentence.
	if !strings.ContainsFunc(run, unicode.IsNumber) {
		return numeral{}, end
	}
	n = numeral{text: run, start: start, unitEnd: start + len(run)}
	if sign := percentSign.FindString(line[n.unitEnd:]); sign != "" {
		n.percent = true
		n.unitEnd += len(sign)
	}
	return n, end
}

func numeralRune(r rune) bool {
	return unicode.IsNumber(r) || unicode.IsLetter(r) || unicode.IsMark(r) || strings.ContainsRune(".,+-−_‰", r)
}

// probability reads the numeral on the scale. The result is in [0,1] or absent with a reason.
func (n numeral) probability(scale Scale) record.Number {
	m := numberForm.FindStringSubmatch(strings.ReplaceAll(n.text, "−", "-"))
	if m == nil || thousands.MatchString(m[2]) {
		return record.Absent(record.MalformedProbability)
	}
	sign, digits, exponent := m[1], strings.Replace(m[2], ",", ".", 1), 0
	if m[3] != "" {
		exponent, _ = strconv.Atoi(m[3]) // At most four digits.
	}
	fraction := m[3] != "" || strings.Contains(digits, ".")
	if n.percent || scale == Percent {
		exponent -= 2 // In decimal, so that 95.1 % is the float64 nearest to .951.
	}
	x, err := strconv.ParseFloat(sign+digits+"e"+strconv.Itoa(exponent), 64)
	switch {
	case err != nil || x < 0 || x > 1:
		return record.Absent(record.OutOfRange)
	case x == 0:
		return record.Known(0) // Also for -0.
	case scale == Percent && !n.percent && fraction && x <= 0.01:
		return record.Absent(AmbiguousScale)
	}
	return record.Known(x)
}
