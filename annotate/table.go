package annotate

import (
	"slices"
	"strings"

	"github.com/credence-lab/credence/metric"
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

// TableOf gathers the labels of a log that stand.
func TableOf(l *Log) Table {
	t := Table{Annotators: l.Annotators()}
	at := map[record.AnswerID]int{}
	var current []map[record.AnswerID]Entry
	for _, name := range t.Annotators {
		mine := l.Current(name)
		current = append(current, mine)
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

// Pair is how two annotators agree on the answers that both labelled.
type Pair struct {
	A, B string
	// Both is the number of answers that both labelled.
	Both int
	// Confusion counts A's label (row) against B's (column), in the order of [Labels].
	Confusion [3][3]int
	Kappa     metric.Agreement
	// Disagreements are the answers that they label differently.
	Disagreements []record.AnswerID
}

// Agreement is how a group of annotators agree. Labels are taken as three categories, "unsure" among them.
type Agreement struct {
	Pairs []Pair
	// Alpha is Krippendorff's, nominal, over all annotators and every answer that two or more labelled.
	Alpha metric.Agreement
}

// Agree measures agreement with intervals as ci says. An error means that an interval makes no sense.
func (t Table) Agree(ci metric.AgreementInterval) (Agreement, error) {
	var out Agreement
	for a := range t.Annotators {
		for b := a + 1; b < len(t.Annotators); b++ {
			pair, err := t.pair(a, b, ci)
			if err != nil {
				return Agreement{}, err
			}
			out.Pairs = append(out.Pairs, pair)
		}
	}
	ratings, err := t.ratings(nil)
	if err != nil {
		return Agreement{}, err
	}
	out.Alpha, err = metric.KrippendorffAlpha(ratings, metric.Nominal, ci)
	return out, err
}

func (t Table) pair(a, b int, ci metric.AgreementInterval) (Pair, error) {
	p := Pair{A: t.Annotators[a], B: t.Annotators[b]}
	for i, labels := range t.Labels {
		x, y := slices.Index(Labels(), labels[a]), slices.Index(Labels(), labels[b])
		if x < 0 || y < 0 {
			continue
		}
		p.Both++
		p.Confusion[x][y]++
		if x != y {
			p.Disagreements = append(p.Disagreements, t.Answers[i])
		}
	}
	ratings, err := t.ratings([]int{a, b})
	if err != nil {
		return p, err
	}
	p.Kappa, err = metric.CohenKappa(ratings, metric.Unweighted, ci)
	return p, err
}

// ratings are the labels of some annotators, or all, in the form of package metric.
func (t Table) ratings(of []int) (metric.Ratings, error) {
	if of == nil {
		for k := range t.Annotators {
			of = append(of, k)
		}
	}
	rows := make([][]string, len(of))
	for i, k := range of {
		for _, labels := range t.Labels {
			rows[i] = append(rows[i], string(labels[k]))
		}
	}
	declared := make([]string, 0, 3)
	for _, l := range Labels() {
		declared = append(declared, string(l))
	}
	return metric.LabelRatings(rows, nil, declared...)
}
