package quantify

import (
	"fmt"
	"slices"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

// Question is something that the model is asked about its answer.
type Question string

const (
	// IsTrue asks whether the possible answer is (a) true or (b) false; both options are scored.
	IsTrue Question = "is-true"
	// IsTrueSwapped is IsTrue with the options in the other order: (a) false, (b) true.
	IsTrueSwapped Question = "is-true-swapped"
	// IsTrueWithIdeas is IsTrue after the samples, listed as brainstormed ideas.
	IsTrueWithIdeas Question = "is-true-with-ideas"
	// IsTrueWithIdeasSwapped is IsTrueWithIdeas with the options in the other order.
	IsTrueWithIdeasSwapped Question = "is-true-with-ideas-swapped"
	// OwnAnswer shows the model its answer and asks for its confidence in it, 0 to 1.
	OwnAnswer Question = "own-answer"
	// Top1 asks for the best guess and its probability in one reply.
	Top1 Question = "top-1"
	// TopK asks for several guesses and the probability of each in one reply.
	TopK Question = "top-k"
	// TwoStage asks for the probability in a second turn, after the guess in the first.
	TwoStage Question = "two-stage"
	// Reasoning asks for reasoning, then the guess and its probability.
	Reasoning Question = "reasoning"
	// Linguistic asks for the guess and a phrase of probability; see [ParsePhrase].
	Linguistic Question = "linguistic"
)

// Questions lists all questions, sorted.
func Questions() []Question {
	all := []Question{
		IsTrue, IsTrueSwapped, IsTrueWithIdeas, IsTrueWithIdeasSwapped,
		OwnAnswer, Top1, TopK, TwoStage, Reasoning, Linguistic,
	}
	slices.Sort(all)
	return all
}

// Forced reports whether the reply is the scores of given options, and not text.
func (q Question) Forced() bool {
	switch q {
	case IsTrue, IsTrueSwapped, IsTrueWithIdeas, IsTrueWithIdeasSwapped:
		return true
	}
	return false
}

// Options are the forced scores of two options: the log-probability of each after the question. An option
// that can be written in several ways has one entry for each, and their probabilities add up.
type Options struct {
	True, False []float64
	// Missing says why there are no scores; [record.Present] if there are.
	Missing record.Missing
}

// share is that of the option "true" in the probability of both: p(a) / (p(a) + p(b)).
func (o Options) share() record.Number {
	if o.Missing != record.Present {
		return record.Absent(o.Missing)
	}
	if len(o.True) == 0 || len(o.False) == 0 {
		return record.Absent(NotAsked)
	}
	for _, l := range slices.Concat(o.True, o.False) {
		if why := badLogProb(l); why != record.Present {
			return record.Absent(why)
		}
	}
	yes, no := logSumExp(o.True), logSumExp(o.False)
	return record.Known(expit(yes - no))
}

// Order says in which order the options of a question stand.
type Order uint8

const (
	// TrueFirst is the paper's: (a) true, (b) false. The default.
	TrueFirst Order = iota
	// BothOrders averages TrueFirst and the swapped order, so that a liking for the letter a cancels.
	BothOrders
)

// Ideas says whether the samples are shown before the question.
type Ideas uint8

const (
	// WithIdeas shows the samples as brainstormed ideas, as the paper does. The default.
	WithIdeas Ideas = iota
	// WithoutIdeas shows the answer alone.
	WithoutIdeas
)

// PTrue is the probability that the model gives to its answer being true: p(a) / (p(a) + p(b)) of the
// options (a) true and (b) false, both scored by forced decoding; or the mean of it over both orders of
// the options.
//
// Confidence, range [0, 1], a probability. Needs the question asked, and at least 1 sample where the ideas
// are shown; m calls and two for each order.
// Source: Ilia and Aziz 2026, appendix C.1 (Kadavath et al. 2022, section 3).
func PTrue(ideas Ideas, order Order) Quantifier {
	questions := []Question{IsTrueWithIdeas, IsTrueWithIdeasSwapped}
	needs := Needs{Ideas: ideas == WithIdeas}
	if ideas == WithoutIdeas {
		questions = []Question{IsTrue, IsTrueSwapped}
	}
	if order == TrueFirst {
		questions = questions[:1]
	}
	needs.Questions = questions
	return Quantifier{
		ID:          id("p-true", [...]string{"", "no-ideas"}[ideas], [...]string{"", "both-orders"}[order]),
		Title:       "P(True)" + [...]string{"", ", answer alone"}[ideas] + [...]string{"", ", mean of both orders"}[order],
		Formula:     "p(a) / (p(a) + p(b))" + [...]string{"", ", mean of both orders"}[order],
		Orientation: measure.Confidence, Range: unit, Units: "probability",
		Needs:  needs,
		Source: "Ilia and Aziz 2026, appendix C.1 (Kadavath et al. 2022)",
		of: func(v *view) record.Number {
			return v.meanOver(questions, func(q Question) record.Number {
				options, asked := v.Options[q]
				if !asked {
					return record.Absent(NotAsked)
				}
				return options.share()
			})
		},
	}
}

// meanOver is the mean of a value over questions, or the first reason why there is none.
func (v *view) meanOver(questions []Question, of func(Question) record.Number) record.Number {
	sum := 0.0
	for _, q := range questions {
		value := of(q)
		x, known := value.Get()
		if !known {
			return value
		}
		sum += x
	}
	return record.Known(sum / float64(len(questions)))
}

// Verbalised is the probability that the model stated when asked one of the questions OwnAnswer, Top1,
// TwoStage, Reasoning or Linguistic; it panics on another. For TopK see [VerbalisedTopK].
//
// Confidence, range [0, 1], a probability. Needs the question asked; 1 call.
// Source: OwnAnswer is Ilia and Aziz 2026, appendix C.1; the others are Tian et al. 2023, section 3, and
// Reasoning also Xiong et al. 2024, section 3.1.
func Verbalised(q Question) Quantifier {
	variants := map[Question]string{OwnAnswer: "", Top1: "top-1", TwoStage: "two-stage", Reasoning: "reasoning", Linguistic: "linguistic"}
	words := map[Question]string{
		OwnAnswer: "own answer", Top1: "guess and probability", TwoStage: "asked in a second turn",
		Reasoning: "after reasoning", Linguistic: "a phrase of probability",
	}
	variant, known := variants[q]
	if !known {
		panic(fmt.Sprintf("quantify: no probability is stated in reply to %q", q))
	}
	source := "Tian et al. 2023, section 3"
	if q == OwnAnswer {
		source = "Ilia and Aziz 2026, appendix C.1 (Tian et al. 2023)"
	}
	return Quantifier{
		ID: id("verbalised-confidence", variant), Title: "verbalised confidence, " + words[q], Formula: "the stated probability",
		Orientation: measure.Confidence, Range: unit, Units: "probability",
		Needs:  Needs{Questions: []Question{q}},
		Source: source,
		Peer: map[Question]string{
			Top1: "lm-polygraph Verbalized1S, 1 minus it", TwoStage: "lm-polygraph Verbalized2S, 1 minus it",
			Linguistic: "lm-polygraph Linguistic1S, 1 minus it, but for the values of the phrases",
		}[q],
		of: func(v *view) record.Number {
			stated, asked := v.Stated[q]
			if !asked {
				return record.Absent(NotAsked)
			}
			return inUnit(stated)
		},
	}
}

// inUnit is n, or missing where it lies outside [0,1] or is absent without a reason.
func inUnit(n record.Number) record.Number {
	x, known := n.Get()
	switch {
	case !known && n.Missing() == record.Present:
		return record.Absent(NotAsked)
	case known && !(x >= 0 && x <= 1):
		return record.Absent(record.OutOfRange)
	}
	return n
}

// Scaling says whether the probabilities of several guesses are brought to the sum 1.
type Scaling uint8

const (
	// AsStated leaves them as they are. The default.
	AsStated Scaling = iota
	// SumToOne divides by their sum.
	SumToOne
)

// VerbalisedTopK is the probability that the model stated for the answer y among its K guesses g_k:
// min(1, Σ_{k: g_k = y} P_k), or that sum divided by the sum over all guesses.
//
// Confidence, range [0, 1], a probability. Needs the guesses; 1 call. Missing where the answer is not one
// of them.
// Source: Tian et al. 2023, section 3 (Verb. 1S top-k); Xiong et al. 2024, section 3.1.
func VerbalisedTopK(scaling Scaling) Quantifier {
	return Quantifier{
		ID:          id("verbalised-confidence.top-k", [...]string{"", "normalised"}[scaling]),
		Title:       "verbalised confidence, several guesses" + [...]string{"", ", brought to the sum 1"}[scaling],
		Formula:     [...]string{"min(1, Σ_{k: g_k = y} P_k)", "Σ_{k: g_k = y} P_k / Σ_k P_k"}[scaling],
		Orientation: measure.Confidence, Range: unit, Units: "probability",
		Needs:  Needs{Questions: []Question{TopK}},
		Source: "Tian et al. 2023, section 3; Xiong et al. 2024, section 3.1",
		of:     func(v *view) record.Number { return v.Guesses.confidence(v.Answer.Text, scaling) },
	}
}
