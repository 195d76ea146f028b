package dataset

import "fmt"

// Mapping says which column of a file is what. The zero Mapping takes the usual names, see the fields;
// what it took is in the data set's notes.
type Mapping struct {
	// ID is the column of the item's id. Empty: a column "id" where there is one, else ids are made
	// from the row number ("row-1" is the first row after the header).
	ID string `yaml:"id,omitempty" json:"id,omitempty"`
	// Question is the column of the question. Empty: "question".
	Question string `yaml:"question,omitempty" json:"question,omitempty"`
	// Answer are the columns of the accepted answers, the canonical one first. A cell may hold a list
	// (a JSON list in JSONL or CSV, a list column in Parquet), or several answers joined by Separator.
	// Empty: "answer" followed by "aliases" where there is one; or "answers"; or "references".
	Answer Columns `yaml:"answer,omitempty" json:"answer,omitempty"`
	// Incorrect are the columns of plausible wrong answers. Empty: "incorrect" or "incorrect_answers"
	// where there is one.
	Incorrect Columns `yaml:"incorrect,omitempty" json:"incorrect,omitempty"`
	// Choices are the columns of the options of a multiple-choice item. Empty: "choices" where there is one.
	Choices Columns `yaml:"choices,omitempty" json:"choices,omitempty"`
	// Field is the column of the subject. Empty: "field" or "category" where there is one.
	Field string `yaml:"field,omitempty" json:"field,omitempty"`
	// Separator splits a text cell of Answer, Incorrect or Choices into several texts, such as ";".
	// Empty: a cell is one text. Blanks around the parts and empty parts are dropped.
	Separator string `yaml:"separator,omitempty" json:"separator,omitempty"`
}

// Columns names one or more columns. In YAML it is a text or a list of texts.
type Columns []string

// UnmarshalYAML reads a text or a list of texts.
func (c *Columns) UnmarshalYAML(unmarshal func(any) error) error {
	var one string
	if unmarshal(&one) == nil {
		*c = Columns{one}
		return nil
	}
	var many []string
	if err := unmarshal(&many); err != nil {
		return fmt.Errorf("want a column name or a list of column names: %w", err)
	}
	*c = many
	return nil
}
