package quantify_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
)

func TestPairsAreAskedOnce(t *testing.T) {
	t.Parallel()
	samples := []string{"a", "b", "a", "x"} // the answer is x, so that three texts differ
	for _, c := range []struct {
		pairs quantify.Pairs
		want  []quantify.Pair
	}{
		{quantify.FromAnswer, []quantify.Pair{{"x", "a"}, {"x", "b"}}},
		{quantify.ToAnswer, []quantify.Pair{{"a", "x"}, {"b", "x"}}},
		{quantify.AmongSamples, []quantify.Pair{{"a", "b"}, {"a", "x"}, {"b", "a"}, {"b", "x"}, {"x", "a"}, {"x", "b"}}},
		{quantify.WithAnswer | quantify.AmongSamples, []quantify.Pair{{"x", "a"}, {"x", "b"}, {"a", "x"}, {"a", "b"}, {"b", "x"}, {"b", "a"}}},
		{0, nil},
	} {
		if diff := cmp.Diff(c.want, c.pairs.Of("x", samples)); diff != "" {
			t.Errorf("%s: %s", c.pairs, diff)
		}
	}
}

func TestRelateAsksEachPairOnce(t *testing.T) {
	t.Parallel()
	asked := map[quantify.Pair]int{}
	r := quantify.Relate("x", []string{"a", "b", "a", "x"}, func(premise, hypothesis string) quantify.Relation {
		asked[quantify.Pair{Premise: premise, Hypothesis: hypothesis}]++
		switch premise + hypothesis {
		case "ab":
			return quantify.Relation{Entails: .9, Neither: .5}
		case "ba":
			return quantify.Relation{Missing: quantify.EntailmentRefused}
		}
		return quantify.Relation{Entails: .6, Neither: .4}
	})
	for _, n := range asked {
		if n != 1 || len(asked) != 6 {
			t.Fatalf("asked %v", asked)
		}
	}
	for _, c := range []struct {
		i, j int
		want quantify.Relation
	}{
		{1, 3, quantify.Relation{Entails: 1}}, {0, 4, quantify.Relation{Entails: 1}}, {2, 2, quantify.Relation{Entails: 1}},
		{1, 2, quantify.Relation{Missing: quantify.BadEntailment}}, {3, 2, quantify.Relation{Missing: quantify.BadEntailment}},
		{2, 3, quantify.Relation{Missing: quantify.EntailmentRefused}}, {4, 1, quantify.Relation{Entails: .6, Neither: .4}},
	} {
		if got := r.At(c.i, c.j); got != c.want {
			t.Errorf("at %d, %d: %+v, want %+v", c.i, c.j, got, c.want)
		}
	}
}

func TestMatricesMustBeSquareAndInRange(t *testing.T) {
	t.Parallel()
	if _, err := quantify.NewRelations([][]quantify.Relation{{{}}, {{}}}); err == nil {
		t.Error("relations of two rows and one column")
	}
	if _, err := quantify.NewSimilarities([][]record.Number{{record.Known(1)}, {record.Known(1)}}); err == nil {
		t.Error("similarities of two rows and one column")
	}
	if _, err := quantify.NewSimilarities([][]record.Number{{record.Known(1.5)}}); err == nil {
		t.Error("a similarity of 1.5")
	}
}

// Needs that go into one plan: what each asks for, and how many requests it makes.
func TestNeedsOfTheDefaultSet(t *testing.T) {
	t.Parallel()
	n := quantify.NeedsOf(quantify.Default())
	want := quantify.Needs{
		Answer: quantify.LogProbs, Samples: 2, Ideas: true,
		Entailment: quantify.FromAnswer | quantify.AmongSamples,
		Questions:  []quantify.Question{quantify.IsTrueWithIdeas, quantify.OwnAnswer},
	}
	if diff := cmp.Diff(want, n); diff != "" {
		t.Fatal(diff)
	}
	// Ten samples, all different from each other and from the answer: ten are generated, 10 · 9 pairs among
	// them and 10 from the answer; two options, one stated confidence.
	if got, want := n.Calls(quantify.Size{Samples: 10, Distinct: 11}), (quantify.Calls{Generate: 11, Score: 2, Entail: 100}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	// All samples say what the answer says: there is no pair to ask.
	if got, want := n.Calls(quantify.Size{Samples: 10, Distinct: 1}), (quantify.Calls{Generate: 11, Score: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if total := n.Calls(quantify.Size{Samples: 10, Distinct: 11}).Total(); total != 113 {
		t.Errorf("total %d", total)
	}
}

func TestCallsBoundThePairs(t *testing.T) {
	t.Parallel()
	answers, samples := []string{"a", "x"}, [][]string{{"a", "a", "b"}, {"a", "b", "c"}, {"a"}, {}, {"a", "a"}}
	for _, answer := range answers {
		for _, texts := range samples {
			distinct := map[string]bool{answer: true}
			for _, text := range texts {
				distinct[text] = true
			}
			size := quantify.Size{Samples: len(texts), Distinct: len(distinct)}
			for p := quantify.Pairs(0); p < 8; p++ {
				needs := quantify.Needs{Entailment: p}
				if got, least := needs.Calls(size).Entail, len(p.Of(answer, texts)); got < least {
					t.Errorf("%q %q %s: %d calls planned, %d pairs", answer, texts, p, got, least)
				}
			}
		}
	}
}

func TestWhatAnEndpointLacks(t *testing.T) {
	t.Parallel()
	server := quantify.Needs{Samples: 10, Entailment: quantify.AmongSamples, Questions: []quantify.Question{quantify.OwnAnswer}}
	for _, c := range []struct {
		q    quantify.Quantifier
		want []record.Missing
	}{
		{quantify.PredictiveEntropy(), nil},
		{quantify.LogProbability(quantify.WithEnd), []record.Missing{record.NoLogProb, quantify.NoEndOfTurn}},
		{quantify.SemanticEntropy(quantify.Strict, quantify.TextsAlone), nil},
		{quantify.SemanticEntropy(quantify.Strict, quantify.AfterQuestion), []record.Missing{quantify.NoEntailment}},
		{quantify.SemanticConfidence(quantify.Forward, quantify.TextsAlone), []record.Missing{quantify.NoEntailment}},
		{quantify.TokenEntropy(quantify.WithoutEnd), []record.Missing{record.NoLogProb, quantify.NoAlternatives}},
		{quantify.UQLMCoCoA(), []record.Missing{record.NoLogProb, quantify.NoEmbedding}},
		{quantify.SAR(quantify.Measured), []record.Missing{record.NoLogProb, quantify.NoRelevance, quantify.NoSimilarity}},
		{quantify.PTrue(quantify.WithoutIdeas, quantify.BothOrders), []record.Missing{quantify.NotAsked}},
		{quantify.Verbalised(quantify.OwnAnswer), nil},
		{quantify.PTrue(quantify.WithIdeas, quantify.TrueFirst), []record.Missing{quantify.NotAsked}},
	} {
		if diff := cmp.Diff(c.want, c.q.Needs.Lacking(server)); diff != "" {
			t.Errorf("%s: %s", c.q.ID, diff)
		}
		if lacking := c.q.Needs.Lacking(quantify.Everything()); lacking != nil {
			t.Errorf("%s lacks %v of everything", c.q.ID, lacking)
		}
	}
	if got := quantify.PredictiveEntropy().Needs.Lacking(quantify.Needs{Samples: 1}); !cmp.Equal(got, []record.Missing{quantify.OneSample}) {
		t.Errorf("%v", got)
	}
}
