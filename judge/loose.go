package judge

import (
	"strings"
	"unicode"

	"github.com/credence-lab/credence/internal/text"
	"golang.org/x/text/unicode/norm"
)

// NearlyCorrect reports whether an answer would match a reference (containment of words, either way) if
// case, accents, punctuation, English articles and plural endings did not matter. It flags answers
// that a stricter judge calls wrong for a person to look at, and is no judge itself: it does not tell "resume" from
// "résumé" ("Same Answer, Different Confidence", appendix I).
func NearlyCorrect(answer string, references []string) bool {
	a := looseWords(answer)
	for _, reference := range references {
		r := looseWords(reference)
		if holds(a, r) || holds(r, a) {
			return true
		}
	}
	return false
}

// looseWords are the words of a text in their loosest form.
func looseWords(s string) []string {
	words := text.Unicode.Words(withoutAccents(s))
	kept := words[:0]
	for _, w := range words {
		if len(words) > 1 && (w == "a" || w == "an" || w == "the") {
			continue
		}
		kept = append(kept, singular(w))
	}
	return kept
}

// withoutAccents drops the marks that stand above, below or through letters; in scripts whose vowels are
// marks these stay.
func withoutAccents(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) && unicode.In(r, unicode.Inherited) {
			return -1
		}
		switch r { // letters with a stroke do not decompose
		case 'ø', 'Ø':
			return 'o'
		case 'ł', 'Ł':
			return 'l'
		case 'đ', 'Đ':
			return 'd'
		}
		return r
	}, norm.NFD.String(s))
}

// singular takes off an English plural ending from words of more than three letters.
func singular(w string) string {
	n := len(w)
	end := func(suffixes ...string) bool {
		for _, s := range suffixes {
			if strings.HasSuffix(w, s) {
				return true
			}
		}
		return false
	}
	switch {
	case n <= 3 || !end("s") || end("ss", "us", "is"):
		return w
	case n > 4 && end("ies"):
		return w[:n-3] + "y"
	case end("sses", "shes", "ches", "xes", "zes", "oes"):
		return w[:n-2]
	}
	return w[:n-1]
}
