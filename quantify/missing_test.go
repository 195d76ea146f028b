package quantify_test

import (
	"math"
	"slices"
	"testing"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
)

// A loss takes one thing out of an evidence that has everything.
type loss struct {
	name string
	take func(e *quantify.Evidence)
	// hits says which quantifiers read what was taken; they are missing for the reason why.
	hits func(n quantify.Needs) bool
	why  record.Missing
}

func part(which quantify.Parts) func(quantify.Needs) bool {
	return func(n quantify.Needs) bool { return n.Answer&which != 0 }
}

func samplePart(which quantify.Parts) func(quantify.Needs) bool {
	return func(n quantify.Needs) bool { return n.Sample&which != 0 }
}

func needsSamples(n quantify.Needs) bool { return n.Samples > 0 }

func asks(q quantify.Question) func(quantify.Needs) bool {
	return func(n quantify.Needs) bool { return slices.Contains(n.Questions, q) }
}

var losses = []loss{
	{"no answer", func(e *quantify.Evidence) { e.Answer.Missing = record.NoAnswer },
		func(quantify.Needs) bool { return true }, record.AnswerMissing},
	{"no log-probabilities", func(e *quantify.Evidence) { strip(&e.Answer) },
		func(n quantify.Needs) bool { return n.Answer != 0 }, record.NoLogProb},
	{"no log-probabilities for a reason", func(e *quantify.Evidence) { strip(&e.Answer); e.Answer.NoTokens = record.ContextOverflow },
		func(n quantify.Needs) bool { return n.Answer != 0 }, record.ContextOverflow},
	{"positive log-probability", func(e *quantify.Evidence) { e.Answer.Tokens[1].LogProb = 1e-3 },
		part(quantify.LogProbs), quantify.BadLogProb},
	{"log-probability NaN", func(e *quantify.Evidence) { e.Answer.Tokens[1].LogProb = math.NaN() },
		part(quantify.LogProbs), quantify.BadLogProb},
	{"placeholder -9999", func(e *quantify.Evidence) { e.Answer.Tokens[0].LogProb = -9999 },
		part(quantify.LogProbs), record.NoLogProb},
	{"placeholder -100", func(e *quantify.Evidence) { e.Answer.Tokens[0].LogProb = -100 },
		part(quantify.LogProbs), record.NoLogProb},
	{"no alternatives", func(e *quantify.Evidence) { e.Answer.Alternatives = nil },
		part(quantify.TopAlternatives), quantify.NoAlternatives},
	{"one alternative", func(e *quantify.Evidence) { e.Answer.Alternatives[1] = logs(.9) },
		part(quantify.TopAlternatives), quantify.TooFewAlternatives},
	{"alternative above 1", func(e *quantify.Evidence) { e.Answer.Alternatives[1][0] = .1 },
		part(quantify.TopAlternatives), quantify.BadLogProb},
	{"no entropies", func(e *quantify.Evidence) { e.Answer.Entropies = nil },
		part(quantify.FullEntropy), quantify.NoFullEntropy},
	{"no relevance", func(e *quantify.Evidence) { e.Answer.Relevance = nil },
		part(quantify.TokenRelevance), quantify.NoRelevance},
	{"negative relevance", func(e *quantify.Evidence) { e.Answer.Relevance[0] = -1 },
		part(quantify.TokenRelevance), quantify.NoRelevance},
	{"no end of turn", func(e *quantify.Evidence) { e.Answer.End.LogProb = record.Number{} },
		part(quantify.EndOfTurn), quantify.NoEndOfTurn},
	{"answer cut off", func(e *quantify.Evidence) { e.Answer.Truncated = true },
		part(quantify.EndOfTurn), quantify.AnswerCutOff},
	{"sample missing", func(e *quantify.Evidence) { e.Samples[2].Missing = record.CallFailed },
		needsSamples, quantify.SampleMissing},
	{"sample cut off", func(e *quantify.Evidence) { e.Samples[2].Truncated = true },
		needsSamples, quantify.SampleCutOff},
	{"no log-probabilities of a sample", func(e *quantify.Evidence) { strip(&e.Samples[3]) },
		func(n quantify.Needs) bool { return n.Sample != 0 }, record.NoLogProb},
	{"no end of turn of a sample", func(e *quantify.Evidence) { e.Samples[3].End = quantify.End{} },
		samplePart(quantify.EndOfTurn), quantify.NoEndOfTurn},
	{"no relevance of a sample", func(e *quantify.Evidence) { e.Samples[3].Relevance = nil },
		samplePart(quantify.TokenRelevance), quantify.NoRelevance},
	{"sample without tokens", func(e *quantify.Evidence) { strip(&e.Samples[3]); e.Samples[3].Text = "" },
		func(n quantify.Needs) bool { return n.Sample != 0 }, quantify.EmptySample},
	{"no entailment", func(e *quantify.Evidence) { e.Entailment = nil },
		func(n quantify.Needs) bool { return n.Entailment != 0 }, quantify.NoEntailment},
	{"entailment refused from the answer", refuse(0, 3),
		func(n quantify.Needs) bool { return n.Entailment&quantify.FromAnswer != 0 }, quantify.EntailmentRefused},
	{"entailment refused to the answer", refuse(3, 0),
		func(n quantify.Needs) bool { return n.Entailment&quantify.ToAnswer != 0 }, quantify.EntailmentRefused},
	{"entailment refused among samples", refuse(4, 3),
		func(n quantify.Needs) bool { return n.Entailment&quantify.AmongSamples != 0 }, quantify.EntailmentRefused},
	{"no entailment with question", func(e *quantify.Evidence) { e.EntailmentWithQuestion = nil },
		func(n quantify.Needs) bool { return n.EntailmentWithQuestion != 0 }, quantify.NoEntailment},
	{"no similarity", func(e *quantify.Evidence) { e.Similarity = nil },
		func(n quantify.Needs) bool { return n.Similarity != 0 }, quantify.NoSimilarity},
	{"no embeddings", func(e *quantify.Evidence) { e.Embeddings = nil },
		func(n quantify.Needs) bool { return n.Embeddings }, quantify.NoEmbedding},
	{"an embedding missing", func(e *quantify.Evidence) { e.Embeddings[2] = nil },
		func(n quantify.Needs) bool { return n.Embeddings }, quantify.NoEmbedding},
	{"an embedding 0", func(e *quantify.Evidence) { e.Embeddings[2] = []float64{0, 0} },
		func(n quantify.Needs) bool { return n.Embeddings }, quantify.ZeroEmbedding},
	{"options refused", func(e *quantify.Evidence) {
		e.Options[quantify.IsTrue] = quantify.Options{Missing: record.NotSupported}
	}, asks(quantify.IsTrue), record.NotSupported},
	{"one option", func(e *quantify.Evidence) { e.Options[quantify.IsTrue] = quantify.Options{True: logs(.5)} },
		asks(quantify.IsTrue), quantify.NotAsked},
	{"not asked", func(e *quantify.Evidence) { e.Options = nil },
		func(n quantify.Needs) bool {
			return asks(quantify.IsTrue)(n) || asks(quantify.IsTrueWithIdeas)(n)
		}, quantify.NotAsked},
	{"nothing stated", func(e *quantify.Evidence) { e.Stated[quantify.Top1] = record.Absent(record.MalformedProbability) },
		asks(quantify.Top1), record.MalformedProbability},
	{"stated out of range", func(e *quantify.Evidence) { e.Stated[quantify.OwnAnswer] = record.Known(90) },
		asks(quantify.OwnAnswer), record.OutOfRange},
	{"no guesses", func(e *quantify.Evidence) { e.Guesses = quantify.Guesses{} },
		asks(quantify.TopK), quantify.NotAsked},
	{"guesses cut off", func(e *quantify.Evidence) { e.Guesses = quantify.Guesses{Missing: quantify.GuessesCutOff} },
		asks(quantify.TopK), quantify.GuessesCutOff},
	{"answer not among the guesses", func(e *quantify.Evidence) { e.Guesses.List[1].Text = "other" },
		asks(quantify.TopK), quantify.NotAmongGuesses},
}

