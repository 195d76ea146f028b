package study

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/record"
)

// readImport reads one imported file to its end.
func (r *runner) readImport(file *imported, places map[string][]record.Setting) (err error) {
	source, err := os.Open(file.path)
	if err != nil {
		return r.file.at.errorf("$.imported."+file.name, "give the path of a CSV, TSV, JSONL or Parquet file, relative to the study file", "%s cannot be read: %s", file.path, cause(err))
	}
	defer func() { _ = source.Close() }()
	// One open file is hashed and read, so that the card states the checksum of what was read.
	hash := sha256.New()
	if _, err := io.Copy(hash, source); err != nil {
		return &InputError{Path: file.path, What: "cannot be read: " + cause(err), Err: err}
	}
	if _, err := source.Seek(0, io.SeekStart); err != nil {
		return &InputError{Path: file.path, What: "cannot be read twice: " + cause(err), Hint: "name an ordinary file", Err: err}
	}
	file.sha256 = hex.EncodeToString(hash.Sum(nil))
	rows, err := table.New(source, file.path, table.Options{Strict: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	i := importer{file: file, study: r, places: places, r: rows, plain: func(s string) string { return s }}
	if i.separated() {
		i.plain = table.Plain
	}
	return i.all()
}

// separated reports whether the file is one that spreadsheets write, with the columns in its first line.
func (i *importer) separated() bool {
	return i.r.Format() == table.CSV || i.r.Format() == table.TSV
}

// Columns of an imported file.
const (
	itemColumn    = "item"
	modelColumn   = "model"
	datasetColumn = "dataset"
	answerColumn  = "answer"
	scoreColumn   = "score"
	correctColumn = "correct"
)

// importer takes judgements row by row.
type importer struct {
	file   *imported
	study  *runner
	places map[string][]record.Setting
	r      *table.Reader
	// plain undoes what keeps spreadsheets from formulas.
	plain func(string) string
	row   *table.Row
}

func (i *importer) all() error {
	for _, name := range []string{itemColumn, answerColumn} {
		if _, err := i.r.Lookup(name); err != nil {
			return err
		}
	}
	for {
		row, err := i.r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			i.row = row
			err = i.take()
		}
		if err != nil {
			return err
		}
	}
	if err := i.lacking(); err != nil {
		return err
	}
	i.note()
	return nil
}

// lacking refuses a file without the column that a judge of the study reads.
func (i *importer) lacking() error {
	for _, c := range []struct {
		wanted       bool
		name, advice string
	}{
		{i.file.scores, scoreColumn, fmt.Sprintf("a judge with a threshold reads it; for the verdicts of a column %s write \"imported:%s\"", correctColumn, i.file.name)},
		{i.file.verdicts, correctColumn, fmt.Sprintf("a judge without a threshold reads it; for the scores of a column %s write a threshold, such as \"imported:%s@0.5\"", scoreColumn, i.file.name)},
	} {
		if c.wanted && i.r.Index(c.name) < 0 {
			at := table.Position{File: i.file.path}
			if i.separated() {
				at.Line = 1
			}
			return &table.Error{Position: at, Problem: fmt.Sprintf("there is no column %q", c.name), Advice: c.advice + "; " + table.Suggest(c.name, i.r.Columns())}
		}
	}
	return nil
}

// note says what was read otherwise than a user may think.
func (i *importer) note() {
	f := i.file
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			f.notes = append(f.notes, "1 row "+one)
		case n > 1:
			f.notes = append(f.notes, strconv.Itoa(n)+" rows "+many)
		}
	}
	add(f.repeated, "repeats what another says", "repeat what others say")
	add(f.beyond, "is about an item beyond the study's limit and not read", "are about items beyond the study's limit and not read")
	read := map[string]bool{itemColumn: true, answerColumn: true, modelColumn: true, datasetColumn: true, scoreColumn: f.scores, correctColumn: f.verdicts}
	var unread []string
	for _, name := range i.r.Columns() {
		if !read[name] {
			unread = append(unread, strconv.Quote(name))
		}
	}
	if n := len(unread); n > 0 {
		const most = 8
		more := ""
		if n > most {
			unread, more = unread[:most], fmt.Sprintf(" and %d more", n-most)
		}
		f.notes = append(f.notes, "columns not read: "+strings.Join(unread, ", ")+more)
	}
	for _, n := range i.r.Notes() {
		f.notes = append(f.notes, n.String())
	}
}

// cell is the text of a column, without blanks at its edges; empty where there is none.
func (i *importer) cell(name string) (string, error) {
	at := i.r.Index(name) // JSONL can bring a key later
	if at < 0 {
		return "", nil
	}
	c := i.row.Cell(at)
	switch c.Kind {
	case table.Absent, table.Null:
		return "", nil
	case table.JSON:
		return "", i.row.Errorf(at, "write one text", "a list or an object where one text is wanted")
	}
	return strings.TrimSpace(c.String()), nil
}

// fault is an error at a column; where the file has none of that name, at the item.
func (i *importer) fault(column, advice, problem string, args ...any) error {
	at := i.r.Index(column)
	if at < 0 {
		at = i.r.Index(itemColumn)
	}
	return i.row.Errorf(at, advice, problem, args...)
}

