package validation_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/validation"
)

// On any data, ties and halves included, the terms add up to the difference of two AUROCs that package
// metric computes.
func TestDecompositionAddsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(t, "n")
		confidence := make([]float64, n)
		people, judge := make([]float64, n), make([]float64, n)
		for i := range n {
			confidence[i] = float64(rapid.IntRange(-3, 4).Draw(t, "confidence"))
			people[i] = float64(rapid.IntRange(0, 1).Draw(t, "people"))
			judge[i] = float64(rapid.IntRange(0, 1).Draw(t, "judge"))
			if rapid.IntRange(0, 9).Draw(t, "missing") == 0 {
				judge[i] = math.NaN()
			}
		}
		d, why, err := validation.Decompose(confidence, people, judge)
		if err != nil {
			t.Fatal(err)
		}
		under := func(labels []float64) measure.Value {
			kept, scores := []float64{}, []float64{}
			for i, l := range labels {
				if !math.IsNaN(judge[i]) {
					kept, scores = append(kept, l), append(scores, confidence[i])
				}
			}
			p, err := metric.Prepare(scores, kept, measure.Confidence)
			if err != nil {
				t.Fatal(err)
			}
			return metric.AUROC().On(p)
		}
		a, aok := under(judge).Get()
		b, bok := under(people).Get()
		if !aok || !bok {
			if why == "" {
				t.Fatalf("no AUROC, but a decomposition %+v", d)
			}
			return
		}
		if why != "" {
			t.Fatalf("no decomposition: %s", why)
		}
		if math.Abs(d.Sum()-(a-b)) > 1e-12 || math.Abs(d.Total-(a-b)) > 1e-12 {
			t.Fatalf("the terms of %+v add up to %v, the difference is %v", d, d.Sum(), a-b)
		}
	})
}

// Six items, from the least to the most confident:
//
//	confidence  .1  .2  .3  .4  .5  .6
//	people       0   1   0   1   0   1
//	judge        0   0   1   1   0   1
//	class       TN  FN  FP  TP  TN  TP
//
// People see 3 × 3 pairs, of which the correct item is the surer one in 1 + 2 + 3 = 6: AUROC 6/9. The
// judge sees 3 × 3 pairs as well: FP above TN, FN; TP(.4) above TN, FN; TP(.6) above all three: 7/9.
// Centred, a pair is worth ±½.
//
//	FN: gained TP×FN = 2·½, lost FN×TN = ½ − ½ = 0      (1 − 0)/9
//	FP: gained FP×TN = ½ − ½ = 0, lost TP×FP = 2·½      (0 − 1)/9
//	FN×FP: the judge has FP above FN, +½; people −½     (½ + ½)/9
//	TP×TN: no change, as both have 9 pairs              0
func TestDecompositionByHand(t *testing.T) {
	t.Parallel()
	got, why, err := validation.Decompose([]float64{.1, .2, .3, .4, .5, .6}, []float64{0, 1, 0, 1, 0, 1}, []float64{0, 0, 1, 1, 0, 1})
	if err != nil || why != "" {
		t.Fatal(why, err)
	}
	want := validation.Decomposition{
		FN: 1. / 9, FP: -1. / 9, FNFP: 1. / 9, Total: 1. / 9,
		// FN at .2: above it TP, TP, TN and FP, below it TN. FP at .3: below it TN and FN, above it TN, TP, TP.
		FNPairs: validation.Balance{Rewards: 4, Penalties: 1}, FPPairs: validation.Balance{Rewards: 2, Penalties: 3},
	}
	if diff := cmp.Diff(want, got, near12); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

var near12 = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-12 })

func TestDecompositionNeedsBothClasses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		people, judge []float64
		want          measure.Reason
	}{
		"judge accepts all":   {[]float64{0, 1}, []float64{1, 1}, measure.OneClass},
		"people reject all":   {[]float64{0, 0}, []float64{0, 1}, measure.OneClass},
		"nothing in common":   {[]float64{0, math.NaN()}, []float64{math.NaN(), 1}, measure.NoItems},
		"an opposite verdict": {[]float64{0, 1}, []float64{1, 0}, ""},
	} {
		d, why, err := validation.Decompose([]float64{.2, .8}, c.people, c.judge)
		if err != nil || why != c.want {
			t.Errorf("%s: reason %q, %v, want %q", name, why, err, c.want)
		}
		if why == "" && (d.Total != -1 || d.FNFP != -1) {
			t.Errorf("%s: %+v; the one pair turns from 1 to 0", name, d)
		}
	}
	if _, _, err := validation.Decompose([]float64{1}, []float64{1, 0}, []float64{1}); err == nil {
		t.Error("columns of different lengths are accepted")
	}
}
