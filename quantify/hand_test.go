package quantify_test

import (
	"math"
	"testing"

	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
)

// hand is small enough to work every quantifier out on paper.
//
//	text       tokens       end   entailment (entails, neither, contradicts)
//	answer x   ½ ¼          .8    x→A .7 .2 .1   A→x .6 .3 .1
//	sample A   ½ ½          ½     x→C .1 .2 .7   C→x .2 .5 .3
//	sample A   ½ ½          ½     x→D .3 .5 .2   D→x .1 .1 .8
//	sample C   ¼            ½     A→C .1 .2 .7   C→A .2 .5 .3
//	sample D   ⅛            ½     A→D .3 .6 .1   D→A .5 .3 .2
//	                              C→D .8 .1 .1   D→C .6 .3 .1
//
// The texts are x = "x y", A = "a b", C = "a", D = "c". Similarities to x are A .9, C .3, D .1; A–C .5,
// A–D .2, C–D .4. Embeddings are x (1,0), A (1,0), C (0,1), D (−1,0).
//
// With the question in the premise the samples and the answer all entail each other, with certainty.
func hand() *quantify.Evidence {
	e := &quantify.Evidence{
		Answer: quantify.Text{
			Text: "x y", Tokens: tokens(.5, .25),
			// Brought to the sum 1 these are ½ ¼ ¼ (entropy 1.5 ln 2) and ½ ½ (ln 2).
			Alternatives: [][]float64{logs(.5, .25, .25), logs(.25, .25)},
			Entropies:    []float64{1, .5},
			Relevance:    []float64{1, 3},
			End:          quantify.End{LogProb: record.Known(math.Log(.8)), Alternatives: logs(.2, .8)},
		},
		Samples: []quantify.Text{
			sample("a b", .5, .5), sample("a b", .5, .5), sample("a", .25), sample("c", .125),
		},
		Embeddings: [][]float64{{1, 0}, {1, 0}, {2, 0}, {0, 1}, {-3, 0}},
		Options: map[quantify.Question]quantify.Options{
			quantify.IsTrue:                 {True: logs(.3), False: logs(.2)},
			quantify.IsTrueSwapped:          {True: logs(.1), False: logs(.3)},
			quantify.IsTrueWithIdeas:        {True: logs(.4, .2), False: logs(.1, .1)},
			quantify.IsTrueWithIdeasSwapped: {True: logs(.1), False: logs(.1)},
		},
		Stated: map[quantify.Question]record.Number{
			quantify.OwnAnswer: record.Known(.9), quantify.Top1: record.Known(.8), quantify.TwoStage: record.Known(.7),
			quantify.Reasoning: record.Known(.6), quantify.Linguistic: record.Known(.95),
		},
		Guesses: quantify.Guesses{List: []quantify.Guess{
			{Text: "z", Probability: record.Known(.5)}, {Text: "X y ", Probability: record.Known(.3)}, {Text: "w", Probability: record.Known(.4)},
		}},
	}
	texts := []string{"a b", "a b", "a", "c"}
	pairs := map[quantify.Pair][3]float64{
		{"x y", "a b"}: {.7, .2, .1}, {"a b", "x y"}: {.6, .3, .1},
		{"x y", "a"}: {.1, .2, .7}, {"a", "x y"}: {.2, .5, .3},
		{"x y", "c"}: {.3, .5, .2}, {"c", "x y"}: {.1, .1, .8},
		{"a b", "a"}: {.1, .2, .7}, {"a", "a b"}: {.2, .5, .3},
		{"a b", "c"}: {.3, .6, .1}, {"c", "a b"}: {.5, .3, .2},
		{"a", "c"}: {.8, .1, .1}, {"c", "a"}: {.6, .3, .1},
	}
	e.Entailment = quantify.Relate("x y", texts, func(premise, hypothesis string) quantify.Relation {
		p := pairs[quantify.Pair{Premise: premise, Hypothesis: hypothesis}]
		return quantify.Relation{Entails: p[0], Neither: p[1], Contradicts: p[2]}
	})
	e.EntailmentWithQuestion = quantify.Relate("x y", texts, func(string, string) quantify.Relation {
		return quantify.Relation{Entails: 1}
	})
	e.Similarity = similarities([][]float64{
		{1, .9, .9, .3, .1},
		{.9, 1, 1, .5, .2},
		{.9, 1, 1, .5, .2},
		{.3, .5, .5, 1, .4},
		{.1, .2, .2, .4, 1},
	})
	return e
}

