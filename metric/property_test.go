package metric_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"pgregory.net/rapid"
)

// sample draws up to most items whose scores and qualities often agree, so that ties are the rule.
func sample(t *rapid.T, most int) (score, quality []float64) {
	n := rapid.IntRange(1, most).Draw(t, "n")
	confidence := rapid.SampledFrom([]float64{0, .1, .29, .3, .5, .57, .6, .7, .95, 1})
	grades := rapid.SampledFrom([][]float64{{0, 1}, {0, .25, .5, .75, 1}}).Draw(t, "grades")
	return rapid.SliceOfN(confidence, n, n).Draw(t, "score"),
		rapid.SliceOfN(rapid.SampledFrom(grades), n, n).Draw(t, "quality")
}

func mustPrepare(t *rapid.T, score, quality []float64) *metric.Prepared {
	p, err := metric.Prepare(score, quality, measure.Confidence)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// same fails unless both are undefined for the same reason or equal but for rounding.
func same(t *rapid.T, what string, got, want measure.Value) {
	x, ok := got.Get()
	y, defined := want.Get()
	if ok != defined || got.Reason() != want.Reason() || math.Abs(x-y) > 1e-9*(1+math.Abs(y)) {
		t.Fatalf("%s, %s: %v (%s), want %v (%s)", want.Method, what, x, got.Reason(), y, want.Reason())
	}
}

// statistics are those listed, and variants that are found by id only.
func statistics() []metric.Statistic {
	all := metric.All()
	for _, id := range []string{"rejection-area.0.5", "ece.equal-mass.3.netcal", "mce.equal-mass.3.netcal.min-2", "ece.smoothed.silverman-0.9.whole-line"} {
		s, err := metric.ByID(id)
		if err != nil {
			panic(err)
		}
		all = append(all, s)
	}
	return all
}

func TestOrderOfInputDoesNotCount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		score, quality := sample(t, 12)
		p := mustPrepare(t, score, quality)
		order := rapid.Permutation(slices.Collect(indices(len(score)))).Draw(t, "order")
		shuffled := mustPrepare(t, reorder(score, order), reorder(quality, order))
		for _, s := range statistics() {
			same(t, "shuffled", s.On(shuffled), s.On(p))
		}
	})
}

func TestCountsStandForCopies(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		score, quality := sample(t, 8)
		p := mustPrepare(t, score, quality)
		copies := rapid.SliceOfN(rapid.Uint32Range(0, 3), len(score), len(score)).Draw(t, "copies")
		var items []int
		for i, m := range copies {
			items = append(items, slices.Repeat([]int{i}, int(m))...)
		}
		if len(items) == 0 {
			t.Skip("an empty sample")
		}
		expanded := mustPrepare(t, reorder(score, items), reorder(quality, items))
		counts := make([]uint32, p.Atoms())
		p.Collapse(counts, copies)
		for _, s := range statistics() {
			evaluate := s.Evaluator(p)
			for _, pass := range []string{"first pass", "second pass"} { // scratch must not leak
				x, why := evaluate(counts)
				got := measure.Of(s.ID, x, len(items))
				if why != "" {
					got = measure.Undefined(s.ID, why, len(items))
				}
				same(t, pass, got, s.On(expanded))
			}
		}
	})
}

func TestRankingSeesOnlyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		score, quality := sample(t, 12)
		transformed := make([]float64, len(score))
		for i, x := range score {
			transformed[i] = math.Log(x) * 1e6 // 0 becomes -Inf, a legal rank
		}
		for _, s := range metric.All() {
			if s.Needs == metric.AnyScore && s.ID != "pearson" {
				same(t, "logarithm", s.On(mustPrepare(t, transformed, quality)), s.On(mustPrepare(t, score, quality)))
			}
		}
	})
}

