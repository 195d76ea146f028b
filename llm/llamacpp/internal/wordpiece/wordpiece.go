// Package wordpiece cuts text into the tokens of a BERT model: BERT's normalisation and splitting into
// words (Devlin et al. 2019, basic tokenisation), then the longest pieces of the vocabulary from left to
// right (Schuster and Nakajima 2012).
//
// llama.cpp has a tokeniser of this name too (v0.5.0), but it drops the vowel signs of Hindi and all but
// the first letter of a Hangul syllable, so that its tokens are not those that the models were trained on.
package wordpiece

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Marks are the ids of the tokens that no text spells.
type Marks struct {
	// Begin and End stand around every text, Unknown for a word that has no pieces.
	Begin, End, Unknown int32
}

// Options say what happens to a text before it is cut into words.
type Options struct {
	Lower bool
	// StripAccents takes combining marks off.
	StripAccents bool
}

// Vocabulary turns text into tokens. It may be used by several goroutines.
type Vocabulary struct {
	options Options
	marks   Marks
	// start has the pieces that begin a word, rest those that go on in one.
	start, rest map[string]int32
	longest     int // of all pieces, in bytes
}

// wordStart marks the pieces that begin a word in a GGUF file.
const wordStart = "\u2581"

// New makes a vocabulary of the tokens of a GGUF file: a piece that begins a word has U+2581 before it,
// any other text goes on in a word.
func New(tokens []string, marks Marks, options Options) (*Vocabulary, error) {
	v := &Vocabulary{options: options, marks: marks, start: map[string]int32{}, rest: map[string]int32{}}
	for _, id := range []int32{marks.Begin, marks.End, marks.Unknown} {
		if id < 0 || int(id) >= len(tokens) {
			return nil, fmt.Errorf("token %d is not in the vocabulary of %d", id, len(tokens))
		}
	}
	for i, token := range tokens {
		id := int32(i)
		if id == marks.Begin || id == marks.End || id == marks.Unknown || token == "" {
			continue
		}
		piece, begins := strings.CutPrefix(token, wordStart)
		part := v.rest
		if begins {
			part = v.start
		}
		if _, twice := part[piece]; !twice {
			part[piece] = id
		}
		v.longest = max(v.longest, len(piece))
	}
	if len(v.start) == 0 {
		return nil, errors.New("no token of the vocabulary begins a word")
	}
	return v, nil
}

// Tokens are those of a text between the marks of its beginning and end. Bytes that are no UTF-8 are
// dropped. What spells a special token, such as "[SEP]", is text like any other.
func (v *Vocabulary) Tokens(text string) []int32 {
	ids := []int32{v.marks.Begin}
	for _, word := range words(v.options.normalise(text)) {
		ids = v.appendPieces(ids, word)
	}
	return append(ids, v.marks.End)
}

// maxWord is the most characters of a word that is looked up; longer ones are unknown.
const maxWord = 100

func (v *Vocabulary) appendPieces(ids []int32, word string) []int32 {
	if utf8.RuneCountInString(word) > maxWord {
		return append(ids, v.marks.Unknown)
	}
	before := len(ids)
	part := v.start
	for word != "" {
		n := min(len(word), v.longest)
		for n > 0 {
			if id, ok := part[word[:n]]; ok {
				ids = append(ids, id)
				break
			}
			n--
		}
		if n == 0 { // one piece that is missing makes the whole word unknown
			return append(ids[:before], v.marks.Unknown)
		}
		word, part = word[n:], v.rest
	}
	return ids
}
