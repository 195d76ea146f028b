package protocol_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
)

const (
	ece = iota
	auroc
	aurc
)

// ranked plants scores that rank answers with a known AUROC: normal scores whose means lie shift apart
// have AUROC Φ(shift/√2); the logistic map keeps the order and lies in (0,1).
func ranked(rng *rand.Rand, correct bool, shift float64) record.Number {
	x := rng.NormFloat64()
	if correct {
		x += shift
	}
	return record.Known(1 / (1 + math.Exp(-x)))
}

func plantRanked(seed uint64, n int, stated, bare, guess float64) *planted {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := &planted{}
	for i := range n {
		correct := i%2 == 0
		p.add(correct, ranked(rng, correct, stated), ranked(rng, correct, bare), ranked(rng, correct, guess))
	}
	return p
}

func TestPlantedFlipIsFoundAndResolved(t *testing.T) {
	t.Parallel()
	// AUROC: stated .76, token .5 in the base and .92 in the guess slot.
	c := plantRanked(1, 600, 1, 0, 2).compare(t, protocol.Options{Seed: 1, Resamples: 2000, Level: .95})
	base, guess := c.Contexts[0].Gaps[auroc], c.Contexts[1].Gaps[auroc]
	if base.Better != record.VerbalisedSignal || guess.Better != record.TokenSignal {
		t.Errorf("better signals are %q and %q", base.Better, guess.Better)
	}
	if guess.Flip != protocol.ResolvedFlip || base.Flip != protocol.NoFlip || base.Shift != nil {
		t.Errorf("flips %q, %q; the base has shift %v", base.Flip, guess.Flip, base.Shift)
	}
	want := .5 - .9214 // the shift of g is the base's token AUROC minus the other's
	if iv := guess.Shift.Interval; want < iv.Lower || want > iv.Upper {
		t.Errorf("shift %v does not cover the planted %v", iv, want)
	}
	// Lower is better under AURC: the same facts with the other sign.
	if g := c.Contexts[1].Gaps[aurc]; g.Better != record.TokenSignal || g.Flip != protocol.ResolvedFlip {
		t.Errorf("AURC: %+v", g)
	}
}

func TestGapAndShiftAreDifferencesOfTheValuesShown(t *testing.T) {
	t.Parallel()
	for _, resamples := range []int{0, 200} {
		c := plantRanked(2, 100, 1, .5, 1.5).compare(t, protocol.Options{Seed: 1, Resamples: resamples, Level: .95})
		for m := range protocol.Metrics() {
			stated, base, here := get(t, c.Verbalised.Metrics[m]), get(t, c.Contexts[0].Token.Metrics[m]), get(t, c.Contexts[1].Token.Metrics[m])
			near(t, "gap", get(t, c.Contexts[1].Gaps[m].Gap), stated-here)
			near(t, "shift", get(t, *c.Contexts[1].Gaps[m].Shift), (stated-here)-(stated-base))
			if (c.Contexts[1].Gaps[m].Gap.Interval != nil) != (resamples > 0) {
				t.Errorf("%d resamples, interval %v", resamples, c.Contexts[1].Gaps[m].Gap.Interval)
			}
		}
	}
}

func TestEqualContextsShiftNothing(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 0))
	p := &planted{}
	for i := range 80 {
		token := ranked(rng, i%2 == 0, 1)
		p.add(i%2 == 0, ranked(rng, i%2 == 0, .5), token, token)
	}
	c := p.compare(t, protocol.Options{Seed: 1, Resamples: 500, Level: .95})
	for _, g := range c.Contexts[1].Gaps {
		if x := get(t, *g.Shift); x != 0 || g.Shift.Interval.Lower != 0 || g.Shift.Interval.Upper != 0 || g.Flip != protocol.NoFlip {
			t.Errorf("%s: shift %v %+v, flip %q", g.Metric, x, g.Shift.Interval, g.Flip)
		}
	}
}

// TestNoShiftIsSeldomResolved: where the two contexts rank equally well, a 95 % interval of the shift
// excludes 0 about once in twenty. 400 settings put 3 standard errors at ±3.3 points.
func TestNoShiftIsSeldomResolved(t *testing.T) {
	t.Parallel()
	const settings = 400
	resolved, covered := 0, 0
	for seed := range uint64(settings) {
		c := plantRanked(100+seed, 150, .8, 1, 1).compare(t, protocol.Options{Seed: seed, Resamples: 400, Level: .95})
		if c.Contexts[1].Gaps[auroc].Shift.Interval.Excludes(0) {
			resolved++
		}
		c = plantRanked(9000+seed, 150, .8, 0, 1.5).compare(t, protocol.Options{Seed: seed, Resamples: 400, Level: .95})
		truth := .5 - .8556 // Φ(1.5/√2) = .8556
		if !c.Contexts[1].Gaps[auroc].Shift.Interval.Excludes(truth) {
			covered++
		}
	}
	if share := float64(resolved) / settings; share > .095 || share < .015 {
		t.Errorf("%.3f of the settings without a shift are resolved, want about .05", share)
	}
	if share := float64(covered) / settings; share < .915 {
		t.Errorf("the planted shift is covered in %.3f of the settings, want about .95", share)
	}
}

func TestOneClassLeavesCalibrationAndSaysWhy(t *testing.T) {
	t.Parallel()
	p := &planted{}
	for range 20 {
		p.add(true, known(.9), known(.2), known(.7))
	}
	c := p.compare(t, protocol.Options{Seed: 1, Resamples: 200, Level: .95})
	if g := c.Contexts[1].Gaps[auroc]; g.Gap.Defined() || g.Gap.Reason() != measure.OneClass || g.Better != "" {
		t.Errorf("AUROC of one class: %+v", g)
	}
	near(t, "ECE gap", get(t, c.Contexts[1].Gaps[ece].Gap), .1-.3)
}

func TestSameSeedSameComparisonInAnyOrderOfRecords(t *testing.T) {
	t.Parallel()
	p := plantRanked(5, 60, 1, .5, 1.5)
	want := p.compare(t, protocol.Options{Seed: 7, Resamples: 300, Level: .9})
	rng := rand.New(rand.NewPCG(1, 1))
	rng.Shuffle(len(p.readings), func(i, j int) { p.readings[i], p.readings[j] = p.readings[j], p.readings[i] })
	rng.Shuffle(len(p.judgements), func(i, j int) { p.judgements[i], p.judgements[j] = p.judgements[j], p.judgements[i] })
	got := p.compare(t, protocol.Options{Seed: 7, Resamples: 300, Level: .9})
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(measure.Value{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("order matters (-want +got):\n%s", diff)
	}
}

func TestCompareEndsWithItsContext(t *testing.T) {
	t.Parallel()
	p := plantRanked(5, 60, 1, .5, 1.5)
	a, err := protocol.Align(setting, p.answers, p.readings, p.judgements, choice)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := protocol.Compare(ctx, a, protocol.Options{Resamples: 1000, Level: .95}); err == nil {
		t.Error("a cancelled comparison returned a result")
	}
}

func get(t *testing.T, v measure.Value) float64 {
	t.Helper()
	x, ok := v.Get()
	if !ok {
		t.Fatalf("%s is undefined: %s", v.Method, v.Reason())
	}
	return x
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-12 {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
