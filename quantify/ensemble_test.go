package quantify_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
)

func numbersOf(list ...float64) []record.Number {
	out := make([]record.Number, len(list))
	for i, x := range list {
		out[i] = record.Known(x)
	}
	return out
}

func column(o measure.Orientation, list ...float64) quantify.Column {
	return quantify.Column{ID: "c", Orientation: o, Values: numbersOf(list...)}
}

// Four items with the labels 0 0 1 1. The first column ranks them 1 2 3 4, brought to [0,1] as 1/8 3/8 5/8
// 7/8; the second 2 1 4 3, brought to 3/8 1/8 7/8 5/8. Less their means, in eighths, that is a = −3 −1 1 3
// and b = −1 −3 3 1, and the labels are −4 −4 4 4: exactly a + b. So both weigh the same, and the third
// column, an uncertainty that falls from the middle to both ends, nothing.
func TestWeightsByHand(t *testing.T) {
	t.Parallel()
	labels := numbersOf(0, 0, 1, 1)
	columns := []quantify.Column{
		column(measure.Confidence, -7, 0, 100, 1e6), column(measure.Confidence, .2, .1, .4, .3), column(measure.Uncertainty, 1, 2, 2, 1),
	}
	e, err := quantify.Fit(columns, labels)
	if err != nil {
		t.Fatal(err)
	}
	w := e.Weights()
	if !close(w[0], .5, 1e-5) || !close(w[1], .5, 1e-5) || w[2] > 1e-12 {
		t.Errorf("weights %v, want ½ ½ 0", w)
	}
	// 0 is as sure as the second item, 3/8; .25 lies above two of four; ½ (3/8) + ½ (1/2).
	if got, _ := e.Of(numbersOf(0, .25, 1)).Get(); !close(got, 7./16, 1e-5) {
		t.Errorf("%v, want 7/16", got)
	}
	// Beyond all that was seen it is at the ends.
	if got, _ := e.Of(numbersOf(1e9, 1, 0)).Get(); !close(got, 1, 1e-12) {
		t.Errorf("%v, want 1", got)
	}
	if n := e.Of([]record.Number{record.Known(1), record.Absent(quantify.NoSample), record.Absent(quantify.NotAsked)}); n.Missing() != quantify.NoSample {
		t.Errorf("%+v", n)
	}
}

func TestWeightsWhereColumnsSayTheSameOrNothing(t *testing.T) {
	t.Parallel()
	labels := numbersOf(0, 1, 0, 1, 1)
	up := []float64{.1, .5, .2, .6, .7}
	down := []float64{-.1, -.5, -.2, -.6, -.7}
	for name, c := range map[string]struct {
		columns []quantify.Column
		want    []float64
	}{
		"twice":            {[]quantify.Column{column(measure.Confidence, up...), column(measure.Confidence, up...)}, []float64{.5, .5}},
		"turned":           {[]quantify.Column{column(measure.Confidence, up...), column(measure.Uncertainty, down...)}, []float64{.5, .5}},
		"against":          {[]quantify.Column{column(measure.Confidence, up...), column(measure.Uncertainty, up...)}, []float64{1, 0}},
		"constant":         {[]quantify.Column{column(measure.Confidence, 1, 1, 1, 1, 1), column(measure.Confidence, up...)}, []float64{0, 1}},
		"nothing helps":    {[]quantify.Column{column(measure.Uncertainty, up...), column(measure.Confidence, 1, 1, 1, 1, 1)}, []float64{.5, .5}},
		"only one, and so": {[]quantify.Column{column(measure.Uncertainty, up...)}, []float64{1}},
	} {
		e, err := quantify.Fit(c.columns, labels)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range e.Weights() {
			if !close(w, c.want[i], 1e-9) {
				t.Errorf("%s: weights %v, want %v", name, e.Weights(), c.want)
			}
		}
	}
}

