package judge

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/credence-lab/credence/internal/text"
	"github.com/credence-lab/credence/record"
)

// Reasons of the judges that compare numbers.
const (
	// NoNumber: the answer states no number where one is looked for.
	NoNumber record.Missing = "no number in the answer"
	// NoReferenceNumber: none of the references states a number.
	NoReferenceNumber record.Missing = "no number in the references"
)

// numberEntries compare numbers.
func numberEntries() []Entry {
	const found = "the number after the last \"####\", \"answer:\", \"answer is\" or \\boxed{, else the last number of the text; thousands are grouped by commas of three digits, other commas part numbers; digits of every script"
	number := func(ignorePercent bool) func(*comparison) record.Number {
		return func(c *comparison) record.Number {
			return c.numeric(func(answer, reference stated) float64 {
				if reference.equal(answer, ignorePercent) {
					return 1
				}
				return 0
			})
		}
	}
	return []Entry{
		{
			ID: "exact-match.number", Title: "exact match, numbers as numbers",
			Definition: "where answer and reference are a number or numbers and nothing else, equal as numbers (\"$29.00\" is 29, \"2, 5\" is \"(2,5)\"); else as exact-match.nfc",
			Needs:      []Need{References}, Source: secondPaper + "; numbers by this project",
			measure: func(c *comparison) record.Number {
				answer, isNumber := wholeNumber(c.answer)
				words := composed(c.answer)
				return truth(c.any(func(reference string) bool {
					if r, ok := wholeNumber(reference); ok && isNumber {
						return r.equal(answer, false)
					}
					return composed(reference) == words
				}))
			},
		},
		{
			ID: "number", Title: "number",
			Definition: "equal numbers; of each text counts " + found + ". 60% is not 60",
			Needs:      []Need{References}, Source: "this project", measure: number(false),
		},
		{
			ID: "number.percent", Title: "number, percent signs ignored",
			Definition: "as number, but 60% is 60",
			Needs:      []Need{References}, Source: "this project", measure: number(true),
		},
		{
			ID: "number-range", Title: "number in the accepted range",
			Definition: "the answer's number lies in the range that the reference states (\"150 (acceptable range: anything between 148 and 152)\"), ends included; without a range equal numbers",
			Needs:      []Need{References}, Source: "SimpleQA Verified, its answer key",
			measure: func(c *comparison) record.Number {
				return c.numeric(func(answer, reference stated) float64 {
					if reference.within(answer) || reference.high == nil && reference.equal(answer, false) {
						return 1
					}
					return 0
				})
			},
		},
		{
			ID: "number-closeness", Title: "closeness of numbers",
			Definition: "max(0, 1 - |x - r|/|r|) for the answer's number x and a reference's number r: above .99 is within 1 %; for r = 0 it is 1 if x = 0, else 0; highest over references",
			High:       1, Cut: MustCut,
			Needs: []Need{References}, Source: "this project",
			measure: func(c *comparison) record.Number { return c.numeric(stated.closeness) },
		},
	}
}

// numeric compares the number of the answer with that of each reference. score is in [0,1].
func (c *comparison) numeric(score func(answer, reference stated) float64) record.Number {
	best, known := 0.0, false
	answer := statedIn(c.answer)
	for _, text := range c.references {
		if reference := statedIn(text); reference.ok() {
			known = true
			best = max(best, score(answer, reference))
		}
	}
	switch {
	case !known:
		return record.Absent(NoReferenceNumber)
	case !answer.ok():
		return record.Absent(NoNumber)
	}
	return record.Known(best)
}

// stated is the number that a text gives for an answer.
type stated struct {
	figure
	// series are the figures that stand beside the last one, parted by a comma and a blank: "2, 5".
	series []figure
	// low and high are the range that a reference accepts; nil without one.
	low, high *big.Rat
}

func (s stated) ok() bool { return len(s.numbers) > 0 }

var (
	numberCue     = regexp.MustCompile(`(?i)####|\\boxed\s*\{|\banswer\s*(?:is\b|[:=\x{ff1a}])`)
	acceptedRange = regexp.MustCompile(`(?i)\(\s*acceptable range\b[^()]*?\bbetween\b(.*)\band\b(.*)\)`)
)

