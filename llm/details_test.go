package llm_test

import (
	"errors"
	"math"
	"testing"

	"github.com/credence-lab/credence/llm"
)

func TestDetailsAreBounded(t *testing.T) {
	t.Parallel()
	ask := llm.Request{Kind: llm.Generate, Prompt: llm.Chat("q", ""), Decoding: llm.Decoding{MaxTokens: 1}}
	for n, good := range map[int]bool{-1: false, 0: true, 1: false, 2: true, llm.MaxAlternatives: true, llm.MaxAlternatives + 1: false} {
		ask.Details.Alternatives = n
		if err := ask.Validate(); (err == nil) != good {
			t.Errorf("%d alternatives: %v", n, err)
		}
	}
}

func TestToldIsHeldAgainstItsTokens(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]*llm.Told{
		"another number":   {Alternatives: [][]float64{{-1, -2}}},
		"entropies":        {Entropies: []float64{1, 2, 3}},
		"no number":        {Alternatives: [][]float64{{-1}, {math.NaN()}}},
		"no entropy":       {Entropies: []float64{0, math.Inf(1)}},
		"no end":           {End: &llm.EndOfTurn{LogProb: math.NaN()}},
		"an end's":         {End: &llm.EndOfTurn{Alternatives: []float64{math.NaN()}}},
		"too many of them": {Alternatives: [][]float64{make([]float64, llm.MaxAlternatives+1), nil}},
	} {
		if bad.Check(2) == nil {
			t.Errorf("%s passes", name)
		}
	}
	good := &llm.Told{Alternatives: [][]float64{{-1, math.Inf(-1)}, nil}, End: &llm.EndOfTurn{LogProb: -1}}
	if err := good.Check(2); err != nil {
		t.Error(err)
	}
	var nothing *llm.Told
	if err := nothing.Check(3); err != nil {
		t.Error(err)
	}
}

func TestEntailmentsComeBackFromReplies(t *testing.T) {
	t.Parallel()
	want := llm.Entailment{Entails: .25, Neither: 0, Contradicts: .75}
	got, err := llm.EntailmentOf(want.Reply())
	if err != nil || math.Abs(got.Entails-.25) > 1e-15 || got.Neither != 0 || math.Abs(got.Contradicts-.75) > 1e-15 {
		t.Errorf("%+v, %v", got, err)
	}
	other := want.Reply()
	other.Tokens[0], other.Tokens[2] = other.Tokens[2], other.Tokens[0]
	for name, bad := range map[string]llm.Reply{"no token": {}, "another order": other} {
		if _, err := llm.EntailmentOf(bad); err == nil {
			t.Errorf("%s is read as an entailment", name)
		}
	}
	for name, r := range map[string]llm.Request{
		"no hypothesis": {Kind: llm.Entail, Prompt: llm.Prompt{Text: "a"}},
		"no premise":    {Kind: llm.Entail, Answer: "a"},
	} {
		if err := r.Validate(); !errors.Is(err, llm.ErrEmptyText) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
