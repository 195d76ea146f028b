package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// lines reads JSONL: one object a line, lines ending in LF and in nothing else, since U+0085 and
// U+2028 may stand unescaped inside a JSON string.
//
// A process killed while it appends leaves a record cut short, and the next append goes on behind it
// on the same line. So a line may hold the beginning of a record followed by a whole one: the
// beginning is a problem with its place, the whole record is a row. Two whole records on one line are two rows.
type lines struct {
	w     *window
	file  string
	head  *header
	notes *notes
	line  int // of the line at hand, 0 before the first
	text  []byte
	left  bool // the line at hand has something left from scan.i on
	size  int  // bytes of the line at hand with its end
	scan  scanner
}

func newLines(w *window, file string, head *header, n *notes) (*lines, error) {
	l := &lines{w: w, file: file, head: head, notes: n}
	return l, l.preview()
}

func (l *lines) close() error { return nil }

// previewed is how much of a file is looked through for its columns.
const previewed = 64 << 10

// preview registers the keys of the records at the beginning, so that columns can be chosen before the
// first row is read. It consumes nothing. What is wrong with a record is found when it is read.
func (l *lines) preview() error {
	for len(l.w.bytes()) < previewed && !l.w.eof {
		if err := l.w.more(); err != nil {
			return plain(l.cannotRead(err))
		}
	}
	for !l.w.eof && bytes.IndexByte(l.w.bytes(), '\n') < 0 {
		if err := l.w.more(); err != nil {
			return plain(l.cannotRead(err))
		}
	}
	b := l.w.bytes()
	first := true
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 || (end > previewed && !first) {
			end = len(b)
			if !l.w.eof {
				break
			}
		}
		l.scan.reset(b[:end])
		l.scan.blanks()
		_ = l.scan.object(func(key []byte, _ int, _ Cell) error {
			_, err := l.column(key, -1)
			return err
		})
		b = b[min(end+1, len(b)):]
		first = false
	}
	return nil
}

// column returns the index of a key, adding it if it is new. The guess is where it probably is.
func (l *lines) column(key []byte, guess int) (int, error) {
	if guess >= 0 && guess < len(l.head.names) && l.head.names[guess] == string(key) {
		return guess, nil
	}
	if i, ok := l.head.at[string(key)]; ok {
		return i, nil
	}
	if len(l.head.names) >= maxColumns {
		return -1, fmt.Errorf("more than %d different keys", maxColumns)
	}
	return l.head.add(string(key)), nil
}

func (l *lines) next(row *Row) error {
	for {
		if !l.left {
			if err := l.advance(); err != nil {
				return err
			}
		}
		l.scan.blanks()
		if l.scan.i == len(l.text) {
			l.left = false
			continue
		}
		return l.record(row)
	}
}

// advance moves to the next line.
func (l *lines) advance() error {
	l.w.consume(l.size)
	l.size = 0
	from := 0
	for {
		b := l.w.bytes()
		if end := bytes.IndexByte(b[from:], '\n'); end >= 0 {
			l.open(b[:from+end], from+end+1)
			return nil
		}
		if l.w.eof {
			if len(b) == 0 {
				return io.EOF
			}
			l.open(b, len(b))
			return nil
		}
		from = len(b)
		if err := l.w.more(); err != nil {
			return l.cannotRead(err)
		}
	}
}

func (l *lines) open(text []byte, size int) {
	l.line++
	l.text, l.size, l.left = text, size, true
	l.scan.reset(text)
}

// record reads the record that starts at scan.i.
func (l *lines) record(row *Row) error {
	start := l.scan.i
	row.Line, row.file, row.names = l.line, l.file, l.head
	clear(row.cells)
	expected := 0
	err := l.scan.object(func(key []byte, offset int, c Cell) error {
		i, err := l.column(key, expected)
		if err != nil {
			return &syntaxError{offset, err.Error()}
		}
		expected = i + 1
		for len(row.cells) <= i {
			row.cells = append(row.cells, Cell{})
		}
		if row.cells[i].Kind != Absent {
			return &syntaxError{offset, fmt.Sprintf("key %q occurs twice in the record", clip(key))}
		}
		c.line = l.line
		row.cells[i] = c
		if l.scan.replaced && c.Kind == Text {
			l.notes.replace(l.problem(c.column-1, "a lone surrogate, or bytes that are not UTF-8"))
		}
		return nil
	})
	if err == nil {
		return nil
	}
	return l.recover(start, err)
}

// recover turns a record that cannot be read into a problem, and moves to a whole record behind it on
// the same line, if there is one.
func (l *lines) recover(start int, err error) *Error {
	offset, what := start, err.Error()
	var syntax *syntaxError
	if errors.As(err, &syntax) {
		offset = syntax.offset
	}
	problem := l.problem(offset, what)
	if whole := l.wholeRecord(start); whole >= 0 {
		problem = l.problem(start, "a record cut short ("+what+"), with a whole one behind it on the same line")
		l.scan.i = whole
		return problem
	}
	l.left = false
	return problem
}

// maxTries bounds how many places of a line are tried for a whole record.
const maxTries = 16

// wholeRecord returns where, behind start, a whole record begins that reaches to the end of the line
// or to another record; -1 if there is none. It must begin with the key that the cut record begins
// with, or with the first column, so that a nested object is not taken for a record.
func (l *lines) wholeRecord(start int) int {
	key := l.firstKey(start)
	if key == nil {
		return -1
	}
	probe := scanner{b: l.text}
	from := start + 1
	for range maxTries {
		at := bytes.IndexByte(l.text[from:], '{')
		for at >= 0 && !opensWith(l.text[from+at:], key) {
			from += at + 1
			at = bytes.IndexByte(l.text[from:], '{')
		}
		if at < 0 {
			return -1
		}
		probe.i = from + at
		if probe.skip(0) == nil {
			probe.blanks()
			if probe.i == len(probe.b) || probe.b[probe.i] == '{' {
				return from + at
			}
		}
		from += at + 1
	}
	return -1
}

// firstKey is the key, with its quotes, that the record at start begins with, or the first column's.
func (l *lines) firstKey(start int) []byte {
	probe := scanner{b: l.text, i: start}
	if probe.take('{', "") == nil {
		probe.blanks()
		from := probe.i
		if probe.skipString() == nil {
			key := l.text[from:probe.i]
			probe.blanks()
			if probe.take(':', "") == nil {
				return key
			}
		}
	}
	if len(l.head.names) == 0 {
		return nil
	}
	return []byte(`"` + l.head.names[0] + `"`)
}

// opensWith reports whether b is an opening brace followed by key.
func opensWith(b, key []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(b[1:], " \t"), key)
}

func (l *lines) problem(offset int, what string) *Error {
	return &Error{Position: Position{File: l.file, Line: l.line, Column: offset + 1}, Problem: what,
		Advice: "mend or remove the record"}
}

func (l *lines) cannotRead(err error) error {
	if err != errRecordTooLong {
		return readError(l.file, l.line+1, err)
	}
	return &fatal{&Error{Position: Position{File: l.file, Line: l.line + 1},
		Problem: fmt.Sprintf("a line longer than %d bytes", l.w.max), Advice: "is this JSONL, one record a line?"}}
}
