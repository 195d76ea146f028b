package openai

import (
	"context"
	"errors"
	"math"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/internal/wire"
	"github.com/credence-lab/credence/record"
)

// untold marks a log-probability that was not given yet. It never leaves the package.
var untold = math.NaN()

// gaps are tokens of which something is not known yet: it is had by asking for them as a given text.
type gaps struct {
	// tokens have log-probabilities that are [untold].
	tokens []record.Token
	// k is how many of the most probable tokens are wanted at each position, 0 if none. top is then as long as
	// tokens; what is nil in it is not known yet, what is empty cannot be had.
	k   int
	top [][]float64
}

// fill takes what was told of token i where it was not known.
func (g gaps) fill(i int, x float64, top []float64) {
	if math.IsNaN(g.tokens[i].LogProb) {
		g.tokens[i].LogProb = x
	}
	if g.k == 0 || g.top[i] != nil {
		return
	}
	if g.top[i] = []float64{}; top != nil {
		g.top[i] = top
	}
}

// any reports whether there is a gap at all.
func (g gaps) any() bool {
	for i, t := range g.tokens {
		if math.IsNaN(t.LogProb) || g.k > 0 && g.top[i] == nil {
			return true
		}
	}
	return false
}

// complete asks for what is not known of generated tokens, and of the token that ended the turn, if it is wanted:
// values that were told after temperature and filters, and alternatives. A reply is not lost for a detail of it.
func (e *Engine) complete(ctx context.Context, prompt []int32, said *completion, wanted llm.Details) error {
	n := len(said.tokens)
	g := gaps{tokens: said.tokens, k: wanted.Alternatives}
	if said.why != "" {
		return nil
	}
	if g.k > 0 {
		if g.top = said.top; len(g.top) != n {
			g.top = make([][]float64, n)
		}
	}
	ended := wanted.End && said.end != nil
	if ended {
		g.tokens = append(g.tokens[:n:n], record.Token{ID: said.endID, LogProb: said.end.LogProb})
		if g.k > 0 {
			g.top = append(g.top[:n:n], said.end.Alternatives)
		}
	}
	if !g.any() {
		return nil
	}
	_, err := e.tokens.force(ctx, prompt, g)
	copy(said.tokens, g.tokens)
	if g.k > 0 {
		said.top = g.top[:n]
	}
	if ended {
		said.end.LogProb = g.tokens[n].LogProb
		if g.k > 0 {
			said.end.Alternatives = g.top[n]
		}
	}
	failed, ok := wire.AsError(err)
	cannot := errors.Is(err, llm.ErrNoLogProb) || errors.Is(err, llm.ErrContextOverflow) || ok && (failed.Kind == Refused || failed.Kind == Malformed)
	switch {
	case err == nil, cannot && !anyUntold(said.tokens):
		return nil
	case errors.Is(err, llm.ErrNoLogProb):
		said.why = err.Error()
		return nil
	}
	return err
}

func anyUntold(tokens []record.Token) bool {
	for _, t := range tokens {
		if math.IsNaN(t.LogProb) {
			return true
		}
	}
	return false
}
