package metric

import (
	"math"

	"github.com/credence-lab/credence/measure"
	"gonum.org/v1/gonum/stat/distuv"
)

// FleissKappa is Fleiss' kappa of any number of raters (Fleiss 1971): (pa - pe)/(1 - pe), with pa
// the raw agreement and pe the sum of the squared shares of the categories. Range [-1,1], 0 at
// chance. Where items have different numbers of ratings, the share of a category is the mean over
// rated items of its share within the item, and an item with one rating speaks for the shares only
// (Gwet 2014, section 2.4). Method kappa.fleiss.
//
// It is undefined with [OneCategory] where all ratings are of one category, and with TooFew on one
// item. The interval is linearised.t: Gwet's (2008) linearised standard error over items and the t
// quantile with N - 1 degrees of freedom, cut to [-1,1].
func FleissKappa(r Ratings, ci AgreementInterval) (Agreement, error) {
	return r.chanceCorrected("kappa.fleiss", ci, func(share []float64) chance {
		return chance{of: func(k int) float64 { return share[k] }, undefinedAt1: true}
	})
}

// GwetAC1 is Gwet's first-order agreement coefficient of any number of raters (Gwet 2008):
// (pa - pe)/(1 - pe), with pa the raw agreement and pe = Σ π(1-π)/(q-1) over the q categories, for
// shares π taken as in [FleissKappa]. Range [-1,1]. It stays near the raw agreement where one
// category prevails. The value depends on q: declare categories that nobody used.
// Method ac1.gwet.
//
// Where all ratings are of one category pe is 0, also when it is the only one declared, and AC1 is
// 1, with a warning. It is undefined with TooFew on one item. The interval is that of [FleissKappa].
func GwetAC1(r Ratings, ci AgreementInterval) (Agreement, error) {
	q := float64(max(r.size, 2))
	return r.chanceCorrected("ac1.gwet", ci, func(share []float64) chance {
		return chance{of: func(k int) float64 { return (1 - share[k]) / (q - 1) }}
	})
}

// chance is a rule for the agreement expected by chance: the mean, over ratings, of what the rule
// gives for their category.
type chance struct {
	of           func(category int) float64
	undefinedAt1 bool
}

// chanceCorrected is the common frame of Fleiss and Gwet: they differ in the rule of chance only.
func (r Ratings) chanceCorrected(id string, ci AgreementInterval, rule func(share []float64) chance) (Agreement, error) {
	if err := ci.check(); err != nil {
		return Agreement{}, err
	}
	list, _ := r.patterns()
	s := sumUp(list, r.size)
	out := map[string]int{unrated: r.Items() - s.items}
	a := Agreement{Raw: r.rawAgreement(ci.Level)}
	c := rule(s.share)
	chanceID := "agreement.chance." + map[bool]string{true: "fleiss", false: "gwet"}[c.undefinedAt1]
	undefined := func(why measure.Reason) (Agreement, error) {
		a.Coefficient = measure.Undefined(id, why, s.items).Leaving(out)
		a.Chance = measure.Undefined(chanceID, why, s.items)
		return a, nil
	}
	if s.pairs == 0 {
		return undefined(measure.NoItems)
	}
	oneCategory := categoriesUsed(list) == 1
	if oneCategory && c.undefinedAt1 {
		return undefined(OneCategory)
	}
	if s.items < 2 {
		return undefined(measure.TooFew)
	}
	var pe float64
	for k, share := range s.share {
		pe += share * c.of(k)
	}
	a.Chance = measure.Of(chanceID, pe, s.items)
	x := (s.agree - pe) / (1 - pe)
	v := measure.Of(id, x, s.items).Leaving(out)
	if oneCategory {
		v = v.Warn("one-category", "all ratings are of one category: the coefficient is 1 by its definition of chance, other coefficients are undefined")
	}
	if s.pairs < s.items {
		v = v.Warn("single-ratings", "%d items have one rating and speak for the shares of the categories only", s.items-s.pairs)
	}
	if ci.Level > 0 {
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(s.items - 1)}.Quantile((1 + ci.Level) / 2)
		half := t * s.standardError(list, c, x, pe)
		v = withoutSpread(v.With(clippedTo(-1, 1, x, half, ci.Level, "linearised.t")))
	}
	a.Coefficient = v
	return a, nil
}

// summary holds what the coefficients of Fleiss and Gwet need of the patterns.
type summary struct {
	// items have at least one rating, pairs at least two.
	items, pairs int
	// agree is the raw agreement over pairs.
	agree float64
	// share[k] is the mean share of category k within an item.
	share []float64
}

func sumUp(list []pattern, categories int) summary {
	s := summary{share: make([]float64, categories)}
	for _, p := range list {
		s.items += p.items
		if p.ratings >= 2 {
			s.pairs += p.items
			s.agree += float64(p.items) * p.agreeing()
		}
		for k, n := range p.votes {
			s.share[k] += float64(p.items*n) / float64(p.ratings)
		}
	}
	for k := range s.share {
		s.share[k] /= float64(s.items)
	}
	s.agree /= float64(s.pairs)
	return s
}

// standardError is Gwet's (2008, section 4) linearised error over items: the spread of what each
// item contributes to the coefficient x through its own agreement and through the chance term.
func (s summary) standardError(list []pattern, c chance, x, pe float64) float64 {
	n := float64(s.items)
	var sum float64
	for _, p := range list {
		own := 0.0
		if p.ratings >= 2 {
			own = n / float64(s.pairs) * (p.agreeing() - pe) / (1 - pe)
		}
		var peOwn float64
		for k, votes := range p.votes {
			peOwn += float64(votes) / float64(p.ratings) * c.of(k)
		}
		d := own - 2*(1-x)*(peOwn-pe)/(1-pe) - x
		sum += float64(p.items) * d * d
	}
	return math.Sqrt(sum / (n * (n - 1)))
}
