package scores

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-lab/credence/internal/table"
)

// Column is a score, or the labels, row by row.
type Column struct {
	Name string
	// Kind is what the numbers of a score are; empty for labels.
	Kind Kind
	// Values are as they stand in the file; labels are qualities in [0,1]. NaN means missing.
	Values []float64
	// Why is nil if nothing is missing, else it has the reason for each NaN.
	Why []string
}

// Group is the rows that share the values of the grouping columns.
type Group struct {
	// Name is "column=value" for each grouping column, joined with commas; empty without grouping.
	Name string
	// Rows are indices into the values of the columns, ascending; nil means all.
	Rows []int32
}

// Table is typed columns with their groups.
type Table struct {
	Source string
	Label  Column
	Scores []Column
	Groups []Group
	// Clusters is nil, or names the cluster of every row.
	Clusters []string
	Rows     int
	// Notes say what was guessed, and what is doubtful, for people.
	Notes []string
	// Irregular says which rows were skipped or repaired.
	Irregular []table.Note
}

// maxGroups bounds what a grouping column can make.
const maxGroups = 10_000

// Read takes what the spec wants from r, to its end. Errors that the file or the spec causes are
// *table.Error.
func Read(r *table.Reader, s Spec) (*Table, error) {
	words := newVocabulary(s)
	c := chooser{r: r, words: words}
	chosen, rows, err := c.choose(s)
	if err != nil {
		return nil, err
	}
	b := newBuilder(r, chosen, words, c.notes)
	b.repeats = s.Cluster != ""
	for _, row := range rows {
		if err := b.add(row); err != nil {
			return nil, err
		}
	}
	r.Select(chosen.all()...)
	if err := ahead(r, chosen.numbers(), b.add); err != nil {
		return nil, err
	}
	return b.finish()
}

// numbers are the columns whose cells are read as numbers.
func (c columns) numbers() []int {
	var all []int
	for _, s := range c.scores {
		if s.reduce == "" {
			all = append(all, s.column)
		}
	}
	return all
}

func (c columns) all() []int {
	all := append([]int{c.label, c.item, c.cluster}, c.by...)
	for _, s := range c.scores {
		all = append(all, s.column)
	}
	return all
}

// builder gathers rows into columns.
type builder struct {
	columns
	r       *table.Reader
	names   []string // of the columns, as they were when reading began
	words   *vocabulary
	t       *Table
	spans   []span
	groups  map[string]int32
	key     []byte
	items   map[uint64]place
	seed    maphash.Seed
	hash    maphash.Hash
	repeats bool // items may repeat within a group
	shared  map[string]string
}

// place is where an item was first met.
type place struct{ line, row int32 }

// span is the extent of a score with the places of its ends.
type span struct {
	extent
	minAt, maxAt table.Position
}

func newBuilder(r *table.Reader, c columns, words *vocabulary, notes []string) *builder {
	b := &builder{columns: c, r: r, words: words, groups: map[string]int32{}, items: map[uint64]place{}, seed: maphash.MakeSeed(), shared: map[string]string{}}
	names := slices.Clone(r.Columns())
	b.names = names
	b.t = &Table{Source: r.Name(), Label: Column{Name: names[c.label]}, Notes: notes}
	for _, from := range c.scores {
		b.t.Scores = append(b.t.Scores, Column{Name: from.name})
		b.spans = append(b.spans, span{extent: newExtent()})
	}
	b.hash.SetSeed(b.seed)
	return b
}

func (b *builder) add(row *table.Row) error {
	if b.t.Rows == math.MaxInt32 {
		return row.Errorf(-1, "split the file", "more than %d rows", math.MaxInt32)
	}
	if err := b.addLabel(row); err != nil {
		return err
	}
	for k := range b.scores {
		if err := b.addScore(row, k); err != nil {
			return err
		}
	}
	group, err := b.group(row)
	if err != nil {
		return err
	}
	if b.item >= 0 && !b.repeats {
		if err := b.once(row, group); err != nil {
			return err
		}
	}
	if b.cluster >= 0 {
		b.t.Clusters = append(b.t.Clusters, b.share(row.Cell(b.cluster).String()))
	}
	b.t.Rows++
	return nil
}

func (b *builder) addLabel(row *table.Row) error {
	if why := b.words.why(row.Cell(b.label)); why != "" {
		b.t.Label.miss(b.t.Rows, why, "label")
		return nil
	}
	q, err := b.words.quality(row, b.label)
	if err != nil {
		return err
	}
	b.t.Label.have(q)
	return nil
}

func (b *builder) addScore(row *table.Row, k int) error {
	column, s, from := &b.t.Scores[k], &b.spans[k], b.scores[k]
	x, why, err := from.read(row, b.words)
	if err != nil {
		return err
	}
	if why != "" {
		column.miss(b.t.Rows, why, column.Name)
		return nil
	}
	if x < s.min {
		s.minAt = row.Position(from.column)
	}
	if x > s.max {
		s.maxAt = row.Position(from.column)
	}
	s.add(x)
	column.have(x)
	return nil
}

func (c *Column) have(x float64) {
	if len(c.Values) == cap(c.Values) {
		c.Values = slices.Grow(c.Values, max(1024, len(c.Values))) // twice as long: a large file is copied less often
	}
	c.Values = append(c.Values, x)
	if c.Why != nil {
		c.Why = append(c.Why, "")
	}
}

