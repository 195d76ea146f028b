package annotate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/credence-lab/credence/record"
)

// Log is the file of all labels of a study: one JSON object a line, only ever appended to. A correction is a
// further line, so that the history stays. A label is on disk before [Log.Add] returns. A Log is safe for
// concurrent use within a process; two processes must not write one file.
type Log struct {
	mu   sync.Mutex
	file *os.File
	// lines are all entries in the order of the file; undone ones are marked.
	lines []line
	// Mended says what was wrong with the file and was mended when it was opened; empty if nothing was.
	Mended string
}

// line is one line of the file. An undo takes back the annotator's latest entry on the answer that stands.
type line struct {
	Schema    int       `json:"schema"`
	At        time.Time `json:"at"`
	Annotator string    `json:"annotator"`
	Model     string    `json:"model"`
	Dataset   string    `json:"dataset"`
	Item      string    `json:"item"`
	Source    string    `json:"source"`
	Prompt    string    `json:"prompt,omitempty"`
	Role      string    `json:"role,omitempty"`
	Sample    int       `json:"sample,omitempty"`
	Label     Label     `json:"label,omitempty"`
	Note      string    `json:"note,omitempty"`
	Undo      bool      `json:"undo,omitempty"`

	undone bool
}

const logSchema = 1

// maxLine bounds a line of the file, in bytes.
const maxLine = 1 << 20

// FileError is something wrong with a file of labels.
type FileError struct {
	Path string
	Line int
	What string
}

func (e *FileError) Error() string { return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.What) }

// BadInput makes the command exit with 2.
func (e *FileError) BadInput() bool { return true }

// OpenLog opens the file of that name, made where needed. A last line that was torn by a crash is cut off,
// since no label was confirmed by it; anything else that cannot be read is a [*FileError], and the file is
// left as it is.
func OpenLog(path string) (*Log, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	l := &Log{file: file}
	if err := l.read(path); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

func (l *Log) read(path string) error {
	r := bufio.NewReaderSize(l.file, 64<<10)
	whole := int64(0)
	for number := 1; ; number++ {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return l.cut(whole, text)
		}
		if err != nil {
			return err
		}
		if len(text) > maxLine {
			return &FileError{path, number, fmt.Sprintf("a line of more than %d bytes", maxLine)}
		}
		whole += int64(len(text))
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var one line
		if err := json.Unmarshal(text, &one); err != nil {
			return &FileError{path, number, "no label: " + err.Error()}
		}
		if problem := one.problem(); problem != "" {
			return &FileError{path, number, problem}
		}
		l.take(one)
	}
}

// cut drops a torn last line.
func (l *Log) cut(whole int64, torn []byte) error {
	if len(torn) > 0 {
		l.Mended = "the last line was torn, by a crash while it was written; it was cut off"
		if err := l.file.Truncate(whole); err != nil {
			return err
		}
	}
	_, err := l.file.Seek(whole, io.SeekStart)
	return err
}

func (o line) problem() string {
	switch {
	case o.Schema != logSchema:
		return fmt.Sprintf("schema %d: this version reads %d", o.Schema, logSchema)
	case o.Annotator == "" || o.Item == "":
		return "a label without annotator or item"
	case o.Undo:
		return ""
	}
	if _, err := ParseLabel(string(o.Label)); err != nil {
		return err.Error()
	}
	return ""
}

func (o line) answer() record.AnswerID {
	return record.AnswerID{
		Setting: record.Setting{Model: o.Model, Dataset: o.Dataset}, Item: o.Item,
		Origin: record.Origin{Source: record.Source(o.Source), Prompt: o.Prompt, Role: record.Role(o.Role), Sample: o.Sample},
	}
}

func lineOf(annotator string, id record.AnswerID, at time.Time) line {
	return line{
		Schema: logSchema, At: at.UTC(), Annotator: annotator, Model: id.Setting.Model, Dataset: id.Setting.Dataset, Item: id.Item,
		Source: string(id.Origin.Source), Prompt: id.Origin.Prompt, Role: string(id.Origin.Role), Sample: id.Origin.Sample,
	}
}

// take puts a line into the state.
func (l *Log) take(one line) {
	if one.Undo {
		for i := len(l.lines) - 1; i >= 0; i-- {
			if o := &l.lines[i]; !o.Undo && !o.undone && o.Annotator == one.Annotator && o.answer() == one.answer() {
				o.undone = true
				break
			}
		}
	}
	l.lines = append(l.lines, one)
}

// Add appends a label and returns when it is on disk. It is an error if the entry is not whole.
func (l *Log) Add(e Entry) error {
	if err := CheckName(e.Annotator); err != nil {
		return err
	}
	if _, err := ParseLabel(string(e.Label)); err != nil {
		return err
	}
	one := lineOf(e.Annotator, e.Answer, e.At)
	one.Label, one.Note = e.Label, e.Note
	return l.append(one)
}

// Undo takes back the annotator's label on an answer: the one before it, if there is one, stands again. It
// is an error if none stands.
func (l *Log) Undo(annotator string, answer record.AnswerID, at time.Time) error {
	if _, ok := l.Current(annotator)[answer]; !ok {
		return fmt.Errorf("%s has no label on %s", annotator, answer)
	}
	one := lineOf(annotator, answer, at)
	one.Undo = true
	return l.append(one)
}

func (l *Log) append(one line) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	data, err := json.Marshal(one)
	if err != nil {
		return err
	}
	if len(data) >= maxLine {
		return fmt.Errorf("a note of %d bytes is too long", len(one.Note))
	}
	if _, err := l.file.Write(append(data, '\n')); err != nil {
		return err
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	l.take(one)
	return nil
}

// Current are the labels of an annotator that stand, by answer.
func (l *Log) Current(annotator string) map[record.AnswerID]Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	current := map[record.AnswerID]Entry{}
	for _, o := range l.lines {
		if o.Annotator == annotator && !o.Undo && !o.undone {
			current[o.answer()] = Entry{o.Annotator, o.answer(), o.Label, o.Note, o.At}
		}
	}
	return current
}

// Latest is the annotator's label that stands and was given last, and whether there is one.
func (l *Log) Latest(annotator string) (Entry, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.lines) - 1; i >= 0; i-- {
		if o := l.lines[i]; o.Annotator == annotator && !o.Undo && !o.undone {
			return Entry{o.Annotator, o.answer(), o.Label, o.Note, o.At}, true
		}
	}
	return Entry{}, false
}

// Annotators are all who have labelled, in the order in which they first did.
func (l *Log) Annotators() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	seen := map[string]bool{}
	for _, o := range l.lines {
		if !seen[o.Annotator] {
			seen[o.Annotator] = true
			names = append(names, o.Annotator)
		}
	}
	return names
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }
