package consistency

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/resample"
)

var nan = math.NaN()

// meanBlock is the mean over models of each value, with its interval. The models answered the same items,
// so that their values move together: every resample draws items once, for all models. A model in which a
// value is undefined is left out of that mean, with the warning "models-left-out".
func meanBlock(ctx context.Context, benchmark string, models []*sample, o EvaluationOptions) (Block, error) {
	b := Block{Benchmark: benchmark, Models: len(models)}
	for _, m := range models {
		b.Undetermined += m.undetermined
	}
	calibration, ranking := o.statistics()
	all := append(slices.Clone(calibration), ranking...)
	cells := make([]*cells, len(models))
	index := indexItems(models)
	for i, m := range models {
		cells[i] = m.cells(index, calibration, ranking)
	}
	r := o.Resampling
	r.Seed = resample.SettingSeed(r.Seed, "", benchmark, "consistency.means")
	random, counts := r.random(streamItems), make([]uint32, len(index))
	for range r.N {
		if err := ctx.Err(); err != nil {
			return Block{}, err
		}
		clear(counts)
		for range counts {
			counts[random.IntN(len(counts))]++
		}
		for _, c := range cells {
			c.draw(counts)
		}
	}
	scores := len(models[0].scaled)
	for k, stat := range all {
		row := MetricRow{Metric: stat.ID, Better: stat.Better}
		for s := range scores {
			row.Values = append(row.Values, meanOver(stat.ID+".mean-over-models", cells, k, s, -1, r))
			if s > 0 {
				row.Differences = append(row.Differences, meanOver("difference."+stat.ID+".mean-over-models", cells, k, 0, s, r))
			}
		}
		row.Best = best(row.Values, stat.Better)
		b.Metrics = append(b.Metrics, row)
	}
	return b, nil
}

func indexItems(models []*sample) map[string]int {
	index := map[string]int{}
	for _, m := range models {
		for _, item := range m.items {
			if _, known := index[item]; !known {
				index[item] = len(index)
			}
		}
	}
	return index
}

// cells are the values of one model: point[k][s] of statistic k and score s, and draws[k][s] of each resample,
// NaN where undefined; why[k][s] says why the point is.
type cells struct {
	items   []int // number of each row used
	n       int
	leftOut map[string]int
	perItem []uint32
	columns []column
	point   [][]float64
	why     [][]measure.Reason
	draws   [][][]float64
}

// column is a prepared score with the statistics that are read from it.
type column struct {
	prepared *metric.Prepared
	first    int // number of its first statistic
	score    int
	eval     []metric.Evaluator
	atoms    []uint32
}

func (s *sample) cells(index map[string]int, calibration, ranking []metric.Statistic) *cells {
	first := s.scaled[s.present[0]]
	c := &cells{n: first.N(), leftOut: first.LeftOut()}
	for _, row := range first.Rows() {
		c.items = append(c.items, index[s.items[row]])
	}
	c.perItem = make([]uint32, c.n)
	add := func(scores []*metric.Prepared, stats []metric.Statistic, at int) {
		for _, k := range s.present {
			p := scores[k]
			col := column{prepared: p, first: at, score: k, atoms: make([]uint32, p.Atoms())}
			for _, stat := range stats {
				col.eval = append(col.eval, stat.Evaluator(p))
			}
			c.columns = append(c.columns, col)
		}
	}
	add(s.scaled, calibration, 0)
	add(s.ranking, ranking, len(calibration))
	for range len(calibration) + len(ranking) {
		c.point = append(c.point, make([]float64, len(s.scaled)))
		c.why = append(c.why, make([]measure.Reason, len(s.scaled)))
		c.draws = append(c.draws, make([][]float64, len(s.scaled)))
	}
	for score := range s.scaled {
		if !slices.Contains(s.present, score) {
			for k := range c.point {
				c.point[k][score], c.why[k][score] = nan, measure.NoItems
			}
		}
	}
	for _, col := range c.columns {
		for k, eval := range col.eval {
			x, why := eval(col.prepared.Counts())
			c.point[col.first+k][col.score], c.why[col.first+k][col.score] = orNaN(x, why), why
		}
	}
	return c
}

