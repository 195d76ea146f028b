package report

import (
	"fmt"

	"github.com/credence-lab/credence/measure"
)

// Steadiness is how far the verdicts of the judges that are models depend on what should not matter, in a setting.
type Steadiness struct {
	Setting string
	Judges  []SteadyJudge
}

// SteadyJudge is one of them; what was not asked is nil.
type SteadyJudge struct {
	Judge string
	// Repeatability is the share of pairs of verdicts, asked for again, that agree.
	Repeatability *measure.Value
	// Swapped has the two verdicts of the question in the other order, Turned the references in another.
	Swapped, Turned *Sway
}

// Sway is the share of verdicts that a change changes, and how many went which way.
type Sway struct {
	Changed                measure.Value
	ToCorrect, ToIncorrect int
}

// SteadinessTable is the table of that.
func SteadinessTable(s Steadiness) StudyTable {
	changed := func(text string) []headView {
		return []headView{{Text: text, Number: true, Values: true}, {Text: "to correct", Number: true}, {Text: "to incorrect", Number: true}}
	}
	t := tableView{
		Name: "judge-steadiness",
		Caption: fmt.Sprintf("How far verdicts of models depend on what should not matter: %s. Repeatability is the share of pairs of verdicts on one answer, asked for again, that agree; "+
			"then the share of verdicts that change when the two verdicts in the question, or the references, stand in another order", s.Setting),
		Head: []headView{{Text: "judge", Term: "judge"}, {Text: "repeatability", Number: true, Values: true}, {Text: "answers", Number: true}},
	}
	t.Head = append(append(t.Head, changed("other order of verdicts")...), changed("other order of references")...)
	for _, j := range s.Judges {
		row := []cellView{rowCell(j.Judge)}
		if j.Repeatability != nil {
			row = append(row, valueCell(*j.Repeatability), countCell(j.Repeatability.N))
		} else {
			row = append(row, notAsked, notAsked)
		}
		for _, sway := range []*Sway{j.Swapped, j.Turned} {
			if sway == nil {
				row = append(row, notAsked, notAsked, notAsked)
				continue
			}
			row = append(row, valueCell(sway.Changed), countCell(sway.ToCorrect), countCell(sway.ToIncorrect))
		}
		t.Rows = append(t.Rows, row)
	}
	return StudyTable{Name: "judge-steadiness", Title: "How steady the judges are that are models: " + s.Setting, view: t}
}

var notAsked = cellView{Why: "not asked", Number: true}
