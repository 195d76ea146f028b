package quantify_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
)

// arbitrary draws an evidence that has everything: texts with repetitions, any relation between two texts.
// Where consistent is set, relations follow from classes of meaning, and equal texts have equal tokens.
func arbitrary(t *rapid.T, consistent bool) *quantify.Evidence {
	probability := rapid.Float64Range(1e-6, 1)
	bank := []string{"", "a", "a b", "a b c", "b a", "Ж", "c", "the a"}
	meaning := make([]int, len(bank))
	for i := range meaning {
		meaning[i] = rapid.IntRange(0, 3).Draw(t, "meaning")
	}
	var drawn [8]*quantify.Text
	text := func(name string) (quantify.Text, int) {
		k := rapid.IntRange(0, len(bank)-1).Draw(t, name)
		if consistent && drawn[k] != nil {
			return *drawn[k], k
		}
		n := rapid.IntRange(1, 4).Draw(t, "tokens")
		v := quantify.Text{Text: bank[k], End: quantify.End{LogProb: record.Known(math.Log(probability.Draw(t, "end"))), Alternatives: logs(.5, probability.Draw(t, "end"))}}
		for range n {
			v.Tokens = append(v.Tokens, tokens(probability.Draw(t, "token"))...)
			v.Alternatives = append(v.Alternatives, logs(probability.Draw(t, "alternative"), probability.Draw(t, "alternative"), probability.Draw(t, "alternative")))
			v.Entropies = append(v.Entropies, rapid.Float64Range(0, 12).Draw(t, "entropy"))
			v.Relevance = append(v.Relevance, rapid.Float64Range(.01, 1).Draw(t, "relevance"))
		}
		drawn[k] = &v
		return v, k
	}
	e := &quantify.Evidence{Options: map[quantify.Question]quantify.Options{}, Stated: map[quantify.Question]record.Number{}}
	ids := make([]int, rapid.IntRange(3, 9).Draw(t, "texts"))
	vectors := map[int][]float64{}
	for i := range ids {
		var v quantify.Text
		v, ids[i] = text("text")
		if i == 0 {
			e.Answer = v
		} else {
			e.Samples = append(e.Samples, v)
		}
		if !consistent || vectors[ids[i]] == nil {
			vectors[ids[i]] = []float64{rapid.Float64Range(-9, 9).Draw(t, "x"), rapid.Float64Range(.1, 9).Draw(t, "y")}
		}
		e.Embeddings = append(e.Embeddings, vectors[ids[i]])
	}
	relation := func(i, j int) quantify.Relation {
		switch {
		case i == j || (consistent && ids[i] == ids[j]):
			return quantify.Relation{Entails: 1}
		case consistent && meaning[ids[i]] == meaning[ids[j]]:
			return quantify.Relation{Entails: .7, Neither: .2, Contradicts: .1}
		case consistent:
			return quantify.Relation{Entails: .1, Neither: .1 * float64(ids[i]%3), Contradicts: .9 - .1*float64(ids[i]%3)}
		}
		x, y := rapid.Float64Range(0, 1).Draw(t, "entails"), rapid.Float64Range(0, 1).Draw(t, "contradicts")
		return quantify.Relation{Entails: x * y, Contradicts: x * (1 - y), Neither: 1 - x}
	}
	table := map[[2]int]float64{}
	cells, alike := make([][]quantify.Relation, len(ids)), make([][]record.Number, len(ids))
	for i := range ids {
		for j := range ids {
			cells[i] = append(cells[i], relation(i, j))
			key := [2]int{min(ids[i], ids[j]), max(ids[i], ids[j])}
			if _, known := table[key]; !known || !consistent {
				table[key] = rapid.Float64Range(0, 1).Draw(t, "similarity")
			}
			alike[i] = append(alike[i], record.Known(table[key]))
		}
	}
	e.Entailment, _ = quantify.NewRelations(cells)
	e.EntailmentWithQuestion = e.Entailment
	e.Similarity, _ = quantify.NewSimilarities(alike)
	for _, q := range quantify.Questions() {
		e.Options[q] = quantify.Options{True: logs(probability.Draw(t, "true")), False: logs(probability.Draw(t, "false"))}
		e.Stated[q] = record.Known(probability.Draw(t, "stated"))
	}
	for range 3 {
		e.Guesses.List = append(e.Guesses.List, quantify.Guess{Text: rapid.SampledFrom(bank).Draw(t, "guess"), Probability: record.Known(probability.Draw(t, "guessed"))})
	}
	return e
}

