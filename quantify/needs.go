package quantify

import (
	"math"
	"slices"
	"strings"

	"github.com/credence-lab/credence/record"
)

// Parts is what must be known of a text's tokens: a set.
type Parts uint8

const (
	// LogProbs are the log-probabilities of the tokens.
	LogProbs Parts = 1 << iota
	// EndOfTurn is the log-probability of ending the turn after them.
	EndOfTurn
	// TopAlternatives are the most probable tokens at each position, at least two.
	TopAlternatives
	// FullEntropy is the entropy over the whole vocabulary at each position.
	FullEntropy
	// TokenRelevance is what each token matters to the text's meaning.
	TokenRelevance
)

var partNames = []struct {
	part    Parts
	name    string
	lacking record.Missing
}{
	{LogProbs, "token log-probabilities", record.NoLogProb},
	{EndOfTurn, "end of turn", NoEndOfTurn},
	{TopAlternatives, "alternatives", NoAlternatives},
	{FullEntropy, "entropy over the vocabulary", NoFullEntropy},
	{TokenRelevance, "token relevance", NoRelevance},
}

// String lists the parts; "none" for the empty set.
func (p Parts) String() string {
	var names []string
	for _, part := range partNames {
		if p&part.part != 0 {
			names = append(names, part.name)
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

// Needs is what a quantifier, or a set of them, reads of an [Evidence]. It also says what an endpoint can
// give: see [Needs.Lacking].
type Needs struct {
	// Answer is what must be known of the answer's tokens, Sample of every sample's.
	Answer, Sample Parts
	// Samples is the least number of samples; more are used where there are more.
	Samples int
	// Ideas says that the samples are shown to the model before a question. It takes one at least, and does
	// not mind what became of it: ideas may be cut off.
	Ideas bool
	// Entailment are the pairs whose relation is read, EntailmentWithQuestion those with the question put
	// before both texts, Similarity those whose similarity is read (its order does not matter).
	Entailment, EntailmentWithQuestion, Similarity Pairs
	// Embeddings says that the vectors of all texts are read.
	Embeddings bool
	// Questions are what the model is asked of the answer, sorted, each once.
	Questions []Question
}

// Everything is what an endpoint that can do all of it gives.
func Everything() Needs {
	return Needs{
		Answer: math.MaxUint8, Sample: math.MaxUint8, Samples: math.MaxInt, Ideas: true,
		Entailment: math.MaxUint8, EntailmentWithQuestion: math.MaxUint8, Similarity: math.MaxUint8,
		Embeddings: true, Questions: Questions(),
	}
}

// Union is what n and m need together: collect it once and it serves both.
func (n Needs) Union(m Needs) Needs {
	questions := slices.Concat(n.Questions, m.Questions)
	slices.Sort(questions)
	return Needs{
		Answer: n.Answer | m.Answer, Sample: n.Sample | m.Sample, Samples: max(n.Samples, m.Samples), Ideas: n.Ideas || m.Ideas,
		Entailment:             n.Entailment | m.Entailment,
		EntailmentWithQuestion: n.EntailmentWithQuestion | m.EntailmentWithQuestion,
		Similarity:             n.Similarity | m.Similarity,
		Embeddings:             n.Embeddings || m.Embeddings,
		Questions:              slices.Compact(questions),
	}
}

// NeedsOf is the union of the needs of a set.
func NeedsOf(set []Quantifier) Needs {
	var n Needs
	for _, q := range set {
		n = n.Union(q.Needs)
	}
	return n
}

// Lacking lists the reasons for which values would be missing from an endpoint that gives have and no
// more; nil if it gives everything. So a study can say before it starts what it cannot measure.
func (n Needs) Lacking(have Needs) []record.Missing {
	var list []record.Missing
	add := func(lacking bool, why record.Missing) {
		if lacking && !slices.Contains(list, why) {
			list = append(list, why)
		}
	}
	for _, part := range partNames {
		lacking := n.Answer&^have.Answer | n.Sample&^have.Sample
		add(lacking&part.part != 0, part.lacking)
	}
	add(n.Samples > have.Samples, tooFew(n.Samples))
	add(n.Ideas && have.Samples == 0, NoSample)
	add(n.Entailment&^have.Entailment|n.EntailmentWithQuestion&^have.EntailmentWithQuestion != 0, NoEntailment)
	add(n.Similarity&^have.Similarity != 0, NoSimilarity)
	add(n.Embeddings && !have.Embeddings, NoEmbedding)
	for _, q := range n.Questions {
		add(!slices.Contains(have.Questions, q), NotAsked)
	}
	return list
}

// Size is what the number of calls depends on, for one item.
type Size struct {
	// Samples is the number of samples, Distinct the number of texts that differ among the answer and
	// its samples: at most Samples + 1.
	Samples, Distinct int
	// Tokens is the number of tokens of the texts whose relevance is measured, together.
	Tokens int
}

// Calls is a number of requests by kind.
type Calls struct {
	// Generate asks for new text, Score for the probability of a given text.
	Generate, Score int
	// Entail asks for the relation of one ordered pair, Compare for the similarity of two texts, Embed for
	// the vector of one.
	Entail, Compare, Embed int
}

// Total is the number of requests of all kinds.
func (c Calls) Total() int { return c.Generate + c.Score + c.Entail + c.Compare + c.Embed }

// Calls is the number of requests for one item that come on top of the answer itself, whose generation
// brings its tokens with it. Samples bring theirs too. Equal texts are asked about once.
func (n Needs) Calls(s Size) Calls {
	var c Calls
	if n.Samples > 0 || n.Ideas {
		c.Generate = s.Samples
	}
	distinct := max(1, min(s.Distinct, s.Samples+1))
	c.Entail = n.Entailment.count(s.Samples, distinct) + n.EntailmentWithQuestion.count(s.Samples, distinct)
	c.Compare = unordered(n.Similarity, s.Samples, distinct)
	if (n.Answer|n.Sample)&TokenRelevance != 0 {
		c.Compare += s.Tokens
	}
	if n.Embeddings {
		c.Embed = distinct
	}
	for _, q := range n.Questions {
		if q.Forced() {
			c.Score += 2
		} else {
			c.Generate++
		}
	}
	return c
}

// unordered is the number of pairs where the order does not matter.
func unordered(p Pairs, samples, distinct int) int {
	if p&WithAnswer != 0 {
		p |= WithAnswer
	}
	return p.count(samples, distinct) / 2
}

// missing returns the first reason for which e does not have what n needs.
func (n Needs) missing(e *Evidence) record.Missing {
	if e.Answer.Missing != record.Present {
		return record.AnswerMissing
	}
	if why := e.Answer.lacks(n.Answer); why != record.Present {
		return why
	}
	if n.Ideas && len(e.Samples) == 0 {
		return NoSample
	}
	if n.Samples > 0 {
		if why := n.missingSamples(e); why != record.Present {
			return why
		}
	}
	if n.Entailment != 0 {
		if why := e.Entailment.missing(n.Entailment); why != record.Present {
			return why
		}
	}
	if n.EntailmentWithQuestion != 0 {
		if why := e.EntailmentWithQuestion.missing(n.EntailmentWithQuestion); why != record.Present {
			return why
		}
	}
	if n.Similarity != 0 {
		if why := e.Similarity.missing(n.Similarity); why != record.Present {
			return why
		}
	}
	if n.Embeddings {
		return e.missingEmbeddings()
	}
	return record.Present
}

func (n Needs) missingSamples(e *Evidence) record.Missing {
	if len(e.Samples) < n.Samples {
		return tooFew(n.Samples)
	}
	for i := range e.Samples {
		s := &e.Samples[i]
		switch {
		case s.Missing != record.Present:
			return SampleMissing
		case s.Truncated:
			return SampleCutOff
		}
		why := s.lacks(n.Sample)
		if why == record.EmptyAnswer {
			why = EmptySample
		}
		if why != record.Present {
			return why
		}
	}
	return record.Present
}

func tooFew(least int) record.Missing {
	if least == 1 {
		return NoSample
	}
	return OneSample
}

// lacks returns the first reason for which the text does not have the parts.
func (t *Text) lacks(parts Parts) record.Missing {
	if parts == 0 {
		return record.Present
	}
	if parts&LogProbs != 0 {
		ending := WithoutEnd
		if parts&EndOfTurn != 0 {
			ending = WithEnd
		}
		if why := t.badTokens(ending); why != record.Present {
			return why
		}
	}
	if why := t.missingTokens(); why != record.Present {
		return why
	}
	switch {
	case parts&TopAlternatives != 0 && t.Alternatives == nil:
		return NoAlternatives
	case parts&FullEntropy != 0 && t.Entropies == nil:
		return NoFullEntropy
	case parts&TokenRelevance != 0 && t.Relevance == nil:
		return NoRelevance
	}
	return record.Present
}
