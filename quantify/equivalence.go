package quantify

import "github.com/credence-lab/credence/record"

// Equivalence says when two texts mean the same, from the most probable relation in both directions.
type Equivalence uint8

const (
	// Strict: each entails the other. The default.
	Strict Equivalence = iota
	// Loose: neither contradicts the other, and not both directions are neither.
	Loose
	// Either: one of the two entails the other.
	Either
)

// String returns "strict", "loose" or "either".
func (e Equivalence) String() string { return [...]string{"strict", "loose", "either"}[e] }

func (e Equivalence) variant() string {
	if e == Strict {
		return ""
	}
	return e.String()
}

func (e Equivalence) holds(there, back Relation) bool {
	a, b := there.label(), back.label()
	switch e {
	case Loose:
		return a != contradicts && b != contradicts && !(a == neither && b == neither)
	case Either:
		return a == entails || b == entails
	}
	return a == entails && b == entails
}

// Premise says what stands before the two texts when an entailment model reads them.
type Premise uint8

const (
	// TextsAlone relates the texts as they are. The default.
	TextsAlone Premise = iota
	// AfterQuestion puts the question before both, so that short answers are read as answers.
	AfterQuestion
)

func (p Premise) variant() string {
	if p == AfterQuestion {
		return "question"
	}
	return ""
}

func (p Premise) of(e *Evidence) *Relations {
	if p == AfterQuestion {
		return e.EntailmentWithQuestion
	}
	return e.Entailment
}

// needs adds the pairs to n where they are read.
func (p Premise) needs(n Needs, pairs Pairs) Needs {
	if p == AfterQuestion {
		n.EntailmentWithQuestion = pairs
	} else {
		n.Entailment = pairs
	}
	return n
}

// inWords ends a title.
func (p Premise) inWords() string {
	if p == AfterQuestion {
		return ", question in the premise"
	}
	return ""
}

// classes puts the samples into classes of equal meaning: each joins the first class whose first member
// it is equivalent to, or opens one (Kuhn et al. 2023, algorithm 1). Entailment as models see it is not
// transitive, so that the classes can depend on the order of the samples.
func (v *view) classes(eq Equivalence, premise Premise) (ids []int, n int) {
	r := premise.of(v.Evidence)
	ids = make([]int, len(v.Samples))
	var first []int
samples:
	for i := range v.Samples {
		for class, member := range first {
			if eq.holds(r.At(member+1, i+1), r.At(i+1, member+1)) {
				ids[i] = class
				continue samples
			}
		}
		ids[i] = len(first)
		first = append(first, i)
	}
	return ids, len(first)
}

// MeaningsOf numbers the samples of e by meaning: samples of one number are equivalent. It is what
// [SemanticEntropy] counts. missing says why there are no classes.
func MeaningsOf(e *Evidence, eq Equivalence, premise Premise) (ids []int, missing record.Missing) {
	if why := premise.needs(Needs{Samples: 1}, AmongSamples).missing(e); why != record.Present {
		return nil, why
	}
	ids, _ = (&view{Evidence: e}).classes(eq, premise)
	return ids, record.Present
}
