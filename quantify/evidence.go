package quantify

import (
	"fmt"
	"math"

	"github.com/credence-lab/credence/record"
)

// Evidence is what was collected of one answer: the input of every quantifier. What no quantifier of a
// set needs may be left out. Matrices number the texts: 0 is the answer, 1 to m are the samples in order.
type Evidence struct {
	// Answer is the text whose confidence is asked for.
	Answer Text
	// Samples were drawn from the same model for the same question, at temperature 1 unless a study says
	// otherwise. Equal texts are kept: how often one comes is what several quantifiers count.
	Samples []Text

	// Entailment relates the texts alone; EntailmentWithQuestion relates them with the question put before
	// both. Nil where it was not collected.
	Entailment, EntailmentWithQuestion *Relations
	// Similarity holds how alike the texts are in the eyes of a model made for it. Nil where not collected.
	Similarity *Similarities
	// Embeddings has a vector for each text, all of one length. Nil where not collected; a nil vector is
	// one that is missing.
	Embeddings [][]float64

	// Options are the forced scores of the options of a question about the answer.
	Options map[Question]Options
	// Stated are the probabilities that the model stated, parsed. An absent number says why.
	Stated map[Question]record.Number
	// Guesses is the parsed reply to TopK.
	Guesses Guesses

	// Reproducible says that everything here comes out the same when the model is asked again.
	Reproducible bool
}

// Text is one answer or sample with what is known of its tokens. Slices that run beside Tokens have
// their length, or are nil where the server gives no such thing.
type Text struct {
	// Text is the parsed answer, without what the reply has around it. It may be empty.
	Text string
	// Tokens are the tokens of Text in order with their log-probabilities, without the end of turn.
	Tokens []record.Token
	// NoTokens says why there are no log-probabilities; [record.Present] if there are, or if the text
	// has no token.
	NoTokens record.Missing
	// Alternatives are the log-probabilities of the most probable tokens at each position, in any order
	// and as many as the server returned: a list, since two entries may read the same. -Inf is a
	// probability of 0, and so is any entry at or below -100.
	Alternatives [][]float64
	// Entropies are the entropies, in nats, of the next token over the whole vocabulary.
	Entropies []float64
	// Relevance says how much the text's meaning changes without this token: 1 minus the similarity of
	// the text without it to the text, at least 0.
	Relevance []float64
	// End is the end of turn after the last of Tokens.
	End End
	// Truncated says that the text ended at its token limit.
	Truncated bool
	// Missing says why there is no text; [record.Present] if there is.
	Missing record.Missing
}

// End is the end-of-turn token after a text: what the model gave the decision to say no more.
type End struct {
	// LogProb is its log-probability; the zero Number where it is not known.
	LogProb record.Number
	// Alternatives are as in [Text].
	Alternatives []float64
}

// Check returns an error that says which parts of e do not fit each other; nil if all do. Values out of
// range are no error: they make readings missing.
func (e *Evidence) Check() error {
	n := len(e.Samples) + 1
	if err := e.Answer.check(); err != nil {
		return fmt.Errorf("quantify: answer: %w", err)
	}
	for i := range e.Samples {
		if err := e.Samples[i].check(); err != nil {
			return fmt.Errorf("quantify: sample %d: %w", i+1, err)
		}
	}
	for _, part := range []struct {
		name string
		n    int
		has  bool
	}{
		{"entailment", e.Entailment.texts(), e.Entailment != nil},
		{"entailment with question", e.EntailmentWithQuestion.texts(), e.EntailmentWithQuestion != nil},
		{"similarity", e.Similarity.texts(), e.Similarity != nil},
		{"embeddings", len(e.Embeddings), e.Embeddings != nil},
	} {
		if part.has && part.n != n {
			return fmt.Errorf("quantify: %s of %d texts; the answer and its samples are %d", part.name, part.n, n)
		}
	}
	return e.checkEmbeddings()
}

func (e *Evidence) checkEmbeddings() error {
	length := -1
	for i, vector := range e.Embeddings {
		switch {
		case vector == nil:
		case length < 0:
			length = len(vector)
		case len(vector) != length:
			return fmt.Errorf("quantify: embedding %d has %d elements, those before it %d", i, len(vector), length)
		}
		for _, x := range vector {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("quantify: embedding %d holds %v", i, x)
			}
		}
	}
	return nil
}

func (t *Text) check() error {
	for _, part := range []struct {
		name string
		n    int
	}{
		{"lists of alternatives", len(t.Alternatives)},
		{"entropies", len(t.Entropies)},
		{"token relevances", len(t.Relevance)},
	} {
		if part.n != 0 && part.n != len(t.Tokens) {
			return fmt.Errorf("%d %s for %d tokens", part.n, part.name, len(t.Tokens))
		}
	}
	return nil
}

func (t *Text) missingTokens() record.Missing {
	switch {
	case t.NoTokens != record.Present:
		return t.NoTokens
	case len(t.Tokens) == 0 && t.Text != "":
		return record.NoLogProb
	case len(t.Tokens) == 0:
		return record.EmptyAnswer
	}
	return record.Present
}

func (t *Text) end() (float64, record.Missing) {
	if t.Truncated {
		return 0, AnswerCutOff
	}
	l, ok := t.End.LogProb.Get()
	if !ok {
		return 0, NoEndOfTurn
	}
	return l, record.Present
}

// badLogProb knows the placeholders that servers send where they have no value. -Inf is a value: what
// cannot be said at all has the probability 0.
func badLogProb(l float64) record.Missing {
	switch {
	case math.IsNaN(l) || l > 0:
		return BadLogProb
	case l == -100 || (l <= -9999 && !math.IsInf(l, -1)):
		return record.NoLogProb
	}
	return record.Present
}

// alternatives calls with for the alternatives of each position in order, or says why it cannot.
func (t *Text) alternatives(ending Ending, with func(list []float64)) record.Missing {
	if len(t.Tokens) == 0 {
		return t.missingTokens()
	}
	if t.Alternatives == nil {
		return NoAlternatives
	}
	lists := t.Alternatives
	if ending == WithEnd {
		if _, why := t.end(); why != record.Present {
			return why
		}
		lists = append(lists[:len(lists):len(lists)], t.End.Alternatives)
	}
	for _, list := range lists {
		if len(list) < 2 {
			return TooFewAlternatives
		}
		for _, l := range list {
			if math.IsNaN(l) || l > 0 {
				return BadLogProb
			}
		}
		with(list)
	}
	return record.Present
}
