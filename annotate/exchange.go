package annotate

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/record"
)

// columns of labels that are exported and imported.
var columns = []string{"annotator", "model", "dataset", "item", "source", "prompt", "role", "sample", "label", "note", "at"}

// WriteCSV writes every label that stands, sorted by answer and annotator. A note that a spreadsheet would
// run as a formula gets an apostrophe in front.
func (t Table) WriteCSV(w io.Writer, log *Log) error {
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return err
	}
	err := t.each(log, func(e Entry) error {
		id := e.Answer
		return out.Write([]string{
			table.Neutral(e.Annotator), table.Neutral(id.Setting.Model), table.Neutral(id.Setting.Dataset), table.Neutral(id.Item), string(id.Origin.Source),
			id.Origin.Prompt, string(id.Origin.Role), strconv.Itoa(id.Origin.Sample), string(e.Label), table.Neutral(e.Note), e.At.UTC().Format(time.RFC3339),
		})
	})
	out.Flush()
	return errors.Join(err, out.Error())
}

// WriteJSONL writes the same as JSON, one label a line.
func (t Table) WriteJSONL(w io.Writer, log *Log) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return t.each(log, func(e Entry) error {
		one := lineOf(e.Annotator, e.Answer, e.At)
		one.Label, one.Note = e.Label, e.Note
		return out.Encode(one)
	})
}

func (t Table) each(log *Log, do func(Entry) error) error {
	current := make([]map[record.AnswerID]Entry, len(t.Annotators))
	for k, name := range t.Annotators {
		current[k] = log.Current(name)
	}
	for _, id := range t.Answers {
		for k := range t.Annotators {
			if e, ok := current[k][id]; ok {
				if err := do(e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Fresh are the entries that a log does not hold already: those whose annotator has another label or note on the
// answer, or none. So a file can be taken twice.
func Fresh(l *Log, entries []Entry) []Entry {
	current := map[string]map[record.AnswerID]Entry{}
	var fresh []Entry
	for _, e := range entries {
		if current[e.Annotator] == nil {
			current[e.Annotator] = l.Current(e.Annotator)
		}
		if has, ok := current[e.Annotator][e.Answer]; !ok || has.Label != e.Label || has.Note != e.Note {
			fresh = append(fresh, e)
			current[e.Annotator][e.Answer] = e
		}
	}
	return fresh
}

// Import reads labels from a table of any format that package table reads: the columns item and label, and
// where they are there annotator, model, dataset, source, prompt, role, sample, note and at (a time by RFC 3339).
// What a column does not say is taken from the one task that fits: an item that several tasks have is an error, and so
// is one that none has, and two labels of one person on one answer. annotator and at stand in where the file names
// none.
func Import(r *table.Reader, tasks []Task, annotator string, at time.Time) ([]Entry, error) {
	i := importer{
		index: map[string]int{}, byItem: map[string][]Task{}, rows: map[labelled]int{},
		missing: Entry{Annotator: annotator, At: at}, plain: func(s string) string { return s },
	}
	for _, name := range columns {
		i.index[name] = r.Index(name)
	}
	for _, name := range []string{"item", "label"} {
		if i.index[name] < 0 {
			_, err := r.Lookup(name)
			return nil, err
		}
	}
	for _, task := range tasks {
		i.byItem[task.Answer.Item] = append(i.byItem[task.Answer.Item], task)
	}
	if f := r.Format(); f == table.CSV || f == table.TSV {
		i.plain = table.Plain
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return i.entries, nil
		}
		if err == nil {
			i.row = row
			err = i.take()
		}
		if err != nil {
			return nil, err
		}
	}
}

// importer takes labels row by row.
type importer struct {
	index map[string]int
	// plain undoes what keeps spreadsheets from formulas.
	plain  func(string) string
	byItem map[string][]Task
	// missing is what stands in where a row says nothing.
	missing Entry
	// rows has the row of each label.
	rows    map[labelled]int
	entries []Entry

	row *table.Row
}

// labelled is an answer that somebody labelled.
type labelled struct {
	annotator string
	answer    record.AnswerID
}

func (i *importer) cell(name string) string {
	if i.index[name] < 0 {
		return ""
	}
	return strings.TrimSpace(i.plain(i.row.Cell(i.index[name]).String()))
}

// fault is an error at a column; where the file has none of that name, at the item.
func (i *importer) fault(column, advice, problem string, args ...any) error {
	at := i.index[column]
	if at < 0 {
		at = i.index["item"]
	}
	return i.row.Errorf(at, advice, problem, args...)
}

func (i *importer) take() error {
	text := strings.ToLower(i.cell("label"))
	if text == "" {
		return nil
	}
	e, err := i.entry(text)
	if err != nil {
		return err
	}
	k := labelled{e.Annotator, e.Answer}
	if first, twice := i.rows[k]; twice {
		return i.fault("item", "leave the one that no longer holds out", "%s labelled item %q in row %d already", e.Annotator, e.Answer.Item, first)
	}
	i.rows[k] = i.row.Number
	i.entries = append(i.entries, e)
	return nil
}

func (i *importer) entry(label string) (Entry, error) {
	e := i.missing
	var err error
	if e.Label, err = ParseLabel(label); err != nil {
		return e, i.fault("label", "leave it empty where there is no label", "%v", err)
	}
	if name := i.cell("annotator"); name != "" {
		e.Annotator = name
	}
	if err := CheckName(e.Annotator); err != nil {
		return e, i.fault("annotator", "name the annotator in a column, or with --as", "%v", err)
	}
	e.Note = i.cell("note")
	if err := CheckNote(e.Note); err != nil {
		return e, i.fault("note", "shorten it", "%v", err)
	}
	if text := i.cell("at"); text != "" {
		if e.At, err = time.Parse(time.RFC3339, text); err != nil {
			return e, i.fault("at", "write it as 2030-01-02T15:04:05Z, or leave it empty", "%q is no time", text)
		}
	}
	e.Answer, err = i.answer()
	return e, err
}

// answer is that of the one task that agrees with every column that the row fills.
func (i *importer) answer() (record.AnswerID, error) {
	var found []record.AnswerID
	for _, task := range i.byItem[i.cell("item")] {
		id := task.Answer
		has := map[string]string{
			"model": id.Setting.Model, "dataset": id.Setting.Dataset, "source": string(id.Origin.Source), "prompt": id.Origin.Prompt,
			"role": string(id.Origin.Role), "sample": strconv.Itoa(id.Origin.Sample),
		}
		fits := true
		for name, value := range has {
			if given := i.cell(name); given != "" && given != value {
				fits = false
			}
		}
		if fits {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return record.AnswerID{}, i.fault("item", "", "no answer to item %q that fits this row", i.cell("item"))
	}
	return record.AnswerID{}, i.fault("item", "add the columns that tell them apart: model, dataset, prompt", "%d answers to item %q fit this row", len(found), i.cell("item"))
}
