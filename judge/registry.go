package judge

import (
	"github.com/credence-lab/credence/record"
)

// Need is what a judge needs besides the answer.
type Need string

const (
	// References: the item's accepted answers.
	References Need = "references"
	// Choices: the options of a multiple-choice item, in the order in which they were shown.
	Choices Need = "choices"
	// Embeddings: one vector for the answer and one for each reference.
	Embeddings Need = "embeddings"
	// TokenEmbeddings: a vector for each token of the answer and of each reference.
	TokenEmbeddings Need = "token embeddings"
	// Model: a language model that is asked.
	Model Need = "language model"
	// Members: the judgements of other judges.
	Members Need = "judgements of its members"
	// File: judgements made elsewhere.
	File Need = "file of judgements"
	// People: somebody who reads the answers.
	People Need = "people"
)

// CutUse says whether a judge's score is cut at a threshold.
type CutUse uint8

const (
	// NeverCut: the judge gives a verdict at once.
	NeverCut CutUse = iota
	// MayCut: without a threshold the score is cut at .5, or was a verdict already.
	MayCut
	// MustCut: the score becomes a verdict only by a threshold.
	MustCut
)

// Entry describes a judge of the registry.
type Entry struct {
	// ID is the judge's id without name and threshold, such as "rouge-l.stem".
	ID string
	// Title is what a table calls it, in a few words.
	Title string
	// Definition is the formula or rule in one sentence, with its units.
	Definition string
	// Low and High bound the score, higher for closer to correct; both 0 for a judge that gives a verdict
	// at once.
	Low, High float64
	// Cut says whether an id of the judge carries a threshold.
	Cut CutUse
	// Named says that an id of the judge carries a name after a colon: the model, file or person.
	Named bool
	// Needs is what must be there besides the answer.
	Needs []Need
	// Source names the paper, section or program that defines it.
	Source string

	// measure compares an answer with its item. 0 and 1 are the verdicts of a judge without a
	// threshold. Nil where texts alone do not suffice.
	measure func(*comparison) record.Number
}

// FromText reports whether the judge needs nothing but texts, so that a [Set] can hold it.
func (e Entry) FromText() bool { return e.measure != nil }

// Registry returns every judge there is, in the order in which documents list them.
func Registry() []Entry {
	var all []Entry
	for _, family := range [][]Entry{
		firstPaperEntries(), exactEntries(), numberEntries(), letterEntries(),
		tokenEntries(), bleuEntries(), rougeEntries(), summaryEntries(),
		embeddingEntries(), modelEntries(), importedEntries(),
	} {
		all = append(all, family...)
	}
	return all
}

// firstPaperEntries are the rules of [All].
func firstPaperEntries() []Entry {
	titles := map[Rule]string{Containment: "containment", Exact: "exact match, normalised"}
	definitions := map[Rule]string{
		Containment: "equal, or either a substring of the other, after normalisation; any reference will do",
		Exact:       "equal after normalisation; any reference will do",
	}
	forms := map[Normaliser]string{
		ASCII:   "lower case, all but ASCII letters and digits blank",
		Unicode: "NFC and case folding, letters, marks and digits of every script kept",
	}
	var entries []Entry
	for _, j := range All() {
		entries = append(entries, Entry{
			ID:         j.ID(),
			Title:      titles[j.rule] + ", " + j.norm.String(),
			Definition: definitions[j.rule] + " (" + forms[j.norm] + ")",
			Needs:      []Need{References},
			Source:     "Same Answer, Different Confidence, section 3.4 and appendix A",
			measure: func(c *comparison) record.Number {
				return truth(c.any(func(reference string) bool { return j.Match(c.answer, reference) }))
			},
		})
	}
	return entries
}

// truth is 1 or 0.
func truth(b bool) record.Number {
	if b {
		return record.Known(1)
	}
	return record.Known(0)
}
