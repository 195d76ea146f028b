package validation_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/validation"
)

func column(word string) []validation.Label {
	kinds := map[rune]validation.Label{'0': validation.Incorrect, '1': validation.Correct, '?': validation.Unsure, '-': validation.Missing}
	var list []validation.Label
	for _, r := range word {
		list = append(list, kinds[r])
	}
	return list
}

// grid are the values of a matrix, people first; −1 stands for undefined.
func grid(m validation.Matrix, of func(validation.Cell) measure.Value) [][]float64 {
	var rows [][]float64
	for _, row := range append([]validation.Row{m.People}, m.Judges...) {
		var list []float64
		for _, c := range row.Cells {
			x, ok := of(c).Get()
			if !ok {
				x = -1
			}
			list = append(list, x)
		}
		rows = append(rows, list)
	}
	return rows
}

// Five items a to e, two quantifiers and three judges:
//
//	item          a    b    c    d    e
//	confidence   .9   .8   .6   .4   .2
//	uncertainty   1    3    2    2    5
//	person        1    1    0    1    0
//	same          1    1    0    1    0
//	strict        1    0    0    0    0
//	all           1    1    1    1    1
//
// Under people, of 3 × 2 pairs: confidence has a, b above c, e (4) and d above e (1): 5/6. Uncertainty, less
// is surer: a above c, e (2), b above e (1), d tied with c (½) and above e (1): 4.5/6.
// Under strict, of 1 × 4 pairs: a is first of all by both, 1 and 1: both rank 1.5, while people have 1, 2.
// F1: same 1; strict has TP 1, FN 2, so 2/4 = .5; all has TP 3, FP 2, so 6/8 = .75. Groups: good, medium,
// good, though all has one class and no AUROC.
func TestSettingByHand(t *testing.T) {
	t.Parallel()
	table := &validation.Table{
		Items: []string{"a", "b", "c", "d", "e"},
		Quantifiers: []validation.Quantifier{
			{Name: "confidence", Orientation: measure.Confidence, Scores: []float64{.9, .8, .6, .4, .2}},
			{Name: "uncertainty", Orientation: measure.Uncertainty, Scores: []float64{1, 3, 2, 2, 5}},
		},
		Judges: []validation.Judge{
			{Name: "same", Labels: column("11010")}, {Name: "strict", Labels: column("10000")}, {Name: "all", Labels: column("11111")},
		},
		People: []validation.Person{{Name: "person", Labels: column("11010")}},
	}
	r := validated(t, table, plain())
	auroc := r.Matrices[0]
	check := func(what string, want [][]float64, of func(validation.Cell) measure.Value) {
		if diff := cmp.Diff(want, grid(auroc, of), near12); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("values", [][]float64{{5. / 6, .75}, {5. / 6, .75}, {1, 1}, {-1, -1}}, func(c validation.Cell) measure.Value { return c.Value })
	check("differences", [][]float64{{-1, -1}, {0, 0}, {1. / 6, .25}, {-1, -1}}, func(c validation.Cell) measure.Value { return c.Difference })
	check("ranks", [][]float64{{1, 2}, {1, 2}, {1.5, 1.5}, {-1, -1}}, func(c validation.Cell) measure.Value { return c.Rank })
	for j, want := range []struct {
		f1    float64
		group validation.Group
	}{{1, validation.Good}, {.5, validation.Medium}, {.75, validation.Good}} {
		near(t, "F1 of "+r.Judges[j].Name, r.Judges[j].F1, want.f1, 1e-12)
		if r.Judges[j].Group != want.group {
			t.Errorf("%s is %s, want %s", r.Judges[j].Name, r.Judges[j].Group, want.group)
		}
	}
	// The best quantifier: same keeps it, all is left out of the good ones, no judge is bad.
	best := r.Places[0]
	near(t, "good rank", best.Groups[0].Rank, 1, 0)
	near(t, "medium rank", best.Groups[1].Rank, 1.5, 0)
	if best.Quantifier != "confidence" || best.Groups[0].Rank.N != 1 || best.Groups[0].Rank.NLeftOut() != 1 || best.Groups[2].Rank.Defined() {
		t.Errorf("the best place is %+v", best)
	}
	near(t, "RBO of same", r.Likeness[0].RBO, 1, 1e-12)
	if !r.Likeness[1].Tied || r.Likeness[2].RBO.Defined() {
		t.Errorf("likeness %+v", r.Likeness)
	}
	// Risk of the 4 surest of 5 by confidence: c of a, b, c, d is wrong, 1/4.
	near(t, "risk at coverage .8", r.Matrices[1].People.Cells[0].Value, .25, 1e-12)
	if r.Recommendation.Judge != "same" {
		t.Errorf("recommended is %q", r.Recommendation.Judge)
	}
}

// Four items, one quantifier, a person who is unsure of b and a judge who leaves out c:
//
//	item         a    b    c    d
//	confidence  .9   .7   .5   .3
//	person       1    ?    0    0
//	judge        1    1    -    0
//
// People's AUROC: unsure as incorrect, a above b, c, d: 1; missing, a above c, d: 1; half, correct weigh
// 1 + ½ and incorrect ½ + 1 + 1, so of 1.5 × 2.5 = 3.75 pairs a wins 2.5, half b wins ½·2 = 1 and ties with
// itself ¼·½: 3.625/3.75.
// The judge's AUROC, over a, b, d without c: (a, b) above d: 1, n 3; without b too: 1, n 2.
// F1 over the items of both: incorrect TP a, FP b: 2/3; missing 1; half TP 1.5, FP ½: 3/3.5.
func TestUnsureAndMissingByHand(t *testing.T) {
	t.Parallel()
	table := &validation.Table{
		Items:       []string{"a", "b", "c", "d"},
		Quantifiers: []validation.Quantifier{{Name: "q", Orientation: measure.Confidence, Scores: []float64{.9, .7, .5, .3}}},
		Judges:      []validation.Judge{{Name: "judge", Labels: column("11-0")}},
		People:      []validation.Person{{Name: "person", Labels: column("1?00")}},
	}
	for _, c := range []struct {
		unsure         validation.UnsureRule
		people, judged float64
		f1             float64
		nPeople, n     int
	}{
		{validation.UnsureIncorrect, 1, 1, 2. / 3, 4, 3},
		{validation.UnsureMissing, 1, 1, 1, 3, 2},
		{validation.UnsureHalf, 3.625 / 3.75, 1, 3 / 3.5, 4, 3},
	} {
		o := plain()
		o.Unsure = c.unsure
		r := validated(t, table, o)
		m := r.Matrices[0]
		people, judged := m.People.Cells[0].Value, m.Judges[0].Cells[0].Value
		near(t, string(c.unsure)+": people", people, c.people, 1e-12)
		near(t, string(c.unsure)+": judge", judged, c.judged, 1e-12)
		near(t, string(c.unsure)+": F1", r.Judges[0].F1, c.f1, 1e-12)
		if people.N != c.nPeople || judged.N != c.n || people.N+people.NLeftOut() != 4 || judged.N+judged.NLeftOut() != 4 {
			t.Errorf("%s: people n %d and %v left out, judge n %d and %v", c.unsure, people.N, people.LeftOut, judged.N, judged.LeftOut)
		}
		d := r.Effects[0].Decomposition
		difference := number(m.Judges[0].Cells[0].Difference)
		if d == nil || math.Abs(d.Sum()-difference) > 1e-12 {
			t.Errorf("%s: the decomposition %+v does not add up to %v", c.unsure, d, difference)
		}
	}
}

// Around the threshold .5: an FP at .8 is accepted, one at .5 is not, since it must exceed; an FN at .2 is
// rejected. Rewards 2, penalties 1 of 5 items: net 1/5. A in FN lies at .2: three of the others lie above, which
// rewards, and TN below, which punishes. A in FP lies at .65, between the two: TP at .9 above punishes, TN at .1 and FN at .2 below reward.
func TestTradeoffByHand(t *testing.T) {
	t.Parallel()
	outcomes := []validation.Outcome{validation.FalsePositive, validation.FalsePositive, validation.FalseNegative, validation.TruePositive, validation.TrueNegative, validation.NoOutcome}
	got := validation.TradeoffOf([]float64{.8, .5, .2, .9, .1, .5}, outcomes, .5)
	near(t, "net at the threshold", got.Fixed.Net, .2, 1e-12)
	near(t, "net around FP", got.FP.Net, 1./3, 1e-12)
	near(t, "net around FN", got.FN.Net, (3.-1)/4, 1e-12)
	if got.FP.At != .65 || got.FN.At != .2 {
		t.Errorf("A lies at %v in FP, at %v in FN", got.FP.At, got.FN.At)
	}
	want := []validation.RegionBalance{{Outcome: validation.TruePositive, Penalties: 1}, {Outcome: validation.TrueNegative, Rewards: 1}, {Outcome: validation.FalseNegative, Rewards: 1}}
	if diff := cmp.Diff(want, got.FP.Classes); diff != "" {
		t.Errorf("around FP (-want +got):\n%s", diff)
	}
	if got := validation.TradeoffOf([]float64{.5}, []validation.Outcome{validation.TruePositive}, .5); got.FN != nil || got.FP != nil {
		t.Errorf("a judge without errors has regions: %+v", got)
	}
}
