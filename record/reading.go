package record

import "strings"

// Signal is a way of telling how sure a model is of an answer.
type Signal string

const (
	// TokenSignal is computed from the probabilities of the answer's tokens.
	TokenSignal Signal = "token"
	// VerbalisedSignal is the probability that the model states in words or digits.
	VerbalisedSignal Signal = "verbalised"
)

// Protocol is the part of the protocol that fixes one reading. Fields that do not apply to the
// signal are empty. The correctness rule and the estimator belong to the analysis, not to a reading.
type Protocol struct {
	// Context names the text before the answer when its tokens are scored (token signal).
	Context string
	// Aggregation names how token probabilities become one number (token signal).
	Aggregation string
	// Elicitation names the prompt that asked for the stated probability (verbalised signal).
	Elicitation string
}

// String joins the choices that apply with "+", for column names and method ids.
func (p Protocol) String() string {
	parts := make([]string, 0, 3)
	for _, s := range []string{p.Context, p.Aggregation, p.Elicitation} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "+")
}

// Reading is one confidence value of one answer: higher means surer, but where a quantifier is the signal,
// which then declares its own direction and range (see quantify.Quantifier).
type Reading struct {
	Answer   AnswerID
	Signal   Signal
	Protocol Protocol
	// Value lies in [0,1] for the two signals of this package, or is absent with a reason.
	Value Number
	// Fallback says that a parser took Value by its last resort, not by the label that was asked for.
	Fallback bool
	// Reproducible says that asking the model again gives the same bits (see llm.Reply).
	Reproducible bool
}

// Scoring is what the model said of an answer's tokens in one context: the raw material of every
// reading of the token signal in that context, whatever the aggregation.
type Scoring struct {
	Answer AnswerID
	// Context names the text before the answer.
	Context string
	// Tokens are the answer's tokens in order, at least one unless Missing is set.
	Tokens []Token
	// ContextIDs are the ids of the tokens before the answer; the answer starts where they end.
	// Nil where an engine does not tell.
	ContextIDs []int32
	// Reproducible says that scoring again gives the same bits.
	Reproducible bool
	// Missing says why there are no Tokens; [Present] where there are.
	Missing Missing
}
