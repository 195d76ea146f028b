package validation

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
)

// What a judge must keep to be recommended. The paper gives no numbers: these are ours.
const (
	// MaxShift is how far the AUROC of any quantifier may move: twice the tolerance within which ranks
	// are tied.
	MaxShift = .05
	// BestWithin is how far below the judge's best quantifier that of people may lie.
	BestWithin = .025
)

// Scope is what a recommendation holds for, and no further (section 6).
const Scope = "All of this holds for this task, this generator, these quantifiers and this metric only: another " +
	"choice of any of them needs a validation of its own."

// Recommendation says which judge may stand for people in the evaluation at hand.
type Recommendation struct {
	// Judge is the one that moves the AUROCs least among those that meet every condition; empty where
	// none is good enough.
	Judge string `json:"judge"`
	// Nearest is the judge that fails fewest conditions, where there is none to recommend.
	Nearest string `json:"nearest,omitempty"`
	// Candidates are the judges that people's labels can be compared with, best first.
	Candidates []Candidate `json:"candidates"`
	// Scope is what the recommendation holds for.
	Scope string `json:"scope"`
}

// Candidate is a judge seen as a stand-in for people.
type Candidate struct {
	Judge string `json:"judge"`
	// MeanShift and MaxShift are the mean and the largest absolute difference of AUROC over quantifiers.
	MeanShift measure.Value `json:"mean_shift"`
	MaxShift  measure.Value `json:"max_shift"`
	// Fails are the conditions that it does not meet, in words.
	Fails []string `json:"fails"`
}

func recommend(auroc Matrix, judges []JudgeResult) Recommendation {
	r := Recommendation{Candidates: []Candidate{}, Scope: Scope}
	order := rankingOf(auroc.People)
	if order == nil {
		return r
	}
	for j, row := range auroc.Judges {
		if row.Complete() {
			r.Candidates = append(r.Candidates, candidateOf(auroc, row, judges[j], order[0]))
		}
	}
	slices.SortStableFunc(r.Candidates, func(a, b Candidate) int {
		x, _ := a.MeanShift.Get()
		y, _ := b.MeanShift.Get()
		return cmp.Or(cmp.Compare(len(a.Fails), len(b.Fails)), cmp.Compare(x, y))
	})
	switch {
	case len(r.Candidates) == 0:
	case len(r.Candidates[0].Fails) == 0:
		r.Judge = r.Candidates[0].Judge
	default:
		r.Nearest = r.Candidates[0].Judge
	}
	return r
}

// candidateOf weighs a judge; best is the quantifier that people rank first.
func candidateOf(auroc Matrix, row Row, judge JudgeResult, best int) Candidate {
	c := Candidate{Judge: row.Judge, Fails: []string{}}
	sum, most, worst, top := 0.0, 0.0, 0, math.Inf(-1)
	for q, cell := range row.Cells {
		d, ok := cell.Difference.Get()
		if !ok {
			c.Fails = append(c.Fails, fmt.Sprintf("people's AUROC of %s on the same items is undefined", auroc.Quantifiers[q]))
			continue
		}
		sum += math.Abs(d)
		if math.Abs(d) > most {
			most, worst = math.Abs(d), q
		}
		x, _ := cell.Value.Get()
		top = max(top, x)
	}
	k := len(row.Cells)
	c.MeanShift = measure.Of("auroc.shift.mean", sum/float64(k), k)
	c.MaxShift = measure.Of("auroc.shift.max", most, k)
	if judge.Group != Good {
		c.Fails = append(c.Fails, "its F1 is not above .7")
	}
	if x, _ := row.Cells[best].Value.Get(); top-x > BestWithin {
		c.Fails = append(c.Fails, fmt.Sprintf("it puts people's best quantifier, %s, %.2f below its own best", auroc.Quantifiers[best], top-x))
	}
	if most > MaxShift {
		c.Fails = append(c.Fails, fmt.Sprintf("it moves the AUROC of %s by %.3f, more than %v", auroc.Quantifiers[worst], most, MaxShift))
	}
	return c
}
