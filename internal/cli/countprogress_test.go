package cli

import (
	"strings"
	"testing"
	"time"
)

// TestCountSaysHowLongItTakes: on a terminal the line is redrawn with the time left, elsewhere it is
// written now and then, and quiet work says nothing.
func TestCountSaysHowLongItTakes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name            string
		terminal, quiet bool
		every           time.Duration
		want            string
	}{
		{"terminal", true, false, redrawEvery, "\r\x1b[K2500 of 10000 resamples, 250/s, 30s left\r\x1b[K10000 of 10000 resamples\n"},
		{"file", false, false, plainEvery, "2500 of 10000 resamples, 250/s, 30s left\n"},
		{"quiet", true, true, redrawEvery, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			now := time.Unix(0, 0)
			p := &progress{w: &b, width: 80, terminal: tt.terminal, quiet: tt.quiet, every: tt.every, now: func() time.Time { return now }}
			p.count("resamples", 10, 10000)
			now = now.Add(10 * time.Second)
			p.count("resamples", 2500, 10000)
			p.count("resamples", 2501, 10000)
			p.count("resamples", 10000, 10000)
			p.end()
			if b.String() != tt.want {
				t.Errorf("got %q, want %q", b.String(), tt.want)
			}
		})
	}
}
