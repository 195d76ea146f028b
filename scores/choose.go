package scores

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-lab/credence/internal/table"
)

// The usual names of label and item columns, in lower case, the likeliest first.
var (
	usualLabels = []string{"correct", "is_correct", "correctness", "label", "labels", "acc", "accuracy"}
	usualItems  = []string{"item", "item_id", "id", "doc_id", "question_id", "qid"}
)

// columns are the chosen columns of a table, by index; item and cluster are -1 where there is none.
type columns struct {
	label, item, cluster int
	scores               []source
	by                   []int
}

// How many rows, and how much text, are looked at before columns are guessed.
const (
	sampleRows  = 1000
	sampleBytes = 8 << 20
)

// chooser settles which columns are meant.
type chooser struct {
	r     *table.Reader
	words *vocabulary
	notes []string
}

func (c *chooser) say(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// choose resolves the spec. It returns the rows that it had to read in order to guess.
func (c *chooser) choose(s Spec) (columns, []*table.Row, error) {
	var chosen columns
	var err error
	if chosen.label, err = c.label(s.Label); err != nil {
		return chosen, nil, err
	}
	if chosen.by, err = c.lookup(s.By); err != nil {
		return chosen, nil, err
	}
	if chosen.item, err = c.item(s.Item); err != nil {
		return chosen, nil, err
	}
	chosen.cluster = -1
	if s.Cluster != "" {
		if chosen.cluster, err = c.r.Lookup(s.Cluster); err != nil {
			return chosen, nil, err
		}
	}
	for _, score := range s.Scores {
		found, err := c.score(score)
		if err != nil {
			return chosen, nil, err
		}
		if slices.ContainsFunc(chosen.scores, func(s source) bool { return s.name == found.name }) {
			return chosen, nil, c.errorf("name it once", "score %q is named twice", found.name)
		}
		chosen.scores = append(chosen.scores, found)
	}
	if len(chosen.scores) > 0 {
		return chosen, nil, nil
	}
	rows, err := c.sample()
	if err != nil {
		return chosen, nil, err
	}
	return chosen, rows, c.guessScores(&chosen, rows)
}

func (c *chooser) lookup(names []string) ([]int, error) {
	all := make([]int, 0, len(names))
	for _, name := range names {
		i, err := c.r.Lookup(name)
		if err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, c.distinct(all)
}

func (c *chooser) distinct(indices []int) error {
	for i, at := range indices {
		if slices.Contains(indices[:i], at) {
			return c.errorf("name it once", "column %q is named twice", c.r.Columns()[at])
		}
	}
	return nil
}

func (c *chooser) errorf(advice, format string, args ...any) *table.Error {
	return &table.Error{Position: table.Position{File: c.r.Name()}, Problem: fmt.Sprintf(format, args...), Advice: advice}
}

// score finds where a score comes from; a kind misspelt after a colon gets an error of its own.
func (c *chooser) score(s ScoreSpec) (source, error) {
	if i := c.r.Index(s.Column); i >= 0 {
		return source{name: s.Column, kind: s.Kind, column: i}, nil
	}
	if reduced, ok := c.reduction(s); ok {
		return reduced, nil
	}
	if column, kind, found := cutLast(s.Column, ":"); found && c.r.Index(column) >= 0 {
		_, problem := ParseKind(kind)
		return source{}, c.errorf("", "score %q: %v", column, problem)
	}
	_, err := c.r.Lookup(s.Column)
	return source{}, err
}

func (c *chooser) label(name string) (int, error) {
	if name != "" {
		return c.r.Lookup(name)
	}
	if i := c.usual(usualLabels); i >= 0 {
		c.say("label: column %s, by its name", display(c.r.Columns()[i]))
		return i, nil
	}
	return -1, c.errorf("say which it is: --label COLUMN; "+table.Suggest("", c.r.Columns()), "no column has a usual name of a label (%s)", strings.Join(usualLabels, ", "))
}

func (c *chooser) item(name string) (int, error) {
	switch name {
	case NoItem:
		return -1, nil
	case "":
	default:
		return c.r.Lookup(name)
	}
	i := c.usual(usualItems)
	if i >= 0 {
		c.say("item: column %s, by its name", display(c.r.Columns()[i]))
	}
	return i, nil
}

func (c *chooser) usual(names []string) int {
	for _, name := range names {
		for i, column := range c.r.Columns() {
			if fold(column) == name {
				return i
			}
		}
	}
	return -1
}

// sample reads rows from the beginning and keeps them.
func (c *chooser) sample() ([]*table.Row, error) {
	var rows []*table.Row
	size := 0
	for len(rows) < sampleRows && size < sampleBytes {
		row, err := c.r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		for i := range c.r.Columns() {
			size += len(row.Cell(i).Bytes())
		}
		rows = append(rows, row.Clone())
	}
	return rows, nil
}

// guessScores takes every column of numbers that can be nothing but a score.
func (c *chooser) guessScores(chosen *columns, rows []*table.Row) error {
	var taken, left []string
	for i, name := range c.r.Columns() {
		if i == chosen.label || i == chosen.item || i == chosen.cluster || slices.Contains(chosen.by, i) {
			continue
		}
		e, numbers := c.extent(rows, i)
		if !numbers || e.n == 0 {
			continue
		}
		if _, _, ok := guess(name, e); !ok || e.binary {
			left = append(left, display(name))
			continue
		}
		chosen.scores = append(chosen.scores, source{name: name, column: i})
		taken = append(taken, display(name))
	}
	if len(left) > 0 {
		c.say("not taken for scores, since their kind is open or they are 0 and 1 only: %s", list(left))
	}
	if len(taken) == 0 {
		return c.errorf("say which they are: --score COLUMN:KIND; "+table.Suggest("", c.r.Columns()), "no column can be told to be a score")
	}
	c.say("scores: %s, the columns of numbers", list(taken))
	return nil
}

// display is a name as it is, or quoted where that would be hard to read.
func display(name string) string {
	for i := range len(name) {
		if !isName(name[i]) {
			return strconv.Quote(name)
		}
	}
	return name
}

// list joins names and cuts long lists.
func list(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// extent is what the sampled values of a column have in common, if all that are there are numbers.
func (c *chooser) extent(rows []*table.Row, column int) (extent, bool) {
	e := newExtent()
	for _, row := range rows {
		cell := row.Cell(column)
		if c.words.why(cell) != "" {
			continue
		}
		x, err := cell.Float()
		if err != nil || cell.Kind != table.Number && cell.Kind != table.Text {
			return e, false
		}
		if !math.IsNaN(x) {
			e.add(x)
		}
	}
	return e, true
}
