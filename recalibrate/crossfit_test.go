package recalibrate

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-lab/credence/measure"
	"github.com/google/go-cmp/cmp"
)

func TestCrossFitNeverSeesTheItemItPredicts(t *testing.T) {
	t.Parallel()
	// Every score is its own, so that a map that saw an item would repeat its target.
	n := 40
	p := Points{Scores: make([]float64, n), Targets: make([]float64, n)}
	for i := range n {
		p.Scores[i], p.Targets[i] = float64(i%2), float64(i%3/2)
	}
	split := Split{Folds: 5, Repeats: 3, Seed: 11}
	out, err := CrossFit(Isotonic{}, p, nil, split)
	if err != nil {
		t.Fatal(err)
	}
	for r := range split.Repeats {
		fold := split.assign(n, 5, r)
		for i := range n {
			want := mustFit(t, Isotonic{}, p.without(fold, fold[i])).At(p.Scores[i])
			if out.Predictions[r][i] != want {
				t.Fatalf("repeat %d, item %d: %v, want %v", r, i, out.Predictions[r][i], want)
			}
		}
		sizes := map[int]int{}
		for _, f := range fold {
			sizes[f]++
		}
		if diff := cmp.Diff(map[int]int{0: 8, 1: 8, 2: 8, 3: 8, 4: 8}, sizes); diff != "" {
			t.Errorf("fold sizes: %s", diff)
		}
	}
}

func TestCrossFitRepeatsFromItsSeed(t *testing.T) {
	t.Parallel()
	draws := rand.New(rand.NewPCG(1, 2))
	var p Points
	for range 60 {
		x := draws.Float64()
		y := 0.0
		if draws.Float64() < x*x {
			y = 1
		}
		p.Scores, p.Targets = append(p.Scores, x), append(p.Targets, y)
	}
	few, err := CrossFit(Platt{}, p, nil, Split{Folds: 5, Repeats: 2, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	more, err := CrossFit(Platt{}, p, nil, Split{Folds: 5, Repeats: 4, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(few.Predictions, more.Predictions[:2]); diff != "" {
		t.Errorf("more repeats change the first ones:\n%s", diff)
	}
	if cmp.Equal(more.Predictions[0], more.Predictions[1]) {
		t.Error("two repeats are the same split")
	}
	other, err := CrossFit(Platt{}, p, nil, Split{Folds: 5, Repeats: 2, Seed: 10})
	if err != nil {
		t.Fatal(err)
	}
	if cmp.Equal(few.Predictions, other.Predictions) {
		t.Error("the seed changes nothing")
	}
}

func TestCrossFitCarriesAMapToAnotherContext(t *testing.T) {
	t.Parallel()
	p := Points{Scores: []float64{.1, .2, .3, .4, .5, .6}, Targets: []float64{0, 0, 1, 0, 1, 1}}
	apply := []float64{.6, .5, .4, .3, .2, .1}
	out, err := CrossFit(Isotonic{}, p, apply, Split{Folds: 3, Repeats: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	fold := Split{Seed: 1}.assign(6, 3, 0)
	for i, x := range apply {
		if want := mustFit(t, Isotonic{}, p.without(fold, fold[i])).At(x); out.Predictions[0][i] != want {
			t.Errorf("item %d: %v, want %v", i, out.Predictions[0][i], want)
		}
	}
}

func TestCrossFitOfFewItems(t *testing.T) {
	t.Parallel()
	three := Points{Scores: []float64{.2, .5, .8}, Targets: []float64{0, 1, 1}}
	out, err := CrossFit(Platt{}, three, nil, Split{Folds: 5, Repeats: 1})
	if err != nil {
		t.Fatal(err)
	}
	if out.Folds != 3 || out.Warnings[0].Code != "fewer-folds" {
		t.Errorf("%d folds, warnings %v", out.Folds, out.Warnings)
	}
	// Leaving the 0 out leaves one class: said once, with how often.
	if !slices.ContainsFunc(out.Warnings[1:], func(w measure.Warning) bool { return w.Code == "one-class" }) {
		t.Errorf("warnings %v", out.Warnings)
	}
	_, err = CrossFit(Platt{Plain: true}, three, nil, Split{Folds: 5, Repeats: 1})
	if !errors.Is(err, ErrNoFit) || !strings.Contains(err.Error(), "repeat 1, fold ") {
		t.Errorf("plain Platt of three items: %v", err)
	}
	one := Points{Scores: []float64{.2}, Targets: []float64{0}}
	if _, err := CrossFit(Isotonic{}, one, nil, Split{Folds: 5, Repeats: 1}); !errors.Is(err, ErrNoFit) {
		t.Errorf("cross-fit of one item: %v", err)
	}
}

func TestCrossFitRefusesBadSplits(t *testing.T) {
	t.Parallel()
	p := Points{Scores: []float64{.2, .3}, Targets: []float64{0, 1}}
	for name, c := range map[string]struct {
		apply []float64
		s     Split
	}{
		"one fold":      {nil, Split{Folds: 1, Repeats: 1}},
		"no repeat":     {nil, Split{Folds: 2}},
		"fewer scores":  {[]float64{1}, Split{Folds: 2, Repeats: 1}},
		"missing score": {[]float64{1, math.NaN()}, Split{Folds: 2, Repeats: 1}},
	} {
		if _, err := CrossFit(Isotonic{}, p, c.apply, c.s); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}
