package protocol

import (
	"strings"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/resample"
)

// ShiftSummary is one comparison taken over the settings of a group, each weighing the same: means with
// intervals, and counts of settings ("Same Answer, Different Confidence", Table 2; in other choices the
// exact-match summary, the 0-100 scale, the transfer check and the multiple-choice format).
type ShiftSummary struct {
	// Group is the group of models.
	Group  string `json:"group"`
	Choice Choice `json:"choice"`
	// Settings are those in the summary; LeftOut those that are not, with the reason.
	Settings []string      `json:"settings"`
	LeftOut  []LeftSetting `json:"left_out,omitempty"`
	Accuracy measure.Value `json:"accuracy"`
	// Verbalised is the stated probability, its level and its metrics.
	Verbalised Score            `json:"verbalised"`
	Contexts   []ContextSummary `json:"contexts"`
	// Steps are the edits of the prompt ablation, where all cells of a step were scored.
	Steps []StepSummary `json:"steps,omitempty"`
}

// LeftSetting is a setting that a summary leaves out.
type LeftSetting struct {
	Setting string `json:"setting"`
	Reason  string `json:"reason"`
}

// ContextSummary is the token score in one context over settings.
type ContextSummary struct {
	Name  string `json:"name"`
	Token Score  `json:"token"`
	// Underconfident and Overconfident count the settings whose mean token score lies below and above
	// accuracy.
	Underconfident int `json:"underconfident"`
	Overconfident  int `json:"overconfident"`
	// Gaps has one entry per metric, in the order of [Metrics].
	Gaps []GapSummary `json:"gaps"`
}

// GapSummary is one metric's gap in one context over settings.
type GapSummary struct {
	Metric string        `json:"metric"`
	Gap    measure.Value `json:"gap"`
	// MeanAbsShift is the mean |Δg| against the base, the size of the shift; nil in the base itself.
	MeanAbsShift *measure.Value `json:"mean_abs_shift,omitempty"`
	// Shift is the mean Δg, which has a direction; nil in the base.
	Shift *measure.Value `json:"shift,omitempty"`
	// Of counts the settings in which Δg is defined; Resolved those whose interval of Δg excludes 0;
	// Positive those with Δg above 0; Flips those in which the better signal changes, ResolvedFlips
	// those of them in which both gaps are resolved.
	Of            int `json:"of"`
	Resolved      int `json:"resolved"`
	Positive      int `json:"positive"`
	Flips         int `json:"flips"`
	ResolvedFlips int `json:"resolved_flips"`
}

// leastExactAccuracy is below which a setting is left out of exact-match summaries, by name (the paper,
// section 4.3: on TruthfulQA hardly an answer equals a reference to the letter).
const leastExactAccuracy = .05

// shiftKey names a mean: score −1 is the stated probability, context k is score k.
type shiftKey struct {
	what            string
	context, metric int
}

// shifts accumulates a [ShiftSummary].
type shifts struct {
	summary ShiftSummary
	level   float64
	means   means[shiftKey]
	steps   stepMeans
}

func newShifts(group string, choice Choice, level float64) *shifts {
	s := &shifts{summary: ShiftSummary{Group: group, Choice: choice, Settings: []string{}}, level: level}
	for _, name := range choice.Contexts {
		c := ContextSummary{Name: name}
		for _, stat := range ranked() {
			c.Gaps = append(c.Gaps, GapSummary{Metric: stat.ID})
		}
		s.summary.Contexts = append(s.summary.Contexts, c)
	}
	return s
}

// leftOut says why a setting does not belong in a summary; empty if it does.
func (s *shifts) leftOut(c *compared) string {
	if c.Used == 0 {
		return "no answer is left"
	}
	accuracy, ok := c.Accuracy.Get()
	if strings.HasPrefix(c.Choice.Judge, "exact") && ok && accuracy < leastExactAccuracy {
		return "exact-match accuracy below .05"
	}
	return ""
}

