package protocol

import (
	"context"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/resample"
)

// Options of a comparison.
type Options struct {
	// Seed of the study; the setting's own seed is derived from it, model and data set.
	Seed uint64
	// Resamples of the paired bootstrap; 0 makes no intervals.
	Resamples int
	// Level of the intervals, in (0,1).
	Level float64
}

// statistics of a comparison: ECE, AUROC and AURC ("Same Answer, Different Confidence", section 3.5),
// then the level.
func statistics() []metric.Statistic {
	return []metric.Statistic{
		metric.ECE(10, metric.LeftClosed),
		metric.AUROC(),
		metric.AURC(),
		metric.MeanConfidence(),
	}
}

// Metrics lists the ids of the metrics under which signals are compared, in the order of every table.
func Metrics() []string {
	var ids []string
	for _, s := range ranked() {
		ids = append(ids, s.ID)
	}
	return ids
}

// ranked are the statistics under which signals are compared.
func ranked() []metric.Statistic {
	all := statistics()
	return all[:len(all)-1]
}

// alarms are the shares beyond which a reader is warned.
const (
	leastParsed  = .9
	mostFallback = .05
)

// Compare evaluates both signals of a setting in every context, with gaps, shifts and flips. Scores of
// one setting are resampled together, so every interval is paired. An error means that ctx ended.
func Compare(ctx context.Context, a *Aligned, o Options) (*Comparison, error) {
	c, err := compare(ctx, a, o)
	if err != nil {
		return nil, err
	}
	return c.Comparison, nil
}

// compared is a comparison with the resamples behind it, from which summaries over settings are made.
type compared struct {
	*Comparison
	*evaluation
}

func compare(ctx context.Context, a *Aligned, o Options) (*compared, error) {
	c := &Comparison{
		Setting: a.setting,
		Choice:  a.choice,
		Asked:   a.asked,
		Used:    len(a.rows),
		LeftOut: append([]measure.Excluded{}, measure.Exclusions(a.leftOut)...), // a list in JSON, never null
	}
	c.ParseRate = metric.Proportion(a.parsed, a.asked, o.Level)
	c.FallbackRate = metric.Proportion(a.fell, a.parsed, o.Level)
	c.Accuracy = a.accuracy(o.Level)
	c.warn()
	e, err := a.evaluate(ctx, o)
	if err != nil {
		return nil, err
	}
	c.Verbalised = e.score(0)
	for i, name := range a.choice.Contexts {
		c.Contexts = append(c.Contexts, Context{Name: name, Token: e.score(1 + i)})
		for m := range ranked() {
			g := e.gap(i, m)
			if i > 0 {
				g.Flip = flip(c.Contexts[0].Gaps[m], g)
			}
			c.Contexts[i].Gaps = append(c.Contexts[i].Gaps, g)
		}
	}
	return &compared{c, e}, nil
}

func (a *Aligned) accuracy(level float64) measure.Value {
	correct := 0
	for _, label := range a.labels() {
		if label == 1 {
			correct++
		}
	}
	v := metric.Proportion(correct, len(a.rows), level)
	v.Method = "accuracy"
	return v.Leaving(a.leftOut)
}

func (c *Comparison) warn() {
	if rate, ok := c.ParseRate.Get(); ok && rate < leastParsed {
		c.ParseRate = c.ParseRate.Warn("low-parse-rate", "only %.0f %% of the replies could be read; the rest is left out, which may favour easy items", 100*rate)
	}
	if rate, ok := c.FallbackRate.Get(); ok && rate > mostFallback {
		c.FallbackRate = c.FallbackRate.Warn("high-fallback-rate", "%.0f %% of the probabilities were not where they were asked for", 100*rate)
	}
}

// evaluation gives values and contrasts of the scores of one setting, with intervals where asked for.
type evaluation struct {
	stats    []metric.Statistic
	prepared []*metric.Prepared
	leftOut  map[string]int
	draws    *resample.Draws // nil without intervals
	level    float64
}

// Scores prepares the scores of the setting's rows, all on the same items: the stated probability
// first, then the token score in each context of the choice.
func (a *Aligned) Scores() ([]*metric.Prepared, error) {
	scores := []metric.Score{{Name: "verbalised", Values: a.column(0), Orientation: measure.Confidence}}
	for i, name := range a.choice.Contexts {
		scores = append(scores, metric.Score{Name: "token in " + name, Values: a.column(1 + i), Orientation: measure.Confidence})
	}
	return metric.PrepareJointly(metric.Quality{Values: a.labels()}, scores...)
}

