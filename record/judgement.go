package record

import "fmt"

// Verdict is what a judge says of an answer.
type Verdict uint8

const (
	// NotJudged is the zero value: no verdict, see the judgement's reason.
	NotJudged Verdict = iota
	Incorrect
	Correct
)

// String returns "correct", "incorrect" or "not judged".
func (v Verdict) String() string {
	switch v {
	case Correct:
		return "correct"
	case Incorrect:
		return "incorrect"
	case NotJudged:
		return "not judged"
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// Judgement is one judge's verdict on one answer.
type Judgement struct {
	Answer AnswerID
	// Judge is the judge's id with its variant, such as "containment.ascii".
	Judge   string
	Verdict Verdict
	// Missing says why the verdict is NotJudged; empty otherwise.
	Missing Missing
	// Trace is what stands behind the verdict of a model, of a judge that compares vectors, or of an imported score; nil
	// for judges that compare texts, and for imported verdicts.
	Trace *Trace
}

// Trace is what stands behind the verdict of a language model, or of several, behind a comparison of vectors, or behind
// an imported score.
type Trace struct {
	// Score is what was cut into a verdict, in [0,1], of vectors and imported in [-1,1]; absent where the verdict was written.
	Score Number
	// Reply is what the model wrote, where it wrote its verdict.
	Reply string
	// Calls are the keys of the calls in the ledger, with blanks between them.
	Calls string
}

// Label returns 1 for correct, 0 for incorrect, and whether there was a verdict.
func (j Judgement) Label() (float64, bool) {
	switch j.Verdict {
	case Correct:
		return 1, true
	case Incorrect:
		return 0, true
	}
	return 0, false
}
