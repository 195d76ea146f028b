package scores

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/resample"
)

// Options are the choices of an evaluation.
type Options struct {
	Metrics []metric.Statistic
	// Compare are pairs of names of scores; the difference is the first minus the second.
	Compare [][2]string
	// Resamples of the bootstrap; 0 makes no intervals.
	Resamples int
	// Level of the intervals, in (0,1).
	Level float64
	Seed  uint64
	// Progress is nil, or is told now and then how many resamples of all are done; never concurrently.
	Progress func(done, total int)
}

// Result is one number: a metric of one score of one group, or the difference of two.
type Result struct {
	Group, Score string
	// Against is the second score of a difference; empty for a plain value.
	Against string
	Value   measure.Value
	// P and Holm are the two-sided p value of a difference and its adjustment over all differences of
	// the evaluation (Holm 1979); absent without resamples, or where the difference is undefined.
	P, Holm *float64
}

// Evaluate computes every metric of every score in every group, and the differences. Each score rests on
// all items that have it and a label; a difference rests on the items that have both scores, resampled in pairs.
//
// It fails if ctx ends first.
func Evaluate(ctx context.Context, t *Table, o Options) ([]Result, error) {
	e := evaluation{t: t, o: o}
	e.total = len(t.Groups) * (len(t.Scores) + len(o.Compare)) * o.Resamples
	for _, g := range t.Groups {
		if err := e.group(ctx, g); err != nil {
			return nil, err
		}
	}
	adjust(e.results)
	return e.results, nil
}

type evaluation struct {
	t       *Table
	o       Options
	results []Result
	// told counts the resamples of calls that have ended, total those of all.
	told, total int
}

// arm is a score of a group, prepared: for metrics of rank and for those of probability, which are one
// and the same unless the kind of the score bends its scale.
type arm struct {
	name        string
	ranks, prob *metric.Prepared
}

func (a arm) of(s metric.Statistic) *metric.Prepared {
	if s.Needs == metric.Probability {
		return a.prob
	}
	return a.ranks
}

