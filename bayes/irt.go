package bayes

import (
	"context"
	"fmt"
	"slices"

	"github.com/credence-lab/credence/measure"
)

// A Quantifier has a score of each item, of whatever scale and direction.
type Quantifier struct {
	// Name is unique among the quantifiers.
	Name string
	// Scores has one entry for each item, finite where the score is there.
	Scores []float64
	// Missing is nil, or marks the items without a score.
	Missing []bool
}

func (q Quantifier) has(i int) bool { return q.Missing == nil || !q.Missing[i] }

// Scale says what the item-response model sees of scores.
type Scale string

const (
	// Standardised scores have mean 0 and standard deviation 1 (divisor n) for each quantifier. The
	// paper does not say which scale it uses; its priors fit this one.
	Standardised Scale = "standardised"
	// Raw scores are taken as they are. Where their scale is far from 1, the priors bind and the
	// sampler may not converge.
	Raw Scale = "raw"
)

// ResponseData is what the item-response model is fitted to.
type ResponseData struct {
	// People are the people who judged the items; Counts has their labels. Names must differ.
	People []Judge
	// Quantifiers are the scores of the items.
	Quantifiers []Quantifier
	// Scale is that of the scores; empty means [Standardised].
	Scale Scale
}

// ResponsePosterior is the item-response model fitted to data.
type ResponsePosterior struct {
	Scale  Scale    `json:"scale"`
	Items  int      `json:"items"`
	People []string `json:"people"`
	// Offset and Slope are β and ω, the means of those of people.
	Offset Estimate `json:"offset"`
	Slope  Estimate `json:"slope"`
	// PeopleOffsets and PeopleSlopes are b and w.
	PeopleOffsets []Estimate `json:"people_offsets"`
	PeopleSlopes  []Estimate `json:"people_slopes"`
	// Quantifiers are those of the data, in order.
	Quantifiers []QuantifierPosterior `json:"quantifiers"`
	// Convergence judges the fit.
	Convergence Convergence `json:"convergence"`

	draws *Draws
	model *response
}

// QuantifierPosterior is the posterior of one quantifier.
type QuantifierPosterior struct {
	Name string `json:"name"`
	// Offset and Slope are c and m; the data know little of them but the sums with those of people.
	Offset Estimate `json:"offset"`
	Slope  Estimate `json:"slope"`
	// Confidence has for each item the posterior median, over draws and people, of the probability that
	// the item is judged correct. Undefined where the score is missing. N is 1, the item.
	Confidence []measure.Value `json:"confidence"`
}

// Missing scores and refused fits give no confidence.
const noScore measure.Reason = "no score"

// FitResponses draws from the posterior of the item-response model of "A Tale of Two Error
// Categories", Appendix B.2: a person accepts an item with probability
// logistic((b + c) + (w + m)·score), b and w of the person, c and m of the quantifier. The priors are
// N(0, 2²) for all but b and w, which lie around common means β and ω with deviation 2.
//
// It is an error if the data or an option make no sense, or if ctx ends first.
func FitResponses(ctx context.Context, d ResponseData, o Options) (*ResponsePosterior, error) {
	m, err := newResponse(d)
	if err != nil {
		return nil, err
	}
	if o, err = o.withDefaults(); err != nil {
		return nil, err
	}
	draws, err := Sample(ctx, m, o)
	if err != nil {
		return nil, err
	}
	p := &ResponsePosterior{Scale: m.scale, Items: m.items, draws: draws, model: m}
	return p, p.summarise(d, o)
}

func (d ResponseData) check() error {
	if len(d.People) == 0 || len(d.Quantifiers) == 0 {
		return fmt.Errorf("bayes: %d people and %d quantifiers; the item-response model needs both", len(d.People), len(d.Quantifiers))
	}
	if s := d.Scale; s != "" && s != Standardised && s != Raw {
		return fmt.Errorf("bayes: unknown scale %q; use %q or %q", s, Standardised, Raw)
	}
	items := len(d.People[0].Counts)
	names := map[string]bool{}
	for _, j := range d.People {
		if len(j.Counts) != items || names[j.Name] {
			return fmt.Errorf("bayes: person %q is there twice or has labels for %d items instead of %d", j.Name, len(j.Counts), items)
		}
		names[j.Name] = true
		for i, c := range j.Counts {
			if c.Correct < 0 || c.Incorrect < 0 {
				return fmt.Errorf("bayes: person %q has a negative number of labels on item %d", j.Name, i)
			}
		}
	}
	for _, q := range d.Quantifiers {
		if len(q.Scores) != items || q.Missing != nil && len(q.Missing) != items {
			return fmt.Errorf("bayes: quantifier %q has %d scores and %d marks of missing ones; people have labels for %d items", q.Name, len(q.Scores), len(q.Missing), items)
		}
		for i, x := range q.Scores {
			if q.has(i) && !finite(x) {
				return fmt.Errorf("bayes: quantifier %q has the score %v on item %d; mark it as missing", q.Name, x, i)
			}
		}
	}
	return nil
}

