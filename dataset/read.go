package dataset

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/record"
)

// Read reads the questions in a file: CSV, TSV, JSONL or Parquet, also compressed with gzip or zstd.
// The data set is named after the file.
//
// Every row becomes an item or the reading fails: a broken record, a question or an answer that is
// missing, an id that occurs twice end it with an error that says file, line, column and what to do.
// Blanks at the edges of a text are dropped, and so are repeated and empty answers.
func Read(path string, m Mapping) (Dataset, error) {
	r, err := table.Open(path, table.Options{Strict: true})
	if err != nil {
		return Dataset{}, err
	}
	defer r.Close()
	return collect(r, nameOf(path), path, m)
}

// ReadFrom is [Read] from a stream. The name stands in messages, tells the format where the content
// leaves it open, and becomes the data set's source.
func ReadFrom(src io.Reader, name string, m Mapping) (Dataset, error) {
	r, err := table.New(src, name, table.Options{Strict: true})
	if err != nil {
		return Dataset{}, err
	}
	defer r.Close()
	return collect(r, nameOf(name), name, m)
}

// nameOf is the base name of a path without its endings of format and compression.
func nameOf(path string) string {
	name := filepath.Base(path)
	for {
		switch ext := filepath.Ext(name); strings.ToLower(ext) {
		case ".gz", ".gzip", ".zst", ".zstd", ".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".jsonlines", ".parquet", ".pq":
			if ext != name {
				name = strings.TrimSuffix(name, ext)
				continue
			}
		}
		return name
	}
}

func collect(r *table.Reader, name, source string, m Mapping) (Dataset, error) {
	b := builder{separator: m.Separator, seen: map[string]table.Position{}}
	if err := b.resolve(r, m); err != nil {
		return Dataset{}, err
	}
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return Dataset{}, err
		}
		item, err := b.item(row)
		if err != nil {
			return Dataset{}, err
		}
		b.items = append(b.items, item)
	}
	for _, n := range r.Notes() {
		b.note("%s", n)
	}
	if b.contradictions > 0 {
		b.note("%d items list one text both as accepted and as incorrect, the first is %q", b.contradictions, b.contradiction)
	}
	return Dataset{Name: name, Items: b.items, SHA256: Hash(b.items), Source: source, Notes: b.notes}, nil
}

// builder makes items of rows.
type builder struct {
	columns
	separator string
	items     []record.Item
	seen      map[string]table.Position
	notes     []string
	// contradictions counts items whose references and incorrect answers share a text.
	contradictions int
	contradiction  string
}

func (b *builder) note(format string, args ...any) {
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
}

func (b *builder) item(row *table.Row) (record.Item, error) {
	var it record.Item
	var err error
	if it.ID, err = b.identity(row); err != nil {
		return it, err
	}
	if it.Question, err = one(row, b.question); err != nil {
		return it, err
	}
	if it.Question == "" {
		return it, row.Errorf(b.question, "write one, or remove the row", "no question")
	}
	if it.References, err = b.texts(row, b.answer, distinct); err != nil {
		return it, err
	}
	if len(it.References) == 0 {
		return it, row.Errorf(b.answer[0], "write at least one accepted answer, or remove the row", "no answer")
	}
	if it.Incorrect, err = b.texts(row, b.incorrect, distinct); err != nil {
		return it, err
	}
	if it.Choices, err = b.texts(row, b.choices, asGiven); err != nil {
		return it, err
	}
	if b.field >= 0 {
		if it.Field, err = one(row, b.field); err != nil {
			return it, err
		}
	}
	b.contradict(it)
	return it, nil
}

// identity is the item's id: unique, not empty, without control characters.
func (b *builder) identity(row *table.Row) (string, error) {
	if b.id < 0 {
		return "row-" + strconv.Itoa(row.Number), nil
	}
	id, err := one(row, b.id)
	if err != nil {
		return "", err
	}
	if id == "" {
		return "", row.Errorf(b.id, "give each item an id of its own", "no id")
	}
	if i := strings.IndexFunc(id, unicode.IsControl); i >= 0 {
		return "", row.Errorf(b.id, "use printable characters", "id %q has a control character", id)
	}
	if earlier, twice := b.seen[id]; twice {
		return "", row.Errorf(b.id, "give each item an id of its own", "duplicate id %q, it is already at %s", id, earlier)
	}
	b.seen[id] = row.Position(b.id)
	return id, nil
}

func (b *builder) contradict(it record.Item) {
	for _, wrong := range it.Incorrect {
		if slices.Contains(it.References, wrong) {
			if b.contradictions == 0 {
				b.contradiction = it.ID
			}
			b.contradictions++
			return
		}
	}
}

// one is the single text of a cell, without the blanks at its edges; empty where there is none.
func one(row *table.Row, column int) (string, error) {
	c := row.Cell(column)
	switch c.Kind {
	case table.Absent, table.Null:
		return "", nil
	case table.JSON:
		return "", row.Errorf(column, "map a column that holds one text", "a list or an object where one text is wanted")
	}
	return strings.TrimSpace(c.String()), nil
}

// distinct and asGiven say whether a text that occurs twice in a list is kept twice: options of a
// multiple-choice item are, since their letters depend on it.
const (
	distinct = true
	asGiven  = false
)

// texts gathers the texts of several columns, in their order, without empty ones.
func (b *builder) texts(row *table.Row, columns []int, unique bool) ([]string, error) {
	var all []string
	for _, column := range columns {
		list, err := b.list(row, column)
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			s = strings.TrimSpace(s)
			if s != "" && !(unique && slices.Contains(all, s)) {
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// list takes the texts out of one cell.
func (b *builder) list(row *table.Row, column int) ([]string, error) {
	c := row.Cell(column)
	switch c.Kind {
	case table.Absent, table.Null:
		return nil, nil
	case table.JSON:
		list, ok := jsonList(c.Bytes())
		if !ok {
			return nil, row.Errorf(column, "use a list of texts", "a value that is no text, no number and no list of these")
		}
		return list, nil
	}
	s := c.String()
	if b.separator != "" {
		return strings.Split(s, b.separator), nil
	}
	if c.Kind != table.Text || !b.plainCells {
		return []string{s}, nil
	}
	if list, ok := stringList(s); ok {
		return list, nil
	}
	if strings.HasPrefix(s, "['") && strings.HasSuffix(s, "']") {
		return nil, row.Errorf(column, `write it as JSON: ["one", "two"]`, "a Python list where a text or a JSON list is wanted")
	}
	return []string{s}, nil
}

// jsonList reads a JSON list of texts, numbers and truth values.
func jsonList(text []byte) ([]string, bool) {
	var raw []json.RawMessage
	if json.Unmarshal(text, &raw) != nil {
		return nil, false
	}
	list := make([]string, 0, len(raw))
	for _, r := range raw {
		switch r[0] {
		case '"':
			var s string
			if json.Unmarshal(r, &s) != nil {
				return nil, false
			}
			list = append(list, s)
		case '{', '[':
			return nil, false
		case 'n': // null: no text
		default:
			list = append(list, string(r))
		}
	}
	return list, true
}

// stringList reads a CSV cell that holds a JSON list of texts. A list of anything else stays the text
// that it is, for [1, 2] may well be an answer.
func stringList(s string) ([]string, bool) {
	if !strings.HasPrefix(s, "[") {
		return nil, false
	}
	var list []string
	if json.Unmarshal([]byte(s), &list) != nil || len(list) == 0 {
		return nil, false
	}
	return list, true
}
