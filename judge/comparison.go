package judge

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/credence-lab/credence/internal/overlap"
	"github.com/credence-lab/credence/internal/text"
	"github.com/credence-lab/credence/record"
)

// comparison is an answer beside its item. What several judges need of it is made once. It keeps its
// memory for the next answer.
type comparison struct {
	answer     string
	references []string // those with visible text
	choices    []string

	cases   [text.Folded + 1]cased
	counter overlap.Counter
	cuts    [text.Unicode + 1]cut
	words   []string
	runs    []int32
	listed  [][]int32

	outcomes []Outcome
}

// cased is answer and references in one case.
type cased struct {
	done       bool
	answer     string
	references []string
}

// cut is answer and references as numbered words of one tokeniser.
type cut struct {
	done       bool
	vocabulary overlap.Vocabulary
	answer     []int32
	references [][]int32
}

// set takes up an answer. It returns why nothing can be judged, or [record.Present].
func (c *comparison) set(answer record.Answer, item record.Item) record.Missing {
	c.answer, c.choices, c.references = answer.Text, item.Choices, c.references[:0]
	for i := range c.cases {
		c.cases[i].done = false
	}
	for i := range c.cuts {
		c.cuts[i].done = false
	}
	for _, reference := range item.References {
		if visible(reference) {
			c.references = append(c.references, reference)
		}
	}
	switch {
	case answer.Missing != record.Present:
		return record.AnswerMissing
	case !visible(answer.Text):
		return record.EmptyAnswer
	case len(c.references) == 0:
		return record.NoReference
	}
	return record.Present
}

// visible reports whether a text is more than blanks and invisible characters.
func visible(s string) bool {
	if s != "" && s[0] > ' ' && s[0] < utf8.RuneSelf {
		return true
	}
	return strings.ContainsFunc(s, func(r rune) bool { return !text.IsBlank(r) && !unicode.Is(unicode.Cf, r) })
}

// any reports whether one of the references will do.
func (c *comparison) any(matches func(reference string) bool) bool {
	for _, reference := range c.references {
		if matches(reference) {
			return true
		}
	}
	return false
}

// inCase returns the texts in a case.
func (c *comparison) inCase(k text.Case) *cased {
	out := &c.cases[k]
	if out.done {
		return out
	}
	out.done, out.answer, out.references = true, k.Of(c.answer), out.references[:0]
	for _, reference := range c.references {
		out.references = append(out.references, k.Of(reference))
	}
	return out
}

// cut returns the words of answer and references.
func (c *comparison) cut(by text.Tokeniser) *cut {
	out := &c.cuts[by]
	if out.done {
		return out
	}
	out.done = true
	out.vocabulary.Reset()
	texts := c.inCase(by.Case())
	out.answer = c.number(out, out.answer, by, texts.answer)
	for i, reference := range texts.references {
		if i == cap(out.references) {
			out.references = append(out.references[:i], nil)
		}
		out.references = out.references[:i+1]
		out.references[i] = c.number(out, out.references[i], by, reference)
	}
	out.references = out.references[:len(c.references)]
	return out
}

func (c *comparison) number(out *cut, into []int32, by text.Tokeniser, cased string) []int32 {
	c.words = by.Cut(c.words[:0], cased)
	return out.vocabulary.Append(into[:0], c.words)
}

// best is the highest score that a reference gives.
func (c *comparison) best(by text.Tokeniser, score func(answer, reference []int32) float64) record.Number {
	words, best := c.cut(by), 0.0
	for _, reference := range words.references {
		best = max(best, score(words.answer, reference))
	}
	return record.Known(best)
}