func TestRangesHold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := arbitrary(t, false)
		values, err := quantify.Evaluate(quantify.All(), e)
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range quantify.All() {
			inRange(t, q, values[i], len(e.Samples))
			if _, known := values[i].Get(); !known && values[i].Missing() != quantify.NotAmongGuesses && !strings.HasPrefix(q.ID, "luq") {
				t.Errorf("%s is missing (%s) though everything is there", q.ID, values[i].Missing())
			}
		}
	})
}

// shuffled is e with its samples in another order.
func shuffled(t *rapid.T, e *quantify.Evidence) *quantify.Evidence {
	order := rapid.Permutation(seq(len(e.Samples))).Draw(t, "order")
	f := *e
	f.Samples, f.Embeddings = nil, [][]float64{e.Embeddings[0]}
	at := []int{0}
	for _, i := range order {
		f.Samples = append(f.Samples, e.Samples[i])
		f.Embeddings = append(f.Embeddings, e.Embeddings[i+1])
		at = append(at, i+1)
	}
	cells, alike := make([][]quantify.Relation, len(at)), make([][]record.Number, len(at))
	for i := range at {
		for j := range at {
			cells[i] = append(cells[i], e.Entailment.At(at[i], at[j]))
			alike[i] = append(alike[i], e.Similarity.At(at[i], at[j]))
		}
	}
	f.Entailment, _ = quantify.NewRelations(cells)
	f.EntailmentWithQuestion = f.Entailment
	f.Similarity, _ = quantify.NewSimilarities(alike)
	return &f
}

func seq(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// ordered quantifiers depend on the order of the samples where meaning is not transitive: classes are formed
// one after the other.
func ordered(q quantify.Quantifier) bool {
	for _, name := range []string{"semantic-entropy", "semantic-modal-share", "semantic-classes", "semantic-negentropy", "semantic-sets-confidence"} {
		if strings.HasPrefix(q.ID, name) {
			return true
		}
	}
	// Of equal texts with different tokens the first counts.
	return strings.HasPrefix(q.ID, "semantic-density") && !strings.HasSuffix(q.ID, "uqlm")
}

func TestOrderOfSamplesDoesNotCount(t *testing.T) {
	t.Parallel()
	for _, consistent := range []bool{true, false} {
		rapid.Check(t, func(t *rapid.T) {
			e := arbitrary(t, consistent)
			all := quantify.All()
			before, err := quantify.Evaluate(all, e)
			if err != nil {
				t.Fatal(err)
			}
			after, err := quantify.Evaluate(all, shuffled(t, e))
			if err != nil {
				t.Fatal(err)
			}
			for i, q := range all {
				if !consistent && ordered(q) {
					continue
				}
				x, known := before[i].Get()
				y, still := after[i].Get()
				// The root of a sum that should be 0 has half the digits.
				tolerance := 1e-9
				if strings.HasPrefix(q.ID, "eccentricity") {
					tolerance = 1e-6
				}
				if known != still || before[i].Missing() != after[i].Missing() || !close(x, y, tolerance) {
					t.Errorf("%s: %v before, %v after the samples were shuffled", q.ID, before[i], after[i])
				}
			}
		})
	}
}

// TestMoreEqualSamplesAreSurer: replacing a sample by one that is there already cannot make the texts more
// various.
func TestMoreEqualSamplesAreSurer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := arbitrary(t, true)
		entropy, share := value(t, "predictive-entropy", e), value(t, "modal-share", e)
		counts := map[string]int{}
		most := ""
		for _, s := range e.Samples {
			if counts[s.Text]++; counts[s.Text] > counts[most] {
				most = s.Text
			}
		}
		e.Samples[rapid.IntRange(0, len(e.Samples)-1).Draw(t, "which")].Text = most
		if h := value(t, "predictive-entropy", e); h > entropy+1e-12 {
			t.Errorf("entropy rose from %v to %v", entropy, h)
		}
		if s := value(t, "modal-share", e); s < share-1e-12 {
			t.Errorf("modal share fell from %v to %v", share, s)
		}
	})
}

// TestEvaluateIsPure: a set gives each value that a quantifier alone gives, and again the same bits.
func TestEvaluateIsPure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := arbitrary(t, false)
		together, err := quantify.Evaluate(quantify.All(), e)
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range quantify.All() {
			if alone, err := q.Of(e); err != nil || alone != together[i] {
				t.Errorf("%s: %v alone, %v together (%v)", q.ID, alone, together[i], err)
			}
		}
	})
}
