package validation

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
)

// A Label is what a judge or a person said of one item.
type Label uint8

const (
	// Missing: nothing was said.
	Missing Label = iota
	Incorrect
	Correct
	// Unsure is said by people alone; see [UnsureRule].
	Unsure
)

// UnsureRule says what an unsure label of a person counts as.
type UnsureRule string

const (
	// UnsureIncorrect is the rule by which the published data of the paper reproduce.
	UnsureIncorrect UnsureRule = "incorrect"
	// UnsureMissing leaves the item out.
	UnsureMissing UnsureRule = "missing"
	// UnsureHalf lets the item count half as correct and half as incorrect.
	UnsureHalf UnsureRule = "half"
)

// UnsureRules lists the rules, the default first.
func UnsureRules() []UnsureRule { return []UnsureRule{UnsureIncorrect, UnsureMissing, UnsureHalf} }

// Table is what there is of one setting: one model's answers to the items of one data set.
type Table struct {
	// Items names the items; its length is that of all other columns.
	Items       []string
	Quantifiers []Quantifier
	Judges      []Judge
	// People are those who labelled the items, at least one.
	People []Person
}

// Quantifier is a score of each item.
type Quantifier struct {
	Name        string              `json:"name"`
	Orientation measure.Orientation `json:"-"`
	// Scores are on any scale; NaN is missing.
	Scores []float64 `json:"-"`
}

// Judge is one judge at one threshold.
type Judge struct {
	Name string
	// Family is what thresholds of one score share; empty for a judge of its own kind.
	Family string
	// Threshold above which the score counts as correct; nil where the judge has none.
	Threshold *float64
	// Labels are Correct, Incorrect or Missing.
	Labels []Label
}

// Person is one annotator.
type Person struct {
	Name   string
	Labels []Label
}

// Check says what is wrong with a table that cannot be validated.
func (t *Table) Check() error {
	n := len(t.Items)
	switch {
	case n == 0:
		return fmt.Errorf("validation: the table has no items")
	case len(t.People) == 0:
		return fmt.Errorf("validation: there are no labels of people; a judge can only be validated against people")
	case len(t.Quantifiers) == 0:
		return fmt.Errorf("validation: there is no quantifier, whose evaluation a judge could distort")
	}
	seen := map[string]bool{}
	column := func(kind, name string, length int) error {
		if seen[kind+name] {
			return fmt.Errorf("validation: two columns are the %s %q", kind, name)
		}
		seen[kind+name] = true
		if length != n {
			return fmt.Errorf("validation: the %s %q has %d entries for %d items", kind, name, length, n)
		}
		return nil
	}
	for _, q := range t.Quantifiers {
		if err := column("quantifier", q.Name, len(q.Scores)); err != nil {
			return err
		}
		if q.Orientation != measure.Confidence && q.Orientation != measure.Uncertainty {
			return fmt.Errorf("validation: quantifier %q has no direction", q.Name)
		}
	}
	for _, j := range t.Judges {
		if err := column("judge", j.Name, len(j.Labels)); err != nil {
			return err
		}
		if slices.Contains(j.Labels, Unsure) {
			return fmt.Errorf("validation: judge %q is unsure of an item; a judge decides or is missing", j.Name)
		}
	}
	for _, p := range t.People {
		if p.Name == MajorityReference || p.Name == PosteriorReference {
			return fmt.Errorf("validation: a person is called %q, which names a reference made of all people", p.Name)
		}
		if err := column("person", p.Name, len(p.Labels)); err != nil {
			return err
		}
	}
	return nil
}

// weight is how far a label counts as correct: 1, 0 or ½; NaN where it is missing or counts as such.
func (u UnsureRule) weight(l Label) float64 {
	switch {
	case l == Correct:
		return 1
	case l == Incorrect, l == Unsure && u == UnsureIncorrect:
		return 0
	case l == Unsure && u == UnsureHalf:
		return .5
	}
	return math.NaN()
}

// weights are those of a column.
func (u UnsureRule) weights(labels []Label) []float64 {
	w := make([]float64, len(labels))
	for i, l := range labels {
		w[i] = u.weight(l)
	}
	return w
}

func (u UnsureRule) check() error {
	if slices.Contains(UnsureRules(), u) {
		return nil
	}
	return fmt.Errorf("validation: unsure counts as incorrect, missing or half, not as %q", u)
}

// confidences are the scores turned so that higher is surer.
func (q Quantifier) confidences() []float64 {
	c := slices.Clone(q.Scores)
	if q.Orientation == measure.Uncertainty {
		for i := range c {
			c[i] = -c[i]
		}
	}
	return c
}