func (a *Aligned) evaluate(ctx context.Context, o Options) (*evaluation, error) {
	prepared, err := a.Scores()
	if err != nil {
		return nil, err
	}
	seed := resample.SettingSeed(o.Seed, a.setting.Model, a.setting.Dataset, "bootstrap")
	e, err := newEvaluation(ctx, prepared, statistics(), seed, o)
	if err != nil {
		return nil, err
	}
	e.leftOut = a.leftOut
	return e, nil
}

// newEvaluation resamples jointly prepared scores, unless no resamples are wanted.
func newEvaluation(ctx context.Context, prepared []*metric.Prepared, stats []metric.Statistic, seed uint64, o Options) (*evaluation, error) {
	e := &evaluation{stats: stats, prepared: prepared, leftOut: prepared[0].LeftOut(), level: o.Level}
	if o.Resamples == 0 {
		return e, nil
	}
	var err error
	e.draws, err = resample.Paired(ctx, prepared, stats, resample.Options{N: o.Resamples, Seed: seed})
	return e, err
}

func (e *evaluation) value(score, stat int) measure.Value {
	v := e.stats[stat].On(e.prepared[score])
	if e.draws != nil {
		v = e.draws.Value(score, stat, e.level)
	}
	return v.Leaving(e.leftOut)
}

func (e *evaluation) score(i int) Score {
	s := Score{Mean: e.value(i, len(e.stats)-1), Distinct: e.prepared[i].Distinct()}
	for m := range ranked() {
		s.Metrics = append(s.Metrics, e.value(i, m))
	}
	return s
}

// quantity is a weighted sum of values on the same items, with its resamples where there are any.
func (e *evaluation) quantity(terms ...resample.Term) resample.Quantity {
	if e.draws != nil {
		return e.draws.Quantity(terms...)
	}
	sum, n := 0.0, len(e.prepared[0].Rows())
	for _, t := range terms {
		v := e.stats[t.Stat].On(e.prepared[t.Score])
		x, ok := v.Get()
		if !ok {
			return resample.Point(measure.Undefined("", v.Reason(), n).Leaving(e.prepared[0].LeftOut()))
		}
		sum += t.Weight * x
	}
	return resample.Point(measure.Of("", sum, n).Leaving(e.prepared[0].LeftOut()))
}

// contrast is a quantity under a name, with a paired interval.
func (e *evaluation) contrast(id string, terms ...resample.Term) measure.Value {
	return e.quantity(terms...).Value(id, e.level).Leaving(e.leftOut)
}

// gapTerms make g in context i under metric m.
func gapTerms(i, m int) []resample.Term {
	return []resample.Term{{Score: 0, Stat: m, Weight: 1}, {Score: 1 + i, Stat: m, Weight: -1}}
}

// shiftTerms make the change of g from context i to context k; the stated score is the same in both
// and cancels.
func shiftTerms(i, k, m int) []resample.Term {
	return []resample.Term{{Score: 1 + i, Stat: m, Weight: 1}, {Score: 1 + k, Stat: m, Weight: -1}}
}

// gap compares the signals in context i under metric m, and the gap with that of the base.
func (e *evaluation) gap(i, m int) Gap {
	stat := e.stats[m]
	g := Gap{Metric: stat.ID, Gap: e.contrast("gap."+stat.ID, gapTerms(i, m)...)}
	x, ok := g.Gap.Get()
	if ok && x != 0 {
		g.Better = better(stat, x)
		g.Resolved = Resolves(g.Gap)
	}
	if i > 0 {
		shift := e.contrast("shift."+stat.ID, shiftTerms(0, i, m)...)
		g.Shift = &shift
	}
	return g
}

// Resolves reports whether the interval of a difference excludes 0. An interval without width, as a
// bootstrap of one item gives, resolves nothing.
func Resolves(v measure.Value) bool {
	iv := v.Interval
	return iv != nil && iv.Upper > iv.Lower && iv.Excludes(0)
}

// better is the signal that a gap g = metric(verbalised) − metric(token) favours.
func better(s metric.Statistic, g float64) record.Signal {
	if (g > 0) == (s.Better == metric.Higher) {
		return record.VerbalisedSignal
	}
	return record.TokenSignal
}

func flip(base, here Gap) Flip {
	switch {
	case base.Better == "" || here.Better == "" || base.Better == here.Better:
		return NoFlip
	case base.Resolved && here.Resolved:
		return ResolvedFlip
	}
	return PointFlip
}
