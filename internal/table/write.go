package table

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// Writer writes CSV for other programs, spreadsheets among them. A text that a spreadsheet would run
// as a formula gets an apostrophe in front; numbers, however they begin, are written so that reading
// them gives the same float64.
type Writer struct {
	csv   *csv.Writer
	cells []string
}

// NewWriter returns a writer of CSV with LF line ends.
func NewWriter(w io.Writer) *Writer { return &Writer{csv: csv.NewWriter(w)} }

// Text adds a cell of text to the row.
func (w *Writer) Text(s string) { w.cells = append(w.cells, Neutral(s)) }

// Float adds a cell with a number; it must be finite.
func (w *Writer) Float(x float64) { w.cells = append(w.cells, strconv.FormatFloat(x, 'g', -1, 64)) }

// Int adds a cell with an integer.
func (w *Writer) Int(n int) { w.cells = append(w.cells, strconv.Itoa(n)) }

// Empty adds a cell for a missing value.
func (w *Writer) Empty() { w.cells = append(w.cells, "") }

// End ends the row.
func (w *Writer) End() error {
	err := w.csv.Write(w.cells)
	w.cells = w.cells[:0]
	return err
}

// Flush writes out what is buffered, and reports the first error of all writing.
func (w *Writer) Flush() error {
	w.csv.Flush()
	return w.csv.Error()
}

// Neutral returns s so that no spreadsheet takes it for a formula: with an apostrophe in front if it
// begins as one does and is no number. [Plain] is its inverse.
func Neutral(s string) string {
	if s == "" {
		return s
	}
	switch s[0] {
	case '=', '@', '\t', '\r', '\n':
		return "'" + s
	case '+', '-':
		if _, err := ParseFloat([]byte(s)); err != nil {
			return "'" + s
		}
	case '\'':
		if Neutral(s[1:]) != s[1:] {
			return "'" + s
		}
	}
	return s
}

// Plain is what [Neutral] was given.
func Plain(s string) string {
	if rest, ok := strings.CutPrefix(s, "'"); ok && Neutral(rest) != rest {
		return rest
	}
	return s
}
