package validation

import (
	"context"
	"math"

	"github.com/credence-lab/credence/bayes"
	"github.com/credence-lab/credence/measure"
)

// Fits are the judge model fitted in three scopes, since what it says of a judge depends on who is
// fitted with it: thresholds of one score are not independent, and many of them outvote people.
type Fits struct {
	// Judges and people as judges, in the order of the table, judges first.
	Judges []Posterior `json:"judges"`
	// Representatives are the judges of the fit with one threshold for each family.
	Representatives []string `json:"representatives"`
	// OnePerFamily and All judge those two fits.
	OnePerFamily bayes.Convergence `json:"one_per_family"`
	All          bayes.Convergence `json:"all"`
	// Checks compare what the judges said with what the fit of all would have them say.
	Checks []bayes.PredictiveCheck `json:"checks"`
	// Sampler and Priors are those of the fits.
	Sampler bayes.Sampler     `json:"sampler"`
	Priors  bayes.NamedPriors `json:"priors"`
	// PriorSensitivity has F1 in the fit of all under several priors; nil where it was not asked for.
	PriorSensitivity *bayes.PriorTable `json:"prior_sensitivity,omitempty"`
	// Draws of each of Chains.
	Draws  int `json:"draws"`
	Chains int `json:"chains"`
}

// Posterior is one judge, or one person as a judge, in the three scopes.
type Posterior struct {
	Judge string `json:"judge"`
	Human bool   `json:"human"`
	// F1 in each scope; that of accuracy has its exact moments, by quadrature, beside the fit alone.
	F1       bayes.ScopeRow `json:"f1"`
	Accuracy bayes.ScopeRow `json:"accuracy"`
}

// Figure is the estimate that Figures 2 and 25 to 27 draw: that of the fit of all.
func (p Posterior) Figure() bayes.Estimate { return p.F1.All }

// of returns the posterior of a judge; nil without fits.
func (f *Fits) of(judge string) *Posterior {
	if f == nil {
		return nil
	}
	for i, p := range f.Judges {
		if p.Judge == judge && !p.Human {
			return &f.Judges[i]
		}
	}
	return nil
}

// fit fits the judge model of appendix B.1. People count in both places, as it has them: their labels
// inform how probably an item is correct, and each is a judge with the prior for people.
func fit(ctx context.Context, t *Table, o Options) (*Fits, error) {
	d := bayes.JudgeData{People: votesOf(t.People, o.Unsure)}
	for _, j := range t.Judges {
		d.Judges = append(d.Judges, bayes.Judge{Name: "judge." + j.Name, Family: j.Family, Counts: counts(UnsureMissing.weights(j.Labels))})
	}
	d.Judges = append(d.Judges, peopleAsJudges(t.People, o.Unsure)...)
	sampler := o.sampler("judges")
	scopes, err := bayes.FitScopes(ctx, d, o.priors().Priors, o.judgeSampler(), sampler, nil)
	if err != nil {
		return nil, err
	}
	f := &Fits{
		Sampler: o.judgeSampler(), Priors: o.priors(),
		OnePerFamily: scopes.OnePerFamily.Convergence, All: scopes.All.Convergence, Checks: scopes.All.Checks,
		Draws: sampler.Draws, Chains: bayes.DefaultChains,
	}
	names := map[string]string{}
	for j, known := range d.Judges {
		names[known.Name] = t.judgeName(j)
	}
	for _, name := range scopes.OnePerFamily.Together {
		f.Representatives = append(f.Representatives, names[name])
	}
	for i := range f.Checks {
		f.Checks[i].Judge = names[f.Checks[i].Judge]
	}
	f1, accuracy := scopes.Table(bayes.F1), scopes.Table(bayes.Accuracy)
	for j := range d.Judges {
		f1[j].Judge, accuracy[j].Judge = t.judgeName(j), t.judgeName(j)
		f.Judges = append(f.Judges, Posterior{t.judgeName(j), d.Judges[j].Human, f1[j], accuracy[j]})
	}
	if !o.PriorSensitivity {
		return f, nil
	}
	if f.PriorSensitivity, err = bayes.PriorSensitivity(ctx, d, nil, bayes.F1, o.judgeSampler(), sampler); err != nil {
		return nil, err
	}
	for j := range d.Judges {
		f.PriorSensitivity.Together[j], f.PriorSensitivity.Rows[j].Judge = t.judgeName(j), t.judgeName(j)
	}
	return f, nil
}

// judgeName is that of entry j of the fit: the judges, then the people.
func (t *Table) judgeName(j int) string {
	if j < len(t.Judges) {
		return t.Judges[j].Name
	}
	return t.People[j-len(t.Judges)].Name
}