func logs(probabilities ...float64) []float64 {
	list := make([]float64, len(probabilities))
	for i, p := range probabilities {
		list[i] = math.Log(p)
	}
	return list
}

// sample is a text with its tokens, all of relevance 1, and an end of turn of probability ½.
func sample(text string, probabilities ...float64) quantify.Text {
	t := quantify.Text{Text: text, Tokens: tokens(probabilities...), End: quantify.End{LogProb: record.Known(math.Log(.5))}}
	for range probabilities {
		t.Relevance = append(t.Relevance, 1)
	}
	return t
}

func similarities(matrix [][]float64) *quantify.Similarities {
	cells := make([][]record.Number, len(matrix))
	for i, row := range matrix {
		for _, x := range row {
			cells[i] = append(cells[i], record.Known(x))
		}
	}
	s, err := quantify.NewSimilarities(cells)
	if err != nil {
		panic(err)
	}
	return s
}

// twoSamples has samples p and q which entail each other with the probability e in both directions, and
// are neither otherwise, whether the question stands before them or not; their words are disjoint.
func twoSamples(e float64) *quantify.Evidence {
	ev := &quantify.Evidence{
		Answer:  quantify.Text{Text: "p", Tokens: tokens(.5)},
		Samples: []quantify.Text{sample("p", .5), sample("q", .5)},
	}
	ev.Entailment = quantify.Relate("p", []string{"p", "q"}, func(string, string) quantify.Relation {
		return quantify.Relation{Entails: e, Neither: 1 - e}
	})
	ev.EntailmentWithQuestion = ev.Entailment
	return ev
}

var (
	ln2 = math.Ln2
	ln  = math.Log
)

// h is −p ln p.
func h(p float64) float64 { return -p * ln(p) }

