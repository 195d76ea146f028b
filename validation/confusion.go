package validation

import (
	"math"

	"github.com/credence-lab/credence/measure"
)

// Confusion counts the verdicts of a judge against the labels of people. Counts are whole numbers but
// where unsure labels count half.
type Confusion struct {
	TP float64 `json:"tp"`
	TN float64 `json:"tn"`
	FP float64 `json:"fp"`
	FN float64 `json:"fn"`
}

// Positives is what the judge accepts.
func (c Confusion) Positives() float64 { return c.TP + c.FP }

// N is the number of items.
func (c Confusion) N() float64 { return c.TP + c.TN + c.FP + c.FN }

// F1 is 2 TP/(2 TP + FP + FN), in [0,1]; higher is better. Undefined where neither judge nor people
// accept anything.
func (c Confusion) F1() measure.Value {
	const method = "f1"
	n := int(math.Round(c.N()))
	switch d := 2*c.TP + c.FP + c.FN; {
	case n == 0:
		return measure.Undefined(method, measure.NoItems, 0)
	case d == 0:
		return measure.Undefined(method, measure.OneClass, n)
	default:
		return measure.Of(method, 2*c.TP/d, n)
	}
}

// Accuracy is the share of items on which the judge says what people say, in [0,1].
func (c Confusion) Accuracy() measure.Value {
	n := int(math.Round(c.N()))
	if n == 0 {
		return measure.Undefined("accuracy", measure.NoItems, 0)
	}
	return measure.Of("accuracy", (c.TP+c.TN)/c.N(), n)
}

// confusionOf counts the items that both have a label of.
func confusionOf(people, judge []float64) Confusion {
	var c Confusion
	for i, h := range people {
		j := judge[i]
		if math.IsNaN(h) || math.IsNaN(j) {
			continue
		}
		c.TP += h * j
		c.FN += h * (1 - j)
		c.FP += (1 - h) * j
		c.TN += (1 - h) * (1 - j)
	}
	return c
}

// Group is the quality of a judge by its F1 against people.
type Group string

// The groups of "A Tale of Two Error Categories", section 4: above .7, from .3 to .7, and below .3.
const (
	Good   Group = "good"
	Medium Group = "medium"
	Bad    Group = "bad"
	// Ungrouped judges have no F1.
	Ungrouped Group = "none"
)

// Groups are those of judges that have an F1, best first.
var Groups = []Group{Good, Medium, Bad}

// GroupOf is the group of a judge with this F1.
func GroupOf(f1 measure.Value) Group {
	x, ok := f1.Get()
	switch {
	case !ok:
		return Ungrouped
	case x > .7:
		return Good
	case x < .3:
		return Bad
	}
	return Medium
}
