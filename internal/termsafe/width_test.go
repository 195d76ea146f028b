package termsafe_test

import (
	"testing"

	"github.com/credence-lab/credence/internal/termsafe"
)

func TestWidthIsInColumns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "日本": 4, "Ａ": 2, "한": 2, "😀": 2, "a\u200bb": 2, "שלום": 4,
	} {
		if got := termsafe.Width(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
}
