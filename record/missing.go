package record

// Missing is the reason why a value is absent. The empty string means that it is present.
type Missing string

// Reasons that more than one package gives. A package may add its own; they are short, lower case,
// and stable, since tables count by them.
const (
	// Present: nothing is missing.
	Present Missing = ""
	// NoAnswer: the reply holds no text that could be taken as an answer.
	NoAnswer Missing = "no answer"
	// NoProbability: the reply states no probability that the parser accepts.
	NoProbability Missing = "no probability"
	// MalformedProbability: a probability label is there, but what follows is no number.
	MalformedProbability Missing = "malformed probability"
	// OutOfRange: a number was stated, but it lies outside its scale.
	OutOfRange Missing = "probability out of range"
	// UnclosedThinking: the reply ended inside a thinking block.
	UnclosedThinking Missing = "unclosed thinking"
	// EmptyAnswer: nothing remains of the answer to be scored or judged.
	EmptyAnswer Missing = "empty answer"
	// NoReference: the item has no accepted answer to compare with.
	NoReference Missing = "no reference"
	// ContextOverflow: prompt and answer do not fit the model's context.
	ContextOverflow Missing = "context overflow"
	// CallFailed: the model could not be asked. The ledger's attempts say why.
	CallFailed Missing = "call failed"
	// NotSupported: the engine cannot give this value.
	NotSupported Missing = "not supported by the engine"
	// NoLogProb: the engine has no number for the probability of a token, such as one too small for a server
	// to write.
	NoLogProb Missing = "no log-probability"
	// AnswerMissing: the value would describe an answer that is itself missing.
	AnswerMissing Missing = "answer missing"
)

// Number is a float64 that is either known or absent with a reason. The zero Number is absent
// without a reason and must not be stored; use [Known] or [Absent].
type Number struct {
	value   float64
	known   bool
	missing Missing
}

// Known returns a present value.
func Known(x float64) Number { return Number{value: x, known: true} }

// Absent returns a missing value. It panics on an empty reason: a value without a reason is a bug.
func Absent(why Missing) Number {
	if why == Present {
		panic("record: absent number without a reason")
	}
	return Number{missing: why}
}

// Get returns the value and whether there is one.
func (n Number) Get() (float64, bool) { return n.value, n.known }

// Missing returns the reason why there is no value, or [Present].
func (n Number) Missing() Missing { return n.missing }
