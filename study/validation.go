package study

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/credence-lab/credence/annotate"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/validation"
)

// Judged is one setting of a run in the form in which judges are validated.
type Judged struct {
	Setting record.Setting
	Table   *validation.Table
}

// JudgedSettings are the settings of a finished run with the scores of its quantifiers, the verdicts of its
// judges and the labels that people gave, by setting, in the order of the run. A setting without a label of
// people is there too; it cannot be validated yet.
func JudgedSettings(ctx context.Context, folder string) (_ []Judged, err error) {
	tasks, _, err := Tasks(ctx, folder)
	if err != nil {
		return nil, err
	}
	j := &judgedRun{at: map[record.AnswerID]place{}, index: map[record.Setting]int{}}
	j.rows(tasks)
	if err := j.readings(filepath.Join(folder, readingsFile)); err != nil {
		return nil, err
	}
	if err := j.judgements(filepath.Join(folder, judgementsFile)); err != nil {
		return nil, err
	}
	if err := j.people(filepath.Join(folder, LabelsFile)); err != nil {
		return nil, err
	}
	return j.settings, nil
}

// judgedRun fills the tables of a run's settings.
type judgedRun struct {
	settings []Judged
	index    map[record.Setting]int
	at       map[record.AnswerID]place
}

// place is a row of a setting's table.
type place struct{ setting, row int }

func (j *judgedRun) rows(tasks []annotate.Task) {
	for _, task := range tasks {
		setting := task.Answer.Setting
		i, known := j.index[setting]
		if !known {
			i = len(j.settings)
			j.index[setting] = i
			j.settings = append(j.settings, Judged{setting, &validation.Table{}})
		}
		t := j.settings[i].Table
		j.at[task.Answer] = place{i, len(t.Items)}
		t.Items = append(t.Items, task.Answer.Item)
	}
}

func (j *judgedRun) readings(path string) error {
	return eachRow(path, func(row readingRow) error {
		q, err := quantify.ByID(row.Signal)
		at, known := j.at[row.id()]
		if err != nil || !known || row.Value == nil {
			return nil // the two signals of the first paper, another answer, or a missing value
		}
		t := j.settings[at.setting].Table
		k := 0
		for k < len(t.Quantifiers) && t.Quantifiers[k].Name != q.ID {
			k++
		}
		if k == len(t.Quantifiers) {
			scores := make([]float64, len(t.Items))
			for i := range scores {
				scores[i] = math.NaN()
			}
			t.Quantifiers = append(t.Quantifiers, validation.Quantifier{Name: q.ID, Orientation: q.Orientation, Scores: scores})
		}
		t.Quantifiers[k].Scores[at.row] = *row.Value
		return nil
	})
}

func (j *judgedRun) judgements(path string) error {
	return eachRow(path, func(row judgementRow) error {
		at, known := j.at[row.id()]
		if !known {
			return nil
		}
		t := j.settings[at.setting].Table
		k := 0
		for k < len(t.Judges) && t.Judges[k].Name != row.Judge {
			k++
		}
		if k == len(t.Judges) {
			t.Judges = append(t.Judges, judgeColumn(row.Judge, len(t.Items)))
		}
		switch row.Verdict {
		case record.Correct.String():
			t.Judges[k].Labels[at.row] = validation.Correct
		case record.Incorrect.String():
			t.Judges[k].Labels[at.row] = validation.Incorrect
		}
		return nil
	})
}

// judgeColumn is an empty column of a judge; thresholds of one score are a family.
func judgeColumn(id string, n int) validation.Judge {
	column := validation.Judge{Name: id, Labels: make([]validation.Label, n)}
	if parsed, err := judge.ParseID(id); err == nil && parsed.Cut.Rule != judge.NoCut {
		column.Family, _, _ = strings.Cut(id, "@")
		threshold := parsed.Cut.At
		column.Threshold = &threshold
	}
	return column
}

func (j *judgedRun) people(path string) error {
	log, err := annotate.ReadLog(path)
	if err != nil {
		return err
	}
	labels := annotate.TableOf(log)
	for _, p := range PeopleOf(labels) {
		columns := map[int][]validation.Label{}
		for i, id := range labels.Answers {
			at, known := j.at[id]
			if !known || p.Labels[i] == validation.Missing {
				continue
			}
			if columns[at.setting] == nil {
				columns[at.setting] = make([]validation.Label, len(j.settings[at.setting].Table.Items))
			}
			columns[at.setting][at.row] = p.Labels[i]
		}
		for i := range j.settings {
			if column, ok := columns[i]; ok {
				t := j.settings[i].Table
				t.People = append(t.People, validation.Person{Name: p.Name, Labels: column})
			}
		}
	}
	return log.Close()
}

// PeopleOf are the annotators of a table of labels as people to be compared, with a label for each of its answers.
func PeopleOf(t annotate.Table) []validation.Person {
	words := map[annotate.Label]validation.Label{
		annotate.Correct: validation.Correct, annotate.Incorrect: validation.Incorrect, annotate.Unsure: validation.Unsure,
	}
	people := make([]validation.Person, len(t.Annotators))
	for k, name := range t.Annotators {
		people[k] = validation.Person{Name: name, Labels: make([]validation.Label, len(t.Answers))}
		for i := range t.Answers {
			people[k].Labels[i] = words[t.Labels[i][k]]
		}
	}
	return people
}

// eachRow reads a table of a run row by row.
func eachRow[T any](path string, each func(T) error) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return &InputError{Path: path, What: "cannot be read: " + cause(err), Hint: "the run is not finished, or this is no run's folder", Err: err}
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r := parquet.NewGenericReader[T](file)
	defer func() { err = errors.Join(err, r.Close()) }()
	rows := make([]T, 256)
	for {
		n, err := r.Read(rows)
		for _, row := range rows[:n] {
			if err := each(row); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &InputError{Path: path, What: "is no such table: " + err.Error(), Err: err}
		}
	}
}
