package validation

import (
	"math"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
)

// Agreement is that of the people, with unsure labels as the result says.
type Agreement struct {
	// Pairs are all pairs of people, in the order of the table.
	Pairs []PairAgreement `json:"pairs"`
	// Alpha is Krippendorff's of all people; nil with one.
	Alpha *measure.Value `json:"alpha,omitempty"`
	// Disagreements are the items on which labels that count differ, for adjudication.
	Disagreements []Disagreement `json:"disagreements"`
}

// PairAgreement is that of two people.
type PairAgreement struct {
	A string `json:"a"`
	B string `json:"b"`
	// Kappa is Cohen's; where unsure counts half, of three ordered categories with linear weights.
	Kappa measure.Value `json:"kappa"`
	// KappaGiven is Cohen's of the labels as they were given, unsure being a category of its own.
	KappaGiven measure.Value `json:"kappa_given"`
	// Raw is the share of equal labels.
	Raw measure.Value `json:"raw"`
	// Labels counts the pairs of labels as they were given.
	Labels []LabelPair `json:"labels"`
}

// LabelPair counts the items to which one person gave one label and another person another one.
type LabelPair struct {
	A string `json:"a"`
	B string `json:"b"`
	N int    `json:"n"`
}

// Disagreement is an item with the label that each person gave, in the order of the table.
type Disagreement struct {
	Item   string   `json:"item"`
	Labels []string `json:"labels"`
}

// String is the word for a label.
func (l Label) String() string {
	switch l {
	case Incorrect:
		return "incorrect"
	case Correct:
		return "correct"
	case Unsure:
		return "unsure"
	}
	return "none"
}

func agreementOf(t *Table, o Options) (Agreement, error) {
	var a Agreement
	interval := metric.AgreementInterval{Level: o.Level, Resamples: o.Resamples, Seed: o.seed("alpha")}
	weights, scale := metric.Unweighted, metric.Nominal
	if o.Unsure == UnsureHalf {
		weights, scale = metric.Linear, metric.IntervalScale
	}
	rating := func(p Person) []float64 { return o.Unsure.weights(p.Labels) }
	for i, p := range t.People {
		for _, q := range t.People[i+1:] {
			ratings, err := metric.NumericRatings([][]float64{rating(p), rating(q)}, o.Unsure.categories()...)
			if err != nil {
				return a, err
			}
			kappa, err := metric.CohenKappa(ratings, weights, interval)
			if err != nil {
				return a, err
			}
			given, err := kappaGiven(p, q, interval)
			if err != nil {
				return a, err
			}
			a.Pairs = append(a.Pairs, PairAgreement{p.Name, q.Name, kappa.Coefficient, given, kappa.Raw, labelPairs(p, q)})
		}
	}
	if len(t.People) > 1 {
		var all [][]float64
		for _, p := range t.People {
			all = append(all, rating(p))
		}
		ratings, err := metric.NumericRatings(all, o.Unsure.categories()...)
		if err != nil {
			return a, err
		}
		alpha, err := metric.KrippendorffAlpha(ratings, scale, interval)
		if err != nil {
			return a, err
		}
		a.Alpha = &alpha.Coefficient
	}
	a.Disagreements = disagreements(t, o.Unsure)
	return a, nil
}

func kappaGiven(p, q Person, interval metric.AgreementInterval) (measure.Value, error) {
	words := make([][]string, 2)
	for k, labels := range [][]Label{p.Labels, q.Labels} {
		for _, l := range labels {
			words[k] = append(words[k], l.String())
		}
	}
	ratings, err := metric.LabelRatings(words, []string{Missing.String()})
	if err != nil {
		return measure.Value{}, err
	}
	kappa, err := metric.CohenKappa(ratings, metric.Unweighted, interval)
	return kappa.Coefficient, err
}

func (u Unsures) categories() []float64 {
	if u == UnsureHalf {
		return []float64{0, .5, 1}
	}
	return []float64{0, 1}
}

func labelPairs(p, q Person) []LabelPair {
	counts := map[[2]Label]int{}
	for i := range p.Labels {
		counts[[2]Label{p.Labels[i], q.Labels[i]}]++
	}
	var list []LabelPair
	order := []Label{Correct, Incorrect, Unsure, Missing}
	for _, a := range order {
		for _, b := range order {
			if n := counts[[2]Label{a, b}]; n > 0 {
				list = append(list, LabelPair{a.String(), b.String(), n})
			}
		}
	}
	return list
}

func disagreements(t *Table, u Unsures) []Disagreement {
	var list []Disagreement
	for i, item := range t.Items {
		lowest, highest := math.Inf(1), math.Inf(-1)
		var labels []string
		for _, p := range t.People {
			labels = append(labels, p.Labels[i].String())
			if w := u.weight(p.Labels[i]); !math.IsNaN(w) {
				lowest, highest = min(lowest, w), max(highest, w)
			}
		}
		if lowest < highest {
			list = append(list, Disagreement{item, labels})
		}
	}
	return list
}
