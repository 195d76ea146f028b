package quantify_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
)

func tokens(probabilities ...float64) []record.Token {
	list := make([]record.Token, len(probabilities))
	for i, p := range probabilities {
		list[i].LogProb = math.Log(p)
	}
	return list
}

func TestAggregationsOfKnownProbabilities(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		how  quantify.Aggregation
		want float64
	}{
		{quantify.GeometricMean, math.Pow(.5*.25*.8, 1./3)},
		{quantify.Product, .1},
		{quantify.Minimum, .25},
		{quantify.FirstToken, .5},
		{quantify.ArithmeticMean, (.5 + .25 + .8) / 3},
	} {
		got, ok := c.how.Of(tokens(.5, .25, .8)).Get()
		if !ok || math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%s = %v, %v; want %v", c.how, got, ok, c.want)
		}
	}
}

func TestNoTokenIsNoCertainty(t *testing.T) {
	t.Parallel()
	for _, how := range quantify.Aggregations() {
		if v := how.Of(nil); v.Missing() != record.EmptyAnswer {
			t.Errorf("%s of no token = %+v", how, v)
		}
	}
}

func TestAggregationsAreOrderedAndInRange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := tokens(rapid.SliceOfN(rapid.Float64Range(1e-300, 1), 1, 40).Draw(t, "p")...)
		at := func(how quantify.Aggregation) float64 {
			x, ok := how.Of(list).Get()
			if !ok || x < 0 || x > 1 {
				t.Fatalf("%s = %v, %v", how, x, ok)
			}
			return x
		}
		const slack = 1 + 1e-12
		product, low, geometric, arithmetic := at(quantify.Product), at(quantify.Minimum), at(quantify.GeometricMean), at(quantify.ArithmeticMean)
		if product > low*slack || low > geometric*slack || geometric > arithmetic*slack {
			t.Fatalf("product %g <= minimum %g <= geometric %g <= arithmetic %g does not hold", product, low, geometric, arithmetic)
		}
	})
}