// byHand has every quantifier with its value on hand(), and how it comes about.
var byHand = map[string]float64{
	// The sum of ln ½ and ln ¼ is −3 ln 2; two tokens. The end adds ln .8; three tokens.
	"log-probability":                -3 * ln2,
	"log-probability.end":            -3*ln2 + ln(.8),
	"normalised-log-probability":     -1.5 * ln2,
	"normalised-log-probability.end": (-3*ln2 + ln(.8)) / 3,
	"perplexity":                     math.Sqrt(8),
	"perplexity.end":                 math.Cbrt(10), // ½ · ¼ · .8 = .1
	"geometric-mean":                 1 / math.Sqrt(8),
	"geometric-mean.end":             1 / math.Cbrt(10),
	"product":                        .125,
	"product.end":                    .1,
	"minimum":                        .25,
	"minimum.end":                    .25,
	"first-token":                    .5,
	"arithmetic-mean":                .375,
	"arithmetic-mean.end":            (.5 + .25 + .8) / 3,

	// Entropies 1.5 ln 2 of 3 alternatives and ln 2 of 2; at the end h(.8) + h(.2) of 2.
	"token-entropy":                1.25 * ln2,
	"token-entropy.end":            (2.5*ln2 + h(.8) + h(.2)) / 3,
	"token-entropy.full":           .75,
	"token-negentropy":             (1 - 1.5*ln2/ln(3)) / 2, // the even pair has 0
	"token-negentropy.end":         (1 - 1.5*ln2/ln(3) + 1 - (h(.8)+h(.2))/ln2) / 3,
	"token-negentropy.minimum":     0,
	"token-negentropy.minimum.end": 0,
	"probability-margin":           .125, // ½ − ¼ and 0
	"probability-margin.end":       (.25 + 0 + .6) / 3,

	// Texts A A C D: shares ½ ¼ ¼.
	"predictive-entropy": 1.5 * ln2,
	"modal-share":        .5,
	"answer-agreement":   0,
	"pairwise-agreement": 1. / 6, // one of six pairs

	// Log-probabilities of A, A, C, D in units of −ln 2: 2 2 2 3, a token 1 1 2 3; with the end 3 3 3 4 over
	// 3 3 2 2 tokens.
	"sequence-entropy":                9. / 4 * ln2,
	"sequence-entropy.normalised":     7. / 4 * ln2,
	"sequence-entropy.end":            13. / 4 * ln2,
	"sequence-entropy.normalised.end": (1 + 1 + 1.5 + 2) / 4 * ln2,
	"sampled-probability.uqlm":        (1/math.Sqrt(8) + .5 + .5 + .25 + .125) / 5,
	"sampled-probability.product.uqlm": (.125 + .25 + .25 + .25 + .125) /
		5,

	// ½ + ½ cos to the answer: A 1, A 1, C ½, D 0. Pairs: AA 1, AC ½ twice, AD 0 twice, CD ½.
	"cosine-agreement":          2.5 / 4,
	"pairwise-agreement.cosine": 2.5 / 6,

	// Pairs: AA 1; "a b" with "a" has the F measure 2·1/(2+1), twice, or of two words one is shared; others 0.
	// Of pairs of neighbouring words only "a b" has one.
	"lexical-similarity.rouge-l":              (1 + 2*2./3) / 6,
	"lexical-similarity.jaccard":              (1 + 2*1./2) / 6,
	"lexical-similarity.rouge-l.lm-polygraph": (1 + 2*2./3) / 6,
	"lexical-similarity.rouge-1.lm-polygraph": (1 + 2*2./3) / 6,
	"lexical-similarity.rouge-2.lm-polygraph": 1. / 6,

	// Strict: C ≡ D alone, so AA | CD. Loose: A, D do not contradict and D entails A, so D joins the first
	// class, AAD | C. Either: D entails A, so the same.
	"semantic-entropy":            ln2,
	"semantic-entropy.loose":      h(.75) + h(.25),
	"semantic-entropy.either":     h(.75) + h(.25),
	"semantic-modal-share":        .5,
	"semantic-modal-share.loose":  .75,
	"semantic-modal-share.either": .75,
	"semantic-classes":            2,
	"semantic-classes.loose":      2,
	"semantic-classes.either":     2,
	// Weights a token: A ½, A ½, C ¼, D ⅛, together 11/8.
	"semantic-entropy.likelihood":        h(8./11) + h(3./11),
	"semantic-entropy.likelihood.loose":  h(9./11) + h(2./11),
	"semantic-entropy.likelihood.either": h(9./11) + h(2./11),
	// x ≡ A twice; x and C, x and D contradict in one direction, and neither entails the other.
	"semantic-agreement":        .5,
	"semantic-agreement.loose":  .5,
	"semantic-agreement.either": .5,
	// x→C contradicts (.7 > .3), D→x contradicts (.8 > .2).
	"semantic-confidence":        .75,
	"semantic-confidence.either": .5,
	"semantic-confidence.both":   1,
	// A–D and D–C are joined, so all are.
	"semantic-sets": 1,
	// Entailment with x, both ways: A .65, A .65, C .15, D .2; contradiction .1 .1 .5 .5.
	"entailment-agreement": (.65 + .65 + .15 + .2) / 4,
	"noncontradiction":     (.9 + .9 + .5 + .5) / 4,
	// e/(e+c), both ways: AA 1; AC 1/8 and 2/5, twice; AD 3/4 and 5/7, twice; CD 8/9 and 6/7.
	"luq": 1 - (1+(1./8+2./5)+(3./4+5./7)+(8./9+6./7)/2)/6,

	// Kernels 1 − c − n/2 from x: A .8, C .2, D .55; weights as above.
	"semantic-density":              (.5*.8 + .25*.2 + .125*.55) / .875,
	"semantic-density.uqlm":         (2*.5*.8 + .25*.2 + .125*.55) / 1.375,
	"semantic-density.lm-polygraph": (1/math.Sqrt(8) + .5*.8 + .25*.2 + .125*.55) / (1/math.Sqrt(8) + .875),

	// Affinities: entailment AC .15, AD .4, CD .7; noncontradiction .5 .85 .9; Jaccard ½ 0 0; AA and the
	// diagonal 1. Row sums A A C D: 2.55 2.55 2 2.5; 3.35 3.35 2.9 3.6; 2.5 2.5 2 1.
	"degree.entailment":       (1.45 + 1.45 + 2 + 1.5) / 16,
	"degree.noncontradiction": (.65 + .65 + 1.1 + .4) / 16,
	"degree.jaccard":          (1.5 + 1.5 + 2 + 3) / 16,

	// Relevances 1 and 3 of tokens ½ and ¼: (1·1 + 3·2)/4 in units of ln 2.
	"token-sar": 7. / 4 * ln2,
	// p = ¼ ¼ ¼ ⅛ of the texts, supported by 1000 times the others' p times similarity.
	"sentence-sar": -(2*ln(.25+1000*(.25*1+.25*.5+.125*.2)) +
		ln(.25+1000*(2*.25*.5+.125*.4)) + ln(.125+1000*(2*.25*.2+.25*.4))) / 4,
	"sentence-sar.cosine": -(2*ln(.25+1000*(.25*1+.25*.5)) +
		ln(.25+1000*(2*.25*.5+.125*.5)) + ln(.125+1000*(.25*.5))) / 4,
	// p = ½ ½ ¼ ⅛ a token, since all tokens of the samples matter alike.
	"sar": -(2*ln(.5+1000*(.5*1+.25*.5+.125*.2)) +
		ln(.25+1000*(2*.5*.5+.125*.4)) + ln(.125+1000*(2*.5*.2+.25*.4))) / 4,
	"sar.cosine": -(2*ln(.5+1000*(.5*1+.25*.5)) +
		ln(.25+1000*(2*.5*.5+.125*.5)) + ln(.125+1000*(.25*.5))) / 4,
	// Mean similarity to the answer (.9 + .9 + .3 + .1)/4 = .55, by embeddings .625.
	"cocoa":                   3 * ln2 * .45,
	"cocoa.normalised":        1.5 * ln2 * .45,
	"cocoa.entropy":           .75 * .45,
	"cocoa.cosine":            3 * ln2 * .375,
	"cocoa.normalised.cosine": 1.5 * ln2 * .375,
	"cocoa.entropy.cosine":    .75 * .375,
	"cocoa.uqlm":              1 / math.Sqrt(8) * .625,

	// Either entails, against first texts: xAA | CD, of 5; by likelihood 1/√8 + 1 against ⅜.
	"semantic-entropy.uqlm":               h(.6) + h(.4),
	"semantic-negentropy.uqlm":            1 - (h(.6)+h(.4))/ln(5),
	"semantic-entropy.likelihood.uqlm":    h(likely) + h(1-likely),
	"semantic-negentropy.likelihood.uqlm": 1 - (h(likely)+h(1-likely))/ln(5),
	"semantic-sets-confidence.uqlm":       3. / 4,
	// Strict classes AA | CD with the masses ¼ + ¼ and ¼ + ⅛; each text once: ¼ and ⅜.
	"semantic-entropy.lm-polygraph":          -(ln(.5) + ln(.375)) / 2,
	"semantic-entropy.distinct.lm-polygraph": -(ln(.25) + ln(.375)) / 2,

	// With ideas: (.4 + .2) of (.6 + .2), and ½ swapped. Without: .3 of .5, and .1 of .4 swapped.
	"p-true":                      .75,
	"p-true.both-orders":          .625,
	"p-true.no-ideas":             .6,
	"p-true.no-ideas.both-orders": (.6 + .25) / 2,

	"verbalised-confidence":                  .9,
	"verbalised-confidence.top-1":            .8,
	"verbalised-confidence.two-stage":        .7,
	"verbalised-confidence.reasoning":        .6,
	"verbalised-confidence.linguistic":       .95,
	"verbalised-confidence.top-k":            .3, // "X y " is the answer "x y"
	"verbalised-confidence.top-k.normalised": .3 / 1.2,
}

