// Package record holds what a study keeps of each item: the question, the answers, what was read of
// an answer's confidence, and who judged it correct.
//
// It is a leaf: it knows no model, no file and no statistic, and imports nothing of this module.
// Every value that can be missing carries the reason why (see [Number] and [Judgement]); a missing
// value is never zero and never NaN.
package record

import "fmt"

// Item is one question of a data set.
type Item struct {
	// ID names the item within its data set. Unique, not empty.
	ID string
	// Question is put to the model as it is; it is data and never executed as a template.
	Question string
	// References are the accepted answers, the canonical one first. At least one where the item is judged.
	References []string
	// Incorrect are plausible wrong answers. Optional.
	Incorrect []string
	// Choices are the options of a multiple-choice item in the order of the data set. Optional.
	Choices []string
	// Field is the subject that the data set files the item under. Optional.
	Field string
}

// Setting is one model on one data set: the unit over which a metric is taken.
type Setting struct {
	// Model and Dataset are the names by which the study calls them.
	Model   string `json:"model"`
	Dataset string `json:"dataset"`
}

// String returns "model/dataset".
func (s Setting) String() string { return s.Model + "/" + s.Dataset }

// Source says where the text of an answer comes from.
type Source string

const (
	// Generated answers were written by the setting's own model.
	Generated Source = "generated"
	// Reference answers are accepted answers of the data set.
	Reference Source = "reference"
	// Supplied answers come from elsewhere: another model, another question, a file.
	Supplied Source = "supplied"
)

// Role says which of the answers that were not generated in the setting this one is ("Same Answer,
// Different Confidence", section 3.6 and appendix I).
type Role string

const (
	// Canonical is the first accepted answer of the data set, Alias the second.
	Canonical Role = "canonical"
	Alias     Role = "alias"
	// PlausibleWrong is another model's wrong answer to the same question.
	PlausibleWrong Role = "plausible-wrong"
	// OffType is the canonical answer of another question, which is wrong here.
	OffType Role = "off-type"
)

// Origin is the provenance of one answer.
type Origin struct {
	Source Source
	// Prompt names the prompt that a generated answer was written under; empty for others.
	Prompt string
	// Role tells answers apart that were not generated; empty for those that were.
	Role Role
	// Sample numbers the answers drawn under one prompt, from 0. Greedy answers have sample 0.
	Sample int
}

// String returns "source:prompt:sample" for a generated answer, "source:role" or the source alone for
// others.
func (o Origin) String() string {
	switch {
	case o.Role != "":
		return string(o.Source) + ":" + string(o.Role)
	case o.Prompt == "":
		return string(o.Source)
	}
	return fmt.Sprintf("%s:%s:%d", o.Source, o.Prompt, o.Sample)
}

// AnswerID identifies one answer across a study. A reading and a judgement that carry the same
// AnswerID describe the same text: that is the alignment rule of "Same Answer, Different
// Confidence" (section 3.1), and analyses join on nothing else.
type AnswerID struct {
	Setting Setting
	// Item is the id of the item within the setting's data set.
	Item   string
	Origin Origin
}

// String returns "model/dataset/item/origin".
func (id AnswerID) String() string {
	return id.Setting.String() + "/" + id.Item + "/" + id.Origin.String()
}

// Answer is one text that answers an item, or the reason why there is none.
type Answer struct {
	ID AnswerID
	// Text is the parsed answer, not the raw reply. Empty if and only if Missing is set.
	Text string
	// Reply is the raw text of the model that Text was parsed from. Empty for answers not generated.
	Reply string
	// Truncated says that the reply ended at its token limit.
	Truncated bool
	// Missing says why there is no Text; [Present] where there is.
	Missing Missing
}

// Token is one position of a tokenised text with the log-probability that the model gave it.
type Token struct {
	// ID is the token's number in the model's vocabulary.
	ID int32
	// Piece is the token's own bytes. It need not be valid UTF-8: a character may span tokens.
	Piece []byte
	// LogProb is the natural logarithm of the raw model probability (temperature 1, no penalty), at
	// most 0; -Inf for a probability of 0.
	LogProb float64
}
