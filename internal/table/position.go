package table

import (
	"strconv"
	"strings"
)

// Position is a place in a table.
type Position struct {
	// File is the path, or "standard input".
	File string
	// Line and Column count from 1; 0 where the place is a whole file, a whole line, or a row of a
	// format without lines.
	Line, Column int
	// Row counts rows from 1 in formats without lines.
	Row int
	// Name is the name of the column; may be empty.
	Name string
}

// String is "file:line:column", or "file: row n, column name" in formats without lines.
func (p Position) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	switch {
	case p.Line > 0:
		b.WriteString(":" + strconv.Itoa(p.Line))
		if p.Column > 0 {
			b.WriteString(":" + strconv.Itoa(p.Column))
		}
	case p.Row > 0:
		b.WriteString(": row " + strconv.Itoa(p.Row))
		if p.Name != "" {
			b.WriteString(", column " + strconv.Quote(p.Name))
		}
	}
	return b.String()
}

// Error is something wrong with a table: where, what, and what to do about it.
type Error struct {
	Position Position
	Problem  string
	// Advice says what the user can do; may be empty.
	Advice string
}

// Error is "position: problem; advice".
func (e *Error) Error() string {
	s := e.Position.String() + ": " + e.Problem
	if e.Advice != "" {
		s += "; " + e.Advice
	}
	return s
}

// BadInput tells the command that the user's input is at fault.
func (e *Error) BadInput() bool { return true }
