package consistency_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-lab/credence/consistency"
)

func drawn(random *rand.Rand, n int, of string) []consistency.Sample {
	s := make([]consistency.Sample, n)
	for i := range s {
		s[i].Answer = string(of[random.IntN(len(of))])
	}
	return s
}

// p = (3/4, 1/4) against q = (1/4, 3/4): MMD² = Σ(p − q)² = 1/2, C3 = 3/4. Intervals of 90 % should hold it
// about nine times in ten; a bootstrap that counts copies of an answer as agreement lies too low to do so.
func TestIntervalsCover(t *testing.T) {
	t.Parallel()
	const runs = 400
	random := rand.New(rand.NewPCG(5, 5))
	covered := map[string]int{}
	for run := range runs {
		c := consistency.CompareAnswers(drawn(random, 20, "aaab"), drawn(random, 20, "abbb"))
		boot, err := c.Bootstrap(consistency.Options{}, consistency.Resampling{Level: .9, N: 200, Seed: uint64(run)})
		if err != nil {
			t.Fatal(err)
		}
		jack, err := c.Jackknife(consistency.Options{}, .9)
		if err != nil {
			t.Fatal(err)
		}
		if !boot.Interval.Excludes(.75) {
			covered["bootstrap"]++
		}
		if !jack.Interval.Excludes(.75) {
			covered["jackknife"]++
		}
	}
	for method, n := range covered {
		if share := float64(n) / runs; share < .84 || share > .97 {
			t.Errorf("%s covers in %v of runs", method, share)
		}
	}
}

func TestBootstrapIsSeeded(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	c := consistency.CompareAnswers(drawn(random, 12, "aab"), drawn(random, 9, "abb"))
	boot := func(seed uint64) [2]float64 {
		v, err := c.Bootstrap(consistency.Options{}, consistency.Resampling{Level: .9, N: 300, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return [2]float64{v.Interval.Lower, v.Interval.Upper}
	}
	if boot(1) != boot(1) {
		t.Error("one seed gives two intervals")
	}
	if boot(1) == boot(2) {
		t.Error("the seed changes nothing")
	}
}

func TestDegenerateIntervalsSaySo(t *testing.T) {
	t.Parallel()
	c := consistency.CompareAnswers(answers("a", "a", "a"), answers("a", "a", "a"))
	boot, err := c.Bootstrap(consistency.Options{}, consistency.Resampling{Level: .9, N: 50})
	if err != nil || !warned(boot, "degenerate-interval") {
		t.Error(boot.Warnings, err)
	}
	jack, err := c.Jackknife(consistency.Options{}, .9)
	if err != nil || !warned(jack, "degenerate-interval") {
		t.Error(jack.Warnings, err)
	}
	few, err := consistency.CompareAnswers(answers("a", "b"), answers("a", "a")).Jackknife(consistency.Options{}, .9)
	if err != nil || few.Interval != nil || !warned(few, "no-interval") {
		t.Error(few.Warnings, err)
	}
}

func TestPermutation(t *testing.T) {
	t.Parallel()
	r := consistency.Resampling{N: 199}
	apart, err := consistency.CompareAnswers(answers("a", "a", "a", "a", "a", "a"), answers("b", "b", "b", "b", "b", "b")).PermutationP(r)
	if err != nil {
		t.Fatal(err)
	}
	// 2 of 924 relabellings part them as well.
	if p := number(t, apart); p < 1./200 || p > .03 {
		t.Errorf("p of two point masses is %v", p)
	}
	same, err := consistency.CompareAnswers(answers("a", "b", "b"), answers("b", "a", "b")).PermutationP(r)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "p of equal sets", same, 1, 0)
}

// Under equality p is at most alpha with a chance of at most alpha.
func TestPermutationKeepsItsLevel(t *testing.T) {
	t.Parallel()
	const runs = 500
	random, rejected := rand.New(rand.NewPCG(1, 9)), 0
	for run := range runs {
		p, err := consistency.CompareAnswers(drawn(random, 8, "aabc"), drawn(random, 11, "aabc")).PermutationP(
			consistency.Resampling{N: 99, Seed: uint64(run)})
		if err != nil {
			t.Fatal(err)
		}
		if number(t, p) <= .1 {
			rejected++
		}
	}
	if limit := runs * (.1 + 3*math.Sqrt(.09/runs)); float64(rejected) > limit {
		t.Errorf("%d of %d rejected at .1", rejected, runs)
	}
}
