package protocol

import (
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

// Comparison is what one setting says of stated against token confidence, with everything but the
// context held constant. All values are over the same rows (complete cases), so differences are
// differences of scores, never of items.
type Comparison struct {
	Setting record.Setting
	Choice  Choice
	// Asked is the number of items asked; Used the rows behind every value; LeftOut the rest by reason.
	Asked, Used int
	LeftOut     []measure.Excluded
	// ParseRate is the share of asked items whose reply gave both an answer and a probability.
	ParseRate measure.Value
	// FallbackRate is the share of parsed replies whose probability came by the parser's last resort.
	FallbackRate measure.Value
	// Accuracy is the share of used answers that the judge finds correct.
	Accuracy measure.Value
	// Verbalised is the stated probability.
	Verbalised Score
	// Contexts holds the token score in each context, in the order of the choice; the first is the base.
	Contexts []Context
}

// Score is one score's level and quality.
type Score struct {
	// Mean is the average score.
	Mean measure.Value
	// Metrics are in the order of [Metrics].
	Metrics []measure.Value
}

// Context is the token score in one context, compared with the stated probability and with the base.
type Context struct {
	Name  string
	Token Score
	// Gaps has one entry per metric, in the order of [Metrics].
	Gaps []Gap
}

// Gap compares the two signals under one metric in one context.
type Gap struct {
	// Metric is the metric's id.
	Metric string
	// Gap is g = metric(verbalised) - metric(token).
	Gap measure.Value
	// Shift is Δg = g(this context) - g(base); nil in the base itself.
	Shift *measure.Value
	// Better is the signal that g favours: [record.TokenSignal] or [record.VerbalisedSignal]; empty
	// where g is 0 or undefined.
	Better record.Signal
	// Resolved says that the interval of Gap excludes 0.
	Resolved bool
	// Flip says whether the better signal differs from the base's.
	Flip Flip
}

// Flip is a change of the better signal between the base context and another.
type Flip string

const (
	// NoFlip: the same signal is better in both, or one gap is 0 or undefined.
	NoFlip Flip = ""
	// PointFlip: the sign of the point estimates differs, but at least one interval holds 0.
	PointFlip Flip = "point"
	// ResolvedFlip: the signs differ and both intervals exclude 0 (the paper's "fully resolved").
	ResolvedFlip Flip = "resolved"
)
