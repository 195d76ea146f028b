package study_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/credence-lab/credence/annotate"
	"github.com/credence-lab/credence/study"
	"github.com/credence-lab/credence/validation"
)

// TestJudgesOfARunAreHeldAgainstPeople: people find right what is planted as right; so AUROC under the judges
// is AUROC under people, and F1 of exact match is 1.
func TestJudgesOfARunAreHeldAgainstPeople(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if _, _, err := study.Run(t.Context(), parse(t, quantified), study.Options{Folder: folder, Open: wavering{}, Version: "test"}); err != nil {
		t.Fatal(err)
	}
	tasks, leftOut, err := study.Tasks(t.Context(), folder)
	if err != nil || len(tasks) != 12 || leftOut != 0 {
		t.Fatalf("%d tasks, %d left out, %v", len(tasks), leftOut, err)
	}
	log, err := annotate.OpenLog(filepath.Join(folder, study.LabelsFile))
	if err != nil {
		t.Fatal(err)
	}
	for i, task := range tasks {
		label := annotate.Incorrect
		for _, r := range task.References {
			if r == task.Text {
				label = annotate.Correct
			}
		}
		if i == 0 {
			label = annotate.Unsure // a wrong answer, in doubt
		}
		if err := log.Add(annotate.Entry{Annotator: "ann", Answer: task.Answer, Label: label, At: time.Unix(0, 0)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	settings, err := study.JudgedSettings(t.Context(), folder)
	if err != nil || len(settings) != 1 {
		t.Fatalf("%d settings, %v", len(settings), err)
	}
	table := settings[0].Table
	if len(table.Quantifiers) != 7 || len(table.Judges) < 3 || len(table.People) != 1 || len(table.Items) != 12 {
		t.Fatalf("%d quantifiers, %d judges, %d people, %d items", len(table.Quantifiers), len(table.Judges), len(table.People), len(table.Items))
	}
	if err := table.Check(); err != nil {
		t.Fatal(err)
	}
	for _, j := range table.Judges {
		for i := range table.Items {
			person := table.People[0].Labels[i]
			if person == validation.Unsure {
				person = validation.Incorrect
			}
			if j.Name == "exact-match" && j.Labels[i] != person {
				t.Errorf("%s on %s: %v, people %v", j.Name, table.Items[i], j.Labels[i], person)
			}
		}
		if j.Name == "rouge-l@0.3" && (j.Family != "rouge-l" || j.Threshold == nil || *j.Threshold != .3) {
			t.Errorf("%+v", j)
		}
	}
}
