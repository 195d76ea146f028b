package bayes

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-lab/credence/measure"
)

// A Sampler is a way to draw from the posterior of the judge model.
type Sampler string

const (
	// NUTS moves the sensitivities and specificities with the correctness of the items integrated out,
	// which is then drawn given them.
	NUTS Sampler = "nuts"
	// Gibbs draws a latent label for each judgement, and then everything from its conjugate
	// distribution. It shares no code with NUTS but the data, and is there to check it; its draws are
	// less independent.
	Gibbs Sampler = "gibbs"
)

// JudgeEstimate is the posterior of one judge.
type JudgeEstimate struct {
	Name   string `json:"name"`
	Family string `json:"family,omitempty"`
	Human  bool   `json:"human,omitempty"`
	// Items is the number of items that the judge judged; the quantities are over all items of the fit.
	Items int `json:"items"`
	// Quantities has an estimate for each of [Quantities].
	Quantities map[Quantity]Estimate `json:"quantities"`
}

// ItemEstimate is the posterior of the correctness of one item: the probability that a label of it is
// positive. N is 1, the item.
type ItemEstimate struct {
	Mean measure.Value `json:"mean"`
	SD   measure.Value `json:"sd"`
}

// JudgePosterior is the judge model fitted to data.
type JudgePosterior struct {
	// Together names the judges that were fitted at once. Estimates depend on it: judges that agree
	// with each other outvote people.
	Together []string `json:"together"`
	// Scope is how they were chosen, if by [FitScopes]; else empty.
	Scope   Scope       `json:"scope,omitempty"`
	Sampler Sampler     `json:"sampler"`
	Priors  JudgePriors `json:"priors"`
	// Items is the number of items.
	Items  int             `json:"items"`
	Judges []JudgeEstimate `json:"judges"`
	// MeanCorrectness is the posterior of the mean correctness of the items.
	MeanCorrectness Estimate `json:"mean_correctness"`
	// Correctness has the posterior of each item; nil if the fit is refused.
	Correctness []ItemEstimate `json:"correctness,omitempty"`
	// Checks compare what the judges said with what the fitted model would have them say.
	Checks []PredictiveCheck `json:"checks"`
	// Convergence judges the fit.
	Convergence Convergence `json:"convergence"`

	draws judgeDraws
}

// judgeDraws are the draws of a fit.
type judgeDraws struct {
	theta      Series     // of the mean correctness
	sens, spec [][][]unit // by judge, chain, draw
}

// Draws returns the draws of a quantity of judge j, to ask what no estimate answers, such as the
// chance that an F1 exceeds .7. The convergence of the fit applies to them, too.
func (p *JudgePosterior) Draws(j int, q Quantity) Series {
	s := make(Series, len(p.draws.theta))
	for c, theta := range p.draws.theta {
		s[c] = make([]float64, len(theta))
		for t := range theta {
			s[c][t] = q.at(theta[t], p.draws.sens[j][c][t], p.draws.spec[j][c][t])
		}
	}
	return s
}

// FitJudges draws from the posterior of the judge model of "A Tale of Two Error Categories", Appendix
// B.1, with all judges of the data together.
//
// The model: an item is correct with a probability that has the prior for correctness, updated by the
// labels of people. Each judgement comes of a label drawn with that probability. A positive label is
// accepted with the judge's sensitivity, a negative one rejected with its specificity.
//
// It is an error if the data or an option make no sense, or if ctx ends first.
func FitJudges(ctx context.Context, d JudgeData, priors JudgePriors, sampler Sampler, o Options) (*JudgePosterior, error) {
	priors, err := priors.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	if o, err = o.withDefaults(); err != nil {
		return nil, err
	}
	var tallies []*tally
	var reports []ChainReport
	switch sampler {
	case NUTS:
		tallies, reports, err = sampleMarginal(ctx, d, priors, o)
	case Gibbs:
		tallies, err = sampleGibbs(ctx, d, priors, o)
	default:
		return nil, fmt.Errorf("bayes: unknown sampler %q; use %q or %q", sampler, NUTS, Gibbs)
	}
	if err != nil {
		return nil, err
	}
	p := &JudgePosterior{Together: d.names(), Sampler: sampler, Priors: priors, Items: len(d.People)}
	p.gather(d, tallies)
	return p, p.summarise(d, tallies, reports, o)
}

