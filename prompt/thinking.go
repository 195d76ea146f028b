package prompt

import (
	"regexp"
	"strings"

	"github.com/credence-lab/credence/record"
)

// thinkingTag matches the tags around the reasoning that models write before they answer: those of
// the Qwen and DeepSeek families, their long form, and those of the Mistral family.
var thinkingTag = regexp.MustCompile(`(?i)<(/?)think(?:ing)?>|\[(/?)THINK\]`)

// WithoutThinking is the reply without its thinking blocks, or record.UnclosedThinking where it ends inside one.
func WithoutThinking(reply string) (string, record.Missing) {
	text, closed := afterThinking(reply)
	if !closed {
		return "", record.UnclosedThinking
	}
	return text, record.Present
}

// afterThinking returns the reply without its thinking blocks. Text before a closing tag that was
// never opened is thinking too: the template opened it in the prompt. closed is false where the reply
// ends inside a block; whatever it says there is no answer.
func afterThinking(reply string) (text string, closed bool) {
	var kept strings.Builder
	inside, from := false, 0
	for _, m := range thinkingTag.FindAllStringSubmatchIndex(reply, -1) {
		closing := m[2] < m[3] || m[4] < m[5]
		switch {
		case closing:
			if !inside {
				kept.Reset()
			}
			inside, from = false, m[1]
		case !inside:
			kept.WriteString(reply[from:m[0]])
			kept.WriteByte('\n') // A block parts the lines around it.
			inside = true
		}
	}
	if inside {
		return "", false
	}
	kept.WriteString(reply[from:])
	return kept.String(), true
}
