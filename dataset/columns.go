package dataset

import (
	"errors"
	"fmt"
	"strings"

	"github.com/credence-lab/credence/internal/table"
)

// columns are the resolved columns of a mapping; -1 or empty where there is none.
type columns struct {
	id, question, field        int
	answer, incorrect, choices []int
	// plainCells says that the format has no lists of its own, so that a text may hold one.
	plainCells bool
}

// The names that the zero Mapping looks for, in this order, without regard to case.
var (
	usualAnswers   = []string{"answer", "answers", "references"}
	usualIncorrect = []string{"incorrect", "incorrect_answers"}
	usualFields    = []string{"field", "category"}
)

// resolve finds the columns that the mapping names, guesses those that it leaves open, and notes the guesses.
func (b *builder) resolve(r *table.Reader, m Mapping) error {
	b.plainCells = r.Format() == table.CSV || r.Format() == table.TSV
	f := finder{r: r}
	b.question = f.required("question", m.Question, "question")
	b.answer = f.answers(m.Answer)
	b.id = f.optional("id", m.ID, "id")
	b.incorrect = f.several("incorrect", m.Incorrect, usualIncorrect...)
	b.choices = f.several("choices", m.Choices, "choices")
	b.field = f.optional("field", m.Field, usualFields...)
	if f.err != nil {
		return f.err
	}
	if len(f.guessed) > 0 {
		b.note("columns taken by their usual names: %s", strings.Join(f.guessed, ", "))
	}
	if b.id < 0 {
		b.note("no id column is mapped: ids are made from the row number (row-1, row-2, …), so keep the order of the rows when the file grows")
	}
	return nil
}

// finder looks columns up and keeps the first error.
type finder struct {
	r       *table.Reader
	guessed []string
	err     error
}

// named looks up a column that the user named for a role.
func (f *finder) named(role, name string) int {
	i, err := f.r.Lookup(name)
	var e *table.Error
	if errors.As(err, &e) {
		e.Problem += fmt.Sprintf(" (mapped as %s)", role)
	}
	f.fail(err)
	return i
}

func (f *finder) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// guess returns the first of the usual names that the table has, or -1.
func (f *finder) guess(role string, usual ...string) int {
	for _, name := range usual {
		for i, column := range f.r.Columns() {
			if strings.EqualFold(strings.TrimSpace(column), name) {
				f.guessed = append(f.guessed, fmt.Sprintf("%s = %q", role, column))
				return i
			}
		}
	}
	return -1
}

func (f *finder) optional(role, name string, usual ...string) int {
	if name != "" {
		return f.named(role, name)
	}
	return f.guess(role, usual...)
}

func (f *finder) required(role, name string, usual ...string) int {
	i := f.optional(role, name, usual...)
	if i < 0 && name == "" {
		f.fail(&table.Error{
			Position: table.Position{File: f.r.Name()},
			Problem:  fmt.Sprintf("no column for the %s (looked for %s)", role, strings.Join(usual, ", ")),
			Advice:   "map it; " + table.Suggest(role, f.r.Columns()),
		})
	}
	return i
}

func (f *finder) several(role string, names Columns, usual ...string) []int {
	var all []int
	for _, name := range names {
		all = append(all, f.named(role, name))
	}
	if len(names) == 0 {
		if i := f.guess(role, usual...); i >= 0 {
			all = append(all, i)
		}
	}
	return all
}

// answers finds the accepted answers. Where the usual name is "answer", aliases beside it count too.
func (f *finder) answers(names Columns) []int {
	if len(names) > 0 {
		return f.several("answer", names)
	}
	first := f.required("answer", "", usualAnswers...)
	if first < 0 {
		return nil
	}
	all := []int{first}
	if strings.EqualFold(strings.TrimSpace(f.r.Columns()[first]), "answer") {
		if i := f.guess("aliases", "aliases"); i >= 0 {
			all = append(all, i)
		}
	}
	return all
}
