package bayes

import (
	"fmt"
	"math"
	"slices"
)

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
