package consistency_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

// trials: 24 items that are answered right with chance .3, under twelve contexts; the chance after a leaking
// one is .95, after the misleading one 0.
func trials(leaking ...string) []consistency.Trial {
	random := rand.New(rand.NewPCG(8, 8))
	var all []consistency.Trial
	for i := range 24 {
		add := func(context string, chance float64) {
			correct := 0.
			if random.Float64() < chance {
				correct = 1
			}
			all = append(all, consistency.Trial{Model: "m", Item: fmt.Sprint("item ", i), Perturbation: context, Correct: record.Known(correct)})
		}
		for range 12 {
			add("", .3)
		}
		for k := range 12 {
			name, chance := fmt.Sprint("context ", k), .3
			for _, l := range leaking {
				if l == name {
					chance = .95
				}
			}
			add(name, chance)
		}
	}
	return all
}

func TestLeakingPerturbationsAreFound(t *testing.T) {
	t.Parallel()
	found, err := consistency.FindLeaks(trials("context 3", "context 11"), .05)
	if err != nil {
		t.Fatal(err)
	}
	for i, in := range found {
		leaks := in.Perturbation == "context 3" || in.Perturbation == "context 11"
		if leaks != (in.Effect == consistency.Leaks) || leaks != (i < 2) {
			t.Errorf("%d. %s: %s, p %v", i, in.Perturbation, in.Effect, in.HelpsP)
		}
		if shift, _ := in.Shift.Get(); leaks && (shift < .02 || in.Uses != 24) {
			t.Errorf("%s: %d uses move Δ by %v", in.Perturbation, in.Uses, shift)
		}
	}
	found, err = consistency.FindLeaks(trials(), .05)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range found {
		if in.Effect != consistency.NoEffect {
			t.Errorf("nothing planted, yet %s %s", in.Perturbation, in.Effect)
		}
	}
}

// One item, two original trials of which one is correct, context a right twice, b wrong once. Leaving a out: 1
// of the 3 others is correct, p = 1.5/4 = 3/8, so that P(S >= 2) = 9/64, and expected 3/4 of 2. Holm over four
// tails: it is the least and counts four times. Without a Δ is 0/1 − 1/2; with it 2/3 − 1/2.
func TestLeaveOneOutByHand(t *testing.T) {
	t.Parallel()
	trial := func(context string, correct float64) consistency.Trial {
		return consistency.Trial{Model: "m", Item: "i", Perturbation: context, Correct: record.Known(correct)}
	}
	found, err := consistency.FindLeaks([]consistency.Trial{
		trial("", 1), trial("", 0), trial("a", 1), trial("a", 1), trial("b", 0),
		{Model: "m", Item: "i", Perturbation: "b", Correct: record.Absent(record.NoAnswer)},
	}, .05)
	if err != nil {
		t.Fatal(err)
	}
	a := found[0]
	if a.Perturbation != "a" || a.Uses != 2 || a.Correct != 2 || a.Expected != .75 {
		t.Fatalf("%+v", a)
	}
	near(t, "p", a.HelpsP, 4*9./64, 1e-15)
	near(t, "without", a.Without, -.5, 1e-15)
	near(t, "shift", a.Shift, 1./6+.5, 1e-15)
}

// Items: +1 of 2, +1 of 2, −1 of 2, 0: mean 1/8; two better and one worse have p = 2·(1 + 3)/8 = 1.
func TestNeutralityByHand(t *testing.T) {
	t.Parallel()
	var all []consistency.Trial
	item := func(name string, original, perturbed [2]float64) {
		for k := range 2 {
			all = append(all,
				consistency.Trial{Model: "m", Item: name, Correct: record.Known(original[k])},
				consistency.Trial{Model: "m", Item: name, Perturbation: fmt.Sprint(name, k), Correct: record.Known(perturbed[k])})
		}
	}
	item("1", [2]float64{0, 0}, [2]float64{1, 0})
	item("2", [2]float64{1, 0}, [2]float64{1, 1})
	item("3", [2]float64{1, 0}, [2]float64{0, 0})
	item("4", [2]float64{1, 0}, [2]float64{0, 1})
	all = append(all, consistency.Trial{Model: "m", Item: "5", Correct: record.Known(1)})
	n, err := consistency.CheckNeutrality(all, consistency.Resampling{Level: .9, N: 100})
	if err != nil {
		t.Fatal(err)
	}
	s := n.PerModel[0]
	near(t, "mean", s.Mean, .125, 0)
	near(t, "sign test", s.SignP, 1, 0)
	if s.Better != 2 || s.Worse != 1 || s.Equal != 1 || s.Mean.NLeftOut() != 1 || s.Mean.Interval == nil {
		t.Errorf("%+v", s)
	}
	near(t, "averaged", n.Averaged.Mean, .125, 0)
	if d := s.Deltas[0]; d.PerturbedCorrect-d.Correct != 1 || d.Trials != 2 || d.PerturbedTrials != 2 {
		t.Errorf("%+v", d)
	}
	// Twelve better and none worse: 2/2¹².
	all = nil
	for i := range 12 {
		item(fmt.Sprint(i), [2]float64{0, 0}, [2]float64{1, 1})
	}
	if n, err = consistency.CheckNeutrality(all, consistency.Resampling{Level: .9, N: 100}); err != nil {
		t.Fatal(err)
	}
	near(t, "sign test of twelve", n.Averaged.SignP, math.Pow(2, -11), 1e-15)
}