func (i *importer) take() error {
	key, asked, err := i.key()
	if err != nil {
		return err
	}
	row, err := i.said()
	if err != nil {
		return err
	}
	i.file.rows++
	if !asked {
		i.file.beyond++
		return nil
	}
	for _, before := range i.file.of[key] {
		if before.plain != row.plain {
			continue // at least one is about another answer than the run's, which is refused when that is known
		}
		if !before.says(row) {
			return i.fault(answerColumn, "leave the one that holds", "another judgement of this answer to item %q than in %s", clipped(key.item), before.at)
		}
		i.file.repeated++
		return nil
	}
	i.file.of[key] = append(i.file.of[key], row)
	return nil
}

// key is the one setting and item that a row is about; asked is false where a limit leaves it out.
func (i *importer) key() (key importedKey, asked bool, err error) {
	said := map[string]string{}
	for _, name := range []string{itemColumn, modelColumn, datasetColumn} {
		text, err := i.cell(name)
		if err != nil {
			return key, false, err
		}
		said[name] = i.plain(text)
	}
	item, model, data := said[itemColumn], said[modelColumn], said[datasetColumn]
	if item == "" {
		return key, false, i.fault(itemColumn, "write the id of the item, as the column item of answers.parquet has it", "no item")
	}
	fits := func(s record.Setting) bool {
		return (model == "" || s.Model == model) && (data == "" || s.Dataset == data)
	}
	var found []record.Setting
	for _, s := range i.places[item] {
		if fits(s) {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 1:
		return importedKey{found[0], item}, true, nil
	case len(found) > 1:
		return key, false, i.ambiguous(item, found)
	}
	return key, false, i.unknown(item, model, data, fits)
}

// ambiguous names the columns that tell the settings of an item apart.
func (i *importer) ambiguous(item string, found []record.Setting) error {
	var columns []string
	if slices.ContainsFunc(found, func(s record.Setting) bool { return s.Model != found[0].Model }) {
		columns = append(columns, modelColumn)
	}
	if slices.ContainsFunc(found, func(s record.Setting) bool { return s.Dataset != found[0].Dataset }) {
		columns = append(columns, datasetColumn)
	}
	return i.fault(columns[0], "fill the column "+strings.Join(columns, " and the column "), "item %q is answered in %d settings, such as %s and %s", clipped(item), len(found), found[0], found[1])
}

// unknown refuses an item that the study does not have; nil for one that a limit may leave out.
func (i *importer) unknown(item, model, data string, fits func(record.Setting) bool) error {
	f := i.study.file
	if known := f.modelNames(); model != "" && !slices.Contains(known, model) {
		return i.fault(modelColumn, hintFor(model, known)+"; remove the row if it is about another study", "the study has no model %q", clipped(model))
	}
	var known []string
	for _, d := range f.Datasets {
		known = append(known, d.Name)
	}
	if data != "" && !slices.Contains(known, data) {
		return i.fault(datasetColumn, hintFor(data, known)+"; remove the row if it is about another study", "the study has no data set %q", clipped(data))
	}
	for _, m := range f.Models {
		for k, d := range i.study.data {
			limited := f.Datasets[k].Limit > 0 && len(d.Items) == f.Datasets[k].Limit || m.Limit > 0 && m.Limit < len(d.Items)
			if limited && fits(record.Setting{Model: m.Name, Dataset: d.Name}) {
				return nil
			}
		}
	}
	return i.fault(itemColumn, "use the ids of the data set, as the column item of answers.parquet has them, or remove the row", "the study has no item %q", clipped(item))
}

// said is what a row says, as far as the study's judges read it.
func (i *importer) said() (importedRow, error) {
	row := importedRow{at: i.row.Position(i.r.Index(answerColumn)), score: record.Absent(judge.NoScore), noVerdict: judge.NoLabel}
	text, err := i.cell(answerColumn)
	if err != nil {
		return row, err
	}
	row.answer, row.plain = judge.AnswerText(text), judge.AnswerText(i.plain(text))
	if i.file.verdicts {
		label, err := i.cell(correctColumn)
		if err != nil {
			return row, err
		}
		if row.verdict, row.noVerdict = judge.ParseLabel(label); row.noVerdict == judge.UnknownLabel {
			return row, i.fault(correctColumn, "write correct or incorrect, true or false, yes or no, 1 or 0, or nothing where there is no verdict", "%q is no verdict", clipped(label))
		}
	}
	if i.file.scores {
		row.score, err = i.score()
	}
	return row, err
}

// score reads a number, or that there is none.
func (i *importer) score() (record.Number, error) {
	text, err := i.cell(scoreColumn)
	if err != nil {
		return record.Number{}, err
	}
	if _, why := judge.ParseLabel(text); why == judge.NoLabel {
		return record.Absent(judge.NoScore), nil // the words for nothing are those of labels
	}
	x, err := table.ParseFloat([]byte(text))
	if err != nil {
		return record.Number{}, i.fault(scoreColumn, "write a number, or nothing where there is no score", "%q is no number", clipped(text))
	}
	entry := judge.ID{Judge: importedJudge}.Entry()
	if !(x >= entry.Low && x <= entry.High) {
		return record.Number{}, i.fault(scoreColumn, "bring the scores to this range", "the score %s lies outside [%g,%g]", clipped(text), entry.Low, entry.High)
	}
	return record.Known(x), nil
}

// clipped is a text of a file in a message.
func clipped(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
