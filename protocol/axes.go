package protocol

import (
	"slices"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/resample"
)

// Axis is a protocol choice that a summary varies while the others stay.
type Axis string

const (
	ContextAxis     Axis = "context"
	JudgeAxis       Axis = "correctness rule"
	AggregationAxis Axis = "aggregation"
	EstimatorAxis   Axis = "estimator"
)

// AxisSummary says how much the gap moves when one choice is replaced by another, over settings, with
// the token score read in one context ("Same Answer, Different Confidence", Tables 4 and 15).
type AxisSummary struct {
	Group string `json:"group"`
	Axis  Axis   `json:"axis"`
	// Context is where the token score is read; From and To are the replaced choice and its
	// replacement. Metric is the metric's id; on the estimator axis From and To are two ids of ECE.
	Context string `json:"context"`
	From    string `json:"from"`
	To      string `json:"to"`
	Metric  string `json:"metric"`
	// MeanAbsShift is the mean |Δg|. It has an interval where both gaps were resampled on the same
	// items; estimators are not resampled. Largest is the greatest |Δg| of a setting.
	MeanAbsShift measure.Value `json:"mean_abs_shift"`
	Largest      measure.Value `json:"largest"`
	// Of counts the settings in the mean; BetterChanges those in which the replacement changes the
	// better signal, by point estimate.
	Of            int           `json:"of"`
	BetterChanges int           `json:"better_changes"`
	LeftOut       []LeftSetting `json:"left_out,omitempty"`
}

type axisKey struct {
	axis              Axis
	context, from, to string
	metric            int
}

// axes accumulates axis summaries of one group.
type axes struct {
	group   string
	level   float64
	means   means[axisKey]
	changes map[axisKey]int
	left    map[axisKey][]LeftSetting
}

func newAxes(group string, level float64) *axes {
	return &axes{group: group, level: level, changes: map[axisKey]int{}, left: map[axisKey][]LeftSetting{}}
}

// moved takes in one setting's gap before and after a replacement.
func (a *axes) moved(key axisKey, setting string, from, to resample.Quantity) error {
	if !from.PairedWith(to) {
		a.left[key] = append(a.left[key], LeftSetting{setting, "the two choices leave different answers"})
		return nil
	}
	if x, y := betterUnder(key.metric, from), betterUnder(key.metric, to); x != "" && y != "" && x != y {
		a.changes[key]++
	}
	return a.means.add(key, to.Minus(from).Abs())
}

// add takes in the comparisons of one setting, the default first.
func (a *axes) add(all []*compared) error {
	if len(all) == 0 {
		return nil
	}
	first := all[0]
	for _, i := range readIn(first.Choice.Contexts) {
		if err := a.contexts(first, i); err != nil {
			return err
		}
		for _, other := range all[1:] {
			if err := a.replaced(first, other, i); err != nil {
				return err
			}
		}
		if err := a.estimators(first, i); err != nil {
			return err
		}
	}
	return nil
}

// readIn picks the contexts in which the axes are compared: the base and the guess slot.
func readIn(contexts []string) []int {
	list := []int{0}
	if i := slices.Index(contexts, "guess-slot"); i > 0 {
		list = append(list, i)
	}
	return list
}

func (a *axes) contexts(c *compared, i int) error {
	for k, other := range c.Choice.Contexts {
		if k == i {
			continue
		}
		for m := range ranked() {
			key := axisKey{ContextAxis, c.Choice.Contexts[i], c.Choice.Contexts[i], other, m}
			if err := a.moved(key, c.Setting.String(), c.quantity(gapTerms(i, m)...), c.quantity(gapTerms(k, m)...)); err != nil {
				return err
			}
		}
	}
	return nil
}

// replaced compares with a comparison of the same answers that differs in the rule or in the
// aggregation, and in nothing else.
func (a *axes) replaced(first, other *compared, i int) error {
	key := axisKey{context: first.Choice.Contexts[i]}
	switch x, y := first.Choice, other.Choice; {
	case x.Judge != y.Judge && x.Aggregation == y.Aggregation:
		key.axis, key.from, key.to = JudgeAxis, x.Judge, y.Judge
	case x.Judge == y.Judge && x.Aggregation != y.Aggregation:
		key.axis, key.from, key.to = AggregationAxis, x.Aggregation, y.Aggregation
	default:
		return nil
	}
	for m := range ranked() {
		key.metric = m
		if why := (&shifts{}).leftOut(other); why != "" {
			a.left[key] = append(a.left[key], LeftSetting{other.Setting.String(), why})
			continue
		}
		if err := a.moved(key, first.Setting.String(), first.quantity(gapTerms(i, m)...), other.quantity(gapTerms(i, m)...)); err != nil {
			return err
		}
	}
	return nil
}