func TestTopicAlignment(t *testing.T) {
	t.Parallel()
	got := consistency.TopicAlignment([]consistency.Classified{
		{Intended: consistency.Arithmetic, Judged: consistency.Arithmetic},
		{Intended: consistency.Arithmetic, Judged: consistency.Code},
		{Intended: consistency.Code, Judged: consistency.Code},
		{Intended: consistency.Code, Missing: record.NoAnswer},
	}, .95)
	near(t, "all", got.All, 2./3, 0)
	if len(got.PerDomain) != 2 || got.PerDomain[0].Domain != consistency.Arithmetic || got.PerDomain[1].Aligned.NLeftOut() != 1 {
		t.Errorf("%+v", got.PerDomain)
	}
	near(t, "arithmetic", got.PerDomain[0].Aligned, .5, 0)
}

func TestConvergenceFindsWhereItIsStable(t *testing.T) {
	t.Parallel()
	r := consistency.Resampling{Level: .95, N: 400, Seed: 1}
	// |x_t − x_40| = 1/t − 1/40: within .05 from t = 14 on.
	c, err := consistency.Converge(3, []int{40, 5, 10, 14, 20}, .05, r, func(item, trials int) (float64, bool) {
		return float64(item) + 1/float64(trials), item != 2 || trials < 40
	})
	if err != nil || c.Stable != 14 || c.Points[0].Trials != 5 {
		t.Fatalf("%+v, %v", c, err)
	}
	if m := c.Points[0].Mean; m.N != 2 || m.NLeftOut() != 1 {
		t.Errorf("an item without its last value: %+v", m)
	}
	// The items used are at 0 and 1, and change alike: of four draws of two one is all 0 and one all 1.
	if iv := c.Points[0].Mean.Interval; iv == nil || math.Abs(iv.Lower-.2) > 1e-12 || math.Abs(iv.Upper-1.2) > 1e-12 {
		t.Errorf("mean after five: %+v", iv)
	}
	if iv := c.Points[0].Change.Interval; iv == nil || math.Abs(iv.Lower-.175) > 1e-12 || math.Abs(iv.Upper-.175) > 1e-12 {
		t.Errorf("change after five: %+v", iv)
	}
	if last := c.Points[4].Change; last.Interval != nil || !last.Defined() {
		t.Errorf("the last point proves nothing, and its change is %+v", last)
	}
	// Within it at 5 only by chance: what counts is from where on.
	c, err = consistency.Converge(1, []int{5, 10, 20}, .05, r, func(_, trials int) (float64, bool) {
		return map[int]float64{5: 0, 10: 1, 20: 0}[trials], true
	})
	if err != nil || c.Stable != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := consistency.Converge(1, []int{5, 5}, .05, r, nil); err == nil {
		t.Error("one number of trials: no error")
	}
}

func TestConvergenceOfC3ReadsTheFirstTrials(t *testing.T) {
	t.Parallel()
	item := consistency.CompareAnswers(answers("a", "a", "b", "b"), answers("a", "a", "a", "a", "c"))
	c, err := consistency.ConvergeC3([]*consistency.Comparison{item}, consistency.Options{}, []int{2, 4}, .01, consistency.Resampling{Level: .95, N: 10})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "after two", c.Points[0].Mean, 1, 0)
	// Within 1/3 and 1, across 1/2: MMD² = 1/3.
	near(t, "after four", c.Points[1].Mean, 5./6, 1e-15)
}

func TestTrend(t *testing.T) {
	t.Parallel()
	var points []consistency.TrendPoint
	for i, released := range []string{"2025-11", "2023-06", "2024-12-24", "2025-02"} {
		at, err := consistency.Month(released)
		if err != nil {
			t.Fatal(err)
		}
		points = append(points, consistency.TrendPoint{Model: released, At: at, Value: measure.Of("c3", []float64{1.02, -.1, .5, .7}[i], 10)})
	}
	points = append(points, consistency.TrendPoint{Model: "none", Value: measure.Undefined("c3", measure.NoItems, 0)})
	trend, err := consistency.TrendOf(points, consistency.Resampling{Level: .9, N: 2000})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "correlation", trend.Correlation, 1, 1e-12)
	near(t, "p", trend.P, 2./24, .02) // two of 24 orders are as monotone
	if trend.Points[0].Model != "2023-06" || trend.Correlation.N != 4 || trend.Correlation.NLeftOut() != 1 {
		t.Errorf("%+v", trend)
	}
	for _, bad := range []string{"spring", "2025", "2025-13", "25-04", "2025-00", "-2025-04"} {
		if at, err := consistency.Month(bad); err == nil {
			t.Errorf("%q is month %v", bad, at)
		}
	}
	if trend, err := consistency.TrendOf(points[:2], consistency.Resampling{Level: .9, N: 9}); err != nil || trend.Correlation.Defined() {
		t.Errorf("two models: %+v, %v", trend, err)
	}
}
