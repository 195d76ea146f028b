package table

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads one line of JSONL. It is strict but for three literals that some writers emit (NaN,
// Infinity, -Infinity), and it tells where a value stands, which encoding/json does not.
type scanner struct {
	b []byte
	i int
	// text collects the strings that hold escapes; earlier results stay valid until reset.
	text []byte
	// replaced says that the last string had a lone surrogate or bytes that are no UTF-8.
	replaced bool
}

// maxDepth bounds the nesting of a value.
const maxDepth = 500

// syntaxError is a problem at an offset into the line.
type syntaxError struct {
	offset  int
	problem string
}

func (e *syntaxError) Error() string { return e.problem }

func (s *scanner) reset(line []byte) { s.b, s.i, s.text = line, 0, s.text[:0] }

func (s *scanner) fail(format string, args ...any) error {
	return &syntaxError{s.i, fmt.Sprintf(format, args...)}
}

func (s *scanner) blanks() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\r' || s.b[s.i] == '\n') {
		s.i++
	}
}

// take passes over c, which must come next.
func (s *scanner) take(c byte, where string) error {
	if s.i >= len(s.b) {
		return s.fail("the record ends where %q is wanted %s", c, where)
	}
	if s.b[s.i] != c {
		return s.fail("%s where %q is wanted %s", s.found(), c, where)
	}
	s.i++
	return nil
}

// found quotes the character at hand.
func (s *scanner) found() string {
	r, n := utf8.DecodeRune(s.b[s.i:])
	if r == utf8.RuneError && n <= 1 {
		return fmt.Sprintf("byte 0x%02X", s.b[s.i])
	}
	return strconv.QuoteRune(r)
}

// object reads an object and hands each key with the cell of its value to put, which may refuse it.
// The line of cells is not set.
func (s *scanner) object(put func(key []byte, offset int, value Cell) error) error {
	if err := s.take('{', "at the beginning of a record"); err != nil {
		return err
	}
	s.blanks()
	if s.i < len(s.b) && s.b[s.i] == '}' {
		s.i++
		return nil
	}
	for {
		s.blanks()
		at := s.i
		key, err := s.string("for a key")
		if err != nil {
			return err
		}
		s.blanks()
		if err := s.take(':', "after a key"); err != nil {
			return err
		}
		s.blanks()
		cell, err := s.value()
		if err != nil {
			return err
		}
		if err := put(key, at, cell); err != nil {
			return err
		}
		s.blanks()
		if s.i < len(s.b) && s.b[s.i] == '}' {
			s.i++
			return nil
		}
		if err := s.take(',', "or '}' after a value"); err != nil {
			return err
		}
	}
}

// value reads any value as a cell with its column.
func (s *scanner) value() (Cell, error) {
	c := Cell{column: s.i + 1}
	if s.i >= len(s.b) {
		return c, s.fail("the record ends where a value is wanted")
	}
	from := s.i
	var err error
	switch ch := s.b[s.i]; {
	case ch == '"':
		c.Kind = Text
		c.text, err = s.string("for a value")
		return c, err
	case ch == '{' || ch == '[':
		c.Kind = JSON
		err = s.skip(0)
	case ch == 't':
		c.Kind, err = Bool, s.literal("true")
	case ch == 'f':
		c.Kind, err = Bool, s.literal("false")
	case ch == 'n':
		c.Kind, err = Null, s.literal("null")
	default:
		c.Kind, err = Number, s.number()
	}
	c.text = s.b[from:s.i]
	return c, err
}

func (s *scanner) literal(word string) error {
	if !bytes.HasPrefix(s.b[s.i:], []byte(word)) {
		return s.fail("a word that is no JSON, near %q", clip(s.b[s.i:min(len(s.b), s.i+12)]))
	}
	s.i += len(word)
	return nil
}

// number passes over a number in the grammar of JSON, or over one of the three lenient literals.
func (s *scanner) number() error {
	from := s.i
	if s.i < len(s.b) && s.b[s.i] == '-' {
		s.i++
	}
	switch rest := s.b[s.i:]; {
	case bytes.HasPrefix(rest, []byte("Infinity")):
		s.i += len("Infinity")
		return nil
	case s.i == from && bytes.HasPrefix(rest, []byte("NaN")):
		s.i += len("NaN")
		return nil
	}
	whole := s.digits()
	ok := whole > 0 && (whole == 1 || s.b[s.i-whole] != '0')
	if ok && s.i < len(s.b) && s.b[s.i] == '.' {
		s.i++
		ok = s.digits() > 0
	}
	if ok && s.i < len(s.b) && (s.b[s.i] == 'e' || s.b[s.i] == 'E') {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		ok = s.digits() > 0
	}
	if ok {
		return nil
	}
	at := s.i
	s.i = from
	if at == from {
		return s.fail("%s where a value is wanted", s.found())
	}
	for at < len(s.b) && at-from < 40 && bytes.IndexByte([]byte(",}] \t\r\n"), s.b[at]) < 0 {
		at++
	}
	return s.fail("%q is no number", clip(s.b[from:at]))
}

