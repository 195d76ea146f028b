// Package table reads tables of other people as a stream of rows: CSV, TSV, JSONL and Parquet, plain
// or compressed with gzip or zstd, from a file or from standard input.
//
// Three promises hold for every format. Each cell knows where it stands, so that whoever finds it
// wanting can say so by file, line and column. No row is dropped in silence: a record that cannot be
// read ends the reading with an [Error], or, unless [Options].Strict is set, is skipped, counted and
// kept with its position in [Reader.Notes]. And memory is bounded by the longest record, not by the file.
//
// Lines, columns and row numbers count from 1; columns count bytes, as compilers do.
package table

import (
	"io"
)

// Options say how to read. The zero Options read whatever the content shows itself to be.
type Options struct {
	// Stdin is read where the name is "-". Nil: "-" is refused.
	Stdin io.Reader
	// Format is what the bytes are, once decompressed. Empty: found out from content and name.
	Format Format
	// Strict makes a record that cannot be read an error instead of a counted skip.
	Strict bool
	// MaxRecord is the longest record in bytes; 0 is 64 MiB. It bounds what an open quote can swallow.
	MaxRecord int
}

const (
	defaultMaxRecord = 64 << 20
	// maxColumns bounds what a JSONL file can make of its keys.
	maxColumns = 16384
)

// decoder reads the records of one format.
type decoder interface {
	// next reads a record into row. It returns io.EOF at the end, an *Error for a record that cannot
	// be read but after which reading can go on, and a *fatal for one after which it cannot.
	next(row *Row) error
	close() error
}

// fatal wraps an error after which the place of the next record is unknown.
type fatal struct{ err *Error }

func (f *fatal) Error() string { return f.err.Error() }

// Reader is a table being read. It is not safe for concurrent use.
type Reader struct {
	name    string
	format  Format
	strict  bool
	header  *header
	notes   *notes
	dec     decoder
	closers []io.Closer
	row     Row
	rows    int
	err     error
}

// Name is what messages call the input: the path, or "standard input".
func (r *Reader) Name() string { return r.name }

// Format is the format that the content turned out to have.
func (r *Reader) Format() Format { return r.format }

// Columns are the names of the columns, in order. In JSONL they are the keys met so far, in the order
// of their first appearance; the beginning of the file has been looked at before the first row. The
// slice must not be changed.
func (r *Reader) Columns() []string { return r.header.names }

// Index returns the position of a column, or -1.
func (r *Reader) Index(name string) int { return r.header.index(name) }

// Read returns the next row, valid until the next call. It returns io.EOF after the last one, and an
// *Error if the table has no row at all. Once it has failed, it goes on failing with the same error.
func (r *Reader) Read() (*Row, error) {
	if r.err != nil {
		return nil, r.err
	}
	for {
		err := r.dec.next(&r.row)
		if err == nil {
			r.rows++
			r.row.Number = r.rows
			return &r.row, nil
		}
		problem, canGoOn := err.(*Error)
		if canGoOn && !r.strict {
			r.notes.skip(problem)
			continue
		}
		r.err = r.final(err)
		return nil, r.err
	}
}

// final turns what ended the reading into what the caller sees.
func (r *Reader) final(err error) error {
	if f, ok := err.(*fatal); ok {
		return f.err
	}
	if err == io.EOF && r.rows == 0 {
		return r.noRows()
	}
	return err
}

func (r *Reader) noRows() *Error {
	e := &Error{Position: Position{File: r.name}, Problem: "no rows",
		Advice: "the file has a header and nothing else: is it the right one?"}
	if r.format == JSONL {
		e.Advice = "the file holds no record: is it the right one?"
	}
	if skipped := r.notes.skipped; skipped.Count > 0 {
		e.Problem = "no row that could be read: " + skipped.String()
		e.Advice = ""
	}
	return e
}

// Rows is the number of rows returned so far.
func (r *Reader) Rows() int { return r.rows }

// Notes are what a user should know of the rows read so far: skipped records, replaced characters,
// mixed line ends. They are complete once Read has returned io.EOF.
func (r *Reader) Notes() []Note { return r.notes.list() }

// Close releases the file. It does not close Options.Stdin.
func (r *Reader) Close() error {
	var first error
	if r.dec != nil {
		first = r.dec.close()
	}
	for i := len(r.closers) - 1; i >= 0; i-- {
		if err := r.closers[i].Close(); err != nil && first == nil {
			first = err
		}
	}
	r.closers = nil
	return first
}
