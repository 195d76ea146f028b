package table

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/credence-lab/credence/internal/nearest"
)

// header holds the column names and finds them again.
type header struct {
	names []string
	at    map[string]int
}

func newHeader() *header { return &header{at: map[string]int{}} }

// add appends a column. Its name must be new.
func (h *header) add(name string) int {
	i := len(h.names)
	h.names = append(h.names, name)
	h.at[name] = i
	return i
}

func (h *header) index(name string) int {
	if i, ok := h.at[name]; ok {
		return i
	}
	return -1
}

// Unnamed is the name given to the n-th column (from 1) where the header leaves it empty.
func Unnamed(n int) string { return "column " + strconv.Itoa(n) }

// Lookup returns the index of a column, or an *Error that suggests the nearest name and lists those there are.
func (r *Reader) Lookup(name string) (int, error) {
	if i := r.Index(name); i >= 0 {
		return i, nil
	}
	return -1, &Error{
		Position: Position{File: r.name},
		Problem:  fmt.Sprintf("no column %q", name),
		Advice:   Suggest(name, r.Columns()),
	}
}

// Suggest says which of the names is nearest to the one that was not found, if any is, and lists them.
func Suggest(name string, names []string) string {
	list := "the columns are " + quoteList(names)
	if near, ok := nearest.Of(name, names); ok && name != "" {
		return fmt.Sprintf("did you mean %q? %s", near, list)
	}
	return list
}

// maxListed bounds how many names an error lists.
const maxListed = 20

func quoteList(names []string) string {
	shown := names[:min(len(names), maxListed)]
	quoted := make([]string, len(shown))
	for i, n := range shown {
		quoted[i] = strconv.Quote(n)
	}
	list := strings.Join(quoted, ", ")
	if more := len(names) - len(shown); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}
