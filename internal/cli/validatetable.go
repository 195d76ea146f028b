package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/validation"
)

// wideSpec says how the columns of a wide table are read where their names do not.
type wideSpec struct {
	uncertainty, confidence, ignore []string
}

// judgedTable is a table of scores, verdicts and labels, with what is to be said of how it was read.
type judgedTable struct {
	*validation.Table
	notes     []string
	irregular []table.Note
}

// judgePrefix and humanPrefix mark columns of judges and people; itemNames that of the item.
const (
	judgePrefix = "judge."
	humanPrefix = "human"
)

var itemNames = []string{"item", "id"}

// quantifierAliases are names in published files for quantifiers that have another id here.
var quantifierAliases = map[string]string{
	"entropy":               "predictive-entropy",
	"log-likelihood-seq":    "log-probability",
	"log-likelihood-token":  "normalised-log-probability",
	"verbalized-confidence": "verbalised-confidence",
}

// wideReader reads one wide table, column by column.
type wideReader struct {
	r       *table.Reader
	spec    wideSpec
	item    int
	planned int // columns known when the reading began
	columns []wideColumn
	out     *judgedTable
	seen    map[string]int
}

// wideColumn takes the cells of one column.
type wideColumn struct {
	at   int
	take func(row *table.Row) error
}

// readWide reads a table in which every column is a quantifier, a judge, a person or the item.
func readWide(r *table.Reader, spec wideSpec) (*judgedTable, error) {
	w := &wideReader{r: r, spec: spec, item: -1, out: &judgedTable{Table: &validation.Table{}}, seen: map[string]int{}}
	if err := w.plan(); err != nil {
		return nil, err
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := w.row(row); err != nil {
			return nil, err
		}
	}
	if late := r.Columns()[w.planned:]; len(late) > 0 {
		return nil, w.fault("the key %q first appears far behind the beginning", "give every row every key, with null where there is no value", late[0])
	}
	w.out.irregular = r.Notes()
	if w.item < 0 {
		w.out.notes = append(w.out.notes, "no column item or id: items are named by their row")
	}
	return w.out, nil
}

// plan decides what every column is. The table's slices do not grow afterwards, so that columns may keep
// pointers into them.
func (w *wideReader) plan() error {
	if err := w.checkNames(); err != nil {
		return err
	}
	w.planned = len(w.r.Columns())
	type quantifierColumn struct {
		name string
		at   int
		o    measure.Orientation
	}
	var quantifiers []quantifierColumn
	var judges, people []int
	for at, name := range w.r.Columns() {
		switch {
		case slices.Contains(w.spec.ignore, name):
		case slices.Contains(itemNames, name) && w.item < 0:
			w.item = at
		case strings.HasPrefix(name, judgePrefix) && len(name) > len(judgePrefix):
			judges = append(judges, at)
		case strings.HasPrefix(name, humanPrefix):
			people = append(people, at)
		default:
			o, err := w.orientation(name)
			if err != nil {
				return err
			}
			quantifiers = append(quantifiers, quantifierColumn{name, at, o})
		}
	}
	if len(people) == 0 {
		return w.fault("no column begins with %q: judges can only be validated against people", "name the column of a person's labels "+humanPrefix+"1", humanPrefix)
	}
	if len(quantifiers) == 0 {
		return w.fault("no column is a quantifier, whose evaluation a judge could distort", "add a column of scores for each quantifier")
	}
	t := w.out.Table
	t.Quantifiers = make([]validation.Quantifier, len(quantifiers))
	for k, q := range quantifiers {
		t.Quantifiers[k] = validation.Quantifier{Name: q.name, Orientation: q.o}
		w.columns = append(w.columns, scoreColumn(q.at, &t.Quantifiers[k].Scores))
	}
	t.Judges = make([]validation.Judge, len(judges))
	for k, at := range judges {
		t.Judges[k] = judgeNamed(strings.TrimPrefix(w.r.Columns()[at], judgePrefix))
		w.columns = append(w.columns, labelColumn(at, &t.Judges[k].Labels, false))
	}
	t.People = make([]validation.Person, len(people))
	for k, at := range people {
		t.People[k].Name = w.r.Columns()[at]
		w.columns = append(w.columns, labelColumn(at, &t.People[k].Labels, true))
	}
	return nil
}

// checkNames makes sure that all columns that flags name are there, and that none is named twice.
func (w *wideReader) checkNames() error {
	flags := map[string]string{}
	for flag, names := range map[string][]string{"--uncertainty": w.spec.uncertainty, "--confidence": w.spec.confidence, "--ignore": w.spec.ignore} {
		for _, name := range names {
			if _, err := w.r.Lookup(name); err != nil {
				return err
			}
			if other := flags[name]; other != "" && other != flag {
				return usagef("column %q is named by %s and by %s; name it once", name, min(flag, other), max(flag, other))
			}
			flags[name] = flag
		}
	}
	return nil
}

