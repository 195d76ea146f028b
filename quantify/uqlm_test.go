package quantify_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/credence-lab/credence/quantify"
)

// TestNumbersPublishedWithUQLM recomputes what uqlm published with its tests.
func TestNumbersPublishedWithUQLM(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/uqlm.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Whitebox []struct {
			LogProbs            []float64
			Normalised, Minimum float64
		}
		Semantic []struct {
			Meanings            []int
			Entropy, Confidence float64
		}
		Blackbox []struct {
			Texts      []int
			ExactMatch float64 `json:"exact_match"`
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	check := func(id string, e *quantify.Evidence, want float64) {
		t.Helper()
		if got := value(t, id, e); !close(got, want, 1e-14) {
			t.Errorf("%s = %.17g, uqlm has %.17g", id, got, want)
		}
	}
	for _, row := range file.Whitebox {
		e := &quantify.Evidence{Answer: ofLogs("answer", row.LogProbs)}
		check("geometric-mean", e, row.Normalised)
		check("minimum", e, row.Minimum)
	}
	for _, row := range file.Semantic {
		e := numbered(row.Meanings)
		check("semantic-entropy.uqlm", e, row.Entropy)
		check("semantic-negentropy.uqlm", e, row.Confidence)
	}
	for _, row := range file.Blackbox {
		check("answer-agreement", numbered(row.Texts), row.ExactMatch)
	}
	if len(file.Whitebox) != 5 || len(file.Semantic) != 5 || len(file.Blackbox) != 5 {
		t.Error("rows are lacking")
	}
}

// numbered is an answer and its samples, where equal numbers are equal texts, and others contradict.
func numbered(ids []int) *quantify.Evidence {
	e, texts := &quantify.Evidence{}, []string(nil)
	for i, id := range ids {
		text := quantify.Text{Text: fmt.Sprint(id)}
		if i == 0 {
			e.Answer = text
			continue
		}
		e.Samples, texts = append(e.Samples, text), append(texts, text.Text)
	}
	e.Entailment = quantify.Relate(e.Answer.Text, texts, func(string, string) quantify.Relation {
		return quantify.Relation{Contradicts: 1}
	})
	return e
}
