package llmtest

import (
	"unicode/utf8"

	"github.com/credence-lab/credence/llm"
)

// The scripted model's vocabulary is every string of one to three bytes: an id spells its piece, so
// the tokeniser is reversible and needs no table. A character of four bytes always spans tokens.
const (
	pieceBytes = 3
	lengthBits = 24 // an id is the length of the piece above its bytes
)

// Special tokens lie below every id that spells a piece, so no text can be tokenised into one.
const (
	beginID int32 = iota + 1
	systemID
	userID
	assistantID
	// EndOfTurnID is the id that ends each turn of a chat with the scripted model.
	EndOfTurnID
)

// EndOfTurn is how the scripted model's end-of-turn token is written. In a message it is plain text.
const EndOfTurn = "<|end|>"

// Tokenise cuts text as the scripted model does: three bytes to a token, fewer before a blank.
func Tokenise(text string) []string {
	var pieces []string
	for len(text) > 0 {
		n := 1
		for n < pieceBytes && n < len(text) && !blank(text[n]) {
			n++
		}
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return pieces
}

func blank(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

func pieceID(piece string) int32 {
	id := int32(len(piece)) << lengthBits
	for i := range len(piece) {
		id |= int32(piece[i]) << (8 * (pieceBytes - 1 - i))
	}
	return id
}

func ids(text string) []int32 {
	pieces := Tokenise(text)
	out := make([]int32, len(pieces))
	for i, p := range pieces {
		out[i] = pieceID(p)
	}
	return out
}

// promptIDs renders p: each turn is its role, its content, the end of turn; the open turn comes last.
func promptIDs(p llm.Prompt) []int32 {
	var out []int32
	if p.Text != "" {
		if !p.NoBOS {
			out = append(out, beginID)
		}
		return append(out, ids(p.Text)...)
	}
	for _, m := range p.Messages {
		out = append(out, roleID(m.Role))
		out = append(out, ids(m.Content)...)
		out = append(out, EndOfTurnID)
	}
	out = append(out, assistantID)
	return append(out, ids(p.Opening)...)
}

func roleID(r llm.Role) int32 {
	switch r {
	case llm.System:
		return systemID
	case llm.Assistant:
		return assistantID
	default:
		return userID
	}
}

// validText replaces each byte that forms no character by U+FFFD.
func validText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string([]rune(string(b)))
}
