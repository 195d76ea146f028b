package annotate

import (
	"slices"
	"strings"

	"github.com/credence-lab/credence/record"
)

// Table holds the labels that stand, by answer and annotator.
type Table struct {
	Annotators []string
	// Answers are those that anybody labelled, sorted by identity. Labels[i][k] is annotator k's on answer i,
	// or empty; Notes beside it.
	Answers []record.AnswerID
	Labels  [][]Label
	Notes   [][]string
}

// TableOf gathers the labels of a log that stand. Who took all labels back is none of its annotators.
func TableOf(l *Log) Table {
	var t Table
	at := map[record.AnswerID]int{}
	var current []map[record.AnswerID]Entry
	for _, name := range l.Annotators() {
		mine := l.Current(name)
		if len(mine) == 0 {
			continue
		}
		t.Annotators, current = append(t.Annotators, name), append(current, mine)
		for id := range mine {
			if _, known := at[id]; !known {
				at[id] = 0
				t.Answers = append(t.Answers, id)
			}
		}
	}
	slices.SortFunc(t.Answers, func(a, b record.AnswerID) int { return strings.Compare(a.String(), b.String()) })
	for _, id := range t.Answers {
		labels, notes := make([]Label, len(t.Annotators)), make([]string, len(t.Annotators))
		for k := range t.Annotators {
			e := current[k][id]
			labels[k], notes[k] = e.Label, e.Note
		}
		t.Labels, t.Notes = append(t.Labels, labels), append(t.Notes, notes)
	}
	return t
}