// draw evaluates everything on a resample of the items.
func (c *cells) draw(counts []uint32) {
	drawn := uint32(0)
	for i, item := range c.items {
		c.perItem[i] = counts[item]
		drawn += counts[item]
	}
	for _, col := range c.columns {
		if drawn > 0 {
			col.prepared.Collapse(col.atoms, c.perItem)
		}
		for k, eval := range col.eval {
			x := nan
			if drawn > 0 {
				x = orNaN(eval(col.atoms))
			}
			at := &c.draws[col.first+k][col.score]
			*at = append(*at, x)
		}
	}
}

func orNaN(x float64, why measure.Reason) float64 {
	if why != "" {
		return nan
	}
	return x
}

// meanOver averages statistic k of a score over models, minus that of another score unless minus is -1.
func meanOver(id string, models []*cells, k, score, minus int, r Resampling) measure.Value {
	sum, n, used, leftOut := 0., 0, 0, map[string]int{}
	why, all := measure.Reason(""), 0
	draws := make([]float64, r.N)
	for _, m := range models {
		for why, count := range m.leftOut {
			leftOut[why] += count
		}
		x, reason := m.point[k][score], m.why[k][score]
		if minus >= 0 {
			x, reason = x-m.point[k][minus], cmp.Or(reason, m.why[k][minus])
		}
		why, all = cmp.Or(why, reason), all+m.n
		if math.IsNaN(x) {
			continue
		}
		sum, n, used = sum+x, n+m.n, used+1
		for i := range draws {
			draws[i] += m.draws[k][score][i]
			if minus >= 0 {
				draws[i] -= m.draws[k][minus][i]
			}
		}
	}
	if used == 0 {
		return measure.Undefined(id, cmp.Or(why, measure.NoItems), all).Leaving(leftOut).
			Warn("models-left-out", "the value is undefined in all %d models", len(models))
	}
	v := measure.Of(id, sum/float64(used), n).Leaving(leftOut)
	if used < len(models) {
		v = v.Warn("models-left-out", "the value is undefined in %d of %d models, which the mean leaves out", len(models)-used, len(models))
	}
	values := make([]float64, 0, r.N)
	for _, x := range draws {
		if !math.IsNaN(x) {
			values = append(values, x/float64(used))
		}
	}
	return percentile(v, values, r.N-len(values), r)
}

// averageItems makes one row an item: the means over the models that have performance and every score.
// Raw scores are averaged; where the mean leaves [0,1] it is scaled like any score.
func averageItems(scores []Score, rows []Row, o EvaluationOptions) []Row {
	byItem := map[string][]Row{}
	var items []string
	for _, r := range rows {
		if byItem[r.Item] == nil {
			items = append(items, r.Item)
		}
		byItem[r.Item] = append(byItem[r.Item], r)
	}
	slices.SortFunc(items, cmp.Compare)
	averaged := make([]Row, 0, len(items))
	for _, item := range items {
		averaged = append(averaged, averageRow(scores, byItem[item], o))
	}
	return averaged
}

func averageRow(scores []Score, rows []Row, o EvaluationOptions) Row {
	mean := Row{Benchmark: rows[0].Benchmark, Item: rows[0].Item, Undetermined: true, Scores: make([]record.Number, len(scores))}
	performance, sums, n := 0., make([]float64, len(scores)), 0.
	var why record.Missing
	for _, r := range rows {
		mean.Undetermined = mean.Undetermined && r.Undetermined
		missing := incomplete(r, o)
		if missing != record.Present {
			if why == record.Present {
				why = missing
			}
			continue
		}
		n++
		p, _ := r.Performance.Get()
		performance += p
		for s := range scores {
			x, _ := r.Scores[s].Get()
			sums[s] += x
		}
	}
	if n == 0 {
		mean.Performance = record.Absent(why)
		for s := range scores {
			mean.Scores[s] = record.Absent(why)
		}
		return mean
	}
	mean.Performance = record.Known(performance / n)
	for s := range scores {
		mean.Scores[s] = record.Known(sums[s] / n)
	}
	return mean
}

// incomplete says why a row takes no part in an average, or [record.Present].
func incomplete(r Row, o EvaluationOptions) record.Missing {
	if r.Undetermined && o.WithoutUndetermined {
		return record.Missing(Undetermined)
	}
	if _, ok := r.Performance.Get(); !ok {
		return reasonOf(r.Performance)
	}
	for _, s := range r.Scores {
		if _, ok := s.Get(); !ok {
			return reasonOf(s)
		}
	}
	return record.Present
}

func reasonOf(n record.Number) record.Missing {
	if why := n.Missing(); why != record.Present {
		return why
	}
	return "no reason given"
}
