package termsafe

import (
	"unicode"

	"golang.org/x/text/width"
)

// RuneWidth is how many columns of a terminal a character takes: 2 for those that are wide in East Asian scripts and
// for most emoji (Unicode, annex 11), 0 for marks that are written onto the one before and for what is not shown, else 1.
func RuneWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Cc):
		return 0
	case wide(r):
		return 2
	}
	return 1
}

func wide(r rune) bool {
	k := width.LookupRune(r).Kind()
	return k == width.EastAsianWide || k == width.EastAsianFullwidth
}

// Width is the number of columns that a text of one line takes.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += RuneWidth(r)
	}
	return n
}