var likely = (1/math.Sqrt(8) + 1) / (1/math.Sqrt(8) + 1.375)

// spectral has the quantifiers that rest on eigenvalues, with their value on two samples with the
// affinity ½ by entailment and 1 by noncontradiction, without a word in common: twoSamples(.5).
//
// The matrix 1 w | w 1 has the row sum 1 + w; D^-½ W D^-½ has the eigenvalues 1, of the even vector, and
// (1−w)/(1+w), of the odd one. So EigV is 2/(1+w). The odd vector, with the spread 1, is eccentric if
// 1 − (1−w)/(1+w) < .9, which is w < 9/11; the even one has the spread 0.
//
// The heat kernel of weight s is ½ (1+q) on the diagonal and ½ (1−q) beside it, q = exp(−.6 s). Brought to
// the diagonal ½ it has the eigenvalues ½ (1 ± r), r = (1−q)/(1+q) = tanh(.3 s). Entailment ½ and neither ½
// give s = 2 · ¾.
var spectral = map[string]float64{
	"eigv.entailment":                      2 / 1.5,
	"eigv.noncontradiction":                1,
	"eigv.jaccard":                         2,
	"eccentricity.entailment":              1,
	"eccentricity.noncontradiction":        0,
	"eccentricity.jaccard":                 1,
	"kernel-language-entropy":              h((1+math.Tanh(.45))/2) + h((1-math.Tanh(.45))/2),
	"kernel-language-entropy.lm-polygraph": (h((1+math.Tanh(.45))/2) + h((1-math.Tanh(.45))/2)) / ln2,
}

