package judge

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/credence-lab/credence/record"
)

// Reasons of judges that are language models.
const (
	// BadLogProb: a log-probability is NaN or above 0.
	BadLogProb record.Missing = "log-probability out of range"
	// NeitherVerdict: both verdicts have probability 0.
	NeitherVerdict record.Missing = "no probability of either verdict"
)

// Asked is what a language model is asked as a judge: nothing else, and so never how sure the
// answering model was. Equal ones are asked once.
type Asked struct {
	Question   string
	References []string
	Answer     string
}

// Key is equal for equal questions, references in order, and answers, and for no others (SHA-256 of
// the parts with their lengths).
func (a Asked) Key() [32]byte {
	h := sha256.New()
	part := func(s string) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	part(a.Question)
	part(a.Answer)
	for _, r := range a.References {
		part(r)
	}
	return [32]byte(h.Sum(nil))
}

// Unique returns what must be asked for a list, in order and each once, and for every element of the
// list where its own stands.
func Unique(list []Asked) (once []Asked, at []int) {
	at = make([]int, len(list))
	known := make(map[[32]byte]int, len(list))
	for i, a := range list {
		key := a.Key()
		j, ok := known[key]
		if !ok {
			j = len(once)
			known[key] = j
			once = append(once, a)
		}
		at[i] = j
	}
	return once, at
}

// Turned returns the same with the references turned by so many places: of n references each comes
// first in one of the turns 0 to n-1. A verdict should not depend on it.
func (a Asked) Turned(places int) Asked {
	n := len(a.References)
	if n == 0 {
		return a
	}
	places = (places%n + n) % n
	a.References = append(append(make([]string, 0, n), a.References[places:]...), a.References[:places]...)
	return a
}

// PTrue is the probability of "True" against "False": p(True)/(p(True) + p(False)), from the natural
// log-probabilities that the model gave to either when it was forced to write it. Range [0,1], higher for
// correct ("A Tale of Two Error Categories", appendix C.2; forced, so that a model that begins
// otherwise still gives a verdict). Absent with [BadLogProb] or [NeitherVerdict].
func PTrue(logTrue, logFalse float64) record.Number {
	switch {
	case !(logTrue <= 0 && logFalse <= 0):
		return record.Absent(BadLogProb)
	case math.IsInf(logTrue, -1) && math.IsInf(logFalse, -1):
		return record.Absent(NeitherVerdict)
	}
	return record.Known(1 / (1 + math.Exp(logFalse-logTrue)))
}

func modelEntries() []Entry {
	return []Entry{
		{
			ID: "llm", Title: "LLM judge", Named: true,
			Definition: "p(True)/(p(True) + p(False)) of the model's forced replies to question, references and answer; correct above .5 where no threshold is given",
			High:       1, Cut: MayCut, Needs: []Need{References, Model}, Source: secondPaper,
		},
		{
			ID: "llm-text", Title: "LLM judge, by its reply", Named: true,
			Definition: "the verdict that the model writes about question, references and answer; a reply without a clear verdict is not judged",
			Needs:      []Need{References, Model}, Source: secondPaper,
		},
		{
			ID: "panel-mean", Title: "panel of LLM judges, mean", Named: true,
			Definition: "mean of the members' scores; correct above .5 where no threshold is given; missing where a member's is; members are joined with +",
			High:       1, Cut: MayCut, Needs: []Need{References, Members}, Source: "Verga et al. 2024",
		},
		{
			ID: "panel-majority", Title: "panel of LLM judges, majority", Named: true,
			Definition: "the verdict of more than half of all members; not judged without one; members are joined with +",
			Needs:      []Need{References, Members}, Source: "Verga et al. 2024",
		},
	}
}
