package quantify_test

import (
	"math"
	"testing"

	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
)

// Each of these inputs has led a published tool to a wrong number; the report is cited.

// One emoji of four tokens, each of which reads U+FFFD: positions count, not texts (ollama/ollama#13497).
func TestTokensOfEqualTextAreSeveral(t *testing.T) {
	t.Parallel()
	e := &quantify.Evidence{Answer: ofLogs("🫠", []float64{-.0260833, -.0000832, -.4043496, -.0221568})}
	for i := range e.Answer.Tokens {
		e.Answer.Tokens[i].Piece = []byte("\ufffd")
	}
	if got := value(t, "log-probability", e); !close(got, -.4526729, 1e-12) {
		t.Errorf("log-probability %v", got)
	}
}

// Alternatives are a list: two that read alike are two (vllm-project/vllm#34875, sgl-project/sglang#32290).
func TestAlternativesOfEqualTextAreSeveral(t *testing.T) {
	t.Parallel()
	e := &quantify.Evidence{Answer: ofLogs("x", []float64{-.5})}
	e.Answer.Alternatives = [][]float64{{-.5, -3, -1.2}}
	if got, want := value(t, "probability-margin", e), math.Exp(-.5)-math.Exp(-1.2); !close(got, want, 1e-15) {
		t.Errorf("margin %v, want %v", got, want)
	}
}

// Spellings of one option add up in probability; the last does not win (vllm-project/vllm#44319, whose
// log-probabilities have four digits).
func TestSpellingsOfAnOptionAddUp(t *testing.T) {
	t.Parallel()
	e := hand()
	e.Options[quantify.IsTrue] = quantify.Options{True: []float64{-1.5768}, False: []float64{-.2331, -8.4753}}
	if got := value(t, "p-true.no-ideas", e); !close(got, .206851, 1e-5) {
		t.Errorf("P(True) = %v, want .206851", got)
	}
}

// One token with all the probability, nine with none (dphnAI/sonar#183): 0 · ln 0 is 0, not NaN.
func TestImpossibleAlternatives(t *testing.T) {
	t.Parallel()
	for _, none := range []float64{math.Inf(-1), -9999} {
		e := &quantify.Evidence{Answer: ofLogs("x", []float64{0})}
		e.Answer.Alternatives = [][]float64{{0, none, none, none, none, none, none, none, none, none}}
		for id, want := range map[string]float64{"token-entropy": 0, "token-negentropy": 1, "probability-margin": 1} {
			if got := value(t, id, e); got != want {
				t.Errorf("%s = %v with %v, want %v", id, got, none, want)
			}
		}
	}
}

// An answer that the tokeniser leaves no token of (EleutherAI/lm-evaluation-harness#4055): an empty sum would
// be the log-probability of certainty.
func TestNoTokensAreNotCertain(t *testing.T) {
	t.Parallel()
	for _, e := range []*quantify.Evidence{
		{Answer: quantify.Text{Text: "wer"}},
		{Answer: quantify.Text{Text: "wer", NoTokens: record.NotSupported}},
	} {
		for _, q := range []quantify.Quantifier{quantify.LogProbability(quantify.WithoutEnd), quantify.TokenProbability(quantify.Product, quantify.WithoutEnd)} {
			if n, err := q.Of(e); err != nil || n.Missing() == record.Present {
				t.Errorf("%s = %v, %v", q.ID, n, err)
			}
		}
	}
}

// Repeated samples must not be counted as more than they are (IINemo/lm-polygraph#223): semantic entropy by
// likelihood stays an entropy, where the sum over samples makes probabilities above 1.
func TestRepeatedSamplesKeepEntropyAnEntropy(t *testing.T) {
	t.Parallel()
	e := numbered([]int{0, 0, 0, 0, 0})
	for i := range e.Samples {
		e.Samples[i].Tokens = tokens(.9)
	}
	if got := value(t, "semantic-entropy.likelihood", e); got != 0 {
		t.Errorf("%v, want 0", got)
	}
	if got := value(t, "semantic-entropy.lm-polygraph", e); got >= 0 {
		t.Errorf("the variant of lm-polygraph gives %v, and was negative", got)
	}
}

// A long text has a probability that no float64 holds; logarithms do.
func TestVeryUnlikelyTexts(t *testing.T) {
	t.Parallel()
	long := make([]float64, 2000)
	for i := range long {
		long[i] = -3
	}
	e := numbered([]int{0, 0, 1})
	for i := range e.Samples {
		e.Samples[i].Tokens = ofLogs("", long).Tokens
	}
	e.Similarity = similarities([][]float64{{1, 1, 0}, {1, 1, 0}, {0, 0, 1}})
	if got := value(t, "sentence-sar", e); got != 6000 {
		t.Errorf("sentence SAR %v, want 6000", got)
	}
	if got := value(t, "semantic-entropy.lm-polygraph", e); got != 6000 {
		t.Errorf("semantic entropy %v, want 6000", got)
	}
	if got := value(t, "semantic-entropy.likelihood", e); !close(got, ln2, 1e-15) {
		t.Errorf("semantic entropy by likelihood %v, want ln 2", got)
	}
}
