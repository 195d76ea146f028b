// Package termsafe makes foreign text harmless on a terminal. What a model or a file says may hold
// escape sequences that move the cursor, hide what was printed or answer for the user, and marks
// that turn the direction of reading.
package termsafe

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// String returns s on one line, with all that a terminal would obey instead of showing written as
// Go writes it: \n, \x1b, \u202e. Letters of all scripts and emoji stay. It is for reading: since a
// backslash stays what it is, it cannot be undone.
func String(s string) string { return escape(s, false) }

// Text is String for text of several lines: line feeds and tabs stay, and a carriage return before
// a line feed is left out.
func Text(s string) string { return escape(strings.ReplaceAll(s, "\r\n", "\n"), true) }

func escape(s string, lines bool) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case shown(r, n), lines && (r == '\n' || r == '\t'):
			b.WriteString(s[:n])
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x`)
			b.WriteByte(hex[s[0]>>4])
			b.WriteByte(hex[s[0]&15])
		default:
			quoted := strconv.QuoteToASCII(s[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	return b.String()
}

// JSON returns a JSON text with such characters in its strings escaped. What it says stays the same.
func JSON(text []byte) []byte {
	b := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == '\n' || shown(r, n) || r == utf8.RuneError {
			b = append(b, text[:n]...)
		} else {
			for _, unit := range utf16.Encode([]rune{r}) {
				b = fmt.Appendf(b, `\u%04x`, unit)
			}
		}
		text = text[n:]
	}
	return b
}

const hex = "0123456789abcdef"

// shown reports whether a terminal shows r. The joiners of emoji and of some scripts count as shown:
// they change how their neighbours look, and nothing else.
func shown(r rune, size int) bool {
	if r == utf8.RuneError && size == 1 {
		return false
	}
	return unicode.IsPrint(r) || r == '\u200c' || r == '\u200d' || unicode.Is(unicode.Zs, r)
}