func (p *ResponsePosterior) summarise(d ResponseData, o Options) error {
	n := len(p.model.mirror)
	estimates := make([]Estimate, 2*n)
	err := inParallel(len(estimates), func(i int) error {
		estimates[i] = Summarise("item-response.nuts."+p.model.parameterName(i), p.series(i/n, i%n), p.Items)
		return nil
	})
	if err != nil {
		return err
	}
	all := make([]*Estimate, len(estimates))
	for i := range estimates {
		all[i] = &estimates[i]
	}
	p.Convergence = Assess(p.draws.Chains, o.Draws, all)
	p.Offset, p.Slope = estimates[0], estimates[n]
	for j, person := range d.People {
		p.People = append(p.People, person.Name)
		p.PeopleOffsets = append(p.PeopleOffsets, estimates[1+j])
		p.PeopleSlopes = append(p.PeopleSlopes, estimates[n+1+j])
	}
	p.Quantifiers = make([]QuantifierPosterior, len(d.Quantifiers))
	return inParallel(len(d.Quantifiers), func(k int) error {
		at := 1 + p.model.people + k
		p.Quantifiers[k] = QuantifierPosterior{
			Name: d.Quantifiers[k].Name, Offset: estimates[at], Slope: estimates[n+at],
			Confidence: p.confidences(d.Quantifiers[k], k),
		}
		return nil
	})
}

// series returns the draws of one parameter of one half.
func (p *ResponsePosterior) series(half, i int) Series {
	n, mirror := len(p.model.mirror), p.model.mirror
	return p.draws.Series(func(q []float64) float64 {
		x, dot := q[half*n:(half+1)*n], 0.0
		for k, v := range mirror {
			dot += v * x[k]
		}
		return x[i] - 2*dot*mirror[i]
	})
}

// confidences of one quantifier. The logistic function keeps the order, so that the median is taken
// before it.
func (p *ResponsePosterior) confidences(q Quantifier, k int) []measure.Value {
	const method = "item-response.nuts.confidence"
	offset, slope := p.sums(k)
	logits := make([]float64, len(offset))
	known := map[float64]measure.Value{}
	out := make([]measure.Value, p.Items)
	for i, x := range p.model.scores[k] {
		if !q.has(i) {
			out[i] = measure.Undefined(method, noScore, 1)
			continue
		}
		if p.Convergence.Verdict == Refused {
			out[i] = measure.Undefined(method, Frozen, 1)
			continue
		}
		v, ok := known[x]
		if !ok {
			for t := range logits {
				logits[t] = offset[t] + slope[t]*x
			}
			v = measure.Of(method, middleProbability(logits), 1)
			v.Warnings = p.Convergence.Warnings
			known[x] = v
		}
		out[i] = v
	}
	return out
}

// sums are b + c and w + m of one quantifier over all draws and people.
func (p *ResponsePosterior) sums(k int) (offset, slope []float64) {
	m := p.model.Fork().(*response)
	for c := range p.draws.chains {
		for t := range len(p.draws.chains[c]) / p.draws.dim {
			m.parameters(p.draws.At(c, t))
			for j := range m.people {
				offset = append(offset, m.half[0][1+j]+m.half[0][1+m.people+k])
				slope = append(slope, m.half[1][1+j]+m.half[1][1+m.people+k])
			}
		}
	}
	return offset, slope
}

// middleProbability is the median of the logistic of the logits, which are reordered.
func middleProbability(logits []float64) float64 {
	slices.Sort(logits)
	n := len(logits)
	return (unitOf(logits[(n-1)/2]).p + unitOf(logits[n/2]).p) / 2
}
