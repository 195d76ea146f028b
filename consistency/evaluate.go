package consistency

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/resample"
)

// EvaluationOptions are the choices of an evaluation.
type EvaluationOptions struct {
	// Bins is the number of bins of equal width of the calibration error.
	Bins int
	// RankScaled ranks by scaled scores instead of raw ones. A C3 above 1 then ties with 1.
	RankScaled bool
	// WithoutUndetermined leaves out rows whose C3 is undetermined, and counts them.
	WithoutUndetermined bool
	// Resampling is the paired bootstrap over items; N 0 means [resample.DefaultN].
	Resampling Resampling
}

// Evaluation says how well each score tells performance (Wu, Jiang and Aragam 2026, section 5.1, appendices
// C and E.2). Blocks are sorted by benchmark and model.
type Evaluation struct {
	Scores []Score `json:"scores"`
	// PerModel has a block for each model on each benchmark (Tables 2 to 7).
	PerModel []Block `json:"per_model"`
	// Means are means over the models' values on a benchmark, each weighing the same (Table 1).
	Means []Block `json:"means"`
	// Pooled takes the rows of all models on a benchmark as one sample, Averaged averages performance and
	// scores of each item over its models first: two readings of Figure 3.
	Pooled   []Block `json:"pooled"`
	Averaged []Block `json:"averaged"`
}

// Block is the evaluation of one set of rows.
type Block struct {
	Benchmark string `json:"benchmark"`
	// Model is empty where a block is of several, and Models says of how many.
	Model  string `json:"model,omitempty"`
	Models int    `json:"models"`
	// Undetermined counts the rows whose C3 is undetermined, whether they are left out or not; of an
	// averaged item, those undetermined in every model.
	Undetermined int         `json:"undetermined"`
	Metrics      []MetricRow `json:"metrics"`
}

// MetricRow is one metric of all scores.
type MetricRow struct {
	Metric string           `json:"metric"`
	Better metric.Direction `json:"better"`
	// Values are in the order of the scores, Differences[s] is the first score's minus score s's on the same
	// items and draws; that of the first is left out, so that Differences[0] belongs to score 1.
	Values      []measure.Value `json:"values"`
	Differences []measure.Value `json:"differences"`
	// Best are the indices of the scores with the best value.
	Best []int `json:"best"`
}

// statistics are calibration error, AUROC at performance .5, average precision of finding correct and
// incorrect answers (the paper's AUPRC-P and AUPRC-N), and rank correlation.
func (o EvaluationOptions) statistics() (calibration, ranking []metric.Statistic) {
	return []metric.Statistic{metric.ECE(o.Bins, metric.LeftClosed)}, []metric.Statistic{
		metric.AUROC(), metric.AveragePrecision(metric.Correct), metric.AveragePrecision(metric.Incorrect), metric.Spearman(),
	}
}

