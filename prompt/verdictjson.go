package prompt

import (
	"encoding/json"
	"strings"
)

// jsonFields reads the wanted top-level fields of the JSON objects in a text, as words: models break
// lines within strings and are cut off before the closing brace, and still say in full what was
// asked. Fields within strings and within nested objects are not read. rest is the text outside the objects.
func jsonFields(text string, wanted map[string]bool) (values []string, repaired bool, rest string) {
	var outside strings.Builder
	for {
		start := objectStart(text)
		if start < 0 {
			outside.WriteString(text)
			return values, repaired, outside.String()
		}
		outside.WriteString(text[:start])
		s := jsonScan{text: text[start+1:]}
		if found := s.object(wanted); found != nil {
			repaired = repaired || s.repaired || s.cut
			values = append(values, found...)
		}
		text = s.text
	}
}

// objectStart is where a brace opens an object: a quotation mark or the closing brace follows.
func objectStart(text string) int {
	for from := 0; ; {
		i := strings.IndexByte(text[from:], '{')
		if i < 0 {
			return -1
		}
		rest := strings.TrimLeft(text[from+i+1:], " \t\r\n")
		if strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "}") {
			return from + i
		}
		from += i + 1
	}
}

// jsonScan reads JSON from the front of text and takes off what it has read.
type jsonScan struct {
	text string
	// repaired: a string held a raw line end. cut: the text ended within the object.
	repaired, cut bool
}

// object reads from behind an opening brace to behind its closing one.
func (s *jsonScan) object(wanted map[string]bool) (values []string) {
	for {
		s.skip(" \t\r\n,")
		if strings.HasPrefix(s.text, "}") {
			s.text = s.text[1:]
			return values
		}
		key, ok := s.str()
		if !ok {
			return values
		}
		s.skip(" \t\r\n")
		if !strings.HasPrefix(s.text, ":") {
			s.cut = true
			return values
		}
		s.text = s.text[1:]
		value, complete := s.value()
		if complete && wanted[strings.ToLower(key)] {
			values = append(values, value)
		}
		if s.cut {
			return values
		}
	}
}

// value reads a value. complete is false for nested values, and where the text ends before the value is known
// to have.
func (s *jsonScan) value() (value string, complete bool) {
	s.skip(" \t\r\n")
	switch {
	case s.text == "":
		s.cut = true
		return "", false
	case s.text[0] == '"':
		return s.str()
	case s.text[0] == '{' || s.text[0] == '[':
		s.nested()
		return "", false
	}
	end := strings.IndexAny(s.text, ",}] \t\r\n")
	if end < 0 {
		value, s.text, s.cut = s.text, "", true
		return value, value == "true" || value == "false" // A number could have gone on.
	}
	value, s.text = s.text[:end], s.text[end:]
	return value, true
}

// nested passes over an object or array.
func (s *jsonScan) nested() {
	for depth := 0; s.text != ""; {
		switch s.text[0] {
		case '"':
			if _, ok := s.str(); !ok {
				return
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.text = s.text[1:]
		if depth == 0 {
			return
		}
	}
	s.cut = true
}

// str reads a string in quotation marks.
func (s *jsonScan) str() (string, bool) {
	if !strings.HasPrefix(s.text, `"`) {
		s.cut = true
		return "", false
	}
	for i := 1; i < len(s.text); i++ {
		switch s.text[i] {
		case '\\':
			i++
		case '\n', '\r', '\t':
			s.repaired = true
		case '"':
			quoted := s.text[:i+1]
			s.text = s.text[i+1:]
			var plain string
			if json.Unmarshal([]byte(quoted), &plain) != nil {
				plain = strings.Trim(quoted, `"`) // With a raw line end, or a bad escape.
			}
			return plain, true
		}
	}
	s.text, s.cut = "", true
	return "", false
}

func (s *jsonScan) skip(blanks string) { s.text = strings.TrimLeft(s.text, blanks) }
