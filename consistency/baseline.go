package consistency

import (
	"fmt"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

// Side names one set of answers of a comparison.
type Side string

const (
	// Original is the set of answers to the original prompt, Perturbed the other.
	Original  Side = "original"
	Perturbed Side = "perturbed"

	bothSides Side = "both"
)

// Agreement is the mean of k(y_i, y_j) over pairs i ≠ j of one set of answers, named id: in [0,1], or [-1,1]
// under a cosine; higher means more alike. Of the original answers it is self-consistency, of answers to
// paraphrased questions paraphrasing consistency, both under C3's own kernel (Wu, Jiang and Aragam 2026,
// appendix J). Fewer than two samples: missing, [measure.TooFew].
func (c *Comparison) Agreement(id string, of Side) (measure.Value, error) {
	if of != Original && of != Perturbed {
		return measure.Value{}, fmt.Errorf("consistency: no set of answers is called %q; say original or perturbed", of)
	}
	return c.agreement(id+"."+string(c.kernel), of, c.form.sums(c.ones())), nil
}

func (c *Comparison) agreement(id string, of Side, s sums) measure.Value {
	n, x, least := c.n+c.m, s.cross, min(c.n, c.m) > 0
	switch of {
	case Original:
		n, x, least = c.n, s.withinX, c.n > 1
	case Perturbed:
		n, x, least = c.m, s.withinY, c.m > 1
	}
	switch {
	case !least:
		return measure.Undefined(id, measure.TooFew, n).Leaving(c.leftOut)
	case c.why != "":
		return measure.Undefined(id, c.why, n).Leaving(c.leftOut)
	}
	return measure.Of(id, x(), n).Leaving(c.leftOut)
}

// ModalShare is the share of the most frequent answer among the samples that have one: in (0,1], higher means
// more alike; method "modal-share". It is what some call self-consistency; the paper's self-consistency is
// [Comparison.Agreement], and smaller: two answers in equal parts have a modal share of 1/2 and, of many
// samples, an agreement below 1/2. Undefined without samples.
func ModalShare(samples []Sample) measure.Value {
	counts, leftOut, most, n := map[string]int{}, map[string]int{}, 0, 0
	for _, s := range samples {
		if s.Missing != record.Present {
			leftOut[string(s.Missing)]++
			continue
		}
		n++
		counts[s.Answer]++
		most = max(most, counts[s.Answer])
	}
	if n == 0 {
		return measure.Undefined("modal-share", measure.NoItems, 0).Leaving(leftOut)
	}
	return measure.Of("modal-share", float64(most)/float64(n), n).Leaving(leftOut)
}

// SelfReport brings a stated confidence between the bounds that were asked for, such as 0 and 100, to
// [0,1]. What lies outside the bounds is missing, [record.OutOfRange]; a missing one stays as it is. It
// panics unless lower < upper.
func SelfReport(stated record.Number, lower, upper float64) record.Number {
	if !(lower < upper) {
		panic(fmt.Sprintf("consistency: confidence between %v and %v", lower, upper))
	}
	x, ok := stated.Get()
	switch {
	case !ok:
		return stated
	case !(x >= lower && x <= upper):
		return record.Absent(record.OutOfRange)
	}
	return record.Known((x - lower) / (upper - lower))
}
