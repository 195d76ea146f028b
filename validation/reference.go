package validation

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-lab/credence/bayes"
)

// References that are no single person.
const (
	// MajorityReference is what more than half of the people who labelled an item say; an item without a
	// majority has no label.
	MajorityReference = "majority"
	// PosteriorReference is what the judge model, fitted to people alone as judges of each other, holds for more
	// probable. Judges have no part in it: they cannot be validated against themselves.
	PosteriorReference = "posterior"
)

// Reasons why the reference has no label of an item.
const (
	noLabel    = "no label of people"
	noMajority = "no majority of people"
)

// reference is what judges are compared with: how far each item counts as correct.
type reference struct {
	name string
	// weights are 1, 0 or ½, or NaN.
	weights []float64
	// missing is why there is none.
	missing string
}

// referenceOf finds the reference named by the options; the first person where none is named.
func referenceOf(ctx context.Context, t *Table, o Options) (reference, error) {
	switch o.Reference {
	case "":
		return personReference(t.People[0], o.Unsure), nil
	case MajorityReference:
		return majority(votesOf(t.People, o.Unsure)), nil
	case PosteriorReference:
		return posteriorReference(ctx, t, o)
	}
	for _, p := range t.People {
		if p.Name == o.Reference {
			return personReference(p, o.Unsure), nil
		}
	}
	return reference{}, fmt.Errorf("validation: the reference %q is no person of the table, nor %s or %s", o.Reference, MajorityReference, PosteriorReference)
}

func personReference(p Person, u UnsureRule) reference {
	return reference{p.Name, u.weights(p.Labels), noLabel}
}

// votesOf are the labels of people for each item.
func votesOf(people []Person, u UnsureRule) []bayes.Votes {
	votes := make([]bayes.Votes, len(people[0].Labels))
	for _, p := range people {
		for i, l := range p.Labels {
			if w := u.weight(l); !math.IsNaN(w) {
				votes[i].Correct += w
				votes[i].Incorrect += 1 - w
			}
		}
	}
	return votes
}

func majority(votes []bayes.Votes) reference {
	r := reference{MajorityReference, make([]float64, len(votes)), noMajority}
	for i, v := range votes {
		switch {
		case v.Correct > v.Incorrect:
			r.weights[i] = 1
		case v.Correct == v.Incorrect:
			r.weights[i] = math.NaN()
		}
	}
	return r
}

func posteriorReference(ctx context.Context, t *Table, o Options) (reference, error) {
	if o.Draws == 0 {
		return reference{}, fmt.Errorf("validation: the reference %q needs draws of the judge model, and none are asked for", PosteriorReference)
	}
	fit, err := bayes.FitJudges(ctx, bayes.JudgeData{People: votesOf(t.People, o.Unsure), Judges: peopleAsJudges(t.People, o.Unsure)}, o.priors().Priors, o.judgeSampler(), o.sampler("reference"))
	if err != nil {
		return reference{}, err
	}
	if fit.Correctness == nil {
		return reference{}, fmt.Errorf("validation: the judge model of people alone did not converge; name a person as the reference")
	}
	votes := votesOf(t.People, o.Unsure)
	r := reference{PosteriorReference, make([]float64, len(t.Items)), noMajority}
	for i, c := range fit.Correctness {
		switch mean, ok := c.Mean.Get(); {
		case !ok, votes[i] == (bayes.Votes{}):
			r.weights[i] = math.NaN()
		case mean > .5:
			r.weights[i] = 1
		}
	}
	return r, nil
}
