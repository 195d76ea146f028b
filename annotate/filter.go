package annotate

import (
	"fmt"
	"strings"
)

// Filter says which answers an annotator wants to see. The zero value is [Open].
type Filter string

const (
	// Open answers have no label of this annotator yet.
	Open Filter = ""
	// Everything is all answers, Labelled those with a label of this annotator, Noted those whose label has a
	// note.
	Everything Filter = "all"
	Labelled   Filter = "labelled"
	Noted      Filter = "noted"
)

// openName is how people ask for what is open.
const openName = "open"

// ParseFilter returns the filter of that name: open, all, labelled, noted, a label, or a slash and a text that
// question, references or answer contain, in whatever case. The error of an unknown one lists them.
func ParseFilter(text string) (Filter, error) {
	text = strings.TrimSpace(text)
	switch f := Filter(strings.ToLower(text)); f {
	case Everything, Labelled, Noted, Filter(Correct), Filter(Incorrect), Filter(Unsure):
		return f, nil
	case Open, openName:
		return Open, nil
	}
	if words, ok := strings.CutPrefix(text, "/"); ok && words != "" {
		return Filter("/" + words), nil
	}
	return Open, fmt.Errorf("unknown filter %q: use %s, %s, %s, %s, %s, %s, %s, or /TEXT for what contains a text",
		text, openName, Everything, Labelled, Noted, Correct, Incorrect, Unsure)
}

// String is the name by which [ParseFilter] knows the filter.
func (f Filter) String() string {
	if f == Open {
		return openName
	}
	return string(f)
}

// Shows reports whether a task is shown, given the annotator's label that stands on it; the zero entry where there
// is none.
func (f Filter) Shows(t Task, e Entry) bool {
	switch f {
	case Open:
		return e.Label == ""
	case Everything:
		return true
	case Labelled:
		return e.Label != ""
	case Noted:
		return e.Note != ""
	}
	words, text := strings.CutPrefix(string(f), "/")
	if !text {
		return string(e.Label) == string(f)
	}
	for _, has := range append([]string{t.Question, t.Text}, t.References...) {
		if strings.Contains(strings.ToLower(has), strings.ToLower(words)) {
			return true
		}
	}
	return false
}
