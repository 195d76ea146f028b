package protocol

import (
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

// Comparison is what one setting says of stated against token confidence, with everything but the
// context held constant. All values are over the same rows (complete cases), so differences are
// differences of scores, never of items.
type Comparison struct {
	Setting record.Setting `json:"setting"`
	Choice  Choice         `json:"choice"`
	// Asked is the number of items asked; Used the rows behind every value; LeftOut the rest by reason.
	Asked   int                `json:"asked"`
	Used    int                `json:"used"`
	LeftOut []measure.Excluded `json:"left_out"`
	// ParseRate is the share of asked items whose reply gave both an answer and a probability.
	ParseRate measure.Value `json:"parse_rate"`
	// FallbackRate is the share of parsed replies whose probability came by the parser's last resort.
	FallbackRate measure.Value `json:"fallback_rate"`
	// Accuracy is the share of used answers that the judge finds correct.
	Accuracy measure.Value `json:"accuracy"`
	// Verbalised is the stated probability.
	Verbalised Score `json:"verbalised"`
	// Contexts holds the token score in each context, in the order of the choice; the first is the base.
	Contexts []Context `json:"contexts"`
}

// Score is one score's level and quality.
type Score struct {
	// Mean is the average score.
	Mean measure.Value `json:"mean"`
	// Metrics are in the order of [Metrics].
	Metrics []measure.Value `json:"metrics"`
	// Distinct is how many different values it takes. Where that is few, many pairs of answers are tied.
	Distinct int `json:"distinct"`
}

// Context is the token score in one context, compared with the stated probability and with the base.
type Context struct {
	Name  string `json:"name"`
	Token Score  `json:"token"`
	// Gaps has one entry per metric, in the order of [Metrics].
	Gaps []Gap `json:"gaps"`
}

// Gap compares the two signals under one metric in one context.
type Gap struct {
	// Metric is the metric's id.
	Metric string `json:"metric"`
	// Gap is g = metric(verbalised) - metric(token).
	Gap measure.Value `json:"gap"`
	// Shift is Δg = g(this context) - g(base); nil in the base itself.
	Shift *measure.Value `json:"shift,omitempty"`
	// Better is the signal that g favours: [record.TokenSignal] or [record.VerbalisedSignal]; empty
	// where g is 0 or undefined.
	Better record.Signal `json:"better,omitempty"`
	// Resolved says that the interval of Gap excludes 0.
	Resolved bool `json:"resolved"`
	// Flip says whether the better signal differs from the base's.
	Flip Flip `json:"flip,omitempty"`
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