// Estimators are the alternatives to ECE whose effect on the gap is compared (the paper's Table 15),
// and two more: equal-mass bins, and smooth ECE by its definition.
func Estimators() []metric.Statistic {
	list := []metric.Statistic{metric.KDE(.05), metric.KS(), metric.Smoothed(metric.Robust), metric.SmoothECE()}
	if s, err := metric.ByID("ece.equal-mass.10"); err == nil {
		list = append(list, s)
	}
	return list
}

func (a *axes) estimators(c *compared, i int) error {
	usual := ranked()[0]
	from := c.gapBy(usual, i)
	for _, s := range Estimators() {
		key := axisKey{EstimatorAxis, c.Choice.Contexts[i], usual.ID, s.ID, 0}
		if err := a.moved(key, c.Setting.String(), from, c.gapBy(s, i)); err != nil {
			return err
		}
	}
	return nil
}

// gapBy is g in context i under any statistic, without resamples.
func (e *evaluation) gapBy(s metric.Statistic, i int) resample.Quantity {
	v, t := s.On(e.prepared[0]), s.On(e.prepared[1+i])
	x, ok := v.Get()
	y, defined := t.Get()
	switch {
	case !ok:
		return resample.Point(measure.Undefined(s.ID, v.Reason(), v.N))
	case !defined:
		return resample.Point(measure.Undefined(s.ID, t.Reason(), v.N))
	}
	return resample.Point(measure.Of(s.ID, x-y, v.N))
}

func (a *axes) result() []AxisSummary {
	var list []AxisSummary
	for _, key := range a.means.keys {
		stat := ranked()[key.metric]
		sum := AxisSummary{
			Group: a.group, Axis: key.axis, Context: key.context, From: key.from, To: key.to, Metric: stat.ID,
			MeanAbsShift:  a.means.value(key, "mean.abs-shift."+stat.ID, a.level),
			Of:            a.means.settings(key),
			BetterChanges: a.changes[key],
			LeftOut:       a.left[key],
		}
		sum.Largest = measure.Of("largest.abs-shift."+stat.ID, a.means.largest(key), sum.MeanAbsShift.N)
		if !sum.MeanAbsShift.Defined() {
			sum.Largest = measure.Undefined(sum.Largest.Method, sum.MeanAbsShift.Reason(), 0)
		}
		list = append(list, sum)
	}
	return list
}

// BinCounts are the numbers of bins compared.
func BinCounts() []int { return []int{5, 10, 15, 20, 30, 50} }

// estimatorFlips counts context flips under every estimator and bin count.
type estimatorFlips struct {
	group string
	stats []metric.Statistic
	list  []flipCount
}

type flipCount struct {
	stat, from, to string
	flips, of      int
}

// FlipSummary counts the flips between two contexts under one estimator of calibration, by point
// estimate (the paper's Table 15, last columns, and its bin counts).
type FlipSummary struct {
	Group     string `json:"group"`
	Estimator string `json:"estimator"`
	From      string `json:"from"`
	To        string `json:"to"`
	Flips     int    `json:"flips"`
	Of        int    `json:"of"`
}

func newEstimatorFlips(group string) *estimatorFlips {
	f := &estimatorFlips{group: group}
	for _, bins := range BinCounts() {
		f.stats = append(f.stats, metric.ECE(bins, metric.LeftClosed))
	}
	f.stats = append(f.stats, Estimators()...)
	return f
}

func (f *estimatorFlips) add(c *compared) {
	to := slices.Index(c.Choice.Contexts, "guess-slot")
	if to < 0 {
		return
	}
	for _, from := range []string{"bare", "answer-slot"} {
		i := slices.Index(c.Choice.Contexts, from)
		if i < 0 {
			continue
		}
		for _, s := range f.stats {
			f.count(s.ID, from, "guess-slot", betterUnder(0, c.gapBy(s, i)), betterUnder(0, c.gapBy(s, to)))
		}
	}
}

func (f *estimatorFlips) count(stat, from, to string, here, there record.Signal) {
	at := slices.IndexFunc(f.list, func(c flipCount) bool { return c.stat == stat && c.from == from && c.to == to })
	if at < 0 {
		at = len(f.list)
		f.list = append(f.list, flipCount{stat: stat, from: from, to: to})
	}
	if here == "" || there == "" {
		return
	}
	f.list[at].of++
	if here != there {
		f.list[at].flips++
	}
}

func (f *estimatorFlips) result() []FlipSummary {
	var list []FlipSummary
	for _, c := range f.list {
		list = append(list, FlipSummary{f.group, c.stat, c.from, c.to, c.flips, c.of})
	}
	return list
}
