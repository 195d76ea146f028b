package prompt

import (
	"errors"
	"fmt"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode/utf8"
)

// maxTemplate bounds a user's prompt, in bytes. Longer than any instruction; shorter than a mistake
// such as naming a data file.
const maxTemplate = 64 << 10

// compiled is a checked template. Its only action is {{.Question}}.
type compiled struct {
	text string
	tmpl *template.Template
}

// compile parses a template and refuses everything but text and {{.Question}}: with no function, no
// loop and no other field, what a template can do is put a question between words.
func compile(name Name, text string) (compiled, error) {
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), " \t\n")
	switch {
	case len(text) > maxTemplate:
		return compiled{}, fmt.Errorf("prompt %s: %d bytes, at most %d are allowed", name, len(text), maxTemplate)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return compiled{}, fmt.Errorf("prompt %s: not a text: save it as UTF-8", name)
	}
	tmpl, err := template.New(string(name)).Parse(text)
	if err != nil {
		return compiled{}, fmt.Errorf("prompt %s: %w", name, err)
	}
	asked, err := checkTree(tmpl)
	switch {
	case err != nil:
		return compiled{}, fmt.Errorf("prompt %s: %w", name, err)
	case asked == 0:
		return compiled{}, fmt.Errorf("prompt %s: {{.Question}} is missing: put it where the question goes", name)
	}
	return compiled{text, tmpl}, nil
}

// checkTree counts the questions of a template and returns an error for any other action.
func checkTree(tmpl *template.Template) (questions int, err error) {
	if len(tmpl.Templates()) > 1 {
		return 0, errors.New("a template within the template is not allowed")
	}
	if tmpl.Tree == nil {
		return 0, nil
	}
	for _, node := range tmpl.Root.Nodes {
		switch n := node.(type) {
		case *parse.TextNode, *parse.CommentNode:
		case *parse.ActionNode:
			if n.Pipe.String() != ".Question" {
				return 0, fmt.Errorf("line %d: {{%s}}: the only field is {{.Question}}", n.Line, n.Pipe)
			}
			questions++
		default:
			return 0, fmt.Errorf("%s: only {{.Question}} may stand in a prompt", firstLine(node.String()))
		}
	}
	return questions, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// fill puts the question in its place. The question is data: actions within it stay text.
func (c compiled) fill(question string) (string, error) {
	var b strings.Builder
	b.Grow(len(c.text) + len(question))
	err := c.tmpl.Execute(&b, struct{ Question string }{question})
	return b.String(), err
}
