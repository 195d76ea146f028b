package llm

import (
	"fmt"
	"math"
)

// Details asks for more than the log-probability of each generated token. It costs time and room in a ledger, so
// that nothing of it is computed where it is not asked for. It is part of a call's identity.
type Details struct {
	// Alternatives is how many of the most probable tokens are told at each position, at least 2; 0 is none.
	Alternatives int `json:"alternatives,omitempty"`
	// Entropy asks for the entropy of the next token over the whole vocabulary.
	Entropy bool `json:"entropy,omitempty"`
	// End asks for the same of the token that ended the turn, and for its log-probability.
	End bool `json:"end,omitempty"`
}

// MaxAlternatives bounds what is told of a position.
const MaxAlternatives = 1000

func (d Details) validate() error {
	if d.Alternatives < 0 || d.Alternatives == 1 || d.Alternatives > MaxAlternatives {
		return fmt.Errorf("generate: %d alternatives: there are 2 to %d, or none", d.Alternatives, MaxAlternatives)
	}
	return nil
}

// Told is what a model tells of generated tokens besides their log-probabilities, as far as it was asked for and
// the engine knows it. All is of the model's own distribution: before temperature, filters and penalties.
type Told struct {
	// Alternatives has for each of the reply's Tokens the log-probabilities, in nats, of the most probable
	// tokens, in descending order; one that is empty is not known. Nil where none is.
	Alternatives [][]float64
	// Entropies has for each of the reply's Tokens the entropy of the next token over the vocabulary, in nats. Nil
	// where they are not known.
	Entropies []float64
	// End is of the token that ended the turn; nil where the turn did not end so, or nobody knows.
	End *EndOfTurn
}

// EndOfTurn is the token that ended a turn: what the model gave the decision to say no more.
type EndOfTurn struct {
	LogProb float64
	// Alternatives and Entropy are as in [Told]; Entropy is 0 where Told has no Entropies.
	Alternatives []float64
	Entropy      float64
}

// Check says what of t cannot be, for a reply of n tokens; nil if all can.
func (t *Told) Check(n int) error {
	if t == nil {
		return nil
	}
	if t.Alternatives != nil && len(t.Alternatives) != n || t.Entropies != nil && len(t.Entropies) != n {
		return fmt.Errorf("alternatives of %d and entropies of %d positions, %d tokens", len(t.Alternatives), len(t.Entropies), n)
	}
	lists := t.Alternatives
	entropies := t.Entropies
	if t.End != nil {
		lists = append(lists[:len(lists):len(lists)], t.End.Alternatives)
		entropies = append(entropies[:len(entropies):len(entropies)], t.End.Entropy)
		if math.IsNaN(t.End.LogProb) {
			return fmt.Errorf("log-probability of the end of turn is not a number")
		}
	}
	for i, list := range lists {
		if len(list) > MaxAlternatives {
			return fmt.Errorf("%d alternatives at position %d", len(list), i)
		}
		for _, x := range list {
			if math.IsNaN(x) {
				return fmt.Errorf("an alternative at position %d is not a number", i)
			}
		}
	}
	for i, h := range entropies {
		if math.IsNaN(h) || math.IsInf(h, 0) {
			return fmt.Errorf("entropy at position %d is %v", i, h)
		}
	}
	return nil
}