func TestEnsemblesThatCannotBeFitted(t *testing.T) {
	t.Parallel()
	good := column(measure.Confidence, 1, 2, 3, 4)
	labels := numbersOf(0, 0, 1, 1)
	for name, fit := range map[string]func() error{
		"no column":      func() error { _, err := quantify.Fit(nil, labels); return err },
		"no orientation": func() error { _, err := quantify.Fit([]quantify.Column{{Values: good.Values}}, labels); return err },
		"lengths":        func() error { _, err := quantify.Fit([]quantify.Column{good}, labels[:3]); return err },
		"label 2":        func() error { _, err := quantify.Fit([]quantify.Column{good}, numbersOf(0, 0, 1, 2)); return err },
		"NaN": func() error {
			_, err := quantify.Fit([]quantify.Column{column(1, 1, 2, 3, math.NaN())}, labels)
			return err
		},
		"one class":       func() error { _, err := quantify.Fit([]quantify.Column{good}, numbersOf(1, 1, 1, 1)); return err },
		"one fold":        func() error { _, _, err := quantify.CrossFit([]quantify.Column{good}, labels, 1, 0); return err },
		"too many folds":  func() error { _, _, err := quantify.CrossFit([]quantify.Column{good}, labels, 2, 0); return err },
		"weights":         func() error { _, err := quantify.WeightedMean([]float64{1}, good.Values); return err },
		"negative weight": func() error { _, err := quantify.WeightedMean([]float64{1, -1}, good.Values[:2]); return err },
		"no weight":       func() error { _, err := quantify.WeightedMean([]float64{0, 0}, good.Values[:2]); return err },
	} {
		if fit() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestWeightedMean(t *testing.T) {
	t.Parallel()
	if n, err := quantify.WeightedMean([]float64{.7, .3}, numbersOf(1, .5)); err != nil || n != record.Known(.7+.3*.5) {
		t.Errorf("%v, %v", n, err)
	}
	if n, err := quantify.WeightedMean([]float64{1, 1}, []record.Number{record.Known(1), record.Absent(quantify.NotAsked)}); err != nil || n.Missing() != quantify.NotAsked {
		t.Errorf("%v, %v", n, err)
	}
}

// Columns of noise rank the items that they were fitted on better than chance, and others not: that is why
// there is cross-fitting.
func TestCrossFittingDoesNotSeeTheLabel(t *testing.T) {
	t.Parallel()
	inside, across := 0.0, 0.0
	const rounds, items = 30, 60
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 7))
		labels := make([]record.Number, items)
		columns := make([]quantify.Column, 15)
		for k := range columns {
			columns[k] = quantify.Column{ID: "noise", Orientation: measure.Confidence}
			for range items {
				columns[k].Values = append(columns[k].Values, record.Known(r.Float64()))
			}
		}
		for i := range labels {
			labels[i] = record.Known(float64(i % 2))
		}
		e, err := quantify.Fit(columns, labels)
		if err != nil {
			t.Fatal(err)
		}
		values, ensembles, err := quantify.CrossFit(columns, labels, 5, seed)
		if err != nil || len(ensembles) != 5 {
			t.Fatal(err)
		}
		fitted := make([]record.Number, items)
		for i := range fitted {
			row := make([]record.Number, len(columns))
			for k := range columns {
				row[k] = columns[k].Values[i]
			}
			fitted[i] = e.Of(row)
		}
		inside += auroc(fitted, labels) / rounds
		across += auroc(values, labels) / rounds
	}
	if inside < .65 || math.Abs(across-.5) > .05 {
		t.Errorf("AUROC of noise: %.3f on the items fitted, %.3f across", inside, across)
	}
}

func auroc(scores, labels []record.Number) float64 {
	won, pairs := 0.0, 0.0
	for i := range scores {
		for j := range scores {
			a, _ := labels[i].Get()
			b, _ := labels[j].Get()
			if a <= b {
				continue
			}
			pairs++
			x, _ := scores[i].Get()
			y, _ := scores[j].Get()
			switch {
			case x > y:
				won++
			case x == y:
				won += .5
			}
		}
	}
	return won / pairs
}

// TestCrossFitCoversEveryItem: labelled or not, an item with all values has one, one without keeps its
// reason, and the same seed gives the same bits.
func TestCrossFitCoversEveryItem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(12, 40).Draw(t, "items")
		columns := []quantify.Column{{ID: "a", Orientation: measure.Confidence}, {ID: "b", Orientation: measure.Uncertainty}}
		labels := make([]record.Number, n)
		for i := range n {
			labels[i] = record.Known(float64(i % 2))
			if i >= 12 && rapid.Bool().Draw(t, "unlabelled") {
				labels[i] = record.Absent(record.NoReference)
			}
			for k := range columns {
				value := record.Known(rapid.Float64Range(-9, 9).Draw(t, "value"))
				if i >= 12 && rapid.IntRange(0, 5).Draw(t, "missing") == 0 {
					value = record.Absent(quantify.OneSample)
				}
				columns[k].Values = append(columns[k].Values, value)
			}
		}
		values, _, err := quantify.CrossFit(columns, labels, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		again, _, _ := quantify.CrossFit(columns, labels, 3, 1)
		for i, v := range values {
			_, a := columns[0].Values[i].Get()
			_, b := columns[1].Values[i].Get()
			x, known := v.Get()
			if known != (a && b) || (known && !(x >= 0 && x <= 1)) || (!known && v.Missing() != quantify.OneSample) || v != again[i] {
				t.Fatalf("item %d: %+v", i, v)
			}
		}
	})
}