// afterQuestion has the values on hand() with the question in the premise, where all entail each other.
var afterQuestion = map[string]float64{
	"semantic-entropy.question": 0, "semantic-entropy.loose.question": 0, "semantic-entropy.either.question": 0,
	"semantic-entropy.likelihood.question": 0, "semantic-entropy.likelihood.loose.question": 0, "semantic-entropy.likelihood.either.question": 0,
	"semantic-modal-share.question": 1, "semantic-modal-share.loose.question": 1, "semantic-modal-share.either.question": 1,
	"semantic-agreement.question": 1, "semantic-agreement.loose.question": 1, "semantic-agreement.either.question": 1,
	"semantic-classes.question": 1, "semantic-classes.loose.question": 1, "semantic-classes.either.question": 1,
	"semantic-confidence.question": 1, "semantic-confidence.either.question": 1, "semantic-confidence.both.question": 1,
	"semantic-sets.question": 1, "entailment-agreement.question": 1, "noncontradiction.question": 1, "luq.question": 0,
	"semantic-density.question": 1, "semantic-density.question.uqlm": 1, "semantic-density.question.lm-polygraph": 1,
	"eigv.entailment.question": 1, "eigv.noncontradiction.question": 1,
	"degree.entailment.question": 0, "degree.noncontradiction.question": 0,
	"eccentricity.entailment.question": 0, "eccentricity.noncontradiction.question": 0,
	// A complete graph of weight s = 2: the Laplacian has the eigenvalues 0 and 8 (three times), so that K is
	// ¼ (1 + 3q) on the diagonal and ¼ (1 − q) beside it, q = exp(−2.4). Brought to the diagonal ¼ it has the
	// eigenvalues ¼ (1 + 3r) and ¼ (1 − r) three times, r = (1 − q)/(1 + 3q).
	"kernel-language-entropy.question": h((1+3*complete)/4) + 3*h((1-complete)/4),
}

var complete = (1 - math.Exp(-2.4)) / (1 + 3*math.Exp(-2.4))

func TestEveryQuantifierByHand(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	check := func(want map[string]float64, e *quantify.Evidence) {
		for id, x := range want {
			known[id] = true
			if got := value(t, id, e); math.Abs(got-x) > 1e-12 {
				t.Errorf("%s = %.15g, want %.15g", id, got, x)
			}
		}
	}
	check(byHand, hand())
	check(afterQuestion, hand())
	check(spectral, twoSamples(.5))
	for _, q := range quantify.All() {
		if !known[q.ID] {
			t.Errorf("%s has no value worked out by hand", q.ID)
		}
		delete(known, q.ID)
	}
	for id := range known {
		t.Errorf("%s is listed twice or not at all", id)
	}
}

// TestBlocks: where affinities are 0 or 1, EigV counts the connected components, and the eccentric vectors
// are the components' indicators. With samples p p q these are (1,1,0)/√2 and (0,0,1), which lie
// 1 − 2/3 and 1 − 1/3 from their means.
func TestBlocks(t *testing.T) {
	t.Parallel()
	e := twoSamples(0)
	e.EntailmentWithQuestion = nil
	e.Samples = append(e.Samples, sample("p", .5))
	e.Entailment = quantify.Relate("p", []string{"p", "q", "p"}, func(string, string) quantify.Relation {
		return quantify.Relation{Contradicts: 1}
	})
	for id, want := range map[string]float64{
		"eigv.entailment": 2, "eccentricity.entailment": 1, "eigv.jaccard": 2, "eccentricity.jaccard": 1, "semantic-sets": 2,
	} {
		if got := value(t, id, e); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s = %v, want %v", id, got, want)
		}
	}
}

