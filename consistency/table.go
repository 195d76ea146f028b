package consistency

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/record"
)

// Scaling says how a score is brought to [0,1] for calibration errors.
type Scaling string

const (
	// AsIs: it lies in [0,1] already; a value outside is an error.
	AsIs Scaling = "as is"
	// Clipped: values below 0 become 0, values above 1 become 1.
	Clipped Scaling = "clipped to [0,1]"
)

func (s Scaling) of(x float64) float64 {
	if s == Clipped {
		return clip(x)
	}
	return x
}

// Score names a column of scores; higher means more confident.
type Score struct {
	// Name is such as "c3" or "self-consistency".
	Name    string  `json:"name"`
	Scaling Scaling `json:"scaling"`
}

// Row is one item answered by one model.
type Row struct {
	Model, Benchmark, Item string
	// Performance is the mean correctness over the samples of the original prompt, in [0,1].
	Performance record.Number
	// Scores has a value for each score of the table, unclipped.
	Scores []record.Number
	// Undetermined: the state of the first score is [Undetermined].
	Undetermined bool
}

// Table holds the scores of all items, the first of them the C3 that the others are compared with. For
// ablations the other columns are further C3s, of other sources of perturbation or other estimators, and the
// baselines (Wu, Jiang and Aragam 2026, Tables 8 and 9).
type Table struct {
	Scores []Score
	Rows   []Row
}

func (t Table) check() error {
	if len(t.Scores) == 0 {
		return fmt.Errorf("consistency: a table without scores; name at least the C3")
	}
	for _, s := range t.Scores {
		if s.Scaling != AsIs && s.Scaling != Clipped {
			return fmt.Errorf("consistency: score %q has the scaling %q; say %q or %q", s.Name, s.Scaling, AsIs, Clipped)
		}
	}
	seen := map[[3]string]bool{}
	for i, r := range t.Rows {
		key := [3]string{r.Model, r.Benchmark, r.Item}
		if seen[key] {
			return fmt.Errorf("consistency: row %d: model %q has item %q of %q twice", i, r.Model, r.Item, r.Benchmark)
		}
		seen[key] = true
		if err := t.checkRow(r); err != nil {
			return fmt.Errorf("consistency: row %d, model %q, item %q of %q: %w", i, r.Model, r.Item, r.Benchmark, err)
		}
	}
	return nil
}

func (t Table) checkRow(r Row) error {
	if len(r.Scores) != len(t.Scores) {
		return fmt.Errorf("%d scores, the table has %d", len(r.Scores), len(t.Scores))
	}
	if p, ok := r.Performance.Get(); ok && !(p >= 0 && p <= 1) {
		return fmt.Errorf("performance %v is not in [0,1]", p)
	}
	for s, n := range r.Scores {
		x, ok := n.Get()
		switch {
		case ok && !finite(x):
			return fmt.Errorf("%s is %v; leave it out with a reason", t.Scores[s].Name, x)
		case ok && t.Scores[s].Scaling == AsIs && (x < 0 || x > 1):
			return fmt.Errorf("%s is %v, and to be taken as is; scores lie in [0,1]", t.Scores[s].Name, x)
		}
	}
	return nil
}

// benchmarks are the rows of each benchmark, both sorted, so that results do not depend on the order of rows.
func (t Table) benchmarks() (names []string, rows map[string][]Row) {
	rows = map[string][]Row{}
	for _, r := range t.Rows {
		if rows[r.Benchmark] == nil {
			names = append(names, r.Benchmark)
		}
		rows[r.Benchmark] = append(rows[r.Benchmark], r)
	}
	slices.Sort(names)
	for _, of := range rows {
		slices.SortFunc(of, func(a, b Row) int { return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Item, b.Item)) })
	}
	return names, rows
}

// float is the value, or NaN with its reason as package metric takes them.
func float(n record.Number) (float64, string) {
	if x, ok := n.Get(); ok {
		return x, ""
	}
	return math.NaN(), string(n.Missing())
}
