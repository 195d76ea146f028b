package table

import (
	"fmt"
	"strings"
)

// NoteKind says what a note is about. The values are stable and for machines.
type NoteKind string

const (
	// Skipped records could not be read; the rows do not hold them.
	Skipped NoteKind = "unreadable-records-skipped"
	// Replaced characters: bytes that are no UTF-8, or a lone surrogate, became U+FFFD.
	Replaced NoteKind = "characters-replaced"
	// MixedLineEnds: the lines do not all end alike. All ends were taken as ends.
	MixedLineEnds NoteKind = "mixed-line-ends"
)

// maxPlaces is how many places a note remembers.
const maxPlaces = 5

// Note counts one kind of irregularity and remembers where it occurred first.
type Note struct {
	Kind  NoteKind
	Count int
	// Places are the first few, each saying what was wrong there.
	Places []*Error
}

// String is a sentence for people.
func (n Note) String() string {
	var b strings.Builder
	switch n.Kind {
	case Skipped:
		fmt.Fprintf(&b, "%d %s skipped", n.Count, plural(n.Count, "record", "records"))
	case Replaced:
		fmt.Fprintf(&b, "%d %s replaced by U+FFFD", n.Count, plural(n.Count, "cell with a character", "cells with characters"))
	case MixedLineEnds:
		b.WriteString("line ends are mixed, each was taken as one")
	}
	for i, e := range n.Places {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		b.WriteString(sep + e.Position.String() + ": " + e.Problem)
	}
	if more := n.Count - len(n.Places); more > 0 && n.Kind != MixedLineEnds {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	return b.String()
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

type notes struct{ skipped, replaced, ends Note }

func newNotes() *notes {
	return &notes{skipped: Note{Kind: Skipped}, replaced: Note{Kind: Replaced}, ends: Note{Kind: MixedLineEnds}}
}

func (n *Note) add(e *Error) {
	n.Count++
	if len(n.Places) < maxPlaces {
		n.Places = append(n.Places, e)
	}
}

func (n *notes) skip(e *Error)    { n.skipped.add(e) }
func (n *notes) replace(e *Error) { n.replaced.add(e) }

func (n *notes) mixed(at Position, problem string) {
	if n.ends.Count == 0 {
		n.ends.add(&Error{Position: at, Problem: problem})
	}
}

func (n *notes) list() []Note {
	var out []Note
	for _, note := range []Note{n.skipped, n.replaced, n.ends} {
		if note.Count > 0 {
			out = append(out, note)
		}
	}
	return out
}
