package bayes

import (
	"context"
	"fmt"
	"math"
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

// response is the posterior of the item-response model. Its parameters are two halves, offsets and
// slopes, each with the common mean, those of people, and those of quantifiers.
//
// The data know the sums of a person's and a quantifier's part, and little of their difference. So
// the sampler moves in each half along coordinates that are reflected such that the first of them is this
// difference: the diagonal metric then sees how much wider it is.
type response struct {
	scale              Scale
	items              int
	people, quantifies int
	scores             [][]float64 // of each quantifier, as the model sees them
	cells              []cell
	mirror             []float64 // the normal of the reflection, over β, b, c

	half, gradHalf [2][]float64
}

// cell is one person's labels of items with one score of one quantifier.
type cell struct {
	person, quantifier int
	score              float64
	correct, total     float64
}

func newResponse(d ResponseData) (*response, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	m := &response{scale: d.Scale, items: len(d.People[0].Counts), people: len(d.People), quantifies: len(d.Quantifiers)}
	if m.scale == "" {
		m.scale = Standardised
	}
	for k, q := range d.Quantifiers {
		scores := slices.Clone(q.Scores)
		if m.scale == Standardised {
			if err := standardise(q, scores); err != nil {
				return nil, err
			}
		}
		m.scores = append(m.scores, scores)
		m.addCells(d.People, k, q, scores)
	}
	if len(m.cells) == 0 {
		return nil, fmt.Errorf("bayes: no item has both a label and a score")
	}
	m.mirror = reflection(m.people, m.quantifies)
	return m.Fork().(*response), nil
}

// addCells collects the labels of one quantifier's items; equal scores share a cell.
func (m *response) addCells(people []Judge, k int, q Quantifier, scores []float64) {
	for j, person := range people {
		at := map[float64]int{}
		for i, c := range person.Counts {
			if !q.has(i) || c.total() == 0 {
				continue
			}
			n, ok := at[scores[i]]
			if !ok {
				n = len(m.cells)
				at[scores[i]] = n
				m.cells = append(m.cells, cell{person: j, quantifier: k, score: scores[i]})
			}
			m.cells[n].correct += float64(c.Correct)
			m.cells[n].total += float64(c.total())
		}
	}
}

// standardise gives the scores that are there mean 0 and standard deviation 1.
func standardise(q Quantifier, scores []float64) error {
	var n, mean, square float64
	for i, x := range scores {
		if q.has(i) {
			n++
			mean += (x - mean) / n
		}
	}
	for i, x := range scores {
		if q.has(i) {
			square += (x - mean) * (x - mean)
		}
	}
	sd := math.Sqrt(square / n)
	if !(sd > 0) || !finite(sd) {
		return fmt.Errorf("bayes: the scores of quantifier %q do not vary; leave it out, or use the raw scale", q.Name)
	}
	for i, x := range scores {
		if q.has(i) {
			scores[i] = (x - mean) / sd
		}
	}
	return nil
}

// reflection is the normal of the mirror that exchanges the first axis with the direction in which
// people's part grows as quantifiers' shrinks, over the coordinates β, b, c.
func reflection(people, quantifiers int) []float64 {
	n := 1 + people + quantifiers
	normal := make([]float64, n)
	norm := math.Sqrt(float64(n))
	for i := range normal {
		normal[i] = -1 / norm
		if i > people {
			normal[i] = 1 / norm
		}
	}
	normal[0]++
	size := 0.0
	for _, x := range normal {
		size += x * x
	}
	for i := range normal {
		normal[i] /= math.Sqrt(size)
	}
	return normal
}

// Dim counts both halves.
func (m *response) Dim() int { return 2 * len(m.mirror) }

// Fork returns an equal model with memory of its own.
func (m *response) Fork() Model {
	f := *m
	for h := range f.half {
		f.half[h], f.gradHalf[h] = make([]float64, len(m.mirror)), make([]float64, len(m.mirror))
	}
	return &f
}

// reflect writes the mirror image of x, which is its own inverse, into y.
func (m *response) reflect(x, y []float64) {
	dot := 0.0
	for i, n := range m.mirror {
		dot += n * x[i]
	}
	for i, n := range m.mirror {
		y[i] = x[i] - 2*dot*n
	}
}

// parameters sets both halves from a draw: β, b, c and ω, w, m.
func (m *response) parameters(q []float64) {
	n := len(m.mirror)
	m.reflect(q[:n], m.half[0])
	m.reflect(q[n:], m.half[1])
}

// LogDensityGradient is that of the posterior.
func (m *response) LogDensityGradient(q, grad []float64) float64 {
	m.parameters(q)
	total := 0.0
	for h, x := range m.half {
		total += m.prior(x, m.gradHalf[h])
	}
	offset, slope := m.half[0], m.half[1]
	gradOffset, gradSlope := m.gradHalf[0], m.gradHalf[1]
	for _, c := range m.cells {
		j, k := 1+c.person, 1+m.people+c.quantifier
		eta := offset[j] + offset[k] + (slope[j]+slope[k])*c.score
		e := math.Exp(-math.Abs(eta))
		total += c.correct*eta - c.total*(max(eta, 0)+math.Log1p(e))
		p := 1 / (1 + e)
		if eta < 0 {
			p = e / (1 + e)
		}
		d := c.correct - c.total*p
		gradOffset[j] += d
		gradOffset[k] += d
		gradSlope[j] += d * c.score
		gradSlope[k] += d * c.score
	}
	n := len(m.mirror)
	m.reflect(gradOffset, grad[:n])
	m.reflect(gradSlope, grad[n:])
	return total
}

// priorVariance is 2², that of all Gaussians of the model.
const priorVariance = 4

// prior of one half, its gradient into grad.
func (m *response) prior(x, grad []float64) float64 {
	square := 0.0
	mean := x[0]
	grad[0] = -mean / priorVariance
	square += mean * mean
	for i := 1; i < len(x); i++ {
		d := x[i]
		if i <= m.people {
			d -= mean
			grad[0] += d / priorVariance
		}
		grad[i] = -d / priorVariance
		square += d * d
	}
	return -square / (2 * priorVariance)
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

func (m *response) parameterName(i int) string {
	n := len(m.mirror)
	what := []string{"offset", "slope"}[i/n]
	switch i %= n; {
	case i == 0:
		return what
	case i <= m.people:
		return "person." + what
	}
	return "quantifier." + what
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
