package llamacpp

import (
	_ "embed"
	"fmt"
	"strings"
)

// passageText is a text of ours of some nine hundred tokens, on which exactness is measured.
//
//go:embed passage.txt
var passageText string

// passage returns the ids of n tokens of the text, from another sentence for each k. No two of them begin
// alike.
func (m *model) passage(k, n int) ([]int32, error) {
	sentences := strings.SplitAfter(passageText, ". ")
	k %= len(sentences)
	text := strings.Join(sentences[k:], "") + strings.Join(sentences[:k], "")
	ids := withBeginning(m, m.tokenise(strings.Repeat(text, 1+n/passageTokens), false))
	if len(ids) < n {
		return nil, fmt.Errorf("the passage has %d tokens, %d are wanted", len(ids), n)
	}
	return ids[:n], nil
}

// passageTokens is the least that a vocabulary makes of the passage; one that makes less is an error.
const passageTokens = 500