func (e *evaluation) group(ctx context.Context, g Group) error {
	label := take(e.t.Label, g.Rows)
	if e.o.Resamples == 0 && len(e.o.Compare) == 0 {
		return e.oneByOne(ctx, g, label)
	}
	arms := make([]arm, len(e.t.Scores))
	err := eachScore(e.t.Scores, func(i int, s Column) error {
		prepared, err := prepare(label, e.needsProbability(), take(s, g.Rows))
		if err == nil {
			arms[i] = prepared[0]
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case e.o.Resamples == 0:
		return e.plain(ctx, g, label, arms)
	}
	return e.resampled(ctx, g, label, arms)
}

// eachScore runs do for all scores, as many beside each other as there are processors.
func eachScore(list []Column, do func(int, Column) error) error {
	workers := new(errgroup.Group)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range list {
		workers.Go(func() error { return do(i, s) })
	}
	return workers.Wait()
}

// oneByOne evaluates scores that need not be compared, so that no more of them are held prepared than
// are worked on: for a million items a prepared score is larger than what was read, and what its metrics
// share as large again. So two processors evaluate one score while the next is prepared.
func (e *evaluation) oneByOne(ctx context.Context, g Group, label Column) error {
	values := make([][]measure.Value, len(e.t.Scores))
	evaluated := min(len(e.t.Scores), max(1, runtime.GOMAXPROCS(0)/2)) // at a time
	beside := (runtime.GOMAXPROCS(0) + evaluated - 1) / evaluated
	turn := make(chan struct{}, evaluated)
	err := eachScore(e.t.Scores, func(i int, s Column) error {
		arms, err := prepare(label, e.needsProbability(), take(s, g.Rows))
		if err != nil {
			return err
		}
		turn <- struct{}{}
		defer func() { <-turn }()
		values[i], err = e.values(ctx, arms[0], beside)
		return err
	})
	if err != nil {
		return err
	}
	for i, s := range e.t.Scores {
		e.levels(g, s.Name, values[i])
	}
	return nil
}

// levels appends the values of one score.
func (e *evaluation) levels(g Group, score string, values []measure.Value) {
	for _, v := range values {
		e.results = append(e.results, Result{Group: g.Name, Score: score, Value: v})
	}
}

// take gathers the rows of a group.
func take(c Column, rows []int32) Column {
	if rows == nil {
		return c
	}
	part := Column{Name: c.Name, Kind: c.Kind, Values: make([]float64, len(rows))}
	for i, row := range rows {
		part.Values[i] = c.Values[row]
	}
	if c.Why != nil {
		part.Why = make([]string, len(rows))
		for i, row := range rows {
			part.Why[i] = c.Why[row]
		}
	}
	return part
}

func (e *evaluation) needsProbability() bool {
	return slices.ContainsFunc(e.o.Metrics, func(s metric.Statistic) bool { return s.Needs == metric.Probability })
}

// prepare prepares scores jointly: on the items that have them all.
func prepare(label Column, probability bool, columns ...Column) ([]arm, error) {
	quality := metric.Quality{Values: label.Values, Why: label.Why}
	raw, prob := make([]metric.Score, len(columns)), make([]metric.Score, len(columns))
	bent := false
	for i, c := range columns {
		raw[i] = metric.Score{Name: c.Name, Values: c.Values, Why: c.Why, Orientation: c.Kind.Orientation()}
		if c.Kind == Percent {
			raw[i].Values = probabilities(c)
		}
		prob[i] = raw[i]
		if c.Kind.bent() {
			bent = true
			prob[i].Values = probabilities(c)
		}
	}
	ranks, err := metric.PrepareJointly(quality, raw...)
	if err != nil {
		return nil, err
	}
	calibrated := ranks
	if bent && probability {
		if calibrated, err = metric.PrepareJointly(quality, prob...); err != nil {
			return nil, err
		}
	}
	arms := make([]arm, len(columns))
	for i, c := range columns {
		arms[i] = arm{c.Name, ranks[i], calibrated[i]}
	}
	return arms, nil
}

func probabilities(c Column) []float64 {
	ps := make([]float64, len(c.Values))
	for i, x := range c.Values {
		ps[i] = c.Kind.Probability(x) // a NaN stays one
	}
	return ps
}

// plain evaluates and compares without intervals.
func (e *evaluation) plain(ctx context.Context, g Group, label Column, arms []arm) error {
	for _, a := range arms {
		values, err := e.values(ctx, a, runtime.GOMAXPROCS(0))
		if err != nil {
			return err
		}
		e.levels(g, a.name, values)
	}
	for _, names := range e.o.Compare {
		both, err := e.pair(g, label, arms, names)
		if err != nil {
			return err
		}
		for _, s := range e.o.Metrics {
			v := difference(s.ID, s.On(both[0].of(s)), s.On(both[1].of(s)), both[0].ranks)
			e.results = append(e.results, Result{Group: g.Name, Score: names[0], Against: names[1], Value: v})
		}
	}
	return ctx.Err()
}

// values are the metrics of a score, so many of them computed beside each other.
func (e *evaluation) values(ctx context.Context, a arm, beside int) ([]measure.Value, error) {
	values := make([]measure.Value, len(e.o.Metrics))
	workers := new(errgroup.Group)
	workers.SetLimit(beside)
	for _, m := range slowFirst(e.o.Metrics) {
		s := e.o.Metrics[m]
		workers.Go(func() error {
			if ctx.Err() == nil {
				values[m] = s.On(a.of(s))
			}
			return ctx.Err()
		})
	}
	return values, workers.Wait()
}

// slowFirst lists the metrics' indices, those first that take longest on many items, so that no core
// waits at the end for another one's long metric.
func slowFirst(metrics []metric.Statistic) []int {
	slow := []string{"smece", "ece.kde", "brier", "ece.smoothed", "log-loss"}
	rank := func(m int) int {
		for i, prefix := range slow {
			if strings.HasPrefix(metrics[m].ID, prefix) {
				return i
			}
		}
		return len(slow)
	}
	order := make([]int, len(metrics))
	for m := range order {
		order[m] = m
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	return order
}

func difference(id string, a, b measure.Value, p *metric.Prepared) measure.Value {
	x, okA := a.Get()
	y, okB := b.Get()
	switch {
	case !okA:
		return measure.Undefined(id, a.Reason(), p.N()).Leaving(p.LeftOut())
	case !okB:
		return measure.Undefined(id, b.Reason(), p.N()).Leaving(p.LeftOut())
	}
	return measure.Of(id, x-y, p.N()).Leaving(p.LeftOut())
}

// pair returns two scores on the items that have both: as they are prepared already, where those are
// the same items.
func (e *evaluation) pair(g Group, label Column, arms []arm, names [2]string) ([]arm, error) {
	i, j := e.score(names[0]), e.score(names[1])
	if slices.Equal(arms[i].ranks.Rows(), arms[j].ranks.Rows()) {
		return []arm{arms[i], arms[j]}, nil
	}
	return prepare(label, e.needsProbability(), take(e.t.Scores[i], g.Rows), take(e.t.Scores[j], g.Rows))
}

func (e *evaluation) score(name string) int {
	return slices.IndexFunc(e.t.Scores, func(c Column) bool { return c.Name == name })
}

// resampled evaluates with intervals. Scores that rest on the same items are drawn together.
func (e *evaluation) resampled(ctx context.Context, g Group, label Column, arms []arm) error {
	levels := make([]drawn, len(arms))
	for i := range arms {
		if levels[i].draws != nil {
			continue
		}
		var same []int
		for j := i; j < len(arms); j++ {
			if slices.Equal(arms[i].ranks.Rows(), arms[j].ranks.Rows()) {
				same = append(same, j)
			}
		}
		together := make([]arm, len(same))
		for k, j := range same {
			together[k] = arms[j]
		}
		d, err := e.draw(ctx, g, together)
		if err != nil {
			return err
		}
		for k, j := range same {
			levels[j] = drawn{d, k}
		}
	}
	for i, a := range arms {
		for m := range e.o.Metrics {
			e.results = append(e.results, Result{Group: g.Name, Score: a.name, Value: levels[i].value(m, e.o.Level)})
		}
	}
	for _, pair := range e.o.Compare {
		a, b, err := e.drawnPair(ctx, g, label, arms, levels, pair)
		if err != nil {
			return err
		}
		for m, s := range e.o.Metrics {
			e.results = append(e.results, contrast(g.Name, pair, s.ID, m, a, b, e.o.Level))
		}
	}
	return nil
}

// drawn is one score among those drawn together.
type drawn struct {
	*draws
	score int
}

// draws are the resamples of some scores, for either form of them.
type draws struct {
	ranks, prob        *resample.Draws
	rankStat, probStat []int // of each metric, its index in ranks or prob, or -1
}

func (d drawn) value(m int, level float64) measure.Value {
	if k := d.rankStat[m]; k >= 0 {
		return d.draws.ranks.Value(d.score, k, level)
	}
	return d.draws.prob.Value(d.score, d.probStat[m], level)
}

// draw resamples scores that rest on the same items. Both forms get the same seed, and with it the same draws.
func (e *evaluation) draw(ctx context.Context, g Group, arms []arm) (*draws, error) {
	d := &draws{}
	var rankStats, probStats []metric.Statistic
	bent := slices.ContainsFunc(arms, func(a arm) bool { return a.ranks != a.prob })
	for _, s := range e.o.Metrics {
		r, p := -1, -1
		if bent && s.Needs == metric.Probability {
			p, probStats = len(probStats), append(probStats, s)
		} else {
			r, rankStats = len(rankStats), append(rankStats, s)
		}
		d.rankStat, d.probStat = append(d.rankStat, r), append(d.probStat, p)
	}
	ranks, prob := make([]*metric.Prepared, len(arms)), make([]*metric.Prepared, len(arms))
	for i, a := range arms {
		ranks[i], prob[i] = a.ranks, a.prob
	}
	var err error
	weight := len(arms)
	if d.ranks, err = e.paired(ctx, g, ranks, rankStats, weight); err != nil {
		return nil, err
	}
	d.prob, err = e.paired(ctx, g, prob, probStats, 0)
	return d, err
}

// paired draws for one form. weight is how many scores it counts for in the progress.
func (e *evaluation) paired(ctx context.Context, g Group, scores []*metric.Prepared, stats []metric.Statistic, weight int) (*resample.Draws, error) {
	if len(stats) == 0 {
		e.told += weight * e.o.Resamples
		return nil, nil
	}
	o := resample.Options{N: e.o.Resamples, Seed: resample.SettingSeed(e.o.Seed, "", g.Name, "eval")}
	if e.t.Clusters != nil {
		o.Clusters = e.t.Clusters
		if g.Rows != nil {
			o.Clusters = make([]string, len(g.Rows))
			for i, row := range g.Rows {
				o.Clusters[i] = e.t.Clusters[row]
			}
		}
	}
	if e.o.Progress != nil && weight > 0 {
		o.Progress = func(done, _ int) { e.o.Progress(min(e.told+weight*done, e.total), e.total) }
	}
	d, err := resample.Paired(ctx, scores, stats, o)
	e.told += weight * e.o.Resamples
	return d, err
}

// drawnPair returns two scores on the same draws, drawing again where they rest on different items.
func (e *evaluation) drawnPair(ctx context.Context, g Group, label Column, arms []arm, levels []drawn, names [2]string) (a, b drawn, err error) {
	i, j := e.score(names[0]), e.score(names[1])
	if levels[i].draws == levels[j].draws {
		e.told += e.o.Resamples
		return levels[i], levels[j], nil
	}
	both, err := e.pair(g, label, arms, names)
	if err != nil {
		return a, b, err
	}
	d, err := e.draw(ctx, g, both)
	return drawn{d, 0}, drawn{d, 1}, err
}

func contrast(group string, pair [2]string, id string, m int, a, b drawn, level float64) Result {
	form, k := a.draws.ranks, a.rankStat[m]
	if k < 0 {
		form, k = a.draws.prob, a.probStat[m]
	}
	terms := []resample.Term{{Score: a.score, Stat: k, Weight: 1}, {Score: b.score, Stat: k, Weight: -1}}
	r := Result{Group: group, Score: pair[0], Against: pair[1], Value: form.Contrast(id, level, terms...)}
	if r.Value.Defined() {
		if p, ok := form.PValue(terms...).Get(); ok {
			r.P = &p
		}
	}
	return r
}

// adjust fills in Holm over all differences that have a p value.
func adjust(results []Result) {
	var ps []float64
	var at []int
	for i, r := range results {
		if r.P != nil && !math.IsNaN(*r.P) {
			ps, at = append(ps, *r.P), append(at, i)
		}
	}
	for k, p := range resample.Holm(ps) {
		results[at[k]].Holm = &p
	}
}