func (s *shifts) add(c *compared) error {
	if why := s.leftOut(c); why != "" {
		s.summary.LeftOut = append(s.summary.LeftOut, LeftSetting{c.Setting.String(), why})
		return nil
	}
	s.summary.Settings = append(s.summary.Settings, c.Setting.String())
	a := adder[shiftKey]{means: &s.means}
	a.add(shiftKey{what: "accuracy"}, resample.Point(c.Accuracy))
	last := len(c.stats) - 1
	a.add(shiftKey{what: "level", context: -1}, c.quantity(resample.Term{Stat: last, Weight: 1}))
	for m := range ranked() {
		a.add(shiftKey{"token", -1, m}, c.quantity(resample.Term{Stat: m, Weight: 1}))
	}
	for k := range c.Contexts {
		a.add(shiftKey{what: "level", context: k}, c.quantity(resample.Term{Score: 1 + k, Stat: last, Weight: 1}))
		s.countLevel(c, k)
		for m := range ranked() {
			a.add(shiftKey{"token", k, m}, c.quantity(resample.Term{Score: 1 + k, Stat: m, Weight: 1}))
			a.add(shiftKey{"gap", k, m}, c.quantity(gapTerms(k, m)...))
			if k > 0 {
				shift := c.quantity(shiftTerms(0, k, m)...)
				a.add(shiftKey{"shift", k, m}, shift)
				a.add(shiftKey{"size", k, m}, shift.Abs())
			}
			s.countGap(c, k, m)
		}
	}
	if a.err != nil {
		return a.err
	}
	return s.steps.add(c)
}

// adder adds until the first error.
type adder[K comparable] struct {
	means *means[K]
	err   error
}

func (a *adder[K]) add(key K, q resample.Quantity) {
	if a.err == nil {
		a.err = a.means.add(key, q)
	}
}

func (s *shifts) countLevel(c *compared, k int) {
	level, known := c.Contexts[k].Token.Mean.Get()
	accuracy, judged := c.Accuracy.Get()
	if !known || !judged {
		return
	}
	if level < accuracy {
		s.summary.Contexts[k].Underconfident++
	}
	if level > accuracy {
		s.summary.Contexts[k].Overconfident++
	}
}

func (s *shifts) countGap(c *compared, k, m int) {
	g, here := &s.summary.Contexts[k].Gaps[m], c.Contexts[k].Gaps[m]
	if here.Shift == nil {
		return
	}
	x, ok := here.Shift.Get()
	if !ok {
		return
	}
	g.Of++
	if x > 0 {
		g.Positive++
	}
	if Resolves(*here.Shift) {
		g.Resolved++
	}
	if here.Flip != NoFlip {
		g.Flips++
	}
	if here.Flip == ResolvedFlip {
		g.ResolvedFlips++
	}
}

// result is the summary of what was added.
func (s *shifts) result() ShiftSummary {
	sum := s.summary
	value := func(what string, k, m int, id string) measure.Value {
		return s.means.value(shiftKey{what, k, m}, "mean."+id, s.level)
	}
	sum.Accuracy = value("accuracy", 0, 0, "accuracy")
	sum.Verbalised = s.score(-1)
	sum.Contexts = append([]ContextSummary(nil), sum.Contexts...)
	for k := range sum.Contexts {
		c := &sum.Contexts[k]
		c.Token = s.score(k)
		c.Gaps = append([]GapSummary(nil), c.Gaps...)
		for m := range c.Gaps {
			g := &c.Gaps[m]
			g.Gap = value("gap", k, m, "gap."+g.Metric)
			if k > 0 {
				shift, size := value("shift", k, m, "shift."+g.Metric), value("size", k, m, "abs-shift."+g.Metric)
				g.Shift, g.MeanAbsShift = &shift, &size
			}
		}
	}
	sum.Steps = s.steps.result(s.level)
	return sum
}

func (s *shifts) score(k int) Score {
	out := Score{Mean: s.means.value(shiftKey{what: "level", context: k}, "mean."+metric.MeanConfidence().ID, s.level)}
	for m, stat := range ranked() {
		out.Metrics = append(out.Metrics, s.means.value(shiftKey{"token", k, m}, "mean."+stat.ID, s.level))
	}
	return out
}

// betterUnder is the signal that g favours under metric m; empty where g is 0 or undefined.
func betterUnder(m int, g resample.Quantity) record.Signal {
	x, ok := g.Get()
	if !ok || x == 0 {
		return ""
	}
	return better(ranked()[m], x)
}
