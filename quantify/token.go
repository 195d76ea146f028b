package quantify

import (
	"fmt"
	"math"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

// Ending says whether a model's decision to end its turn counts as one more token of the answer.
type Ending uint8

const (
	// WithoutEnd leaves the end of turn out: the value is of the answer's own tokens. The default.
	WithoutEnd Ending = iota
	// WithEnd counts it, so that "4" and "4, I think" are different answers to the end.
	WithEnd
)

func (e Ending) variant() string {
	if e == WithEnd {
		return "end"
	}
	return ""
}

func (e Ending) parts() Parts {
	if e == WithEnd {
		return LogProbs | EndOfTurn
	}
	return LogProbs
}

// badTokens returns the first reason for which the text's log-probabilities cannot be used.
func (t *Text) badTokens(ending Ending) record.Missing {
	if why := t.missingTokens(); why != record.Present {
		return why
	}
	for i := range t.Tokens {
		if why := badLogProb(t.Tokens[i].LogProb); why != record.Present {
			return why
		}
	}
	if ending == WithEnd {
		end, why := t.end()
		if why != record.Present {
			return why
		}
		return badLogProb(end)
	}
	return record.Present
}

// logProb is the sum and number of a text's log-probabilities, which badTokens has found to be there.
func (t *Text) logProb(ending Ending) (sum float64, n int) {
	for i := range t.Tokens {
		sum += t.Tokens[i].LogProb
	}
	n = len(t.Tokens)
	if ending == WithEnd {
		end, _ := t.End.LogProb.Get()
		sum += end
		n++
	}
	return sum, n
}

func (t *Text) meanLogProb(ending Ending) float64 {
	sum, n := t.logProb(ending)
	return sum / float64(n)
}

// LogProbability is the log-probability of the answer: Σ l_t, the sum of its tokens' log-probabilities.
//
// Confidence, range (−∞, 0], in nats. Needs the answer's tokens; no call.
// Source: Ilia and Aziz 2026, appendix C.1, equation 4 (Jiang et al. 2021).
func LogProbability(ending Ending) Quantifier {
	return Quantifier{
		ID: id("log-probability", ending.variant()), Title: "log-probability", Formula: "Σ l_t",
		Orientation: measure.Confidence, Range: nonPositive, Units: "nats",
		Needs:  Needs{Answer: ending.parts()},
		Source: "Ilia and Aziz 2026, appendix C.1, equation 4 (Jiang et al. 2021)",
		Peer:   only(ending == WithEnd, "lm-polygraph MaximumSequenceProbability, negated"),
		of: exactly(func(v *view) float64 {
			sum, _ := v.Answer.logProb(ending)
			return sum
		}),
	}
}

// NormalisedLogProbability is the answer's log-probability a token: (1/T) Σ l_t.
//
// Confidence, range (−∞, 0], in nats a token. Needs the answer's tokens; no call.
// Source: Ilia and Aziz 2026, appendix C.1, equation 5, which calls its negative the perplexity (Manakul
// et al. 2023).
func NormalisedLogProbability(ending Ending) Quantifier {
	return Quantifier{
		ID: id("normalised-log-probability", ending.variant()), Title: "normalised log-probability", Formula: "(1/T) Σ l_t",
		Orientation: measure.Confidence, Range: nonPositive, Units: "nats a token",
		Needs:  Needs{Answer: ending.parts()},
		Source: "Ilia and Aziz 2026, appendix C.1, equation 5 (Manakul et al. 2023)",
		Peer:   [...]string{"TruthTorchLM Confidence", "lm-polygraph Perplexity, negated"}[ending],
		of:     exactly(func(v *view) float64 { return v.Answer.meanLogProb(ending) }),
	}
}

// Perplexity is the exponential of the mean negative log-probability: exp(−(1/T) Σ l_t). It ranks as
// [NormalisedLogProbability] does.
//
// Uncertainty, range [1, ∞), without units (a number of equally likely tokens). Needs the answer's tokens;
// no call.
// Source: Jelinek et al. 1977; Fomicheva et al. 2020, section 3.1, has its logarithm.
func Perplexity(ending Ending) Quantifier {
	return Quantifier{
		ID: id("perplexity", ending.variant()), Title: "perplexity", Formula: "exp(−(1/T) Σ l_t)",
		Orientation: measure.Uncertainty, Range: Range{Text: "[1, ∞)", low: 1, high: math.Inf(1)}, Units: "tokens",
		Needs:  Needs{Answer: ending.parts()},
		Source: "Jelinek et al. 1977",
		of:     exactly(func(v *view) float64 { return math.Exp(-v.Answer.meanLogProb(ending)) }),
	}
}

// TokenProbability aggregates the probabilities of the answer's tokens: the geometric mean exp((1/T) Σ l_t),
// the product exp(Σ l_t), the minimum exp(min l_t), that of the first token exp(l_1), or the arithmetic
// mean (1/T) Σ exp(l_t). The end of turn, where it counts, is the last token.
//
// Confidence, range [0, 1], a probability. Needs the answer's tokens; no call.
// Source: "Same Answer, Different Confidence", sections 3.1 and 4.4.
func TokenProbability(how Aggregation, ending Ending) Quantifier {
	formulas := map[Aggregation]string{
		GeometricMean: "exp((1/T) Σ l_t)", Product: "exp(Σ l_t)", Minimum: "exp(min_t l_t)",
		FirstToken: "exp(l_1)", ArithmeticMean: "(1/T) Σ exp(l_t)",
	}
	peers := map[Aggregation]string{
		GeometricMean: "uqlm sequence_probability (normalised_probability in older releases)",
		Product:       "uqlm sequence_probability with length_normalize off", Minimum: "uqlm min_probability",
	}
	formula, known := formulas[how]
	if !known {
		panic(fmt.Sprintf("quantify: unknown aggregation %q", how))
	}
	return Quantifier{
		ID: id(string(how), ending.variant()), Title: "token probability, " + string(how), Formula: formula,
		Orientation: measure.Confidence, Range: unit, Units: "probability",
		Needs:  Needs{Answer: ending.parts()},
		Source: "Same Answer, Different Confidence 2026, sections 3.1 and 4.4",
		Peer:   only(ending == WithoutEnd, peers[how]),
		of: func(v *view) record.Number {
			tokens := v.Answer.Tokens
			if ending == WithEnd {
				end, _ := v.Answer.End.LogProb.Get()
				tokens = append(tokens[:len(tokens):len(tokens)], record.Token{LogProb: end})
			}
			return how.Of(tokens)
		},
	}
}

// TokenEntropy is the mean over the positions of the entropy of the returned alternatives, whose
// probabilities are brought to the sum 1: (1/T) Σ_t H_t, H_t = −Σ_k p_tk ln p_tk. It sees K tokens of a
// vocabulary, so that values compare at one K only. For the whole vocabulary see [FullTokenEntropy].
//
// Uncertainty, range [0, ∞) (at most ln K), in nats a token. Needs at least 2 alternatives at each
// position; no call.
// Source: Fomicheva et al. 2020, section 3.1 (Softmax-Ent), over what a server returns.
func TokenEntropy(ending Ending) Quantifier {
	return Quantifier{
		ID: id("token-entropy", ending.variant()), Title: "mean token entropy", Formula: "(1/T) Σ_t H_t over the K returned alternatives, renormalised",
		Orientation: measure.Uncertainty, Range: nonNegative, Units: "nats a token",
		Needs:  Needs{Answer: ending.parts() | TopAlternatives},
		Source: "Fomicheva et al. 2020, section 3.1",
		of: alternativesMean(ending, func(list []float64) float64 {
			return entropyOfLogs(list)
		}),
	}
}

// FullTokenEntropy is the mean over the positions of the entropy of the next token over the whole
// vocabulary: (1/T) Σ_t H_t, as the engine computed it.
//
// Uncertainty, range [0, ∞) (at most ln V), in nats a token. Needs an engine that gives entropies; no call.
// Source: Fomicheva et al. 2020, section 3.1 (Softmax-Ent).
func FullTokenEntropy() Quantifier {
	return Quantifier{
		ID: "token-entropy.full", Title: "mean token entropy over the vocabulary", Formula: "(1/T) Σ_t H_t over the vocabulary",
		Orientation: measure.Uncertainty, Range: nonNegative, Units: "nats a token",
		Needs:  Needs{Answer: FullEntropy},
		Source: "Fomicheva et al. 2020, section 3.1",
		Peer:   "lm-polygraph MeanTokenEntropy",
		of:     fullEntropy(func(_ *view, mean float64) float64 { return mean }),
	}
}

// fullEntropy makes a quantifier's function from one of the answer's mean entropy over the vocabulary.
func fullEntropy(of func(v *view, mean float64) float64) func(*view) record.Number {
	return func(v *view) record.Number {
		sum := 0.0
		for _, h := range v.Answer.Entropies {
			if !(h >= 0) {
				return record.Absent(BadLogProb)
			}
			sum += h
		}
		return record.Known(of(v, sum/float64(len(v.Answer.Entropies))))
	}
}

// TokenNegentropy is the mean over the positions, or the minimum, of how far the K returned alternatives
// are from even: 1 − H_t / ln K, their probabilities brought to the sum 1.
//
// Confidence, range [0, 1], without units. Needs at least 2 alternatives at each position; no call.
// Source: Scalena et al. 2025; Manakul et al. 2023; the normalisation by ln K is Bouchard and Chauhan 2025's.
func TokenNegentropy(over Over, ending Ending) Quantifier {
	q := Quantifier{
		ID: id("token-negentropy", over.variant(), ending.variant()), Title: "token negentropy, " + over.String(),
		Formula:     over.String() + " over t of 1 − H_t / ln K",
		Orientation: measure.Confidence, Range: unit, Units: "share of ln K",
		Needs:  Needs{Answer: ending.parts() | TopAlternatives},
		Source: "Scalena et al. 2025; Manakul et al. 2023; Bouchard and Chauhan 2025",
		Peer:   only(ending == WithoutEnd, "uqlm "+over.String()+"_token_negentropy"),
	}
	negentropy := func(list []float64) float64 {
		return math.Max(0, 1-entropyOfLogs(list)/math.Log(float64(len(list))))
	}
	if over == Mean {
		q.of = alternativesMean(ending, negentropy)
		return q
	}
	q.of = func(v *view) record.Number {
		low := math.Inf(1)
		why := v.Answer.alternatives(ending, func(list []float64) { low = math.Min(low, negentropy(list)) })
		return knownUnless(why, low)
	}
	return q
}

// Over says how values of positions become one.
type Over uint8

const (
	// Mean is the arithmetic mean. The default.
	Mean Over = iota
	// Min is the minimum.
	Min
)

// String returns "mean" or "min".
func (o Over) String() string {
	if o == Min {
		return "min"
	}
	return "mean"
}

func (o Over) variant() string {
	if o == Min {
		return "minimum"
	}
	return ""
}

// ProbabilityMargin is the mean over the positions of the distance between the two most probable tokens:
// (1/T) Σ_t (p_t1 − p_t2), not renormalised.
//
// Confidence, range [0, 1], a probability. Needs at least 2 alternatives at each position; no call.
// Source: Farr et al. 2024.
func ProbabilityMargin(ending Ending) Quantifier {
	return Quantifier{
		ID: id("probability-margin", ending.variant()), Title: "probability margin", Formula: "(1/T) Σ_t (p_t1 − p_t2)",
		Orientation: measure.Confidence, Range: unit, Units: "probability",
		Needs:  Needs{Answer: ending.parts() | TopAlternatives},
		Source: "Farr et al. 2024",
		Peer:   only(ending == WithoutEnd, "uqlm probability_margin"),
		of: alternativesMean(ending, func(list []float64) float64 {
			first, second := math.Inf(-1), math.Inf(-1)
			for _, l := range list {
				if l > first {
					first, second = l, first
				} else if l > second {
					second = l
				}
			}
			return math.Exp(first) - math.Exp(second)
		}),
	}
}

func alternativesMean(ending Ending, of func(list []float64) float64) func(*view) record.Number {
	return func(v *view) record.Number {
		sum, n := 0.0, 0
		why := v.Answer.alternatives(ending, func(list []float64) {
			sum += of(list)
			n++
		})
		return knownUnless(why, sum/float64(n))
	}
}

func knownUnless(why record.Missing, x float64) record.Number {
	if why != record.Present {
		return record.Absent(why)
	}
	return record.Known(x)
}

// entropyOfLogs is the entropy, in nats, of probabilities given by their logarithms up to a common
// factor. NaN if none is above 0.
func entropyOfLogs(logs []float64) float64 {
	total := logSumExp(logs)
	h := 0.0
	for _, l := range logs {
		if p := math.Exp(l - total); p > 0 {
			h -= p * (l - total)
		}
	}
	return math.Max(0, h)
}

// logSumExp is ln Σ exp(l), without overflow; -Inf of nothing.
func logSumExp(logs []float64) float64 {
	high := math.Inf(-1)
	for _, l := range logs {
		high = math.Max(high, l)
	}
	if math.IsInf(high, -1) {
		return high
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - high)
	}
	return high + math.Log(sum)
}

// expit is 1 / (1 + exp(−x)), without overflow.
func expit(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}
