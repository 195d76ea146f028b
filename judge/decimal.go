package judge

import (
	"math/big"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A figure is what a text says in digits at one place: a number, numbers that belong together ("2,5" in
// a pair), or something else that is made of digits.
type figure struct {
	numbers []*big.Rat // nil where the digits are no number: a date, a range, a version
	percent bool
	// start and end are byte offsets; a currency sign before it and a percent sign after it belong to it.
	start, end int
}

// equal reports whether two figures are the same numbers. A percentage equals no plain number, unless
// percent signs are not looked at.
func (f figure) equal(g figure, ignorePercent bool) bool {
	if len(f.numbers) == 0 || len(f.numbers) != len(g.numbers) || f.percent != g.percent && !ignorePercent {
		return false
	}
	for i, x := range f.numbers {
		if x.Cmp(g.numbers[i]) != 0 {
			return false
		}
	}
	return true
}

var (
	// A run holds all that would change a number if it were cut off.
	figureRun = regexp.MustCompile(`\.?\d(?:\d|[.,'’_]\d|[-–−/:]\d)*(?:[eE][+-]?\d+)?`)
	grouped   = regexp.MustCompile(`^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$`)
	byBlanks  = regexp.MustCompile(`^[1-9]\d{0,2}(?:[ \x{a0}\x{2009}\x{202f}]\d{3})+\b`)
	plainForm = regexp.MustCompile(`^(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,3})?$`)
	ratio     = regexp.MustCompile(`^\d+/\d+$`)
	percent   = regexp.MustCompile(`^[ \x{a0}\x{202f}]?(?:[%\x{ff05}]|per ?cent\b)`)
)

// mostDigits bounds a number: what is longer is no number that somebody answers with.
const mostDigits = 400

// figures returns the figures of a text in order. Digits within a word ("B2") are none; letters after
// digits ("5km") are a unit.
func figures(s string) []figure {
	if !hasDigit(s) {
		return nil
	}
	s = asciiDigits(s)
	var found []figure
	for from := 0; from < len(s); {
		at := figureRun.FindStringIndex(s[from:])
		if at == nil {
			break
		}
		start, end := from+at[0], from+at[1]
		if m := byBlanks.FindString(s[start:]); len(m) > end-start {
			end = start + len(m)
		}
		from = end
		if before, _ := utf8.DecodeLastRuneInString(s[:start]); unicode.IsLetter(before) || before == '_' {
			continue
		}
		f := figure{start: start, end: end}
		if end-start <= mostDigits {
			f.numbers = numbersOf(s[start:end])
		}
		f.readSigns(s)
		found = append(found, f)
	}
	return found
}

func hasDigit(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }

// numbersOf reads a run: one number, several parted by commas, or nil.
func numbersOf(run string) []*big.Rat {
	switch {
	case byBlanks.MatchString(run):
		run = strings.Join(strings.FieldsFunc(run, unicode.IsSpace), "")
	case grouped.MatchString(run):
		run = strings.ReplaceAll(run, ",", "")
	case ratio.MatchString(run) && strings.Trim(run[strings.Index(run, "/")+1:], "0") != "", plainForm.MatchString(run):
	case strings.Contains(run, ","):
		var list []*big.Rat
		for part := range strings.SplitSeq(run, ",") {
			if !plainForm.MatchString(part) {
				return nil
			}
			list = append(list, rational(part))
		}
		return list
	default:
		return nil
	}
	return []*big.Rat{rational(run)}
}

func rational(s string) *big.Rat {
	x, ok := new(big.Rat).SetString(s)
	if !ok {
		panic("judge: not a number: " + s) // the forms above let only numbers pass
	}
	return x
}

// readSigns takes up minus, currency and percent signs around the digits. A hyphen after a letter or a
// digit joins words and is no sign.
func (f *figure) readSigns(s string) {
	negate := false
	for range 2 { // "-$5" and "$-5"
		before, size := utf8.DecodeLastRuneInString(s[:f.start])
		switch {
		case unicode.Is(unicode.Sc, before):
		case before == '-' || before == '−' || before == '+':
			if word, _ := utf8.DecodeLastRuneInString(s[:f.start-size]); unicode.IsLetter(word) || unicode.IsNumber(word) {
				size = 0
			} else {
				negate = before != '+'
			}
		default:
			size = 0
		}
		f.start -= size
	}
	if negate && len(f.numbers) > 0 {
		f.numbers[0].Neg(f.numbers[0])
	}
	if sign := percent.FindString(s[f.end:]); sign != "" {
		f.percent = true
		f.end += len(sign)
	}
}

// asciiDigits writes the decimal digits of every script as 0 to 9.
func asciiDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf || !unicode.IsDigit(r) {
			return r
		}
		// Scripts have their ten digits in a row, and no two scripts adjoin but in whole tens.
		for _, block := range unicode.Nd.R16 {
			if rune(block.Lo) <= r && r <= rune(block.Hi) {
				return '0' + (r-rune(block.Lo))%10
			}
		}
		for _, block := range unicode.Nd.R32 {
			if rune(block.Lo) <= r && r <= rune(block.Hi) {
				return '0' + (r-rune(block.Lo))%10
			}
		}
		return r
	}, s)
}
