package annotate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/credence-lab/credence/record"
)

// Log is the file of all labels of a study: one JSON object a line, only ever appended to. A correction is a
// further line, so that the history stays. A label is on disk before [Log.Add] returns. A Log is safe for
// concurrent use. Several processes may write one file, so that people can label a run at the same time: each
// appends under a lock, after it has read what the others wrote.
type Log struct {
	mu   sync.Mutex
	path string
	file *os.File
	// lock is held while something is appended; nil where the log is only read.
	lock *flock.Flock
	// whole is the length of the file up to the last line that was read, number the number of these lines.
	whole  int64
	number int
	// lines are all entries in the order of the file; undone ones are marked.
	lines []line
	// Torn says that the last line of the file was not whole when it was opened: no label was confirmed by it, and
	// it does not count.
	Torn bool
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

// OpenLog opens the file of that name for labelling, and makes it where needed. A last line that was torn by a
// crash is cut off before the next one is written; anything else that cannot be read is a [*FileError], and the
// file is left as it is.
func OpenLog(path string) (*Log, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	l := &Log{path: path, file: file, lock: flock.New(path + ".lock")}
	// Another process may be in the middle of a line.
	if err := l.locked(l.read); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// ReadLog reads the file of that name and changes nothing; no file is a log without labels.
func ReadLog(path string) (*Log, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return &Log{path: path}, nil
	}
	if err != nil {
		return nil, err
	}
	l := &Log{path: path, file: file}
	if err := l.read(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// locked does something while no other process writes.
func (l *Log) locked(do func() error) (err error) {
	if l.lock == nil {
		return fmt.Errorf("%s was opened for reading", l.path)
	}
	if err := l.lock.Lock(); err != nil {
		return fmt.Errorf("cannot lock %s: %w", l.path, err)
	}
	defer func() { err = errors.Join(err, l.lock.Unlock()) }()
	return do()
}

// read takes the whole lines that were not read yet.
func (l *Log) read() error {
	if _, err := l.file.Seek(l.whole, io.SeekStart); err != nil {
		return err
	}
	r := bufio.NewReaderSize(l.file, 64<<10)
	for {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			l.Torn = len(text) > 0
			return nil
		}
		if err != nil {
			return err
		}
		if err := l.readLine(text); err != nil {
			return err
		}
	}
}

func (l *Log) readLine(text []byte) error {
	fault := func(what string) error { return &FileError{l.path, l.number + 1, what} }
	if len(text) > maxLine {
		return fault(fmt.Sprintf("a line of more than %d bytes", maxLine))
	}
	if len(bytes.TrimSpace(text)) > 0 {
		var one line
		if err := json.Unmarshal(text, &one); err != nil {
			return fault("no label: " + err.Error())
		}
		if problem := one.problem(); problem != "" {
			return fault(problem)
		}
		l.take(one)
	}
	l.whole += int64(len(text))
	l.number++
	return nil
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

// Add appends labels, all of them by one write, and returns when they are on disk. It is an error if an entry is
// not whole; then nothing is written.
func (l *Log) Add(entries ...Entry) error {
	var lines []line
	for _, e := range entries {
		if err := e.check(); err != nil {
			return err
		}
		one := lineOf(e.Annotator, e.Answer, e.At)
		one.Label, one.Note = e.Label, e.Note
		lines = append(lines, one)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.append(func() ([]line, error) { return lines, nil })
}

// Undo takes back the annotator's label on an answer: the one before it, if there is one, stands again. It
// is an error if none stands.
func (l *Log) Undo(annotator string, answer record.AnswerID, at time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.append(func() ([]line, error) {
		if _, ok := l.current(annotator)[answer]; !ok {
			return nil, fmt.Errorf("%s has no label on %s", annotator, answer)
		}
		one := lineOf(annotator, answer, at)
		one.Undo = true
		return []line{one}, nil
	})
}

// append writes what is made of the log as it is then, with all that others have written.
func (l *Log) append(make func() ([]line, error)) error {
	return l.locked(func() error {
		if err := l.read(); err != nil {
			return err
		}
		lines, err := make()
		if err != nil {
			return err
		}
		if l.Torn {
			if err := l.file.Truncate(l.whole); err != nil {
				return err
			}
		}
		var data []byte
		for _, one := range lines {
			text, err := json.Marshal(one)
			if err != nil {
				return err
			}
			if len(text) >= maxLine {
				return fmt.Errorf("the name of the item is too long: a label may take %d bytes", maxLine)
			}
			data = append(append(data, text...), '\n')
		}
		if _, err := l.file.WriteAt(data, l.whole); err != nil {
			return err
		}
		if err := l.file.Sync(); err != nil {
			return err
		}
		l.Torn, l.whole, l.number = false, l.whole+int64(len(data)), l.number+len(lines)
		for _, one := range lines {
			l.take(one)
		}
		return nil
	})
}

// Current are the labels of an annotator that stand, by answer.
func (l *Log) Current(annotator string) map[record.AnswerID]Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current(annotator)
}

func (l *Log) current(annotator string) map[record.AnswerID]Entry {
	current := map[record.AnswerID]Entry{}
	for _, o := range l.lines {
		if o.Annotator == annotator && !o.Undo && !o.undone {
			current[o.answer()] = Entry{o.Annotator, o.answer(), o.Label, o.Note, o.At}
		}
	}
	return current
}

// Latest is the annotator's label that was given last of those that stand on the given answers, and whether there
// is one.
func (l *Log) Latest(annotator string, on func(record.AnswerID) bool) (Entry, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range slices.Backward(l.lines) {
		if o.Annotator == annotator && !o.Undo && !o.undone && on(o.answer()) {
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
func (l *Log) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
