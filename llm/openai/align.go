package openai

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/credence-lab/credence/record"
)

// broken marks a token's text that is not all of its bytes: servers decode token by token, and a
// character may span tokens. Some write nothing for such a token, some U+FFFD.
func brokenText(text string) bool { return text == "" || strings.ContainsRune(text, utf8.RuneError) }

// align gives each token its bytes, from the whole text and the tokens' own texts, which say little of
// tokens that end inside a character: the bytes of a run of those go to the first of the run. Tokens
// beyond the end of the text keep what they say. It returns false where the tokens are not those of the text.
func align(whole string, texts []string) (pieces [][]byte, ok bool) {
	// Some servers show a character with the last of its tokens, some with none: then a run has bytes.
	for _, least := range []int{0, 1} {
		if pieces, ok = alignRuns(whole, texts, least); ok {
			return pieces, true
		}
	}
	return nil, false
}

func alignRuns(whole string, texts []string, least int) (pieces [][]byte, ok bool) {
	pieces = make([][]byte, len(texts))
	for i := 0; i < len(texts); i++ {
		switch t := texts[i]; {
		case !brokenText(t) && strings.HasPrefix(whole, t):
			pieces[i], whole = []byte(t), whole[len(t):]
		case !brokenText(t) && strings.HasPrefix(t, whole): // the text was cut before a stop string
			pieces[i], whole = []byte(t), ""
		case !brokenText(t):
			return nil, false
		default:
			n := run(whole, texts[i:], least)
			if n < 0 {
				return nil, false
			}
			pieces[i], whole = []byte(whole[:n]), whole[n:]
			for i+1 < len(texts) && brokenText(texts[i+1]) {
				i++
			}
		}
	}
	return pieces, whole == ""
}

// run is how many bytes of whole belong to the broken tokens that texts begin with: up to where the next
// clear text stands, or -1 if that does not come. What is clear in a broken text is passed over; what is not
// takes at least so many bytes.
func run(whole string, texts []string, least int) int {
	from, gap := 0, false
	for _, t := range texts {
		gap = gap || t == ""
		for k, clear := range strings.Split(t, "\uFFFD") {
			gap = gap || k > 0
			if clear == "" {
				continue
			}
			if gap {
				from = min(from+least, len(whole))
			}
			at := strings.Index(whole[from:], clear)
			if at < 0 || !gap && at > 0 {
				return -1
			}
			if from += at; !brokenText(t) {
				return from
			}
			from, gap = from+len(clear), false
		}
	}
	return len(whole)
}

// joined is the bytes of tokens, one after another.
func joined(tokens []record.Token) []byte {
	var b []byte
	for _, t := range tokens {
		b = append(b, t.Piece...)
	}
	return b
}

// validText replaces what forms no character.
func validText(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// firstStop is where the first stop string begins, or -1.
func firstStop(text []byte, stops []string) int {
	first := -1
	for _, s := range stops {
		if at := bytes.Index(text, []byte(s)); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}
