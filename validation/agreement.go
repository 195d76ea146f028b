package validation

import (
	"math"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
)

// Agreement is that of the people: of the labels as they were given, unsure being a category of its own,
// and as they count, with unsure as the result says.
type Agreement struct {
	// Pairs are all pairs of people, in the order of the table.
	Pairs []PairAgreement `json:"pairs"`
	// Alpha is Krippendorff's of all people, AlphaCounted that of the labels as they count; nil with one
	// person.
	Alpha        *measure.Value `json:"alpha,omitempty"`
	AlphaCounted *measure.Value `json:"alpha_counted,omitempty"`
	// Disagreements are the items on which labels that count differ, for adjudication.
	Disagreements []Disagreement `json:"disagreements"`
}

// PairAgreement is that of two people.
type PairAgreement struct {
	A string `json:"a"`
	B string `json:"b"`
	// Kappa is Cohen's, KappaCounted that of the labels as they count; where unsure counts half, of three
	// ordered categories with linear weights.
	Kappa        measure.Value `json:"kappa"`
	KappaCounted measure.Value `json:"kappa_counted"`
	// Raw is the share of equal labels, as they were given.
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
	for i, p := range t.People {
		for _, q := range t.People[i+1:] {
			pair, err := pairAgreement(p, q, o.Unsure, interval)
			if err != nil {
				return a, err
			}
			a.Pairs = append(a.Pairs, pair)
		}
	}
	a.Disagreements = disagreements(t, o.Unsure)
	if len(t.People) < 2 {
		return a, nil
	}
	given, counted, err := ratingsOf(t.People, o.Unsure)
	if err != nil {
		return a, err
	}
	alpha, err := metric.KrippendorffAlpha(given, metric.Nominal, interval)
	if err != nil {
		return a, err
	}
	scale := metric.Nominal
	if o.Unsure == UnsureHalf {
		scale = metric.IntervalScale
	}
	alphaCounted, err := metric.KrippendorffAlpha(counted, scale, interval)
	a.Alpha, a.AlphaCounted = &alpha.Coefficient, &alphaCounted.Coefficient
	return a, err
}

func pairAgreement(p, q Person, u Unsures, interval metric.AgreementInterval) (PairAgreement, error) {
	pair := PairAgreement{A: p.Name, B: q.Name, Labels: labelPairs(p, q)}
	given, counted, err := ratingsOf([]Person{p, q}, u)
	if err != nil {
		return pair, err
	}
	kappa, err := metric.CohenKappa(given, metric.Unweighted, interval)
	if err != nil {
		return pair, err
	}
	weights := metric.Unweighted
	if u == UnsureHalf {
		weights = metric.Linear
	}
	kappaCounted, err := metric.CohenKappa(counted, weights, interval)
	pair.Kappa, pair.Raw, pair.KappaCounted = kappa.Coefficient, kappa.Raw, kappaCounted.Coefficient
	return pair, err
}

// ratingsOf are the labels as they were given and as they count.
func ratingsOf(people []Person, u Unsures) (given, counted metric.Ratings, err error) {
	var words [][]string
	var weights [][]float64
	for _, p := range people {
		var list []string
		for _, l := range p.Labels {
			list = append(list, l.String())
		}
		words, weights = append(words, list), append(weights, u.weights(p.Labels))
	}
	if given, err = metric.LabelRatings(words, []string{Missing.String()}); err != nil {
		return given, counted, err
	}
	counted, err = metric.NumericRatings(weights, u.categories()...)
	return given, counted, err
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
