package llamacpp

import (
	"strings"
	"testing"

	"github.com/credence-lab/credence/llm"
)

// pieces is a vocabulary of texts; the last token ends the turn.
type pieces []string

func (p pieces) piece(t int32) []byte { return []byte(p[t]) }
func (p pieces) ends(t int32) bool    { return int(t) == len(p)-1 }

// speak lets a generation take the tokens in turn, as a model would that is sure of them.
func speak(v pieces, d llm.Decoding, tokens ...int32) llm.Reply {
	g := newGeneration(llm.Request{Decoding: d}, []int32{0}, v)
	var memory scratch
	for k, t := range tokens {
		logits := make([]float32, len(v))
		logits[t] = 9
		if _, more, err := g.take(k, logits, &memory); err != nil || !more {
			break
		}
	}
	return g.reply()
}

func TestGenerationEnds(t *testing.T) {
	t.Parallel()
	v := pieces{"ab", "c", "\xe6\x9d", "\xb1", " d", "", "<end>"}
	const end = 6
	for name, c := range map[string]struct {
		d      llm.Decoding
		tokens []int32
		text   string
		n      int
		finish llm.Finish
	}{
		"at the end of the turn":           {llm.Decoding{MaxTokens: 9}, []int32{0, 1, end, 0}, "abc", 2, llm.FinishEnd},
		"at once":                          {llm.Decoding{MaxTokens: 9}, []int32{end}, "", 0, llm.FinishEnd},
		"at the limit":                     {llm.Decoding{MaxTokens: 2}, []int32{0, 1, 0, end}, "abc", 2, llm.FinishLength},
		"at a stop string":                 {llm.Decoding{MaxTokens: 9, Stop: []string{"c"}}, []int32{0, 1, 0}, "ab", 2, llm.FinishStop},
		"at one across tokens":             {llm.Decoding{MaxTokens: 9, Stop: []string{"bca"}}, []int32{0, 1, 0, 1}, "a", 3, llm.FinishStop},
		"at the first of two":              {llm.Decoding{MaxTokens: 9, Stop: []string{"c d", "b"}}, []int32{0, 1, 4}, "a", 1, llm.FinishStop},
		"at the one that begins first":     {llm.Decoding{MaxTokens: 9, Stop: []string{"c", "bc"}}, []int32{0, 1, 4}, "a", 2, llm.FinishStop},
		"at one that the limit meets too":  {llm.Decoding{MaxTokens: 2, Stop: []string{"c"}}, []int32{0, 1, 0}, "ab", 2, llm.FinishStop},
		"with a character of two tokens":   {llm.Decoding{MaxTokens: 9}, []int32{2, 3, end}, "東", 2, llm.FinishEnd},
		"within a character":               {llm.Decoding{MaxTokens: 2}, []int32{0, 2}, "ab\uFFFD", 2, llm.FinishLength},
		"with a special token in between":  {llm.Decoding{MaxTokens: 9}, []int32{0, 5, 1, end}, "abc", 3, llm.FinishEnd},
		"with a stop string never reached": {llm.Decoding{MaxTokens: 2, Stop: []string{"abcab"}}, []int32{0, 1, 0}, "abc", 2, llm.FinishLength},
	} {
		got := speak(v, c.d, c.tokens...)
		if got.Text != c.text || len(got.Tokens) != c.n || got.Finish != c.finish {
			t.Errorf("%s: %q, %d tokens, %s; want %q, %d, %s", name, got.Text, len(got.Tokens), got.Finish, c.text, c.n, c.finish)
		}
		var uncut strings.Builder
		for _, tok := range got.Tokens {
			uncut.Write(tok.Piece)
			if tok.LogProb > 0 || tok.LogProb < -.1 {
				t.Errorf("%s: token %d has log-probability %v", name, tok.ID, tok.LogProb)
			}
		}
		if cut := strings.ToValidUTF8(uncut.String(), "\uFFFD"); !strings.HasPrefix(cut, got.Text) {
			t.Errorf("%s: the tokens join to %q, the text is %q", name, cut, got.Text)
		}
	}
}
