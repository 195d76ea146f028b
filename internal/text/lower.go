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
// i and a combining dot, and a capital sigma that ends a word a final sigma. Bytes that are no character
// become U+FFFD, so that they do not make one with others when what stands between is deleted.
func Lower(s string) string {
	if lower, ok := lowerASCII(s); ok {
		return lower
	}
	return cases.Lower(language.Und).String(strings.ToValidUTF8(s, "\ufffd"))
}

// Fold removes differences of writing that do not change a word, in every script: canonical composition
// (NFC), case folding ("Straße" is "strasse"), invisible format characters dropped. Idempotent.
func Fold(s string) string {
	if lower, ok := lowerASCII(s); ok {
		return lower
	}
	// Folding can undo composition, so it comes between two of them. Lower case after it, because
	// x/text folds each Cherokee letter into its other case instead of both into one.
	s = norm.NFC.String(strings.Map(DropInvisible, s))
	return norm.NFC.String(strings.ToLower(cases.Fold().String(s)))
}

// lowerASCII returns the lower case of a text of ASCII alone. Answers are short: they are looked at once
// and put together on the stack.
func lowerASCII(s string) (lower string, ok bool) {
	var short [64]byte
	if len(s) > len(short) {
		if !isASCII(s) {
			return "", false
		}
		return strings.ToLower(s), true
	}
	changed := false
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return "", false
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
			changed = true
		}
		short[i] = c
	}
	if !changed {
		return s, true
	}
	return string(short[:len(s)]), true
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