func peopleAsJudges(people []Person, u UnsureRule) []bayes.Judge {
	var list []bayes.Judge
	for _, p := range people {
		list = append(list, bayes.Judge{Name: "person." + p.Name, Human: true, Counts: counts(u.weights(p.Labels))})
	}
	return list
}

// counts are the judgements of one judge. A judgement has no halves: a label of ½ is none here.
func counts(weights []float64) []bayes.Count {
	list := make([]bayes.Count, len(weights))
	for i, w := range weights {
		switch w {
		case 1:
			list[i].Correct = 1
		case 0:
			list[i].Incorrect = 1
		}
	}
	return list
}

// Confidences bring the quantifiers onto one scale, by the item-response model of appendix B.2.
type Confidences struct {
	// Scale is that of the scores in the model.
	Scale bayes.Scale `json:"scale"`
	// People are those whose labels it was fitted to.
	People []string `json:"people"`
	// Quantifiers have the posterior median of each item, over draws and people.
	Quantifiers []ItemConfidences `json:"quantifiers"`
	// Convergence judges the fit; nil if no quantifier could be fitted.
	Convergence *bayes.Convergence `json:"convergence"`
}

// ItemConfidences are those of one quantifier, for each item of the table.
type ItemConfidences struct {
	Quantifier string          `json:"quantifier"`
	Items      []measure.Value `json:"items"`
	// Unfitted is why the quantifier has no confidences; empty if it has.
	Unfitted measure.Reason `json:"unfitted,omitempty"`
}

// Reasons why the item-response model has nothing to learn of a quantifier.
const (
	noPairs  measure.Reason = "no item has a score and a label that is correct or incorrect"
	noSpread measure.Reason = "its scores do not vary"
)

// numbers are the confidences of quantifier q; NaN where there is none.
func (c *Confidences) numbers(q int) []float64 {
	list := make([]float64, len(c.Quantifiers[q].Items))
	for i, v := range c.Quantifiers[q].Items {
		x, ok := v.Get()
		if !ok {
			x = math.NaN()
		}
		list[i] = x
	}
	return list
}

func confidencesOf(ctx context.Context, t *Table, o Options) (*Confidences, error) {
	c := &Confidences{Scale: bayes.Standardised}
	d := bayes.ResponseData{People: peopleAsJudges(t.People, o.Unsure), Scale: c.Scale}
	for _, p := range t.People {
		c.People = append(c.People, p.Name)
	}
	for _, q := range t.Quantifiers {
		column := responseColumn(q)
		why := unfitted(column, d.People)
		if why == "" {
			d.Quantifiers = append(d.Quantifiers, column)
		}
		c.Quantifiers = append(c.Quantifiers, ItemConfidences{Quantifier: q.Name, Unfitted: why})
	}
	var fitted []bayes.QuantifierPosterior
	if len(d.Quantifiers) > 0 {
		fit, err := bayes.FitResponses(ctx, d, o.sampler("confidences"))
		if err != nil {
			return nil, err
		}
		c.Convergence, fitted = &fit.Convergence, fit.Quantifiers
	}
	for q := range c.Quantifiers {
		if why := c.Quantifiers[q].Unfitted; why != "" {
			for range t.Items {
				c.Quantifiers[q].Items = append(c.Quantifiers[q].Items, measure.Undefined("response.confidence", why, 0))
			}
			continue
		}
		c.Quantifiers[q].Items, fitted = fitted[0].Confidence, fitted[1:]
	}
	return c, nil
}

// responseColumn are the scores of a quantifier as the item-response model takes them.
func responseColumn(q Quantifier) bayes.Quantifier {
	column := bayes.Quantifier{Name: q.Name, Scores: make([]float64, len(q.Scores)), Missing: make([]bool, len(q.Scores))}
	for i, x := range q.Scores {
		if column.Missing[i] = math.IsNaN(x) || math.IsInf(x, 0); !column.Missing[i] {
			column.Scores[i] = x
		}
	}
	return column
}

// unfitted is why the item-response model can learn nothing of a quantifier; empty if it can.
func unfitted(q bayes.Quantifier, people []bayes.Judge) measure.Reason {
	lowest, highest := math.Inf(1), math.Inf(-1)
	labelled := false
	for i, x := range q.Scores {
		if q.Missing[i] {
			continue
		}
		lowest, highest = min(lowest, x), max(highest, x)
		for _, p := range people {
			labelled = labelled || p.Counts[i] != (bayes.Count{})
		}
	}
	switch {
	case !labelled:
		return noPairs
	case lowest == highest:
		return noSpread
	}
	return ""
}