func strip(t *quantify.Text) {
	t.Tokens, t.Alternatives, t.Entropies, t.Relevance = nil, nil, nil, nil
}

// refuse takes the relation of one pair.
func refuse(premise, hypothesis int) func(*quantify.Evidence) {
	return func(e *quantify.Evidence) {
		n := len(e.Samples) + 1
		cells := make([][]quantify.Relation, n)
		for i := range n {
			for j := range n {
				cells[i] = append(cells[i], e.Entailment.At(i, j))
			}
		}
		cells[premise][hypothesis] = quantify.Relation{Missing: quantify.EntailmentRefused}
		e.Entailment, _ = quantify.NewRelations(cells)
	}
}

// TestMissingInputs takes each thing away in turn. A quantifier that declares to need it is missing with the
// reason, and one that does not has the value that it had: needs are what is read.
func TestMissingInputs(t *testing.T) {
	t.Parallel()
	for _, l := range losses {
		e := hand()
		l.take(e)
		hit := 0
		for _, q := range quantify.All() {
			got, err := q.Of(e)
			if err != nil {
				t.Fatalf("%s, %s: %v", l.name, q.ID, err)
			}
			want, _ := q.Of(hand())
			if l.hits(q.Needs) {
				hit++
				want = record.Absent(l.why)
			}
			if got != want {
				t.Errorf("%s: %s = %+v, want %+v", l.name, q.ID, got, want)
			}
		}
		if hit == 0 {
			t.Errorf("%s: no quantifier minds", l.name)
		}
	}
}

