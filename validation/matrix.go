package validation

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/resample"
)

// Matrix is one metric of every quantifier under people and under every judge: Figures 7 to 12 for
// AUROC, 21 to 24 for risk and coverage.
type Matrix struct {
	// Metric is its id in package metric, Better its good end.
	Metric string           `json:"metric"`
	Better metric.Direction `json:"better"`
	// Quantifiers name the columns.
	Quantifiers []string `json:"quantifiers"`
	// People is the row of the reference, Judges has one for each judge.
	People Row   `json:"people"`
	Judges []Row `json:"judges"`
}

// Row is the quantifiers under one judge.
type Row struct {
	// Judge is its name, or that of the reference.
	Judge string `json:"judge"`
	Cells []Cell `json:"cells"`
}

// Cell is one quantifier under one judge.
type Cell struct {
	Value measure.Value `json:"value"`
	// Difference is the value minus that under people on the same items, with a paired interval;
	// undefined for people.
	Difference measure.Value `json:"difference"`
	// Rank among the quantifiers, 1 for the best, ties sharing their mean; undefined where Value is.
	Rank measure.Value `json:"rank"`
}

// Complete reports whether every cell of the row has a value.
func (r Row) Complete() bool {
	for _, c := range r.Cells {
		if !c.Value.Defined() {
			return false
		}
	}
	return len(r.Cells) > 0
}

// values of the row; NaN where there is none.
func (r Row) values() []float64 {
	list := make([]float64, len(r.Cells))
	for i, c := range r.Cells {
		x, ok := c.Value.Get()
		if !ok {
			x = math.NaN()
		}
		list[i] = x
	}
	return list
}

// rank fills in the ranks of a row.
func (r Row) rank(better metric.Direction) {
	ranks := metric.Ranks(r.values(), better, 0)
	for i, c := range r.Cells {
		if !c.Value.Defined() {
			r.Cells[i].Rank = measure.Undefined("rank", c.Value.Reason(), 0)
			continue
		}
		r.Cells[i].Rank = measure.Of("rank", ranks[i], len(ranks))
	}
}

const noReference measure.Reason = "is the reference"

// evaluation is what the matrices of several metrics need: the same scores, labels and resamples.
type evaluation struct {
	scores    []metric.Score
	reference reference
	judges    []labelled
	stats     []metric.Statistic
	options   Options
}

// labelled is a judge's name with how far each item counts as correct, NaN where it said nothing.
type labelled struct {
	name    string
	weights []float64
}

// matrices evaluates every statistic under people and every judge.
func (e evaluation) matrices(ctx context.Context, progress func(done, total int)) ([]Matrix, error) {
	list := make([]Matrix, len(e.stats))
	for m, s := range e.stats {
		list[m] = Matrix{Metric: s.ID, Better: s.Better, Judges: []Row{}}
		for _, q := range e.scores {
			list[m].Quantifiers = append(list[m].Quantifiers, q.Name)
		}
	}
	own := labelled{e.reference.name, e.reference.weights}
	for j, l := range append([]labelled{own}, e.judges...) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows, err := e.rows(ctx, l, j == 0)
		if err != nil {
			return nil, err
		}
		for m, row := range rows {
			row.rank(list[m].Better)
			if j == 0 {
				list[m].People = row
			} else {
				list[m].Judges = append(list[m].Judges, row)
			}
		}
		if progress != nil {
			progress(j+1, len(e.judges)+1)
		}
	}
	return list, nil
}

