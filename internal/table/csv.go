package table

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"
)

// separated reads CSV and TSV as RFC 4180 describes them, with what people have on disk besides: any
// of LF, CRLF and CR ends a record, blank lines between records are passed over, and a quote inside an
// unquoted cell is an ordinary character.
type separated struct {
	w     *window
	file  string
	delim byte
	head  *header
	notes *notes
	line  int // the line that the next record begins on
	ends  lineEnd
	spans []span
	// unescaped holds the text of quoted cells with doubled or damaged characters.
	unescaped []byte
}

// span is a cell within the record, before its text is taken out.
type span struct {
	from, to int
	line     int // counted from the record's first line, which is 0
	column   int
	doubled  bool // has doubled quotes
}

type lineEnd uint8

const (
	noEnd lineEnd = iota
	lf
	crlf
	cr
)

func (e lineEnd) String() string { return [...]string{"none", "LF", "CRLF", "CR"}[e] }

func newSeparated(w *window, file string, delim byte, head *header, n *notes) (*separated, error) {
	s := &separated{w: w, file: file, delim: delim, head: head, notes: n, line: 1}
	return s, s.readHeader()
}

func (s *separated) close() error { return nil }

// readHeader takes the first record that is not blank as the names of the columns.
func (s *separated) readHeader() error {
	rec, at, err := s.record()
	for err == nil && s.blank() {
		rec, at, err = s.record()
	}
	if err == io.EOF {
		return &Error{Position: Position{File: s.file}, Problem: "no rows", Advice: "the file is empty: is it the right one?"}
	}
	if err != nil {
		return plain(err)
	}
	if len(s.spans) > maxColumns {
		return s.errorAt(at, "", "%d columns, more than %d", len(s.spans), maxColumns)
	}
	first := map[string]span{}
	for i, sp := range s.spans {
		name := string(bytes.TrimSpace(s.text(rec, sp)))
		if name == "" {
			name = Unnamed(i + 1)
		}
		if earlier, twice := first[name]; twice {
			return &Error{
				Position: Position{File: s.file, Line: at + sp.line, Column: sp.column},
				Problem: fmt.Sprintf("duplicate header: column %q is already at line %d, column %d",
					name, at+earlier.line, earlier.column),
				Advice: "give each column a name of its own",
			}
		}
		first[name] = sp
		s.head.add(name)
	}
	return nil
}

func (s *separated) next(row *Row) error {
	for {
		rec, at, err := s.record()
		if err != nil {
			return err
		}
		if s.blank() && len(s.head.names) > 1 {
			continue
		}
		if len(s.spans) != len(s.head.names) {
			return s.ragged(at)
		}
		s.fill(row, rec, at)
		return nil
	}
}

// blank reports whether the record is an empty line. In a table of one column that is a row with an
// empty cell.
func (s *separated) blank() bool {
	return len(s.spans) == 1 && s.spans[0].from == s.spans[0].to && s.spans[0].from == 0
}

func (s *separated) ragged(at int) *Error {
	got, want := len(s.spans), len(s.head.names)
	e := &Error{Position: Position{File: s.file, Line: at},
		Problem: fmt.Sprintf("%d %s where the header has %d", got, plural(got, "cell", "cells"), want)}
	if got > want {
		e.Position.Line, e.Position.Column = at+s.spans[want].line, s.spans[want].column
		e.Advice = "quote cells that hold a delimiter"
	} else {
		e.Advice = "the record looks cut"
	}
	return e
}

func (s *separated) fill(row *Row, rec []byte, at int) {
	row.Line, row.file, row.names = at, s.file, s.head
	if cap(row.cells) < len(s.spans) {
		row.cells = make([]Cell, len(s.spans))
	}
	row.cells = row.cells[:len(s.spans)]
	s.unescaped = s.unescaped[:0]
	damaged := !utf8.Valid(rec)
	for i, sp := range s.spans {
		text := s.text(rec, sp)
		if damaged && !utf8.Valid(text) {
			s.notes.replace(&Error{Position: Position{File: s.file, Line: at + sp.line, Column: sp.column}, Problem: notUTF8})
			text = validUTF8(text)
		}
		row.cells[i].setText(Text, text, at+sp.line, sp.column)
	}
}

// validUTF8 is text with U+FFFD for each byte that is no part of a character.
func validUTF8(text []byte) []byte { return []byte(string([]rune(string(text)))) }

const notUTF8 = "text that is not UTF-8 (convert the file: iconv -f WINDOWS-1252 -t UTF-8)"

// text is the content of a cell: the bytes themselves, or a copy with its doubled quotes undone.
func (s *separated) text(rec []byte, sp span) []byte {
	raw := rec[sp.from:sp.to]
	if !sp.doubled {
		return raw
	}
	from := len(s.unescaped)
	for {
		q := bytes.IndexByte(raw, '"')
		if q < 0 {
			s.unescaped = append(s.unescaped, raw...)
			return s.unescaped[from:len(s.unescaped):len(s.unescaped)]
		}
		s.unescaped = append(s.unescaped, raw[:q+1]...)
		raw = raw[q+2:]
	}
}