// Evaluate evaluates every score of the table against performance, with intervals by resampling items.
// Rows without performance or some score are left out of a block and counted; a score that no row of the block has
// is undefined there, and keeps none from the others. Rows of one item hang together when models are pooled, so that
// items are drawn, not rows.
//
// Errors: a table that contradicts itself, an option that makes no sense, or ctx ending first.
func Evaluate(ctx context.Context, t Table, o EvaluationOptions) (*Evaluation, error) {
	if o.Resampling.N == 0 {
		o.Resampling.N = resample.DefaultN
	}
	if err := o.Resampling.check(); err != nil {
		return nil, err
	}
	if o.Bins < 1 {
		return nil, fmt.Errorf("consistency: %d bins; a calibration error needs at least one", o.Bins)
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	e := &Evaluation{Scores: t.Scores}
	names, rows := t.benchmarks()
	for _, name := range names {
		if err := e.benchmark(ctx, name, rows[name], o); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (e *Evaluation) benchmark(ctx context.Context, name string, rows []Row, o EvaluationOptions) error {
	var models []*sample
	for from := 0; from < len(rows); {
		to := from
		for to < len(rows) && rows[to].Model == rows[from].Model {
			to++
		}
		s, err := sampleOf(e.Scores, rows[from:to], o)
		if err != nil {
			return err
		}
		models = append(models, s)
		block, err := s.block(ctx, Block{Benchmark: name, Model: rows[from].Model, Models: 1}, o)
		if err != nil {
			return err
		}
		e.PerModel = append(e.PerModel, block)
		from = to
	}
	mean, err := meanBlock(ctx, name, models, o)
	if err != nil {
		return err
	}
	e.Means = append(e.Means, mean)
	pooled, err := sampleOf(e.Scores, rows, o)
	if err != nil {
		return err
	}
	averaged, err := sampleOf(e.Scores, averageItems(e.Scores, rows, o), o)
	if err != nil {
		return err
	}
	for _, several := range []struct {
		sample *sample
		to     *[]Block
	}{{pooled, &e.Pooled}, {averaged, &e.Averaged}} {
		block, err := several.sample.block(ctx, Block{Benchmark: name, Models: len(models)}, o)
		if err != nil {
			return err
		}
		*several.to = append(*several.to, block)
	}
	return nil
}

// sample is a set of rows, prepared: the scaled scores for calibration, those that rank.
type sample struct {
	items           []string // of each row
	undetermined    int
	scaled, ranking []*metric.Prepared
	// present are the scores that some row has: they are prepared jointly, the others each alone, of no rows.
	present []int
}

func sampleOf(scores []Score, rows []Row, o EvaluationOptions) (*sample, error) {
	s := &sample{items: make([]string, len(rows))}
	quality := metric.Quality{Values: make([]float64, len(rows)), Why: make([]string, len(rows))}
	columns := make([]metric.Score, 2*len(scores)) // scaled ones, then those that rank
	for k := range columns {
		columns[k] = metric.Score{
			Name: scores[k%len(scores)].Name, Orientation: measure.Confidence,
			Values: make([]float64, len(rows)), Why: make([]string, len(rows)),
		}
	}
	for i, row := range rows {
		s.items[i] = row.Item
		quality.Values[i], quality.Why[i] = float(row.Performance)
		if row.Undetermined {
			s.undetermined++
			if o.WithoutUndetermined {
				quality.Values[i], quality.Why[i] = nan, string(Undetermined)
			}
		}
		for k, score := range scores {
			x, why := float(row.Scores[k])
			scaled := score.Scaling.of(x)
			if o.RankScaled {
				x = scaled
			}
			columns[k].Values[i], columns[k].Why[i] = scaled, why
			columns[k+len(scores)].Values[i], columns[k+len(scores)].Why[i] = x, why
		}
	}
	prepared, err := s.prepare(quality, columns)
	if err != nil {
		return nil, err
	}
	s.scaled, s.ranking = prepared[:len(scores)], prepared[len(scores):]
	return s, nil
}

// prepare fills present and prepares all columns: the scaled scores, then those that rank.
func (s *sample) prepare(quality metric.Quality, columns []metric.Score) ([]*metric.Prepared, error) {
	scores := len(columns) / 2
	has := func(x float64) bool { return !math.IsNaN(x) }
	for k := range scores {
		if slices.ContainsFunc(columns[k].Values, has) {
			s.present = append(s.present, k)
		}
	}
	if len(s.present) == 0 {
		for k := range scores {
			s.present = append(s.present, k)
		}
	}
	var joint []metric.Score
	for _, from := range []int{0, scores} {
		for _, k := range s.present {
			joint = append(joint, columns[from+k])
		}
	}
	complete, err := metric.PrepareJointly(quality, joint...)
	if err != nil {
		return nil, err
	}
	prepared := make([]*metric.Prepared, len(columns))
	for i, k := range s.present {
		prepared[k], prepared[k+scores] = complete[i], complete[i+len(s.present)]
	}
	for k := range columns {
		if prepared[k] == nil {
			alone, err := metric.PrepareJointly(quality, columns[k])
			if err != nil {
				return nil, err
			}
			prepared[k] = alone[0]
		}
	}
	return prepared, nil
}

func (s *sample) block(ctx context.Context, b Block, o EvaluationOptions) (Block, error) {
	b.Undetermined = s.undetermined
	calibration, ranking := o.statistics()
	for _, part := range []struct {
		scores []*metric.Prepared
		stats  []metric.Statistic
	}{{s.scaled, calibration}, {s.ranking, ranking}} {
		var present []*metric.Prepared
		for _, k := range s.present {
			present = append(present, part.scores[k])
		}
		draws, err := resample.Paired(ctx, present, part.stats, resample.Options{
			N: o.Resampling.N, Clusters: s.items,
			Seed: resample.SettingSeed(o.Resampling.Seed, b.Model, b.Benchmark, "consistency.evaluation"),
		})
		if err != nil {
			return Block{}, err
		}
		for k, stat := range part.stats {
			b.Metrics = append(b.Metrics, s.rowOf(draws, k, stat, part.scores, o.Resampling.Level))
		}
	}
	return b, nil
}

// rowOf reads statistic k off the draws of the scores that are present.
func (s *sample) rowOf(draws *resample.Draws, k int, stat metric.Statistic, scores []*metric.Prepared, level float64) MetricRow {
	row := MetricRow{Metric: stat.ID, Better: stat.Better}
	c3 := slices.Index(s.present, 0)
	for score, p := range scores {
		at, contrast := slices.Index(s.present, score), "difference."+stat.ID
		if at >= 0 {
			row.Values = append(row.Values, draws.Value(at, k, level))
		} else {
			row.Values = append(row.Values, measure.Undefined(stat.ID, measure.NoItems, 0).Leaving(p.LeftOut()))
		}
		if score == 0 {
			continue
		}
		if at >= 0 && c3 >= 0 {
			row.Differences = append(row.Differences, draws.Contrast(contrast, level,
				resample.Term{Score: c3, Stat: k, Weight: 1}, resample.Term{Score: at, Stat: k, Weight: -1}))
			continue
		}
		lacking := p
		if c3 < 0 {
			lacking = scores[0]
		}
		row.Differences = append(row.Differences, measure.Undefined(contrast, measure.NoItems, 0).Leaving(lacking.LeftOut()))
	}
	row.Best = best(row.Values, stat.Better)
	return row
}

// best are the indices of the defined values that no other beats.
func best(values []measure.Value, better metric.Direction) []int {
	var at []int
	var top float64
	for i, v := range values {
		x, ok := v.Get()
		if !ok {
			continue
		}
		ahead := x - top
		if better == metric.Lower {
			ahead = -ahead
		}
		switch {
		case len(at) == 0 || ahead > 0:
			at, top = []int{i}, x
		case ahead == 0:
			at = append(at, i)
		}
	}
	return at
}