// TestDuplicatedSamples: samples that all say the answer, with tokens of probability ½, entailment by
// identity and certain similarity. Everything that measures spread is at its sure end.
func TestDuplicatedSamples(t *testing.T) {
	t.Parallel()
	e := hand()
	e.Answer.Text = "a b"
	texts := []string{"a b", "a b", "a b"}
	e.Samples = []quantify.Text{sample("a b", .5, .5), sample("a b", .5, .5), sample("a b", .5, .5)}
	e.Entailment = quantify.Relate("a b", texts, func(string, string) quantify.Relation {
		t.Error("equal texts were asked about")
		return quantify.Relation{}
	})
	e.EntailmentWithQuestion = e.Entailment
	e.Embeddings = [][]float64{{1, 2}, {1, 2}, {1, 2}, {1, 2}}
	ones := []float64{1, 1, 1, 1}
	e.Similarity = similarities([][]float64{ones, ones, ones, ones})
	e.Guesses = quantify.Guesses{List: []quantify.Guess{{Text: "a b", Probability: record.Known(.5)}, {Text: "A B", Probability: record.Known(.5)}}}

	// A complete graph of three with the weight 2: eigenvalues 0, 6, 6; as above with thirds.
	q := math.Exp(-1.8)
	r := (1 - q) / (1 + 2*q)
	kle := h((1+2*r)/3) + 2*h((1-r)/3)
	want := map[string]float64{
		"predictive-entropy": 0, "modal-share": 1, "answer-agreement": 1, "pairwise-agreement": 1,
		"pairwise-agreement.cosine": 1, "cosine-agreement": 1,
		"lexical-similarity.rouge-l": 1, "lexical-similarity.jaccard": 1, "lexical-similarity.rouge-l.lm-polygraph": 1,
		"lexical-similarity.rouge-1.lm-polygraph": 1, "lexical-similarity.rouge-2.lm-polygraph": 1,
		"eigv.jaccard": 1, "degree.jaccard": 0, "eccentricity.jaccard": 0,
		"sequence-entropy": 2 * ln2, "sequence-entropy.normalised": ln2,
		"sequence-entropy.end": 3 * ln2, "sequence-entropy.normalised.end": ln2,
		"sampled-probability.uqlm": (1/math.Sqrt(8) + 1.5) / 4, "sampled-probability.product.uqlm": (.125 + .75) / 4,
		"semantic-entropy.uqlm": 0, "semantic-entropy.likelihood.uqlm": 0,
		"semantic-negentropy.uqlm": 1, "semantic-negentropy.likelihood.uqlm": 1, "semantic-sets-confidence.uqlm": 1,
		// Three times ¼ in one class; each text once: ¼.
		"semantic-entropy.lm-polygraph": -ln(.75), "semantic-entropy.distinct.lm-polygraph": -ln(.25),
		"kernel-language-entropy.lm-polygraph": kle / ln(3),
		// ¼ + 1000 (¼ + ¼), and a token ½ + 1000.
		"sentence-sar": -ln(500.25), "sentence-sar.cosine": -ln(500.25), "sar": -ln(1000.5), "sar.cosine": -ln(1000.5),
		"cocoa": 0, "cocoa.normalised": 0, "cocoa.entropy": 0, "cocoa.cosine": 0, "cocoa.normalised.cosine": 0, "cocoa.entropy.cosine": 0,
		"cocoa.uqlm":                  1 / math.Sqrt(8),
		"verbalised-confidence.top-k": 1, "verbalised-confidence.top-k.normalised": 1,
	}
	for _, suffix := range []string{"", ".question"} {
		for _, eq := range []string{"", ".loose", ".either"} {
			want["semantic-entropy"+eq+suffix], want["semantic-entropy.likelihood"+eq+suffix] = 0, 0
			want["semantic-modal-share"+eq+suffix], want["semantic-agreement"+eq+suffix] = 1, 1
			want["semantic-classes"+eq+suffix] = 1
		}
		for _, direction := range []string{"", ".either", ".both"} {
			want["semantic-confidence"+direction+suffix] = 1
		}
		for _, affinity := range []string{".entailment", ".noncontradiction"} {
			want["eigv"+affinity+suffix], want["degree"+affinity+suffix], want["eccentricity"+affinity+suffix] = 1, 0, 0
		}
		for _, peer := range []string{"", ".uqlm", ".lm-polygraph"} {
			want["semantic-density"+suffix+peer] = 1
		}
		want["semantic-sets"+suffix], want["entailment-agreement"+suffix], want["noncontradiction"+suffix] = 1, 1, 1
		want["luq"+suffix], want["kernel-language-entropy"+suffix] = 0, kle
	}
	for _, q := range quantify.All() {
		x, special := want[q.ID]
		if !special {
			if q.Needs.Samples > 0 {
				t.Errorf("%s: no value on duplicated samples is stated", q.ID)
			}
			continue
		}
		// The root of a sum that should be 0 has half the digits.
		if got := value(t, q.ID, e); math.Abs(got-x) > 1e-7 || (math.Abs(got-x) > 1e-12 && x != 0) {
			t.Errorf("%s = %.15g, want %.15g", q.ID, got, x)
		}
	}
}