// TestFewTokensAndSamples: nothing is certain only because there is nothing.
func TestFewTokensAndSamples(t *testing.T) {
	t.Parallel()
	for tokenCount := range 2 {
		for sampleCount := range 3 {
			e := few(tokenCount, sampleCount)
			for _, q := range quantify.All() {
				got, err := q.Of(e)
				if err != nil {
					t.Fatalf("%s: %v", q.ID, err)
				}
				want := record.Present
				switch n := q.Needs; {
				case tokenCount == 0 && n.Answer != 0:
					want = record.EmptyAnswer
				case sampleCount == 0 && n.Ideas, sampleCount < n.Samples && n.Samples == 1:
					want = quantify.NoSample
				case sampleCount < n.Samples:
					want = quantify.OneSample
				case tokenCount == 0 && n.Sample != 0:
					want = quantify.EmptySample
				}
				if got.Missing() != want {
					t.Errorf("%d tokens, %d samples: %s = %+v, want missing %q", tokenCount, sampleCount, q.ID, got, want)
				}
				inRange(t, q, got, sampleCount)
			}
		}
	}
}

// few has an answer and samples "x" of so many tokens each, with all else there. A text of no token is empty.
func few(tokenCount, sampleCount int) *quantify.Evidence {
	text := func() quantify.Text {
		if tokenCount == 0 {
			return quantify.Text{End: quantify.End{LogProb: record.Known(ln(.5)), Alternatives: logs(.5, .5)}}
		}
		return quantify.Text{
			Text: "x", Tokens: tokens(.5), Alternatives: [][]float64{logs(.5, .25)}, Entropies: []float64{1}, Relevance: []float64{1},
			End: quantify.End{LogProb: record.Known(ln(.5)), Alternatives: logs(.5, .5)},
		}
	}
	full := hand()
	e := &quantify.Evidence{Answer: text(), Options: full.Options, Stated: full.Stated}
	e.Guesses = quantify.Guesses{List: []quantify.Guess{{Text: e.Answer.Text, Probability: record.Known(.5)}}}
	var texts []string
	ones := make([][]float64, sampleCount+1)
	for i := range ones {
		e.Embeddings = append(e.Embeddings, []float64{1, 1})
		for range ones {
			ones[i] = append(ones[i], 1)
		}
		if i > 0 {
			e.Samples = append(e.Samples, text())
			texts = append(texts, e.Answer.Text)
		}
	}
	e.Similarity = similarities(ones)
	e.Entailment = quantify.Relate(e.Answer.Text, texts, nil)
	e.EntailmentWithQuestion = e.Entailment
	return e
}