func TestOrientationTurnsTheScore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		score, quality := sample(t, 12)
		negated := make([]float64, len(score))
		for i, x := range score {
			negated[i] = -x
		}
		p := mustPrepare(t, score, quality)
		uncertainty, err := metric.Prepare(negated, quality, measure.Uncertainty)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range metric.All() {
			if s.Needs == metric.AnyScore {
				same(t, "as uncertainty", s.On(uncertainty), s.On(p))
			} else if why := s.On(uncertainty).Reason(); why != measure.OutOfRange {
				t.Fatalf("%s of an uncertainty: reason %q", s.ID, why)
			}
		}
		reversed := mustPrepare(t, negated, quality)
		for _, id := range []string{"auroc", "c-index"} {
			a, ok := statistic(t, id).On(p).Get()
			b, _ := statistic(t, id).On(reversed).Get()
			if ok && math.Abs(a+b-1) > 1e-12 {
				t.Fatalf("%s of s and -s: %v and %v", id, a, b)
			}
		}
	})
}

func statistic(t *rapid.T, id string) metric.Statistic {
	s, err := metric.ByID(id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// curves are statistics of selective prediction by their definition on a list of losses, best answer
// first.
var curves = map[string]func(losses []float64) float64{
	"aurc.expected": func(losses []float64) float64 { return mean(risks(losses)) },
	"augrc.expected": func(losses []float64) float64 {
		sum := 0.
		for k, risk := range risks(losses) {
			sum += risk * float64(k+1) / float64(len(losses))
		}
		return sum / float64(len(losses))
	},
	"risk.at-coverage.0.8": func(losses []float64) float64 {
		return risks(losses)[(4*len(losses)+4)/5-1]
	},
}

func TestTiesAreResolvedByExpectation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		score, quality := sample(t, 7)
		p := mustPrepare(t, score, quality)
		for id, curve := range curves {
			sum, orders, low, high := 0., 0., math.Inf(1), math.Inf(-1)
			eachOrder(score, func(order []int) {
				losses := reorder(quality, order)
				for i, q := range losses {
					losses[i] = 1 - q
				}
				x := curve(losses)
				sum, orders, low, high = sum+x, orders+1, min(low, x), max(high, x)
			})
			same(t, "enumerated", statistic(t, id).On(p), measure.Of(id, sum/orders, len(score)))
			if id == "aurc.expected" {
				same(t, "enumerated", statistic(t, "aurc.tie-min").On(p), measure.Of(id, low, len(score)))
				same(t, "enumerated", statistic(t, "aurc.tie-max").On(p), measure.Of(id, high, len(score)))
			}
		}
	})
}

// Coverage at a risk is the last coverage at which the risk is low enough, by whatever route.
func TestCoverageInvertsRisk(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		score, quality := sample(t, 12)
		p := mustPrepare(t, score, quality)
		risk := rapid.SampledFrom([]float64{0, .05, .2, .25, .5, 1}).Draw(t, "risk")
		n, want := len(score), 0
		for k := 1; k <= n; k++ {
			at, _ := metric.RiskAtCoverage(float64(k) / float64(n)).On(p).Get()
			if at <= risk+1e-9 {
				want = k
			}
		}
		v := metric.CoverageAtRisk(risk).On(p)
		same(t, "by search", v, measure.Of(v.Method, float64(want)/float64(n), n))
	})
}

// eachOrder visits every order of the items that has confidence descending.
func eachOrder(score []float64, visit func(order []int)) {
	var extend func(order []int, left []int)
	extend = func(order, left []int) {
		if len(left) == 0 {
			visit(order)
			return
		}
		best := math.Inf(-1)
		for _, i := range left {
			best = max(best, score[i])
		}
		for k, i := range left {
			if score[i] == best {
				extend(append(slices.Clone(order), i), slices.Delete(slices.Clone(left), k, k+1))
			}
		}
	}
	extend(nil, slices.Collect(indices(len(score))))
}

func risks(losses []float64) []float64 {
	risks, sum := make([]float64, len(losses)), 0.
	for k, l := range losses {
		sum += l
		risks[k] = sum / float64(k+1)
	}
	return risks
}

