// Package text cuts texts into words, in the ways that the measures of this module are defined on.
package text

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// Lower returns s in full lower case, as Python's str.lower gives it: a capital I with a dot becomes an
// i and a combining dot, and a capital sigma that ends a word a final sigma.
func Lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Lower(language.Und).String(s)
}

// Fold removes differences of writing that do not change a word, in every script: canonical composition
// (NFC), case folding ("Straße" is "strasse"), invisible format characters dropped. Idempotent.
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	// Folding can undo composition, so it comes between two of them. Lower case after it, because
	// x/text folds each Cherokee letter into its other case instead of both into one.
	s = norm.NFC.String(strings.Map(DropInvisible, s))
	return norm.NFC.String(strings.ToLower(cases.Fold().String(s)))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
