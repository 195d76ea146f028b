package nearest_test

import (
	"testing"

	"github.com/credence-lab/credence/internal/nearest"
)

func TestOf(t *testing.T) {
	t.Parallel()
	words := []string{"contexts", "correctness", "id", "seed"}
	for _, c := range []struct {
		word, want string
		ok         bool
	}{
		{"context", "contexts", true},
		{"Corectness", "correctness", true},
		{"ids", "id", true},
		{"sede", "", false}, // two changes in four letters could mean anything
		{"temperature", "", false},
		{"", "", false},
	} {
		if got, ok := nearest.Of(c.word, words); got != c.want || ok != c.ok {
			t.Errorf("Of(%q) = %q, %v; want %q, %v", c.word, got, ok, c.want, c.ok)
		}
	}
}
