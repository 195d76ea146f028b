package dataset

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// facts are 120 short-answer questions, written for this project: twelve from each of ten fields, in
// turns. They ask for what does not change and has one answer, however it is spelled. Each has a
// canonical answer, other spellings, two wrong answers of the same kind, four choices, and how many of
// eight answers of a small model were right: a third are easy, middling and hard (docs/questions.md).
//
//go:embed facts.jsonl
var facts []byte

// A built-in set is the first n of the facts, so that a study of the small set extends to the large.
var builtin = []struct {
	name string
	n    int
}{
	{"facts", 40},
	{"facts-120", 120},
}

// BuiltinNames returns the names of the sets that the program carries.
func BuiltinNames() []string {
	var names []string
	for _, set := range builtin {
		names = append(names, set.name)
	}
	return names
}

// Builtin returns a set that the program carries: "facts" has 40 questions that take minutes on a
// small machine, "facts-120" has these and 80 more. An unknown name is an error that lists the names.
func Builtin(name string) (Dataset, error) {
	for _, set := range builtin {
		if set.name == name {
			return first(set.n, name)
		}
	}
	return Dataset{}, fmt.Errorf("there is no built-in data set %q: there are %s", name, strings.Join(BuiltinNames(), ", "))
}

func first(n int, name string) (Dataset, error) {
	d, err := ReadFrom(bytes.NewReader(facts), "facts.jsonl", Mapping{
		ID:        "id",
		Question:  "question",
		Answer:    Columns{"answer", "aliases"},
		Incorrect: Columns{"incorrect"},
		Choices:   Columns{"choices"},
		Field:     "field",
	})
	if err != nil {
		return Dataset{}, fmt.Errorf("built-in data set: %w", err)
	}
	d.Items = slices.Clip(d.Items[:n])
	return Dataset{Name: name, Items: d.Items, SHA256: Hash(d.Items), Source: "built in"}, nil
}