func mean(xs []float64) float64 {
	sum := 0.
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

func indices(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func reorder(xs []float64, order []int) []float64 {
	out := make([]float64, len(order))
	for k, i := range order {
		out[k] = xs[i]
	}
	return out
}

// A constant score knows nothing, and ties are resolved by expectation.
func TestConstantScoreGetsWhatChanceDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		_, quality := sample(t, 12)
		p := mustPrepare(t, make([]float64, len(quality)), quality)
		for _, s := range metric.All() {
			v := s.On(p)
			if s.Chance != nil && s.Needs == metric.AnyScore && v.Defined() {
				same(t, "constant score", v, measure.Of(s.ID, s.Chance(p), len(quality)))
			}
		}
	})
}

// Every pair of statistics that the definitions tie together.
func TestIdentities(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		score, quality := sample(t, 12)
		for i, q := range quality {
			quality[i] = math.Round(q)
		}
		p := mustPrepare(t, score, quality)
		of := func(id string) float64 {
			x, _ := statistic(t, id).On(p).Get()
			return x
		}
		for what, pair := range map[string][2]float64{
			"two classes make c-index AUROC": {of("c-index"), of("auroc")},
			"sides of ECE":                   {of("overconfidence.equal-width.10.left-closed") + of("underconfidence.equal-width.10.left-closed"), of("ece.equal-width.10.left-closed")},
			"ECE of one bin":                 {of("ece.equal-width.1.left-closed"), math.Abs(of("overconfidence.net"))},
			"E-AURC":                         {of("eaurc") + of("aurc.oracle"), of("aurc.expected")},
			"AURAC":                          {of("aurac.mean"), 1 - of("aurc.expected")},
			"risk at full coverage":          {of("risk.at-coverage.1"), 1 - of("accuracy")},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-12 {
				t.Fatalf("%s: %v and %v", what, pair[0], pair[1])
			}
		}
		if of("ece.equal-width.10.left-closed") > of("rmsce.equal-width.10.left-closed")+1e-12 {
			t.Fatal("ECE above its root mean square")
		}
	})
}

func TestEveryStatisticIsDescribedAndFound(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range metric.All() {
		if seen[s.ID] {
			t.Errorf("%s is listed twice", s.ID)
		}
		seen[s.ID] = true
		found, err := metric.ByID(s.ID)
		if err != nil || found.ID != s.ID {
			t.Errorf("ByID(%q) = %q, %v", s.ID, found.ID, err)
		}
		for _, text := range []string{s.Definition, s.Source, string(s.Better), string(s.Needs), string(s.Labels)} {
			if text == "" {
				t.Errorf("%s is not fully described", s.ID)
			}
		}
	}
	for id, want := range map[string]string{
		"auroc.10":                         "takes no parameters",
		"ece":                              "did you mean",
		"ece.equal-width.0.left-closed":    "whole number from 1",
		"ece.equal-width.010.left-closed":  "whole number from 1",
		"ece.equal-width.10.open":          "left-closed|right-closed",
		"ece.equal-width.99999999.phantom": "not in 1..",
		"prr.0":                            "lies in (0,1]",
		"prr.0.50":                         `"prr.0.5"`,
		"risk.at-coverage.much":            "0.8",
	} {
		if _, err := metric.ByID(id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ByID(%q): %v, want %q", id, err, want)
		}
	}
}

func ExampleByID() {
	p, _ := metric.Prepare([]float64{.9, .9, .6, .2}, []float64{1, 0, 1, 0}, measure.Confidence)
	for _, id := range []string{"auroc", "aurc.expected", "ece.equal-width.10.left-closed"} {
		s, _ := metric.ByID(id)
		x, _ := s.On(p).Get()
		fmt.Printf("%s %.3f\n", id, x)
	}
	// Output:
	// auroc 0.625
	// aurc.expected 0.458
	// ece.equal-width.10.left-closed 0.350
}
