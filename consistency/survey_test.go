package consistency_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

// Four items by hand: one robust, with three perturbed answers to four; one whose answers all change; one whose
// answers agree in nothing; one with a single perturbed answer.
func TestSurveyByHand(t *testing.T) {
	t.Parallel()
	list := []consistency.Answered{
		surveyed("robust", "a a a a", "a a a"),
		surveyed("shifted", "a a a a", "b b b b"),
		surveyed("scattered", "a b c d", "e f g h"),
		surveyed("lonely", "a a a a", "a"),
	}
	d := consistency.Design{
		Sources: []string{"remarks"}, Kernels: []consistency.Kernel{consistency.Indicator}, Estimators: []consistency.Estimator{consistency.UnbiasedMMD, consistency.CrossComparison},
		Bins: 10, Alpha: .05, Tolerance: .02, Trials: []int{2, 3}, Level: .95, Resamples: 200, ItemResamples: 500, Seed: 1,
	}
	s, scored, err := consistency.Conduct(context.Background(), d, list)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.States) != 2 || len(s.Main()) != 1 {
		t.Fatalf("%d states, %d main", len(s.States), len(s.Main()))
	}
	main := s.Main()[0]
	if main.Items != 4 || main.Determined != 2 || main.Undetermined != 1 || main.Missing != 1 || main.Significant != 1 {
		t.Errorf("%+v", main)
	}
	near(t, "mean C3", main.C3, .5, 1e-12)
	want := []measure.Excluded{{Reason: string(measure.TooFew), N: 1}, {Reason: string(consistency.Undetermined), N: 1}}
	if diff := cmp.Diff(want, main.C3.LeftOut); diff != "" || main.C3.N != 2 || main.C3.Interval == nil {
		t.Errorf("%+v\n%s", main.C3, diff)
	}
	states := []consistency.State{consistency.Determined, consistency.Determined, consistency.Undetermined, consistency.Missing}
	for i, one := range scored {
		v := one.Variants[0]
		if v.State != states[i] || (v.C3.Interval == nil) != (v.State == consistency.Missing) || v.P.Defined() != (v.State != consistency.Missing) || one.Performance.N != 4 {
			t.Errorf("%s: %+v", one.Item, v)
		}
	}
	if v := scored[0].Variants[0]; v.Samples != 4 || v.PerturbedSamples != 3 {
		t.Errorf("%d and %d samples", v.Samples, v.PerturbedSamples)
	}
	near(t, "cross agreement where all answers change", scored[1].Variants[1].C3, 0, 0)
	if p, _ := scored[1].Variants[0].P.Get(); p > .05 || p < 1./501 {
		t.Errorf("p of two sets with nothing in common: %v; 2 of 70 relabellings are as far apart", p)
	}
	if c := s.Convergence[0]; c.Points[0].Mean.N != 3 || c.Points[0].Mean.NLeftOut() != 1 || c.Points[0].Mean.Interval == nil {
		t.Errorf("%+v", c)
	}
	again, _, err := consistency.Conduct(context.Background(), d, list)
	if err != nil || cmp.Diff(s.States[0].C3.Interval, again.States[0].C3.Interval) != "" {
		t.Errorf("the same answers, another survey: %v", err)
	}
}

// surveyed is an item with the words of two texts as answers; "a" is right.
func surveyed(item, original, perturbed string) consistency.Answered {
	answers := func(text, perturbation string) []consistency.Answer {
		var list []consistency.Answer
		for _, word := range strings.Fields(text) {
			correct := map[bool]float64{true: 1}[word == "a"]
			list = append(list, consistency.Answer{Text: word, Form: word, Perturbation: perturbation, Correct: record.Known(correct)})
		}
		return list
	}
	return consistency.Answered{
		Model: "m", Benchmark: "b", Item: item, Original: answers(original, ""), Perturbed: [][]consistency.Answer{answers(perturbed, "A remark.")},
		Stated: record.Absent(record.NoProbability),
	}
}

func TestSurveysThatContradictThemselves(t *testing.T) {
	t.Parallel()
	d := consistency.Design{Sources: []string{"a", "b"}, Kernels: []consistency.Kernel{consistency.Indicator}, Estimators: []consistency.Estimator{consistency.UnbiasedMMD}, Level: .95, Bins: 10, Alpha: .05}
	if _, _, err := consistency.Conduct(context.Background(), d, []consistency.Answered{surveyed("x", "a a", "a a")}); err == nil || !strings.Contains(err.Error(), "answers of 1 sources, the design has 2") {
		t.Error(err)
	}
	if _, _, err := consistency.Conduct(context.Background(), consistency.Design{}, nil); err == nil {
		t.Error("a design of nothing: no error")
	}
	d.Sources = d.Sources[:1]
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := consistency.Conduct(ctx, d, []consistency.Answered{surveyed("x", "a a", "a a")}); err == nil {
		t.Error("interrupted: no error")
	}
}