// orientation is that of a quantifier's column: as a flag says, else as the quantifier of that name has it.
func (w *wideReader) orientation(name string) (measure.Orientation, error) {
	switch {
	case slices.Contains(w.spec.uncertainty, name):
		return measure.Uncertainty, nil
	case slices.Contains(w.spec.confidence, name):
		return measure.Confidence, nil
	}
	id := strings.ReplaceAll(strings.ToLower(name), "_", "-")
	if known, ok := quantifierAliases[id]; ok {
		id = known
	}
	q, err := quantify.ByID(id)
	if err != nil {
		return 0, w.fault("column %q is no quantifier that credence knows, so that its direction is not known",
			fmt.Sprintf("say --confidence %s if higher is surer, --uncertainty %s if lower is, or --ignore %s", quote(name), quote(name), quote(name)), name)
	}
	w.out.notes = append(w.out.notes, fmt.Sprintf("%s is read as %s, as %s is", name, q.Orientation, q.ID))
	return q.Orientation, nil
}

// fault is an error of the header.
func (w *wideReader) fault(problem, advice string, args ...any) error {
	p := table.Position{File: w.r.Name()}
	if f := w.r.Format(); f == table.CSV || f == table.TSV {
		p.Line = 1
	}
	return &table.Error{Position: p, Problem: fmt.Sprintf(problem, args...), Advice: advice}
}

// judgeNamed splits NAME@THRESHOLD; judges of one NAME are a family.
func judgeNamed(name string) validation.Judge {
	j := validation.Judge{Name: name}
	family, text, has := strings.Cut(name, "@")
	if !has {
		return j
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
		j.Family, j.Threshold = family, &x
	}
	return j
}

func (w *wideReader) row(row *table.Row) error {
	name := strconv.Itoa(row.Number)
	if w.item >= 0 {
		name = row.Cell(w.item).String()
		if strings.TrimSpace(name) == "" {
			return row.Errorf(w.item, "give every item a name of its own", "the item has no name")
		}
		if first, twice := w.seen[name]; twice {
			return row.Errorf(w.item, "leave one of the two rows out, or give them different names", "item %q was in row %d already", name, first)
		}
		w.seen[name] = row.Number
	}
	w.out.Items = append(w.out.Items, name)
	for _, c := range w.columns {
		if err := c.take(row); err != nil {
			return err
		}
	}
	return nil
}

// emptyCell reports whether a cell says that there is no value.
func emptyCell(c *table.Cell) bool {
	if c.Kind == table.Absent || c.Kind == table.Null {
		return true
	}
	switch strings.ToLower(strings.TrimSpace(c.String())) {
	case "", "na", "n/a", "nan", "null", "none":
		return true
	}
	return false
}

func scoreColumn(at int, into *[]float64) wideColumn {
	return wideColumn{at, func(row *table.Row) error {
		cell := row.Cell(at)
		x := math.NaN()
		if !emptyCell(cell) {
			var err error
			if x, err = cell.Float(); err != nil {
				advice := "a score is a number; leave the cell empty where there is none, or say --ignore for a column that holds something else"
				return row.Errorf(at, advice, "%q is no score: %v", cell.String(), err)
			}
		}
		*into = append(*into, x)
		return nil
	}}
}

// labelWords are how labels are written; numbers 0 and 1 in any notation are labels too.
var labelWords = map[string]validation.Label{
	"1": validation.Correct, "true": validation.Correct, "yes": validation.Correct, "correct": validation.Correct, "c": validation.Correct,
	"0": validation.Incorrect, "false": validation.Incorrect, "no": validation.Incorrect, "incorrect": validation.Incorrect, "i": validation.Incorrect,
	"unsure": validation.Unsure, "?": validation.Unsure,
}

func labelColumn(at int, into *[]validation.Label, human bool) wideColumn {
	return wideColumn{at, func(row *table.Row) error {
		l, err := labelAt(row, at, human)
		*into = append(*into, l)
		return err
	}}
}

func labelAt(row *table.Row, at int, human bool) (validation.Label, error) {
	cell := row.Cell(at)
	if emptyCell(cell) {
		return validation.Missing, nil
	}
	l, known := labelWords[strings.ToLower(strings.TrimSpace(cell.String()))]
	if x, err := cell.Float(); !known && err == nil {
		switch x {
		case 1:
			l, known = validation.Correct, true
		case 0:
			l, known = validation.Incorrect, true
		}
	}
	switch {
	case !known && human:
		return l, row.Errorf(at, "a person's label is 0, 1, correct, incorrect or unsure; leave the cell empty where there is none", "%q is no label", cell.String())
	case !known:
		return l, row.Errorf(at, "a verdict is 0, 1, correct or incorrect; leave the cell empty where there is none", "%q is no verdict", cell.String())
	case l == validation.Unsure && !human:
		return l, row.Errorf(at, "leave the cell empty where a judge decides nothing", "a judge cannot be unsure")
	}
	return l, nil
}
