package scores

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/credence-lab/credence/internal/table"
)

// source says where the numbers of a score come from: the cells of a column, or a reduction of the
// lists in them.
type source struct {
	name   string
	kind   Kind // declared, or empty
	column int
	reduce string
	path   []string // keys that lead to the list
}

var reductions = []string{"mean", "sum", "min", "first"}

// reduction recognises "mean(column.key.key)". The longest column name that fits is meant.
func (c *chooser) reduction(s ScoreSpec) (source, bool) {
	name, rest, found := strings.Cut(s.Column, "(")
	inner, closed := strings.CutSuffix(rest, ")")
	if !found || !closed || !slices.Contains(reductions, name) {
		return source{}, false
	}
	for column := inner; ; {
		if i := c.r.Index(column); i >= 0 {
			from := source{name: s.Column, kind: s.Kind, column: i, reduce: name}
			if path := strings.TrimPrefix(inner[len(column):], "."); path != "" {
				from.path = strings.Split(path, ".")
			}
			return from, true
		}
		dot := strings.LastIndex(column, ".")
		if dot < 0 {
			return source{}, false
		}
		column = column[:dot]
	}
}

// read returns the number of a row, or the reason why it is missing.
func (s source) read(row *table.Row, words *vocabulary) (x float64, why string, err error) {
	if why := words.why(row.Cell(s.column)); why != "" {
		return 0, why, nil
	}
	if s.reduce == "" {
		x, err := number(row, s.column, s.name)
		return x, "", err
	}
	return s.reduced(row)
}

// reduced reads the list in a cell.
func (s source) reduced(row *table.Row) (x float64, why string, err error) {
	raw := row.Cell(s.column).Bytes()
	for _, key := range s.path {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			return 0, "", row.Errorf(s.column, "", "score %q: no JSON object with the key %q", s.name, key)
		}
		inner, ok := object[key]
		if !ok {
			return 0, "no key " + key, nil
		}
		raw = inner
	}
	var list []*float64
	if err := json.Unmarshal(raw, &list); err != nil {
		return 0, "", row.Errorf(s.column, "name the keys that lead to the list, such as mean(logprobs.token_logprobs)",
			"score %q: no JSON list of numbers", s.name)
	}
	if len(list) == 0 {
		return 0, "empty list", nil
	}
	numbers := make([]float64, len(list))
	for i, p := range list {
		if p == nil {
			return 0, "null in the list", nil
		}
		numbers[i] = *p
	}
	return reduce(s.reduce, numbers), "", nil
}

func reduce(name string, numbers []float64) float64 {
	switch name {
	case "min":
		return slices.Min(numbers)
	case "first":
		return numbers[0]
	}
	sum := 0.
	for _, x := range numbers {
		sum += x
	}
	if name == "mean" {
		return sum / float64(len(numbers))
	}
	return sum
}

// number reads a score that is not missing.
func number(row *table.Row, column int, name string) (float64, error) {
	c := row.Cell(column)
	if c.Kind != table.Number && c.Kind != table.Text {
		return 0, row.Errorf(column, "", "score %q: %s is no number", name, clip(c.String()))
	}
	x, err := c.Float()
	if err == nil {
		return x, nil
	}
	problem, advice := err.Error(), ""
	if e, ok := err.(*table.NumberError); ok {
		advice = e.Advice
	}
	if advice == "" {
		advice = fmt.Sprintf("if it stands for a missing value: --missing %s", quoteShell(clip(c.String())))
	}
	return 0, row.Errorf(column, advice, "score %q: %s", name, problem)
}

// quoteShell quotes a word where a shell would split it.
func quoteShell(s string) string {
	if strings.ContainsAny(s, " \t'\"$`\\|&;<>()*?") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
