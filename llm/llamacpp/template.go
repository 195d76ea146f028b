package llamacpp

import (
	"fmt"
	"strings"

	"github.com/ardanlabs/jinja"

	"github.com/credence-lab/credence/llm"
)

// chatTemplate is the model's own Jinja template, run in Go.
type chatTemplate struct {
	t        *jinja.Template
	bos, eos string
}

// compileTemplate reads the template of a GGUF file; nil where it has none. The date is kept out: a
// template that asks for it takes its fallback, since a reading must not depend on the day it was taken.
func compileTemplate(s shape) (*chatTemplate, error) {
	if s.template == "" {
		return nil, nil
	}
	source := trimBlocks(strings.ReplaceAll(s.template, "strftime_now", "no_date_here"))
	t, err := jinja.Compile(source)
	if err != nil {
		return nil, fmt.Errorf("chat template of the weights: %w", err)
	}
	return &chatTemplate{t: t, bos: s.bosText, eos: s.eosText}, nil
}

// render runs the template with the assistant's turn opened. Thinking is off where a template knows how
// (it then puts in an empty thinking block); its default system message stands.
func (c *chatTemplate) render(messages []llm.Message) (text string, err error) {
	defer func() {
		if r := recover(); r != nil { // the template comes from a file, so a bug it meets is an error
			err = fmt.Errorf("chat template: %v", r)
		}
	}()
	list := make([]any, len(messages))
	for i, m := range messages {
		list[i] = map[string]any{"role": string(m.Role), "content": m.Content}
	}
	text, err = c.t.Render(map[string]any{
		"messages": list, "add_generation_prompt": true, "enable_thinking": false,
		"bos_token": c.bos, "eos_token": c.eos,
	})
	if err != nil {
		return "", fmt.Errorf("chat template: %w", err)
	}
	if len(text) > maxRendered {
		return "", fmt.Errorf("chat template: it makes %d bytes of a prompt, more than %d", len(text), maxRendered)
	}
	return text, nil
}

// maxRendered bounds what goes to the tokeniser, which ends the process when it runs out of memory. It
// is more than any context holds.
const maxRendered = 64 << 20

// trimBlocks removes from a template's source the blanks that the transformers library removes, whose
// environment chat templates are written for: it sets Jinja's trim_blocks and lstrip_blocks and drops a
// newline at the end, which the Jinja package here cannot be told. Blanks before a block at the
// start of a line go, and so does the newline right after a block. A sign in the tag (-, +) overrules.
func trimBlocks(source string) string {
	source = strings.TrimSuffix(source, "\n")
	var out strings.Builder
	fresh := true // source begins a line
	for source != "" {
		open := nextTag(source)
		text, rest := source[:open], source[open:]
		if rest == "" {
			out.WriteString(text)
			break
		}
		n := tagLength(rest)
		tag, after := rest[:n], rest[n:]
		if strings.HasPrefix(tag, "{{") {
			fresh = false
		} else {
			text, tag = trimBefore(text, tag, fresh)
			tag, after, fresh = trimAfter(tag, after)
		}
		out.WriteString(text)
		out.WriteString(tag)
		source = after
	}
	return out.String()
}

// trimBefore removes blanks between the start of a line and a block or comment. fresh says that text
// begins a line.
func trimBefore(text, tag string, fresh bool) (string, string) {
	if len(tag) > 4 && tag[2] == '+' {
		return text, tag[:2] + tag[3:]
	}
	blank := strings.TrimRight(text, " \t")
	if blank == "" && fresh || strings.HasSuffix(blank, "\n") {
		return blank, tag
	}
	return text, tag
}

// trimAfter removes a newline right after a block or comment, and says whether it did.
func trimAfter(tag, after string) (string, string, bool) {
	if n := len(tag); n > 4 && tag[n-3] == '+' {
		return tag[:n-3] + tag[n-2:], after, false
	}
	rest, cut := strings.CutPrefix(after, "\n")
	return tag, rest, cut
}

// nextTag is where the next tag opens, or the end.
func nextTag(s string) int {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '{' && (s[i+1] == '{' || s[i+1] == '%' || s[i+1] == '#') {
			return i
		}
	}
	return len(s)
}

// tagLength is the length of the tag that s begins with, up to its end or that of s. A closing sign in a
// quoted text does not close.
func tagLength(s string) int {
	closing := map[byte]string{'{': "}}", '%': "%}", '#': "#}"}[s[1]]
	var quote byte
	for i := 2; i < len(s); i++ {
		switch {
		case s[1] != '#' && quote != 0 && s[i] == '\\':
			i++
		case s[1] != '#' && quote != 0:
			if s[i] == quote {
				quote = 0
			}
		case s[1] != '#' && (s[i] == '\'' || s[i] == '"'):
			quote = s[i]
		case strings.HasPrefix(s[i:], closing):
			return i + 2
		}
	}
	return len(s)
}