// record finds the next record. Its bytes are valid until the next call; s.spans are its cells and at
// is its line. A problem inside it is a *fatal, for nobody knows where the next one would begin.
func (s *separated) record() (rec []byte, at int, err error) {
	for {
		n, end, problem := s.scan(s.w.bytes())
		if problem == nil && end != scanMore {
			if n == 0 {
				return nil, 0, io.EOF
			}
			rec = s.w.bytes()[:n]
			at = s.line
			if nul := bytes.IndexByte(rec, 0); nul >= 0 {
				return nil, 0, s.nul(rec[:nul], at)
			}
			s.line += s.linesIn(end)
			s.noteEnd(end.end, at)
			s.w.consume(n)
			return rec, at, nil
		}
		if problem != nil {
			return nil, 0, &fatal{problem}
		}
		if err := s.w.more(); err != nil {
			return nil, 0, s.cannotRead(err)
		}
	}
}

// scanned says how the scan of a record ended.
type scanned struct {
	end   lineEnd
	lines int // line ends inside quoted cells
}

var scanMore = scanned{end: noEnd, lines: -1}

func (s *separated) linesIn(sc scanned) int {
	if sc.end == noEnd {
		return sc.lines
	}
	return sc.lines + 1
}

// scan splits the record at the start of b into spans and returns its length with its line end. It
// returns scanMore when b ends before the record does and more may come.
func (s *separated) scan(b []byte) (int, scanned, *Error) {
	s.spans = s.spans[:0]
	lines, lineStart, i := 0, 0, 0
	if len(b) == 0 {
		if s.w.eof {
			return 0, scanned{}, nil
		}
		return 0, scanMore, nil
	}
	for {
		sp := span{from: i, line: lines, column: i - lineStart + 1}
		if i < len(b) && b[i] == '"' {
			end, problem := s.quoted(b, &sp, &lines, &lineStart)
			if problem != nil || end < 0 {
				return 0, scanMore, problem
			}
			i = end
		} else {
			for i < len(b) && b[i] != s.delim && b[i] != '\n' && b[i] != '\r' {
				i++
			}
			sp.to = i
		}
		s.spans = append(s.spans, sp)
		switch {
		case i == len(b):
			if !s.w.eof {
				return 0, scanMore, nil
			}
			return i, scanned{noEnd, lines}, nil
		case b[i] == s.delim:
			i++
			if i == len(b) && !s.w.eof {
				return 0, scanMore, nil
			}
		case b[i] == '\n':
			return i + 1, scanned{lf, lines}, nil
		case i+1 < len(b) && b[i+1] == '\n':
			return i + 2, scanned{crlf, lines}, nil
		case i+1 == len(b) && !s.w.eof:
			return 0, scanMore, nil
		default:
			return i + 1, scanned{cr, lines}, nil
		}
	}
}

// quoted scans a quoted cell from its opening quote. It sets the span to what is between the quotes
// and returns the index after the closing quote and blanks, or -1 if more bytes are needed.
func (s *separated) quoted(b []byte, sp *span, lines, lineStart *int) (int, *Error) {
	open := sp.from
	sp.from++
	i := sp.from
	for {
		q := bytes.IndexByte(b[i:], '"')
		if q < 0 {
			if s.w.eof {
				return 0, s.errorAt(s.line+sp.line, "close it, or double each quote that belongs to the text",
					"a quote is left open").at(sp.column)
			}
			return -1, nil
		}
		i += q + 1
		if i < len(b) && b[i] == '"' {
			sp.doubled = true
			i++
			continue
		}
		break
	}
	sp.to = i - 1
	if i == len(b) && !s.w.eof {
		return -1, nil
	}
	inside := b[open:i]
	if n := bytes.Count(inside, []byte{'\n'}); n > 0 {
		*lines += n
		*lineStart = open + bytes.LastIndexByte(inside, '\n') + 1
	}
	for i < len(b) && b[i] == ' ' {
		i++
	}
	if i < len(b) && b[i] != s.delim && b[i] != '\n' && b[i] != '\r' {
		return 0, s.errorAt(s.line+*lines, "double each quote that belongs to the text, and quote the whole cell",
			"text after a closing quote").at(i - *lineStart + 1)
	}
	return i, nil
}

func (e *Error) at(column int) *Error {
	e.Position.Column = column
	return e
}

func (s *separated) errorAt(line int, advice, format string, args ...any) *Error {
	return &Error{Position: Position{File: s.file, Line: line}, Problem: fmt.Sprintf(format, args...), Advice: advice}
}

// nul names the place of a NUL byte, given what comes before it in the record.
func (s *separated) nul(before []byte, at int) error {
	line := at + bytes.Count(before, []byte{'\n'})
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return &fatal{s.errorAt(line, nulAdvice, "a NUL byte").at(column)}
}

const nulAdvice = "the file is damaged, or not UTF-8 text: write it again, or convert it (iconv -f UTF-16 -t UTF-8)"

func (s *separated) cannotRead(err error) error {
	if err != errRecordTooLong {
		return readError(s.file, s.line, err)
	}
	e := s.errorAt(s.line, "is a quote left open?", "a record longer than %d bytes", s.w.max)
	if n := len(s.spans); n > 0 {
		last := s.spans[n-1]
		e.Position.Line, e.Position.Column = s.line+last.line, last.column
	}
	return &fatal{e}
}

// noteEnd remembers how lines end, and the first place where they do otherwise.
func (s *separated) noteEnd(end lineEnd, line int) {
	switch {
	case end == noEnd || end == s.ends:
	case s.ends == noEnd:
		s.ends = end
	default:
		s.notes.mixed(Position{File: s.file, Line: line}, fmt.Sprintf("%s here, %s before", end, s.ends))
	}
}

// plain takes the wrapper of fatal off.
func plain(err error) error {
	if f, ok := err.(*fatal); ok {
		return f.err
	}
	return err
}
