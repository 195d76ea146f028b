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

// Import reads labels from a table of any format that package table reads: the columns item and label, and
// where they are there annotator, model, dataset, source, prompt, role, sample and note. What a column does
// not say is taken from the one task that fits: an item that several tasks have is an error, and so is one
// that none has. annotator stands in where the file names none.
func Import(r *table.Reader, tasks []Task, annotator string, at time.Time) ([]Entry, error) {
	index := map[string]int{}
	for _, name := range columns {
		index[name] = r.Index(name)
	}
	for _, name := range []string{"item", "label"} {
		if index[name] < 0 {
			_, err := r.Lookup(name)
			return nil, err
		}
	}
	byItem := map[string][]Task{}
	for _, task := range tasks {
		byItem[task.Answer.Item] = append(byItem[task.Answer.Item], task)
	}
	var list []Entry
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		entry, err := importRow(row, index, byItem, annotator, at)
		if err != nil {
			return nil, err
		}
		if entry.Label != "" {
			list = append(list, entry)
		}
	}
}

func importRow(row *table.Row, index map[string]int, byItem map[string][]Task, annotator string, at time.Time) (Entry, error) {
	cell := func(name string) string {
		if index[name] < 0 {
			return ""
		}
		return strings.TrimSpace(row.Cell(index[name]).String())
	}
	e := Entry{Annotator: annotator, Note: cell("note"), At: at}
	if name := cell("annotator"); name != "" {
		e.Annotator = name
	}
	if err := CheckName(e.Annotator); err != nil {
		return e, row.Errorf(max(index["annotator"], 0), "name the annotator in a column, or with --as", "%v", err)
	}
	if text := strings.ToLower(cell("label")); text != "" {
		var err error
		if e.Label, err = ParseLabel(text); err != nil {
			return e, row.Errorf(index["label"], "leave it empty where there is no label", "%v", err)
		}
	}
	task, err := fitting(row, index, byItem[cell("item")], cell)
	e.Answer = task.Answer
	return e, err
}

// fitting is the one task that agrees with every column that the row fills.
func fitting(row *table.Row, index map[string]int, tasks []Task, cell func(string) string) (Task, error) {
	var found []Task
	for _, task := range tasks {
		id := task.Answer
		has := map[string]string{
			"model": id.Setting.Model, "dataset": id.Setting.Dataset, "source": string(id.Origin.Source), "prompt": id.Origin.Prompt,
			"role": string(id.Origin.Role), "sample": strconv.Itoa(id.Origin.Sample),
		}
		fits := true
		for name, value := range has {
			if given := cell(name); given != "" && given != value {
				fits = false
			}
		}
		if fits {
			found = append(found, task)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Task{}, row.Errorf(index["item"], "", "no answer to item %q that fits this row", cell("item"))
	}
	return Task{}, row.Errorf(index["item"], "add the columns that tell them apart: model, dataset, prompt", "%d answers to item %q fit this row", len(found), cell("item"))
}
