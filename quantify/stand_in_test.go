package quantify_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
)

// Worked out by hand: e = C/|H|, c = 1 − C/min(|P|,|H|), n the rest.
func TestLexicalRelationByHand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		premise, hypothesis string
		want                quantify.Relation
	}{
		{"Paris, France", "paris", quantify.Relation{Entails: 1}},
		{"Paris", "Paris, France", quantify.Relation{Entails: .5, Neither: .5}},
		{"mercury", "gallium", quantify.Relation{Contradicts: 1}},
		{"in 1950", "in 1960", quantify.Relation{Entails: .5, Contradicts: .5}},
		{"a b c d", "d e f", quantify.Relation{Entails: 1. / 3, Contradicts: 2. / 3}},
		{"a a", "a", quantify.Relation{Entails: 1}},
		{"a", "a a", quantify.Relation{Entails: .5, Neither: .5}},
		{"...", "...", quantify.Relation{Entails: 1}},
	} {
		got := quantify.LexicalRelation(c.premise, c.hypothesis)
		if math.Abs(got.Entails-c.want.Entails) > 1e-12 || math.Abs(got.Neither-c.want.Neither) > 1e-12 || math.Abs(got.Contradicts-c.want.Contradicts) > 1e-12 || got.Missing != record.Present {
			t.Errorf("%q, %q: %+v, want %+v", c.premise, c.hypothesis, got, c.want)
		}
	}
	if got := quantify.LexicalRelation(" ", "a"); got.Missing != quantify.BadEntailment {
		t.Errorf("a text without words: %+v", got)
	}
}

func TestLexicalRelationIsADistribution(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringMatching(`([a-d] ){1,6}`)
		r := quantify.LexicalRelation(words.Draw(t, "premise"), words.Draw(t, "hypothesis"))
		for _, p := range []float64{r.Entails, r.Neither, r.Contradicts} {
			if !(p >= -1e-15 && p <= 1+1e-15) {
				t.Errorf("%+v", r)
			}
		}
		if math.Abs(r.Entails+r.Neither+r.Contradicts-1) > 1e-12 {
			t.Errorf("%+v does not sum to 1", r)
		}
	})
}
