package llamacpp

import (
	"errors"
	"fmt"
	"strings"

	"github.com/credence-lab/credence/llm"
)

// A prompt mixes two kinds of text. The template's own words hold the tokens that open and close turns,
// and must be read as such. What a request puts in is data: a question that spells "<|im_end|>" must
// not end the turn. So texts of control tokens are looked for in the template's words only.

// part is a piece of a rendered prompt: the template's words, or data.
type part struct {
	text string
	data bool
}

// parts renders the chat and tells the template's words from data. It renders twice, once with marks in
// the place of the messages, and returns an error where the two do not match: the template then does
// more with a message than to put it in, with or without the blanks around it.
func (c *chatTemplate) parts(messages []llm.Message) ([]part, error) {
	text, err := c.render(messages)
	if err != nil {
		return nil, err
	}
	marked := make([]llm.Message, len(messages))
	for i, m := range messages {
		marked[i] = llm.Message{Role: m.Role, Content: mark(i)}
	}
	skeleton, err := c.render(marked)
	if err != nil {
		return nil, err
	}
	for _, put := range []func(string) string{func(s string) string { return s }, strings.TrimSpace} {
		if p := splitAtMarks(skeleton, messages, put); join(p) == text {
			return p, nil
		}
	}
	return nil, errMixed
}

// errMixed says that data cannot be told from the template's words.
var errMixed = errors.New("the chat template changes its messages, so the text of a control token in them cannot be kept apart")

// mark stands for message i. Its characters are for private use and occur in no template.
func mark(i int) string { return fmt.Sprintf("\uE0FA%d\uE0FB", i) }

func splitAtMarks(skeleton string, messages []llm.Message, put func(string) string) []part {
	var out []part
	for skeleton != "" {
		at, which := len(skeleton), -1
		for i := range messages {
			if k := strings.Index(skeleton, mark(i)); k >= 0 && k < at {
				at, which = k, i
			}
		}
		out = append(out, part{text: skeleton[:at]})
		if which < 0 {
			break
		}
		out = append(out, part{put(messages[which].Content), true})
		skeleton = skeleton[at+len(mark(which)):]
	}
	return out
}

func join(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.text)
	}
	return b.String()
}

// tokeniser is the part of a model that turns text into tokens.
type tokeniser interface {
	tokenise(text string, special bool) []int32
	// control lists the control tokens, the longest text first.
	control() []specialToken
	// beginning is the token that the vocabulary puts before a text, and whether it does.
	beginning() (int32, bool)
}

// chatTokens are the tokens of a chat with the assistant's turn opened. Where no data spell a control
// token the text is tokenised as one, as every other tool does; else by parts.
func chatTokens(c *chatTemplate, v tokeniser, p llm.Prompt) ([]int32, error) {
	for _, m := range p.Messages {
		switch m.Role {
		case llm.System, llm.User, llm.Assistant:
		default:
			return nil, fmt.Errorf("prompt: role %q is none of system, user, assistant", m.Role)
		}
	}
	if !spellsControl(v, p) {
		text, err := c.render(p.Messages)
		if err != nil {
			return nil, err
		}
		return withBeginning(v, v.tokenise(text+p.Opening, true)), nil
	}
	parts, err := c.parts(p.Messages)
	if err != nil {
		return nil, err
	}
	return withBeginning(v, tokeniseParts(v, append(parts, part{p.Opening, true}))), nil
}

func spellsControl(v tokeniser, p llm.Prompt) bool {
	for _, s := range v.control() {
		if strings.Contains(p.Opening, s.text) {
			return true
		}
		for _, m := range p.Messages {
			if strings.Contains(m.Content, s.text) {
				return true
			}
		}
	}
	return false
}

// tokeniseParts cuts at the control tokens that the template spells, and tokenises what lies between as
// plain text, across the border of template and data.
func tokeniseParts(v tokeniser, parts []part) []int32 {
	var out []int32
	var plain strings.Builder
	flush := func() {
		out = append(out, v.tokenise(plain.String(), false)...)
		plain.Reset()
	}
	for _, p := range parts {
		if p.data {
			plain.WriteString(p.text)
			continue
		}
		for rest := p.text; rest != ""; {
			at, tok := firstControl(v, rest)
			plain.WriteString(rest[:at])
			if at == len(rest) {
				break
			}
			flush()
			out = append(out, tok.id)
			rest = rest[at+len(tok.text):]
		}
	}
	flush()
	return out
}

// firstControl finds the first control token in text, the longest where several begin there.
func firstControl(v tokeniser, text string) (int, specialToken) {
	at, found := len(text), specialToken{}
	for _, s := range v.control() {
		if k := strings.Index(text, s.text); k >= 0 && k < at {
			at, found = k, s
		}
	}
	return at, found
}

// plainTokens are the tokens of a text for a model without template.
func plainTokens(v tokeniser, p llm.Prompt) []int32 {
	ids := v.tokenise(p.Text, false)
	if p.NoBOS {
		return ids
	}
	return withBeginning(v, ids)
}

// withBeginning puts the beginning-of-sequence token before ids if the vocabulary wants it and a
// template has not put it there.
func withBeginning(v tokeniser, ids []int32) []int32 {
	bos, add := v.beginning()
	if !add || (len(ids) > 0 && ids[0] == bos) {
		return ids
	}
	return append([]int32{bos}, ids...)
}
