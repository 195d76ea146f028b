package llmtest

import (
	"fmt"
	"strings"

	"github.com/credence-lab/credence/llm"
)

// Servers deal in token ids. What follows is the scripted model as they see it, for local servers in tests:
// rendering, tokens and their texts, and what comes after a list of ids.

// Render is the prompt in ids: each turn is its role, its content and the end of turn; the open turn is last.
func Render(p llm.Prompt) []int32 { return promptIDs(p) }

// IDs tokenises text without special tokens.
func IDs(text string) []int32 { return ids(text) }

// ParsedIDs tokenises text as a tokeniser does that reads [EndOfTurn] as the special token.
func ParsedIDs(text string) []int32 {
	var out []int32
	for i, part := range strings.Split(text, EndOfTurn) {
		if i > 0 {
			out = append(out, EndOfTurnID)
		}
		out = append(out, ids(part)...)
	}
	return out
}

// BeginID is the beginning-of-sequence token, which stands before plain text.
const BeginID = beginID

// PieceOf spells an id; special tokens, and ids that are none, have no text.
func PieceOf(id int32) string {
	n := int(id >> lengthBits)
	if n < 1 || n > pieceBytes {
		return ""
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(id >> (8 * (pieceBytes - 1 - i)))
	}
	return string(b)
}

// Spell joins the texts of ids.
func Spell(ids []int32) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(PieceOf(id))
	}
	return b.String()
}

// PromptOf is the prompt that Render makes ids of, where what follows the opening counts as opening.
func PromptOf(ids []int32) (llm.Prompt, error) {
	if len(ids) == 0 || roleOf(ids[0]) == "" {
		text := ids
		begun := len(ids) > 0 && ids[0] == beginID
		if begun {
			text = ids[1:]
		}
		if s := Spell(text); s != "" {
			return llm.Prompt{Text: s, NoBOS: !begun}, nil
		}
		return llm.Prompt{}, fmt.Errorf("llmtest: %d ids are no prompt", len(ids))
	}
	var p llm.Prompt
	for len(ids) > 0 {
		role := roleOf(ids[0])
		if role == "" {
			return llm.Prompt{}, fmt.Errorf("llmtest: a turn begins with id %d", ids[0])
		}
		end := 1
		for end < len(ids) && ids[end] != EndOfTurnID {
			end++
		}
		if end == len(ids) {
			p.Opening = Spell(ids[1:])
			return p, nil
		}
		p.Messages = append(p.Messages, llm.Message{Role: role, Content: Spell(ids[1:end])})
		ids = ids[end+1:]
	}
	return llm.Prompt{}, fmt.Errorf("llmtest: no turn is open")
}

func roleOf(id int32) llm.Role {
	switch id {
	case systemID:
		return llm.System
	case userID:
		return llm.User
	case assistantID:
		return llm.Assistant
	}
	return ""
}

// LogProbAfter is the log-probability of id after the given ids.
func (s *Scripted) LogProbAfter(before []int32, id int32) (float64, error) {
	p, err := PromptOf(before)
	if err != nil {
		return 0, err
	}
	if id == EndOfTurnID {
		return EndLogProb, nil
	}
	return s.tokens(p, []string{PieceOf(id)})[0].LogProb, nil
}
