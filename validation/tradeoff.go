package validation

import (
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
)

// Outcome is what became of an item under a judge, or none.
type Outcome string

// The outcomes, in the order in which figures show them.
const (
	TruePositive  Outcome = "TP"
	TrueNegative  Outcome = "TN"
	FalsePositive Outcome = "FP"
	FalseNegative Outcome = "FN"
	// NoOutcome: a label is missing, or counts half.
	NoOutcome Outcome = ""
)

// Outcomes are those that a figure shows.
var Outcomes = []Outcome{TruePositive, TrueNegative, FalsePositive, FalseNegative}

func outcomesOf(people, judge []float64) []Outcome {
	list := make([]Outcome, len(people))
	for i, h := range people {
		switch j := judge[i]; {
		case h == 1 && j == 1:
			list[i] = TruePositive
		case h == 0 && j == 0:
			list[i] = TrueNegative
		case h == 0 && j == 1:
			list[i] = FalsePositive
		case h == 1 && j == 0:
			list[i] = FalseNegative
		}
	}
	return list
}

// Tradeoff is what the errors of one judge do to one quantifier, by where its confidences lie.
type Tradeoff struct {
	Judge      string `json:"judge"`
	Quantifier string `json:"quantifier"`
	// Fixed is selective prediction at a threshold, Figure 5.
	Fixed ThresholdRegions `json:"fixed"`
	// FN and FP are the pairwise regions around an instance A, Figure 6: A at the median confidence of
	// the items in that class. Nil where it is empty.
	FN *PairRegions `json:"fn,omitempty"`
	FP *PairRegions `json:"fp,omitempty"`
}

// ThresholdRegions counts the errors of a judge on either side of a threshold. A quantifier is unfairly
// rewarded where it accepts an FP or rejects an FN, and unfairly punished where it rejects an FP or
// accepts an FN. It accepts what exceeds the threshold.
type ThresholdRegions struct {
	Threshold  float64 `json:"threshold"`
	FPAccepted int     `json:"fp_accepted"`
	FPRejected int     `json:"fp_rejected"`
	FNAccepted int     `json:"fn_accepted"`
	FNRejected int     `json:"fn_rejected"`
	// Net is rewards minus penalties over all items: exactly the accuracy of the selection under the
	// judge minus that under people. In [−1,1].
	Net measure.Value `json:"net"`
}

// PairRegions counts the other items around an instance A that the judge errs on. With A in FN an item
// outside of FN with a higher confidence is an unfair reward and one with a lower an unfair penalty;
// with A in FP the two are reversed.
type PairRegions struct {
	// At is the confidence of A.
	At      float64         `json:"at"`
	Classes []RegionBalance `json:"classes"`
	// Net is rewards minus penalties over the items counted, in [−1,1].
	Net measure.Value `json:"net"`
}

// RegionBalance is one class of items around A.
type RegionBalance struct {
	Outcome   Outcome `json:"outcome"`
	Rewards   int     `json:"rewards"`
	Penalties int     `json:"penalties"`
	Ties      int     `json:"ties"`
}

// TradeoffOf counts the regions of one judge and quantifier. Confidences are probabilities, NaN where
// there is none; items without an outcome are left out.
func TradeoffOf(confidence []float64, outcomes []Outcome, threshold float64) Tradeoff {
	return Tradeoff{
		Fixed: thresholdRegions(confidence, outcomes, threshold),
		FN:    pairRegions(confidence, outcomes, FalseNegative),
		FP:    pairRegions(confidence, outcomes, FalsePositive),
	}
}

func thresholdRegions(confidence []float64, outcomes []Outcome, threshold float64) ThresholdRegions {
	r := ThresholdRegions{Threshold: threshold}
	n := 0
	for i, c := range confidence {
		if math.IsNaN(c) || outcomes[i] == NoOutcome {
			continue
		}
		n++
		switch accepted := c > threshold; {
		case outcomes[i] == FalsePositive && accepted:
			r.FPAccepted++
		case outcomes[i] == FalsePositive:
			r.FPRejected++
		case outcomes[i] == FalseNegative && accepted:
			r.FNAccepted++
		case outcomes[i] == FalseNegative:
			r.FNRejected++
		}
	}
	const method = "tradeoff.threshold"
	if n == 0 {
		r.Net = measure.Undefined(method, measure.NoItems, 0)
		return r
	}
	r.Net = measure.Of(method, float64(r.FPAccepted+r.FNRejected-r.FPRejected-r.FNAccepted)/float64(n), n)
	return r
}

func pairRegions(confidence []float64, outcomes []Outcome, of Outcome) *PairRegions {
	at, ok := medianOf(confidence, outcomes, of)
	if !ok {
		return nil
	}
	r := &PairRegions{At: at}
	all, net := 0, 0
	for _, class := range Outcomes {
		if class == of {
			continue
		}
		b := RegionBalance{Outcome: class}
		for i, c := range confidence {
			switch {
			case outcomes[i] != class || math.IsNaN(c):
			case c == at:
				b.Ties++
			case (c > at) == (of == FalseNegative):
				b.Rewards++
			default:
				b.Penalties++
			}
		}
		all += b.Rewards + b.Penalties + b.Ties
		net += b.Rewards - b.Penalties
		r.Classes = append(r.Classes, b)
	}
	const method = "tradeoff.pairs"
	if all == 0 {
		r.Net = measure.Undefined(method, measure.NoItems, 0)
		return r
	}
	r.Net = measure.Of(method, float64(net)/float64(all), all)
	return r
}

// medianOf is the median confidence of a class; between the middle two where their number is even.
func medianOf(confidence []float64, outcomes []Outcome, of Outcome) (float64, bool) {
	var list []float64
	for i, c := range confidence {
		if outcomes[i] == of && !math.IsNaN(c) {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return 0, false
	}
	slices.Sort(list)
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2, true
}