// rows are those of one judge, one for each statistic.
func (e evaluation) rows(ctx context.Context, l labelled, isReference bool) ([]Row, error) {
	x := expand(e.reference, l, e.scores)
	judge, err := metric.PrepareJointly(x.judge, x.scores...)
	if err != nil {
		return nil, err
	}
	people, err := metric.PrepareJointly(x.people, x.scores...)
	if err != nil {
		return nil, err
	}
	values := plainValues
	if e.options.Resamples > 0 && judge[0].N() > 0 {
		draws, err := resample.Paired(ctx, append(judge, people...), e.stats, resample.Options{
			N: e.options.Resamples, Seed: e.options.seed("bootstrap"), Clusters: x.clusters,
		})
		if err != nil {
			return nil, err
		}
		values = drawnValues(draws, e.options.Level)
	}
	rows := make([]Row, len(e.stats))
	for m, s := range e.stats {
		rows[m].Judge = l.name
		for q := range e.scores {
			value, difference := values(s, m, q, judge, people)
			c := Cell{Value: x.settle(value), Difference: x.settle(difference)}
			if isReference {
				c.Difference = measure.Undefined(difference.Method, noReference, c.Value.N)
			}
			rows[m].Cells = append(rows[m].Cells, c)
		}
	}
	return rows, nil
}

// valuesOf gives statistic s, the m-th, of score q under a judge, and its difference from that under people.
type valuesOf func(s metric.Statistic, m, q int, judge, people []*metric.Prepared) (value, difference measure.Value)

func plainValues(s metric.Statistic, _, q int, judge, people []*metric.Prepared) (value, difference measure.Value) {
	value = s.On(judge[q])
	id := s.ID + ".difference"
	under := s.On(people[q])
	x, ok := value.Get()
	if !ok {
		return value, measure.Undefined(id, value.Reason(), value.N)
	}
	y, ok := under.Get()
	if !ok {
		return value, measure.Undefined(id, under.Reason(), value.N)
	}
	difference = measure.Of(id, x-y, value.N)
	difference.LeftOut = value.LeftOut
	return value, difference
}

func drawnValues(draws *resample.Draws, level float64) valuesOf {
	return func(s metric.Statistic, m, q int, judge, _ []*metric.Prepared) (value, difference measure.Value) {
		value = draws.Value(q, m, level)
		difference = draws.Contrast(s.ID+".difference", level,
			resample.Term{Score: q, Stat: m, Weight: 1}, resample.Term{Score: len(judge) + q, Stat: m, Weight: -1})
		return value, difference
	}
}

// expanded are the columns of one judge as statistics take them. Where an unsure label counts half,
// every item stands in two rows, which are drawn together: an item that is sure twice the same, another
// once as correct and once as incorrect.
type expanded struct {
	people, judge metric.Quality
	scores        []metric.Score
	clusters      []string
	copies        int
}

func expand(r reference, l labelled, scores []metric.Score) expanded {
	x := expanded{copies: 1}
	for _, w := range append(append([]float64{}, r.weights...), l.weights...) {
		if w == .5 {
			x.copies = 2
		}
	}
	for i := range r.weights {
		h, j, why := r.weights[i], l.weights[i], ""
		switch {
		case math.IsNaN(h):
			j, why = h, r.missing
		case math.IsNaN(j):
			h, why = j, "no verdict"
		}
		for k := range x.copies {
			x.people.Values, x.people.Why = append(x.people.Values, half(h, k)), append(x.people.Why, why)
			x.judge.Values, x.judge.Why = append(x.judge.Values, half(j, k)), append(x.judge.Why, why)
			if x.copies > 1 {
				x.clusters = append(x.clusters, fmt.Sprint(i))
			}
		}
	}
	for _, s := range scores {
		double := metric.Score{Name: s.Name, Orientation: s.Orientation}
		for _, v := range s.Values {
			for range x.copies {
				double.Values = append(double.Values, v)
			}
		}
		x.scores = append(x.scores, double)
	}
	return x
}

// half is copy k of a label: of ½ the first is correct and the second is not.
func half(w float64, k int) float64 {
	if w == .5 {
		return float64(1 - k)
	}
	return w
}

// settle makes the counts of a value those of items again.
func (x expanded) settle(v measure.Value) measure.Value {
	if x.copies == 1 {
		return v
	}
	v.N /= x.copies
	out := map[string]int{}
	for _, e := range v.LeftOut {
		out[e.Reason] += e.N / x.copies
	}
	return v.Leaving(out)
}
