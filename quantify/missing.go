package quantify

import "github.com/credence-lab/credence/record"

// Reasons that quantifiers give for a missing value, besides those of package record. There
// [record.NoLogProb] stands for a server that gave no log-probabilities, and for one that sent a placeholder
// instead (-100, or -9999 and less).
const (
	// BadLogProb: a log-probability is NaN or above 0, so that none of the text's can be trusted.
	BadLogProb record.Missing = "log-probability out of range"
	// NoAlternatives: the server gave no alternatives to the tokens.
	NoAlternatives record.Missing = "no alternatives"
	// TooFewAlternatives: at some position fewer than two tokens were returned.
	TooFewAlternatives record.Missing = "fewer than 2 alternatives"
	// NoFullEntropy: the engine gave no entropy over the whole vocabulary.
	NoFullEntropy record.Missing = "no entropy over the vocabulary"
	// NoRelevance: how much each token matters to the text was not measured.
	NoRelevance record.Missing = "no token relevance"
	// NoEndOfTurn: the probability of ending the turn after the text is not known.
	NoEndOfTurn record.Missing = "no end-of-turn probability"
	// AnswerCutOff: the answer ended at its token limit, so that it has no end of turn.
	AnswerCutOff record.Missing = "answer cut off"
	// NoSample: there is no sample.
	NoSample record.Missing = "no samples"
	// OneSample: there are fewer than two samples.
	OneSample record.Missing = "fewer than 2 samples"
	// SampleMissing: one of the samples holds no answer.
	SampleMissing record.Missing = "sample missing"
	// SampleCutOff: one of the samples ended at its token limit: nobody knows what it says.
	SampleCutOff record.Missing = "sample cut off"
	// EmptySample: one of the samples has no token.
	EmptySample record.Missing = "sample without tokens"
	// NoEntailment: the entailment between two texts was not asked for.
	NoEntailment record.Missing = "no entailment"
	// EntailmentRefused: the model was asked for an entailment and gave none.
	EntailmentRefused record.Missing = "entailment refused"
	// BadEntailment: the three probabilities of an entailment are no distribution.
	BadEntailment record.Missing = "entailment out of range"
	// NoSimilarity: the similarity of two texts was not measured.
	NoSimilarity record.Missing = "no similarity"
	// NoEmbedding: there is no embedding of one of the texts.
	NoEmbedding record.Missing = "no embedding"
	// ZeroEmbedding: an embedding has no direction, because all its elements are 0.
	ZeroEmbedding record.Missing = "embedding of length 0"
	// NotAsked: the model was not asked the question that this value is the reply to.
	NotAsked record.Missing = "not asked"
	// NotAmongGuesses: the model listed guesses, and the answer is none of them.
	NotAmongGuesses record.Missing = "answer not among the guesses"
	// AmbiguousPhrase: the reply holds several phrases of probability, or a negated one.
	AmbiguousPhrase record.Missing = "ambiguous phrase of probability"
	// NotFinite: the value is infinite or undefined on this input.
	NotFinite record.Missing = "not finite"
)
