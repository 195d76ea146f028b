package metric

import (
	"fmt"
	"math"

	"github.com/credence-lab/credence/measure"
)

// KappaWeights says how much two categories disagree in [CohenKappa].
type KappaWeights uint8

const (
	// Unweighted: every disagreement counts the same.
	Unweighted KappaWeights = iota
	// Linear: a disagreement counts by how many places the categories lie apart.
	Linear
	// Quadratic: by the square of that.
	Quadratic
)

// String returns the part of a method id that names the weights; empty for unweighted.
func (w KappaWeights) String() string {
	return [...]string{"", "linear", "quadratic"}[w]
}

func (w KappaWeights) disagreement(i, j int) float64 {
	switch d := math.Abs(float64(i - j)); w {
	case Linear:
		return d
	case Quadratic:
		return d * d
	default:
		return math.Min(d, 1)
	}
}

// CohenKappa is Cohen's kappa of two raters over the items that both rated: 1 - D/E, with D the
// observed and E the expected disagreement under independence with the raters' own margins (Cohen
// 1960; weighted 1968). Range [-1,1], 0 at chance. Weights count places in the list of categories.
// Method kappa.cohen, kappa.cohen.linear, kappa.cohen.quadratic.
//
// It is undefined with [OneCategory] where both raters used one and the same category only. The
// interval is asymptotic.normal: the large-sample standard error of Fleiss, Cohen and Everitt
// (1969) and a normal quantile, cut to [-1,1].
//
// It is an error if there are not two raters, or if weights are asked of categories without order.
func CohenKappa(r Ratings, w KappaWeights, ci AgreementInterval) (Agreement, error) {
	if w > Quadratic {
		return Agreement{}, fmt.Errorf("metric: unknown weights %d of kappa", uint8(w))
	}
	if err := ci.check(); err != nil {
		return Agreement{}, err
	}
	if r.Raters() != 2 {
		return Agreement{}, errTwoRaters
	}
	if w != Unweighted && !r.ordered {
		return Agreement{}, fmt.Errorf("metric: %s weights need ordered categories: declare the labels in their order", w)
	}
	id := idOf("kappa", "cohen", w.String())
	c := r.cross()
	out := map[string]int{unpaired: r.Items() - c.n}
	a := Agreement{Raw: r.rawAgreement(ci.Level)}
	observed, expected := c.disagreement(w)
	switch {
	case c.n == 0:
		a.Coefficient = measure.Undefined(id, measure.NoItems, 0).Leaving(out)
		a.Chance = measure.Undefined("agreement.chance.cohen", measure.NoItems, 0)
		return a, nil
	case expected == 0:
		a.Coefficient = measure.Undefined(id, OneCategory, c.n).Leaving(out)
	default:
		// Both sums are whole numbers, so that a kappa of 0 is exactly 0.
		a.Coefficient = measure.Of(id, (expected-observed)/expected, c.n).Leaving(out)
		if ci.Level > 0 {
			k, _ := a.Coefficient.Get()
			half := normalQuantile(ci.Level) * c.standardError(w)
			a.Coefficient = withoutSpread(a.Coefficient.With(clippedTo(-1, 1, k, half, ci.Level, "asymptotic.normal")))
		}
	}
	far := math.Max(w.disagreement(0, r.size-1), 1)
	a.Chance = measure.Of("agreement.chance.cohen", 1-expected/(float64(c.n)*float64(c.n)*far), c.n)
	return a, nil
}

// crossTable counts items by what the first (row) and the second rater (column) said.
type crossTable struct {
	cells        [][]float64
	rows, column []float64
	n            int
}

func (r Ratings) cross() crossTable {
	c := crossTable{cells: make([][]float64, r.size), rows: make([]float64, r.size), column: make([]float64, r.size)}
	for k := range c.cells {
		c.cells[k] = make([]float64, r.size)
	}
	for i := range r.Items() {
		j, k := r.codes[0][i], r.codes[1][i]
		if j == absent || k == absent {
			continue
		}
		c.cells[j][k]++
		c.rows[j]++
		c.column[k]++
		c.n++
	}
	return c
}

// disagreement is the observed and the expected weighted disagreement, both times n².
func (c crossTable) disagreement(w KappaWeights) (observed, expected float64) {
	for i, row := range c.cells {
		for j, n := range row {
			observed += w.disagreement(i, j) * n
			expected += w.disagreement(i, j) * c.rows[i] * c.column[j]
		}
	}
	return observed * float64(c.n), expected
}

// standardError is that of Fleiss, Cohen and Everitt (1969), equation 11, written with disagreement
// weights, which leave kappa and its error alone when they are scaled.
func (c crossTable) standardError(w KappaWeights) float64 {
	n := float64(c.n)
	observed, expected := c.disagreement(w)
	d, e := observed/(n*n), expected/(n*n)
	q := len(c.rows)
	byRow, byColumn := make([]float64, q), make([]float64, q)
	for i := range q {
		for j := range q {
			byRow[i] += w.disagreement(i, j) * c.column[j] / n
			byColumn[j] += w.disagreement(i, j) * c.rows[i] / n
		}
	}
	influence := func(i, j int) float64 { return w.disagreement(i, j)*e - (byRow[i]+byColumn[j])*d }
	// A cell is summed with its mirror image, so that swapping the raters changes no digit.
	overCells := func(of func(i, j int) float64) (sum float64) {
		for i := range q {
			for j := range i {
				sum += of(i, j) + of(j, i)
			}
			sum += of(i, i)
		}
		return sum
	}
	mean := overCells(func(i, j int) float64 { return c.cells[i][j] / n * influence(i, j) })
	square := overCells(func(i, j int) float64 {
		off := influence(i, j) - mean
		return c.cells[i][j] / n * off * off
	})
	return math.Sqrt(square/n) / (e * e)
}