func (s *scanner) digits() int {
	from := s.i
	for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i - from
}

// skip passes over a nested value, checking it.
func (s *scanner) skip(depth int) error {
	if depth > maxDepth {
		return s.fail("values nested deeper than %d", maxDepth)
	}
	s.blanks()
	if s.i >= len(s.b) {
		return s.fail("the record ends inside a nested value")
	}
	switch s.b[s.i] {
	case '{':
		return s.skipObject(depth)
	case '[':
		return s.skipList(depth)
	case '"':
		return s.skipString()
	}
	_, err := s.value()
	return err
}

func (s *scanner) skipObject(depth int) error {
	s.i++
	s.blanks()
	if s.i < len(s.b) && s.b[s.i] == '}' {
		s.i++
		return nil
	}
	for {
		s.blanks()
		if err := s.skipString(); err != nil {
			return err
		}
		s.blanks()
		if err := s.take(':', "after a key"); err != nil {
			return err
		}
		if err := s.skip(depth + 1); err != nil {
			return err
		}
		s.blanks()
		if s.i < len(s.b) && s.b[s.i] == '}' {
			s.i++
			return nil
		}
		if err := s.take(',', "or '}' after a value"); err != nil {
			return err
		}
	}
}

func (s *scanner) skipList(depth int) error {
	s.i++
	s.blanks()
	if s.i < len(s.b) && s.b[s.i] == ']' {
		s.i++
		return nil
	}
	for {
		if err := s.skip(depth + 1); err != nil {
			return err
		}
		s.blanks()
		if s.i < len(s.b) && s.b[s.i] == ']' {
			s.i++
			return nil
		}
		if err := s.take(',', "or ']' after a value"); err != nil {
			return err
		}
	}
}

// skipString checks a string whose text nobody wants yet.
func (s *scanner) skipString() error {
	mark := len(s.text)
	_, err := s.string("for a key or a value")
	s.text = s.text[:mark]
	return err
}

// string reads a string. Its text is part of the line where it has no escapes. A lone surrogate and
// bytes that are no UTF-8 become U+FFFD, and replaced says so.
func (s *scanner) string(where string) ([]byte, error) {
	open := s.i
	if err := s.take('"', where); err != nil {
		return nil, err
	}
	s.replaced = false
	from := s.i
	for s.i < len(s.b) && s.b[s.i] != '"' && s.b[s.i] != '\\' && s.b[s.i] >= ' ' {
		s.i++
	}
	if s.i < len(s.b) && s.b[s.i] == '"' {
		text := s.b[from:s.i]
		s.i++
		return s.valid(text), nil
	}
	start := len(s.text)
	s.text = append(s.text, s.b[from:s.i]...)
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return s.valid(s.text[start:len(s.text):len(s.text)]), nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return nil, err
			}
		case c < ' ':
			return nil, s.fail("a control character (0x%02X) inside a string; it must be escaped", c)
		default:
			s.text = append(s.text, c)
			s.i++
		}
	}
	s.i = open
	return nil, s.fail("a string is left open")
}

// valid returns text with what is no UTF-8 replaced.
func (s *scanner) valid(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	s.replaced = true
	return validUTF8(text)
}

var simpleEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (s *scanner) escape() error {
	if s.i+1 >= len(s.b) {
		return s.fail("the record ends inside an escape")
	}
	c := s.b[s.i+1]
	if plain := simpleEscapes[c]; plain != 0 {
		s.text = append(s.text, plain)
		s.i += 2
		return nil
	}
	if c != 'u' {
		return s.fail("an escape that is no JSON: \\%s", clip(s.b[s.i+1:s.i+2]))
	}
	unit, ok := s.hex(s.i)
	if !ok {
		return s.fail("\\u without four hexadecimal digits")
	}
	s.i += 6
	if !utf16.IsSurrogate(unit) {
		s.text = utf8.AppendRune(s.text, unit)
		return nil
	}
	if low, ok := s.hex(s.i); ok {
		if r := utf16.DecodeRune(unit, low); r != utf8.RuneError {
			s.i += 6
			s.text = utf8.AppendRune(s.text, r)
			return nil
		}
	}
	s.replaced = true
	s.text = utf8.AppendRune(s.text, utf8.RuneError)
	return nil
}

// hex reads \uXXXX at offset i.
func (s *scanner) hex(i int) (rune, bool) {
	if i+6 > len(s.b) || s.b[i] != '\\' || s.b[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s.b[i+2 : i+6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
