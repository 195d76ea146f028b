package report

import (
	"fmt"

	"github.com/credence-lab/credence/measure"
)

// Matrix is how well each quantifier ranks the answers of a setting, under each judge.
type Matrix struct {
	Setting        string
	Items, Samples int
	Judges         []string
	// Accuracy is by judge; AUROC has a row for each judge and a column for each quantifier.
	Accuracy    []measure.Value
	Quantifiers []string
	AUROC       [][]measure.Value
}

// MatrixTable is the table of a matrix ("A Tale of Two Error Categories", figures 7 to 12).
func MatrixTable(m Matrix) StudyTable {
	t := tableView{
		Name:    "quantifiers",
		Caption: fmt.Sprintf("AUROC of each quantifier under each judge: %s, %s, %s; an AUROC below .5 means that the quantifier ranks wrong answers as surer", m.Setting, plural(m.Items, "item"), plural(m.Samples, "sample")),
		Head: []headView{
			{Text: "judge", Term: "judge"}, {Text: "accuracy", Term: "accuracy", Number: true, Values: true},
		},
	}
	for _, q := range m.Quantifiers {
		t.Head = append(t.Head, headView{Text: q, Term: aurocTerm(), Number: true, Values: true})
	}
	for i, judge := range m.Judges {
		row := []cellView{rowCell(judge), valueCell(m.Accuracy[i])}
		for _, v := range m.AUROC[i] {
			row = append(row, valueCell(v))
		}
		t.Rows = append(t.Rows, row)
	}
	return StudyTable{Name: "quantifiers", Title: "AUROC of each quantifier under each judge: " + m.Setting, view: t}
}
