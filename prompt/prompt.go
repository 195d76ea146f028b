// Package prompt holds the words that are put to a model, the places in which an answer is scored,
// and the parsers of what comes back.
//
// A [Set] is the named prompts of a study. A [Context] is the text before an answer whose tokens are
// scored: a prompt and, perhaps, a marker that opens the assistant turn ("Same Answer, Different
// Confidence", section 3.4 and appendix A). A [Parser] takes the answer and the stated probability
// from a reply.
//
// The wording is this project's own; the structure is the paper's. In every prompt but the bare one
// the question comes last, so that all items of a study begin with the same tokens.
package prompt

import "slices"

// Name names a prompt.
type Name string

const (
	// Bare is the question and, on a new line, "Answer:".
	Bare Name = "bare"
	// Question is the question alone: Bare without its marker.
	Question Name = "question"
	// AnswerOnly asks for a short guess and nothing else, and ends in "Answer:".
	AnswerOnly Name = "answer-only"
	// AnswerOnlyInstruction is AnswerOnly without its marker.
	AnswerOnlyInstruction Name = "answer-only-instruction"
	// Confidence asks for a short guess and the probability, from 0.0 to 1.0, that it is correct.
	Confidence Name = "confidence"
	// ConfidenceWithoutProbability is Confidence without the three mentions of the probability.
	ConfidenceWithoutProbability Name = "confidence-without-probability"
	// ConfidencePercent is Confidence with a whole number from 0 to 100.
	ConfidencePercent Name = "confidence-percent"
	// Letter shows lettered options and asks for one letter alone.
	Letter Name = "letter"
	// LetterConfidence shows lettered options and asks for one letter and the probability, from 0.0 to
	// 1.0, that it is correct.
	LetterConfidence Name = "letter-confidence"
	// Code asks for code alone, in a fenced block.
	Code Name = "code"
)

// Names returns the names of all prompts, in the order in which a card shows them.
func Names() []Name {
	return []Name{
		Bare, Question, AnswerOnly, AnswerOnlyInstruction,
		ConfidenceWithoutProbability, Confidence, ConfidencePercent,
		Letter, LetterConfidence, Code,
	}
}

// The markers after which an answer may stand. They are also the labels that the parsers look for,
// so they are the same in every set.
const (
	AnswerMarker      = "Answer:"
	GuessMarker       = "Guess:"
	ProbabilityMarker = "Probability:"
)

// Mentions returns the three places in which the built-in confidence prompt speaks of the
// probability, in order. Deleting all three gives ConfidenceWithoutProbability; deleting some gives
// the steps between.
func Mentions() []string { return slices.Clone(mentions[:]) }

var mentions = [3]string{
	", and state the probability (0.0 to 1.0) that your guess is correct",
	" and its probability",
	"\nProbability: [a number from 0.0 to 1.0]",
}

// The built-in texts nest: each of answer-only, confidence without probability, and confidence adds
// one part to the one before, which is what the paper's prompt ablation needs (appendix C).
const (
	bareText = "{{.Question}}\nAnswer:"

	answerOnlyText = "You will answer a question with your best guess. " +
		"Write your guess, and no other words.\n\n" +
		"The question: {{.Question}}\nAnswer:"

	letterText = "You will answer a multiple-choice question with your best guess. " +
		"Write the letter of one option, and no other words.\n\n" +
		"The question: {{.Question}}"

	letterConfidenceText = "You will answer a multiple-choice question with your best guess, " +
		"and state the probability (0.0 to 1.0) that your guess is correct. " +
		"Write the letter of one option and its probability, and no other words, in exactly this form:\n\n" +
		"Guess: [one letter]\nProbability: [a number from 0.0 to 1.0]\n\n" +
		"The question: {{.Question}}"

	codeText = "You will write code for a task. " +
		"Write it in one fenced code block, and no other words.\n\n" +
		"The task: {{.Question}}"
)

var (
	confidenceText        = confidence(mentions)
	withoutText           = confidence([3]string{})
	confidencePercentText = confidence([3]string{
		", and state the probability (a whole number from 0 to 100) that your guess is correct",
		" and its probability",
		"\nProbability: [a whole number from 0 to 100]",
	})
)

// Small models keep to this form: of wordings that say the same, most made a model of half a billion
// parameters write "Capital: Tokyo" for "Guess: Tokyo", or guess at the question.
func confidence(mention [3]string) string {
	return "You will answer a question with your best guess" + mention[0] + ". " +
		"Write your guess" + mention[1] + ", and no other words, in exactly this form:\n\n" +
		"Guess: [your answer, a few words]" + mention[2] + "\n\n" +
		"The question: {{.Question}}"
}

func builtin(name Name) string {
	switch name {
	case Bare:
		return bareText
	case AnswerOnly:
		return answerOnlyText
	case Confidence:
		return confidenceText
	case ConfidenceWithoutProbability:
		return withoutText
	case ConfidencePercent:
		return confidencePercentText
	case Letter:
		return letterText
	case LetterConfidence:
		return letterConfidenceText
	case Code:
		return codeText
	}
	return ""
}
