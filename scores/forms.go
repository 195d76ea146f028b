package scores

import "github.com/credence-lab/credence/metric"

// Forms are a score of a group prepared as charts need it, on all items that have it and a label.
type Forms struct {
	Name string
	// Ranks has the numbers as they are; Probability what they mean as a probability of being correct,
	// which is the same for an [Uncertainty].
	Ranks, Probability *metric.Prepared
}

// Prepare prepares every score of a group of t, each on its own items, as [Evaluate] does.
func Prepare(t *Table, g Group) ([]Forms, error) {
	label := take(t.Label, g.Rows)
	forms := make([]Forms, len(t.Scores))
	for i, s := range t.Scores {
		prepared, err := prepare(label, true, take(s, g.Rows))
		if err != nil {
			return nil, err
		}
		a := prepared[0]
		forms[i] = Forms{a.name, a.ranks, a.prob}
	}
	return forms, nil
}
