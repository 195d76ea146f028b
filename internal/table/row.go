package table

import (
	"fmt"
	"math"
	"strconv"
)

// Kind is what a cell holds, as its format tells. CSV and TSV know text alone.
type Kind uint8

const (
	// Absent: the record has no such key.
	Absent Kind = iota
	// Null: the format's own null.
	Null
	// Text is a string.
	Text
	// Number is a number; its text is as it stands in the file. JSONL may hold the literals NaN,
	// Infinity and -Infinity, which some writers emit against the standard.
	Number
	// Bool has the text "true" or "false".
	Bool
	// JSON is a list or an object, its text being JSON.
	JSON
)

// Cell is one value of a row. It is valid until the next row is read.
type Cell struct {
	Kind Kind
	// text is nil for numbers that came in binary.
	text []byte
	num  float64
	// binary says that num holds the number, not text; integer that it is a whole one.
	binary, integer bool
	// parsed says that num is the number of the text.
	parsed       bool
	line, column int
}

// Bytes is the text of the cell, valid until the next row is read.
func (c *Cell) Bytes() []byte {
	switch {
	case c.text != nil || !c.binary:
	case c.integer:
		c.text = strconv.AppendInt(nil, int64(c.num), 10)
	default:
		c.text = strconv.AppendFloat(nil, c.num, 'g', -1, 64)
	}
	return c.text
}

// String is a copy of the text of the cell.
func (c *Cell) String() string { return string(c.Bytes()) }

// Binary returns the number of a cell that came as one and not as text, and whether it did.
func (c *Cell) Binary() (float64, bool) { return c.num, c.binary }

// Float returns the number that a Text or Number cell holds. See [ParseFloat] for what counts as one.
func (c *Cell) Float() (float64, error) {
	if c.binary || c.parsed {
		return c.num, nil
	}
	return ParseFloat(c.text)
}

// Row is one record. It is valid until the next one is read.
type Row struct {
	// Number counts the rows returned, from 1.
	Number int
	// Line is the line on which the record begins; 0 in formats without lines.
	Line  int
	file  string
	names *header
	cells []Cell
}

var absent = Cell{Kind: Absent}

// Cell returns the cell of a column by its index. A record that has no such column has an Absent cell.
func (r *Row) Cell(column int) *Cell {
	if column < 0 || column >= len(r.cells) {
		return &absent
	}
	return &r.cells[column]
}

// Clone is a copy that stays valid. It shares nothing with r but the column names.
func (r *Row) Clone() *Row {
	c := *r
	c.cells = append([]Cell(nil), r.cells...)
	for i := range c.cells {
		c.cells[i].text = append([]byte(nil), c.cells[i].text...)
	}
	return &c
}

// Position says where the cell of a column stands, or would stand.
func (r *Row) Position(column int) Position {
	p := Position{File: r.file, Line: r.Line}
	if r.Line == 0 {
		p.Row = r.Number
	}
	if column >= 0 && column < len(r.names.names) {
		p.Name = r.names.names[column]
	}
	if c := r.Cell(column); c.line > 0 {
		p.Line, p.Column = c.line, c.column
	}
	return p
}

// Errorf returns an *Error at the cell of a column.
func (r *Row) Errorf(column int, advice, format string, args ...any) *Error {
	return &Error{Position: r.Position(column), Problem: fmt.Sprintf(format, args...), Advice: advice}
}

func (c *Cell) setText(kind Kind, text []byte, line, column int) {
	*c = Cell{Kind: kind, text: text, line: line, column: column}
}

func (c *Cell) setNumber(x float64) {
	*c = Cell{Kind: Number, num: x, binary: true}
	if math.IsNaN(x) {
		c.text = []byte("NaN")
	}
}