// statedIn finds the number of a text. A wrong one is worse than none: what stands at the deciding
// place and is no number, such as a date, makes the text one without a number.
func statedIn(s string) (out stated) {
	if !hasDigit(s) {
		return stated{}
	}
	if m := acceptedRange.FindStringSubmatchIndex(s); m != nil {
		low, high := lastFigure(s[m[2]:m[3]]), figures(s[m[4]:m[5]])
		if len(low.numbers) == 1 && len(high) > 0 && len(high[0].numbers) == 1 {
			out.low, out.high = low.numbers[0], high[0].numbers[0]
		}
		s = s[:m[0]]
	}
	if cues := numberCue.FindAllStringIndex(s, -1); cues != nil {
		list := figures(s[cues[len(cues)-1][1]:])
		if len(list) > 0 {
			out.figure = list[0]
			out.series = seriesFrom(s[cues[len(cues)-1][1]:], list, 0)
		}
		return out
	}
	list := figures(s)
	if len(list) > 0 {
		out.figure = list[len(list)-1]
		first := len(list) - 1
		for first > 0 && joined(asciiDigits(s), list[first-1], list[first]) {
			first--
		}
		out.series = list[first:]
	}
	return out
}

func lastFigure(s string) figure {
	list := figures(s)
	if len(list) == 0 {
		return figure{}
	}
	return list[len(list)-1]
}

// seriesFrom returns the figures from one on that are joined by commas.
func seriesFrom(s string, list []figure, first int) []figure {
	s = asciiDigits(s)
	last := first
	for last+1 < len(list) && joined(s, list[last], list[last+1]) {
		last++
	}
	return list[first : last+1]
}

// joined reports whether only a comma and blanks stand between two figures.
func joined(s string, a, b figure) bool {
	between, comma := strings.CutPrefix(s[a.end:b.start], ",")
	return comma && strings.TrimFunc(between, text.IsBlank) == ""
}

// equal compares a reference with an answer. A reference of several numbers also equals as many
// joined numbers at the answer's place.
func (s stated) equal(answer stated, ignorePercent bool) bool {
	if s.figure.equal(answer.figure, ignorePercent) {
		return true
	}
	want, got := s.tuple(), answer.tuple()
	return len(want.numbers) > 1 && want.equal(got, ignorePercent)
}

// tuple is the series as one figure.
func (s stated) tuple() figure {
	out := figure{}
	for _, f := range s.series {
		out.numbers = append(out.numbers, f.numbers...)
		out.percent = out.percent || f.percent
	}
	return out
}

func (s stated) within(answer stated) bool {
	if s.high == nil || len(answer.numbers) != 1 {
		return false
	}
	x := answer.numbers[0]
	return s.low.Cmp(x) <= 0 && x.Cmp(s.high) <= 0
}

// closeness is max(0, 1 - |x - r|/|r|).
func (s stated) closeness(reference stated) float64 {
	if len(s.numbers) != 1 || len(reference.numbers) != 1 || s.percent != reference.percent {
		return 0
	}
	x, r := s.numbers[0], reference.numbers[0]
	if r.Sign() == 0 {
		if x.Sign() == 0 {
			return 1
		}
		return 0
	}
	off := new(big.Rat).Sub(x, r)
	off.Quo(off.Abs(off), new(big.Rat).Abs(r))
	near, _ := off.Sub(big.NewRat(1, 1), off).Float64()
	return max(0, near)
}

// wholeNumber reads a text that is a number, or several parted by commas, and nothing else but a currency
// sign, brackets around it, or a full stop after it.
func wholeNumber(s string) (figure, bool) {
	s = asciiDigits(s)
	list := figures(s)
	if len(list) == 0 || slices.ContainsFunc(list, func(f figure) bool { return f.numbers == nil }) {
		return figure{}, false
	}
	last := len(list) - 1
	sign := func(r rune) bool { return text.IsBlank(r) || unicode.Is(unicode.Sc, r) }
	before := strings.TrimFunc(s[:list[0].start], sign)
	after := strings.TrimFunc(strings.TrimRight(s[list[last].end:], "."), sign)
	if open := before + after; open != "" && open != "()" && open != "[]" {
		return figure{}, false
	}
	if len(seriesFrom(s, list, 0)) != len(list) {
		return figure{}, false
	}
	return stated{series: list}.tuple(), true
}
