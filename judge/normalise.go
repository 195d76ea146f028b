package judge

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/credence-lab/credence/internal/text"
	"golang.org/x/text/unicode/norm"
)

// Normaliser removes differences of writing that do not matter to whether an answer is right.
type Normaliser uint8

const (
	// ASCII is the normalisation of "Same Answer, Different Confidence", appendix A: lower case; every
	// character other than an ASCII letter, a digit or whitespace becomes a blank; whitespace merges.
	// "São" becomes "s o", and of a text in another script nothing is left but its figures.
	ASCII Normaliser = iota + 1
	// Unicode keeps letters, marks and digits of every script: canonical composition (NFC), case
	// folding (so "Straße" is "STRASSE"), invisible format characters dropped, everything else a blank,
	// whitespace merged. Accents count: "Zürich" is not "Zurich".
	Unicode
)

// String returns "ascii" or "unicode".
func (n Normaliser) String() string {
	switch n {
	case ASCII:
		return "ascii"
	case Unicode:
		return "unicode"
	}
	return fmt.Sprintf("normaliser(%d)", uint8(n))
}

// Normalise returns the normal form of s. A text of which nothing would be left keeps its own
// visible characters, trimmed and in lower case: otherwise every such text would equal every other ("?" and
// "!", or two names in a script that the normaliser does not know). The result is empty only for
// blanks and invisible characters. Idempotent.
func (n Normaliser) Normalise(s string) string {
	var out string
	if n == ASCII {
		out = asciiForm(s)
	} else {
		out = unicodeForm(s)
	}
	if out == "" {
		return merge(norm.NFC.String(strings.ToLower(strings.Map(text.DropInvisible, s))))
	}
	return out
}

func asciiForm(s string) string {
	blank := func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return ' '
	}
	// In full lower case U+0130 is an "i" and a combining dot; strings.ToLower drops the dot.
	s = strings.ReplaceAll(s, "\u0130", "i\u0307")
	return merge(strings.Map(blank, strings.ToLower(s)))
}

func unicodeForm(s string) string {
	blank := func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) {
			return r
		}
		return ' '
	}
	return merge(strings.Map(blank, text.Fold(s)))
}

// merge makes every run of whitespace one blank and trims the ends.
func merge(s string) string { return strings.Join(strings.Fields(s), " ") }
