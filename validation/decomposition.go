package validation

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
)

// Decomposition says which errors of a judge move the AUROC of a quantifier, and how far: the terms add
// up to the AUROC under the judge minus that under people.
//
// An AUROC is the mean over pairs of a correct and an incorrect item of 1 where the correct one has the
// higher confidence, 0 where it has the lower, ½ in a tie. Less ½, a pair is worth +½, −½ or 0, and
// pairs fall into the four classes of items below. People see the pairs TP×TN, TP×FP, FN×TN and FN×FP;
// the judge sees TP×TN, TP×FN, FP×TN and FP×FN. So the judge rewards or punishes pairs that are ties to
// people (FN with TP, FP with TN), misses pairs that count (FN with TN, FP with TP), turns those of FN
// and FP around, and divides by another number of pairs.
type Decomposition struct {
	// FN is what items do that people accept and the judge rejects: TP×FN gained, FN×TN lost.
	FN float64 `json:"fn"`
	// FP is what items do that the judge accepts and people reject: FP×TN gained, TP×FP lost.
	FP float64 `json:"fp"`
	// FNFP is what the pairs of one and the other do, which change sides.
	FNFP float64 `json:"fn_fp"`
	// Reweighting is what the pairs TP×TN do: both see them, among different numbers of pairs.
	Reweighting float64 `json:"reweighting"`
	// Total is AUROC(judge) − AUROC(people), by itself and not as the sum of the terms.
	Total float64 `json:"total"`
	// FNPairs and FPPairs count what happens to pairs of an item in FN with any item outside of FN, and
	// of an item in FP with any item outside of FP.
	FNPairs Balance `json:"fn_pairs"`
	FPPairs Balance `json:"fp_pairs"`
}

// Balance counts instances that let a judge's error reward or punish a quantifier unfairly.
type Balance struct {
	Rewards   float64 `json:"rewards"`
	Penalties float64 `json:"penalties"`
	Ties      float64 `json:"ties"`
}

// Net is rewards minus penalties.
func (b Balance) Net() float64 { return b.Rewards - b.Penalties }

// Sum is that of the terms.
func (d Decomposition) Sum() float64 { return d.FN + d.FP + d.FNFP + d.Reweighting }

// The classes of items: what people say and what the judge says.
const (
	tp = iota
	tn
	fp
	fn
	classes
)

// Decompose decomposes the AUROC of a confidence under a judge minus that under people. The labels say
// how far each item counts as correct, 1, 0 or ½. Items without a label of both or without a confidence
// (NaN) are left out. The reason says why there is no decomposition: one class only, for people or judge.
func Decompose(confidence, people, judge []float64) (Decomposition, measure.Reason, error) {
	if len(confidence) != len(people) || len(judge) != len(people) {
		return Decomposition{}, "", fmt.Errorf("validation: %d confidences, %d labels of people and %d verdicts", len(confidence), len(people), len(judge))
	}
	items := classified(confidence, people, judge)
	var size [classes]float64
	for _, x := range items {
		for k, w := range x.class {
			size[k] += w
		}
	}
	pairsPeople := (size[tp] + size[fn]) * (size[tn] + size[fp])
	pairsJudge := (size[tp] + size[fp]) * (size[tn] + size[fn])
	switch {
	case len(items) == 0:
		return Decomposition{}, measure.NoItems, nil
	case pairsPeople == 0 || pairsJudge == 0:
		return Decomposition{}, measure.OneClass, nil
	}
	w := winsOf(items)
	part := func(x, y int) float64 { return (w[x][y] - w[y][x]) / 2 }
	d := Decomposition{
		FN:          part(tp, fn)/pairsJudge - part(fn, tn)/pairsPeople,
		FP:          part(fp, tn)/pairsJudge - part(tp, fp)/pairsPeople,
		FNFP:        part(fp, fn)/pairsJudge - part(fn, fp)/pairsPeople,
		Reweighting: part(tp, tn)/pairsJudge - part(tp, tn)/pairsPeople,
		Total: (part(tp, tn)+part(tp, fn)+part(fp, tn)+part(fp, fn))/pairsJudge -
			(part(tp, tn)+part(tp, fp)+part(fn, tn)+part(fn, fp))/pairsPeople,
	}
	for _, k := range []int{tp, tn, fp} {
		d.FNPairs = d.FNPairs.plus(w[k][fn], w[fn][k], size[k]*size[fn])
	}
	for _, k := range []int{tp, tn, fn} {
		d.FPPairs = d.FPPairs.plus(w[fp][k], w[k][fp], size[k]*size[fp])
	}
	return d, "", nil
}

// plus adds pairs: those that reward, those that punish, and all of them.
func (b Balance) plus(rewards, penalties, all float64) Balance {
	return Balance{b.Rewards + rewards, b.Penalties + penalties, b.Ties + all - rewards - penalties}
}

// classified is an item with how far it belongs to each class.
type classifiedItem struct {
	confidence float64
	class      [classes]float64
}

// classified are the items that have all three, by ascending confidence.
func classified(confidence, people, judge []float64) []classifiedItem {
	var items []classifiedItem
	for i, c := range confidence {
		h, j := people[i], judge[i]
		if math.IsNaN(c) || math.IsNaN(h) || math.IsNaN(j) {
			continue
		}
		items = append(items, classifiedItem{c, classOf(h, j)})
	}
	slices.SortFunc(items, func(a, b classifiedItem) int { return cmp.Compare(a.confidence, b.confidence) })
	return items
}

func classOf(people, judge float64) [classes]float64 {
	return [classes]float64{tp: people * judge, tn: (1 - people) * (1 - judge), fp: (1 - people) * judge, fn: people * (1 - judge)}
}

// winsOf counts pairs: wins[x][y] of them have an item of class x with a higher confidence than one of
// class y. Items come by ascending confidence.
func winsOf(items []classifiedItem) (wins [classes][classes]float64) {
	var below [classes]float64
	for i := 0; i < len(items); {
		var here [classes]float64
		for c := items[i].confidence; i < len(items) && items[i].confidence == c; i++ {
			for k, w := range items[i].class {
				here[k] += w
			}
		}
		for x := range classes {
			for y := range classes {
				wins[x][y] += here[x] * below[y]
			}
		}
		for k, w := range here {
			below[k] += w
		}
	}
	return wins
}
