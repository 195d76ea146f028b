package cli

import "testing"

func TestQuote(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"runs/a-1":     "runs/a-1",
		"my runs":      "'my runs'",
		"":             "''",
		"$(rm x)'s":    `'$(rm x)'\''s'`,
		`C:\runs\mine`: `'C:\runs\mine'`,
	} {
		if got := quote(word); got != want {
			t.Errorf("quote(%q) = %s, want %s", word, got, want)
		}
	}
}
