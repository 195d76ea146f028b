package study

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/credence-lab/credence/annotate"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// LabelsFile is the file of people's labels in a run's folder.
const LabelsFile = "labels.jsonl"

// Tasks are the answers of a finished run that people can label, with question and references and nothing
// else, and how many answers are left out because there is no text. They are those that the study's
// uncertainty is of, or else those of its main comparison.
func Tasks(ctx context.Context, folder string) (tasks []annotate.Task, leftOut int, err error) {
	f, err := Load(filepath.Join(folder, studyFile))
	if err != nil {
		return nil, 0, err
	}
	data, err := loadData(ctx, f.Datasets)
	if err != nil {
		return nil, 0, err
	}
	items := map[string]map[string]record.Item{}
	for _, d := range data {
		items[d.Name] = map[string]record.Item{}
		for _, item := range d.Items {
			items[d.Name][item.ID] = item
		}
	}
	wanted := string(prompt.Confidence)
	if len(f.Quantifiers) > 0 {
		wanted = string(prompt.AnswerOnly)
	}
	err = eachRow(filepath.Join(folder, answersFile), func(row answerRow) error {
		if row.Source != string(record.Generated) || row.Prompt != wanted || row.Sample != 0 {
			return nil
		}
		item, ok := items[row.Dataset][row.Item]
		switch {
		case !ok:
			return &InputError{Path: folder, What: fmt.Sprintf("the data set %q no longer has the item %q that was answered", row.Dataset, row.Item), Hint: "put the file back as it was, or run the study again"}
		case row.Missing != "":
			leftOut++
			return nil
		}
		tasks = append(tasks, annotate.Task{Answer: row.id(), Question: item.Question, References: item.References, Text: row.Text})
		return nil
	})
	return tasks, leftOut, err
}

func (k answerKey) id() record.AnswerID {
	return record.AnswerID{
		Setting: record.Setting{Model: k.Model, Dataset: k.Dataset}, Item: k.Item,
		Origin: record.Origin{Source: record.Source(k.Source), Prompt: k.Prompt, Role: record.Role(k.Role), Sample: int(k.Sample)},
	}
}
