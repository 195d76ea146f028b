package metric

import (
	"github.com/credence-lab/credence/measure"
)

// Statistic is one metric with all its choices made. Take one from its constructor, such as [AUROC],
// or from [ByID].
type Statistic struct {
	// ID names the metric with its variant, such as "aurc.expected".
	ID string
	// Definition says what is computed, in one or two sentences.
	Definition string
	// Source is the paper that defines it, by authors, year and section where it has one.
	Source string
	// Better says which end is the good one.
	Better Direction
	// Needs and Labels say what it asks of the score and how it reads qualities.
	Needs  Requirement
	Labels Labels
	// Chance is what a score that knows nothing is expected to get on these labels; nil where that
	// depends on more than the labels.
	Chance func(p *Prepared) float64
	// Bind readies the statistic for p, which has at least one item and meets Needs. It does once
	// what does not depend on counts, so that the evaluator need not.
	Bind func(p *Prepared) Evaluator
	// Remark is nil, or adds what a reader of v must know of the data, as a warning.
	Remark func(p *Prepared, v measure.Value) measure.Value
}

// Evaluator gives the statistic of the sample in which atom a of the prepared score occurs counts[a]
// times; at least one count is not 0. If there is no value the reason says why and the number is 0.
//
// It makes one linear pass and allocates nothing that it can keep. So it may hold scratch and
// serves one goroutine at a time.
type Evaluator func(counts []uint32) (float64, measure.Reason)

// Direction says which end of a statistic is the good one.
type Direction string

const (
	// Higher and Lower mean that higher or lower values are better.
	Higher Direction = "higher"
	Lower  Direction = "lower"
	// Nearer means that values nearer to 0 are better.
	Nearer Direction = "nearer to 0"
	// Neither means that no end is better: the value describes, it does not judge.
	Neither Direction = "neither"
)

// Requirement says what a statistic asks of the score.
type Requirement string

const (
	// AnyScore: only the order counts, or any real number will do.
	AnyScore Requirement = "any score"
	// Probability: a confidence in [0,1]. A score with a value outside is refused, never clipped.
	Probability Requirement = "confidence in [0,1]"
)

// Labels says how a statistic reads qualities.
type Labels string

const (
	// Qualities in [0,1] are used as they are.
	Qualities Labels = "quality in [0,1]"
	// Classes: quality of at least .5 is correct, the rest is incorrect.
	Classes Labels = "correct or incorrect"
)

// threshold is the least quality that counts as correct where two classes are needed.
const threshold = .5

// Evaluator readies s for p. The evaluator of a score that does not meet s.Needs, or that has no
// items, gives the reason every time.
func (s Statistic) Evaluator(p *Prepared) Evaluator {
	if why := s.refuses(p); why != "" {
		return func([]uint32) (float64, measure.Reason) { return 0, why }
	}
	return s.Bind(p)
}

func (s Statistic) refuses(p *Prepared) measure.Reason {
	switch {
	case p.n == 0:
		return measure.NoItems
	case s.Needs == Probability && (p.outside > 0 || p.orientation != measure.Confidence):
		return measure.OutOfRange
	}
	return ""
}

// On computes the statistic of the data as they are: value, items used and left out, share of tied
// pairs, and warnings of these codes:
//
//	one-item       the value rests on one item
//	one-class      undefined, with the number of items and their class
//	out-of-range   undefined, with the number of scores outside [0,1]
//	graded-labels  qualities were cut at .5 to make two classes
func (s Statistic) On(p *Prepared) measure.Value {
	x, why := s.Evaluator(p)(p.counts)
	return s.Dress(p, x, why)
}

// Dress puts beside a value that an evaluator of s gave for p what [Statistic.On] puts there.
func (s Statistic) Dress(p *Prepared, x float64, why measure.Reason) measure.Value {
	v := measure.Of(s.ID, x, p.n)
	if why != "" {
		v = measure.Undefined(s.ID, why, p.n)
	}
	v = v.Leaving(p.leftOut)
	v.Ties = p.Ties()
	switch {
	case why == measure.OneClass:
		v = v.Warn("one-class", "all %d items are %s", p.n, p.onlyClass())
	case why == measure.OutOfRange && s.Needs == Probability && p.orientation != measure.Confidence:
		v = v.Warn("out-of-range", "%s is an uncertainty; %s needs a confidence in [0,1]", p.name, s.ID)
	case why == measure.OutOfRange && s.Needs == Probability:
		v = v.Warn("out-of-range", "%d of %d values of %s lie outside [0,1]", p.outside, p.n, p.name)
	}
	if p.n == 1 {
		v = v.Warn("one-item", "the value rests on one item")
	}
	if p.graded && s.Labels == Classes {
		v = v.Warn("graded-labels", "qualities of at least %v count as correct, the rest as incorrect", threshold)
	}
	if s.Remark != nil && s.refuses(p) == "" {
		v = s.Remark(p, v)
	}
	return v
}

func (p *Prepared) onlyClass() string {
	if p.n > 0 && p.quality[0] >= threshold {
		return "correct"
	}
	return "incorrect"
}
