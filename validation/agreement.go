package validation

import (
	"fmt"
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
	// Disagreements are the items on which labels differ as they were given, for adjudication.
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
	Item string `json:"item"`
	// Row is the number of the item, from 0.
	Row    int      `json:"-"`
	Labels []string `json:"labels"`
	// Counted says that labels also differ as they count; an unsure one may count as what another person says.
	Counted bool `json:"counted"`
}

// Differing is the number of items on which labels differ as they count.
func (a Agreement) Differing() int {
	n := 0
	for _, d := range a.Disagreements {
		if d.Counted {
			n++
		}
	}
	return n
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

// Agree says how far people agree, with intervals as ci says. Their labels are those of the items, in that order.
//
// It is an error if the rule or the interval makes no sense, or if a person has another number of labels.
func Agree(items []string, people []Person, unsure UnsureRule, ci metric.AgreementInterval) (Agreement, error) {
	a := Agreement{Pairs: []PairAgreement{}, Disagreements: []Disagreement{}}
	if err := unsure.check(); err != nil {
		return a, err
	}
	for _, p := range people {
		if len(p.Labels) != len(items) {
			return a, fmt.Errorf("validation: %s has %d labels for %d items", p.Name, len(p.Labels), len(items))
		}
	}
	for i, p := range people {
		for _, q := range people[i+1:] {
			pair, err := pairAgreement(p, q, unsure, ci)
			if err != nil {
				return a, err
			}
			a.Pairs = append(a.Pairs, pair)
		}
	}
	a.disagree(items, people, unsure)
	if len(people) < 2 {
		return a, nil
	}
	given, counted, err := ratingsOf(people, unsure)
	if err != nil {
		return a, err
	}
	alpha, err := metric.KrippendorffAlpha(given, metric.Nominal, ci)
	if err != nil {
		return a, err
	}
	scale := metric.Nominal
	if unsure == UnsureHalf {
		scale = metric.IntervalScale
	}
	alphaCounted, err := metric.KrippendorffAlpha(counted, scale, ci)
	a.Alpha, a.AlphaCounted = &alpha.Coefficient, &alphaCounted.Coefficient
	return a, err
}

func pairAgreement(p, q Person, u UnsureRule, interval metric.AgreementInterval) (PairAgreement, error) {
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
func ratingsOf(people []Person, u UnsureRule) (given, counted metric.Ratings, err error) {
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

func (u UnsureRule) categories() []float64 {
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

// disagree lists the items on which labels differ.
func (a *Agreement) disagree(items []string, people []Person, u UnsureRule) {
	for i, item := range items {
		lowest, highest := math.Inf(1), math.Inf(-1)
		var labels []string
		given := map[Label]bool{}
		for _, p := range people {
			l := p.Labels[i]
			labels = append(labels, l.String())
			if l != Missing {
				given[l] = true
			}
			if w := u.weight(l); !math.IsNaN(w) {
				lowest, highest = min(lowest, w), max(highest, w)
			}
		}
		if len(given) > 1 {
			a.Disagreements = append(a.Disagreements, Disagreement{Item: item, Row: i, Labels: labels, Counted: lowest < highest})
		}
	}
}
