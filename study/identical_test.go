package study_test

import (
	"strings"
	"testing"

	"github.com/credence-lab/credence/study"
)

// A model whose samples never differ is warned of on the card, one whose samples do is not (R04).
func TestIdenticalSamplesAreWarnedOf(t *testing.T) {
	t.Parallel()
	const text = "name: x\nmodels:\n- {name: a, weights: w}\ndatasets:\n- {name: facts, limit: 4}\nquantifiers: [semantic-entropy]\nanalysis: {resamples: 0}\n"
	same, _ := run(t, t.TempDir(), parse(t, text), opener{})
	const warning = "a/facts: the 10 samples of each of 4 items are equal byte for byte at temperature 1"
	if !strings.Contains(strings.Join(same.Card.Missing, "\n"), warning) {
		t.Errorf("no warning in %q", same.Card.Missing)
	}
	other, _, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: t.TempDir(), Open: wavering{}})
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(other.Card.Missing, "\n"); strings.Contains(said, "byte for byte") {
		t.Errorf("a warning of samples that differ: %s", said)
	}
}