// sampleMarginal draws the judges with NUTS, then the correctness of the items given them.
func sampleMarginal(ctx context.Context, d JudgeData, priors JudgePriors, o Options) ([]*tally, []ChainReport, error) {
	patterns := patternsOf(d, priors)
	m, err := newMarginal(d, priors, patterns)
	if err != nil {
		return nil, nil, err
	}
	draws, err := Sample(ctx, m, o)
	if err != nil {
		return nil, nil, err
	}
	tallies := make([]*tally, o.Chains)
	err = inParallel(o.Chains, func(c int) error {
		random := generatorOf(o.Seed^0x636f7272656374, c)
		t := newTally(d, o, random)
		items := newCorrectness(patterns, random)
		judges := len(d.Judges)
		sens, spec, theta := make([]unit, judges), make([]unit, judges), make([]float64, len(d.People))
		for i := range o.Draws {
			if err := ctx.Err(); err != nil {
				return err
			}
			q := draws.At(c, i)
			for j := range judges {
				sens[j], spec[j] = unitOf(q[j]), unitOf(q[judges+j])
			}
			items.draw(theta, sens, spec, t.items)
			t.add(theta, sens, spec)
		}
		tallies[c] = t
		return nil
	})
	return tallies, draws.Chains, err
}

// gather joins the draws of the chains.
func (p *JudgePosterior) gather(d JudgeData, tallies []*tally) {
	p.draws.sens = make([][][]unit, len(d.Judges))
	p.draws.spec = make([][][]unit, len(d.Judges))
	for _, t := range tallies {
		p.draws.theta = append(p.draws.theta, t.theta)
		for j := range d.Judges {
			p.draws.sens[j] = append(p.draws.sens[j], t.sens[j])
			p.draws.spec[j] = append(p.draws.spec[j], t.spec[j])
		}
	}
}

func (p *JudgePosterior) summarise(d JudgeData, tallies []*tally, reports []ChainReport, o Options) error {
	method := "judge-model." + string(p.Sampler) + "."
	var drawn []Quantity
	for _, q := range Quantities {
		if mirrors[q] == "" {
			drawn = append(drawn, q)
		}
	}
	estimates := make([]Estimate, len(d.Judges)*len(drawn)+1)
	err := inParallel(len(estimates), func(i int) error {
		if i == len(estimates)-1 {
			estimates[i] = Summarise(method+"mean-correctness", p.draws.theta, p.Items)
			return nil
		}
		q := drawn[i%len(drawn)]
		estimates[i] = Summarise(method+string(q), p.Draws(i/len(drawn), q), p.Items)
		return nil
	})
	if err != nil {
		return err
	}
	all := make([]*Estimate, len(estimates))
	for i := range estimates {
		all[i] = &estimates[i]
	}
	p.Convergence = Assess(reports, o.Draws, all)
	p.MeanCorrectness = estimates[len(estimates)-1]
	for j, judge := range d.Judges {
		e := JudgeEstimate{Name: judge.Name, Family: judge.Family, Human: judge.Human, Items: judge.judged(), Quantities: map[Quantity]Estimate{}}
		for i, q := range drawn {
			e.Quantities[q] = estimates[j*len(drawn)+i]
		}
		for q, of := range mirrors {
			e.Quantities[q] = e.Quantities[of].mirrored(method + string(q))
		}
		p.Judges = append(p.Judges, e)
	}
	if p.Convergence.Verdict != Refused {
		p.Correctness = itemEstimates(method, tallies, p.Convergence.Warnings)
		p.Checks = predictiveChecks(d, tallies, p.Convergence.Warnings)
	}
	return nil
}

func itemEstimates(method string, tallies []*tally, warnings []measure.Warning) []ItemEstimate {
	out := make([]ItemEstimate, len(tallies[0].items.mean))
	for i := range out {
		mean, square, n := 0.0, 0.0, 0.0
		for _, t := range tallies {
			mean += t.items.mean[i]
			square += t.items.square[i]
			n += float64(t.draws)
		}
		mean /= n
		e := ItemEstimate{
			Mean: measure.Of(method+"correctness.mean", mean, 1),
			SD:   measure.Of(method+"correctness.sd", math.Sqrt(max(0, square/n-mean*mean)), 1),
		}
		e.Mean.Warnings, e.SD.Warnings = warnings, warnings
		out[i] = e
	}
	return out
}

// By returns the estimate of a quantity of the named judge.
func (p *JudgePosterior) By(name string, q Quantity) (Estimate, bool) {
	for _, j := range p.Judges {
		if j.Name == name {
			e, ok := j.Quantities[q]
			return e, ok
		}
	}
	return Estimate{Median: measure.Undefined(string(q), measure.NoItems, 0)}, false
}