// inRange checks a value that is there against the declared range, but for rounding.
func inRange(t interface{ Errorf(string, ...any) }, q quantify.Quantifier, n record.Number, samples int) {
	x, known := n.Get()
	if !known {
		if n.Missing() == record.Present {
			t.Errorf("%s is absent without a reason", q.ID)
		}
		return
	}
	low, high := q.Range.Of(samples)
	const slack = 1e-9
	if math.IsNaN(x) || math.IsInf(x, 0) || x < low-slack || x > high+slack {
		t.Errorf("%s = %v of %d samples lies outside %s", q.ID, x, samples, q.Range.Text)
	}
}

func TestImpossibleTokensAreNotInfinite(t *testing.T) {
	t.Parallel()
	e := hand()
	e.Answer.Tokens[0].LogProb = math.Inf(-1)
	for id, want := range map[string]record.Number{
		"log-probability": record.Absent(quantify.NotFinite), "perplexity": record.Absent(quantify.NotFinite),
		"cocoa": record.Absent(quantify.NotFinite), "token-sar": record.Absent(quantify.NotFinite),
		"geometric-mean": record.Known(0), "product": record.Known(0), "minimum": record.Known(0), "cocoa.uqlm": record.Known(0),
	} {
		q, err := quantify.ByID(id)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := q.Of(e); err != nil || got != want {
			t.Errorf("%s = %+v, %v; want %+v", id, got, err, want)
		}
	}
}

func TestEvidenceThatDoesNotFit(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(e *quantify.Evidence){
		"entailment":   func(e *quantify.Evidence) { e.Entailment = quantify.Relate("a", []string{"b"}, anything) },
		"question":     func(e *quantify.Evidence) { e.EntailmentWithQuestion = quantify.Relate("a", nil, anything) },
		"similarity":   func(e *quantify.Evidence) { e.Similarity = similarities([][]float64{{1}}) },
		"embeddings":   func(e *quantify.Evidence) { e.Embeddings = e.Embeddings[1:] },
		"lengths":      func(e *quantify.Evidence) { e.Embeddings[1] = []float64{1} },
		"NaN":          func(e *quantify.Evidence) { e.Embeddings[1][0] = math.NaN() },
		"alternatives": func(e *quantify.Evidence) { e.Answer.Alternatives = e.Answer.Alternatives[1:] },
		"entropies":    func(e *quantify.Evidence) { e.Answer.Entropies = append(e.Answer.Entropies, 1) },
		"relevance":    func(e *quantify.Evidence) { e.Samples[0].Relevance = e.Samples[0].Relevance[1:] },
	} {
		e := hand()
		spoil(e)
		if values, err := quantify.Evaluate(quantify.Default(), e); err == nil {
			t.Errorf("%s: no error, but %v", name, values)
		}
	}
}

func anything(string, string) quantify.Relation { return quantify.Relation{Entails: 1} }

func TestReadingKeepsDirectionAndReason(t *testing.T) {
	t.Parallel()
	e, id := hand(), record.AnswerID{Item: "q1"}
	e.Reproducible = true
	r, err := quantify.PredictiveEntropy().Reading(id, e)
	if x, ok := r.Value.Get(); err != nil || !ok || x != 1.5*ln2 || r.Answer != id || r.Signal != "predictive-entropy" || !r.Reproducible {
		t.Errorf("%+v, %v", r, err)
	}
	if q := quantify.PredictiveEntropy(); q.Orientation != measure.Uncertainty {
		t.Errorf("predictive entropy is a %s", q.Orientation)
	}
	e.Samples[0].Truncated = true
	if r, err = quantify.PredictiveEntropy().Reading(id, e); err != nil || r.Value.Missing() != quantify.SampleCutOff {
		t.Errorf("%+v, %v", r, err)
	}
}