// fit gives back the room for rows that did not come.
func (c *Column) fit() {
	if cap(c.Values)-len(c.Values) > len(c.Values)/4 {
		c.Values = slices.Clone(c.Values)
	}
}

func (c *Column) miss(rows int, why, what string) {
	if c.Why == nil {
		c.Why = make([]string, rows)
	}
	c.have(math.NaN())
	c.Why[rows] = "no " + what + " (" + why + ")"
}

// group returns the number of the row's group, making it if it is new.
func (b *builder) group(row *table.Row) (int32, error) {
	if len(b.by) == 0 {
		return 0, nil
	}
	b.key = b.key[:0]
	for _, column := range b.by {
		b.key = append(append(b.key, row.Cell(column).Bytes()...), 0)
	}
	g, known := b.groups[string(b.key)]
	if !known {
		if len(b.t.Groups) == maxGroups {
			return 0, row.Errorf(b.by[0], "group by columns with fewer values", "more than %d groups", maxGroups)
		}
		g = int32(len(b.t.Groups))
		b.groups[string(b.key)] = g
		b.t.Groups = append(b.t.Groups, Group{Name: b.groupName(row)})
	}
	b.t.Groups[g].Rows = append(b.t.Groups[g].Rows, int32(b.t.Rows))
	return g, nil
}

func (b *builder) groupName(row *table.Row) string {
	parts := make([]string, len(b.by))
	for i, column := range b.by {
		parts[i] = b.names[column] + "=" + row.Cell(column).String()
	}
	return strings.Join(parts, ",")
}

// once refuses an item that the group has already: counting it twice would make intervals too narrow.
func (b *builder) once(row *table.Row, group int32) error {
	cell := row.Cell(b.item)
	if b.words.why(cell) != "" {
		return nil
	}
	b.hash.Reset()
	_, _ = b.hash.Write(cell.Bytes())
	_, _ = b.hash.WriteString("\x00" + strconv.Itoa(int(group)))
	sum := b.hash.Sum64()
	first, twice := b.items[sum]
	if !twice {
		b.items[sum] = place{int32(row.Line), int32(row.Number)}
		return nil
	}
	name := b.names[b.item]
	return row.Errorf(b.item,
		fmt.Sprintf("group by a column that tells the rows apart (--by COLUMN), say that they belong together (--cluster %s), or that the column names no item (--item none)", quoteShell(name)),
		"item %q occurs twice%s, first %s", clip(cell.String()), b.within(group), first)
}

func (b *builder) within(group int32) string {
	if len(b.by) == 0 {
		return ""
	}
	return " in " + b.t.Groups[group].Name
}

func (p place) String() string {
	if p.line > 0 {
		return "in line " + strconv.Itoa(int(p.line))
	}
	return "in row " + strconv.Itoa(int(p.row))
}

// share returns one copy of equal texts.
func (b *builder) share(s string) string {
	if kept, ok := b.shared[s]; ok {
		return kept
	}
	b.shared[s] = s
	return s
}

func (b *builder) finish() (*Table, error) {
	b.t.Label.fit()
	for k := range b.t.Scores {
		b.t.Scores[k].fit()
		if err := b.settle(k); err != nil {
			return nil, err
		}
	}
	if len(b.by) == 0 {
		b.t.Groups = []Group{{}}
	}
	b.t.Irregular = b.r.Notes()
	return b.t, nil
}

// settle decides the kind of a score, now that all its values are known.
func (b *builder) settle(k int) error {
	column, s := &b.t.Scores[k], b.spans[k]
	declared := b.scores[k].kind
	if declared == "" {
		kind, from, ok := guess(column.Name, s.extent)
		switch {
		case s.n == 0:
			kind = Confidence
		case !ok:
			return b.at(s, false, fmt.Sprintf("say what it is: --score %s:KIND with a KIND of %s", quoteShell(column.Name), join(Kinds())),
				"score %q has values from %s to %s, which tell no kind", column.Name, number64(s.min), number64(s.max))
		default:
			b.t.Notes = append(b.t.Notes, fmt.Sprintf("%s is read as %s, by %s", display(column.Name), kind, from))
		}
		declared = kind
	}
	column.Kind = declared
	if problem, like, atMax := declared.contradiction(s.extent); problem != "" {
		advice := fmt.Sprintf("say what it is: --score %s:KIND", quoteShell(column.Name))
		if like != "" {
			advice = fmt.Sprintf("it looks like %s: --score %s:%s", like, quoteShell(column.Name), like)
		}
		worst := s.min
		if atMax {
			worst = s.max
		}
		return b.at(s, atMax, advice, "score %q is read as %s but has the value %s; %s", column.Name, declared, number64(worst), problem)
	}
	if doubt := declared.doubt(s.extent); doubt != "" {
		b.t.Notes = append(b.t.Notes, fmt.Sprintf("%s is read as %s, but %s", display(column.Name), declared, doubt))
	}
	return nil
}

func (b *builder) at(s span, atMax bool, advice, format string, args ...any) *table.Error {
	e := &table.Error{Position: s.minAt, Problem: fmt.Sprintf(format, args...), Advice: advice}
	if atMax {
		e.Position = s.maxAt
	}
	return e
}

func number64(x float64) string { return strings.TrimSuffix(strconv.FormatFloat(x, 'g', 6, 64), ".0") }
