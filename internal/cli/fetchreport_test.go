package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/credence-lab/credence/weights"
)

// told runs a fetch of 100 MB at 10 MB a second, reported ten times a second, and returns what a
// person sees.
func told(r *fetchReport) string {
	var b strings.Builder
	r.w = &b
	clock := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	r.now = func() time.Time { return clock }
	for n := int64(0); n <= 100; n++ {
		r.Progress(weights.Progress{Name: "m", Source: "pip", Done: n * 1e6, Total: 100e6})
		clock = clock.Add(100 * time.Millisecond)
	}
	r.Done(weights.Item{Name: "m", Bytes: 100e6})
	return b.String()
}

func TestFetchReportInPlainLines(t *testing.T) {
	t.Parallel()
	text := told(&fetchReport{})
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 6 || lines[0] != "m: 20 MB of 100 MB, 20 %, 10 MB/s, 8s left (pip)" || lines[5] != "m: 100 MB, checked" {
		t.Errorf("ten seconds gave %d lines:\n%s", len(lines), text)
	}
	if strings.ContainsAny(text, "\r\x1b") {
		t.Errorf("control characters outside a terminal: %q", text)
	}
}

func TestFetchReportOnATerminal(t *testing.T) {
	t.Parallel()
	text := told(&fetchReport{terminal: true})
	if n := strings.Count(text, "\n"); n != 1 || !strings.HasSuffix(text, "\rm: 100 MB, checked\n") {
		t.Errorf("%d line ends, want the one of the last line: %q", n, text)
	}
	for line := range strings.SplitSeq(text, "\r") {
		if len(line) > 79 {
			t.Errorf("a line of %d characters would wrap: %q", len(line), line)
		}
	}
}

func TestFetchReportQuietStillTellsTheTerms(t *testing.T) {
	t.Parallel()
	r := &fetchReport{quiet: true}
	if text := told(r); text != "" {
		t.Errorf("progress in quiet: %q", text)
	}
	var b strings.Builder
	r.w = &b
	r.Announce(weights.Announcement{Home: "/c", Items: []weights.Item{{Name: "m", Title: "M", Bytes: 5e8, Have: 1e8,
		Licence: weights.Licence{Name: "L", URL: "u", Terms: "mind this"}}}})
	for _, words := range []string{"500 MB, 100 MB of it there", "licence: L, u", "mind this"} {
		if !strings.Contains(b.String(), words) {
			t.Errorf("no %q in the announcement:\n%s", words, b.String())
		}
	}
}

func TestFetchReportNeverGoesBack(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	clock := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	r := &fetchReport{w: &b, terminal: true, now: func() time.Time { clock = clock.Add(time.Second); return clock }}
	for _, done := range []int64{0, 90, 10, 50, 95} {
		r.Progress(weights.Progress{Name: "m", Source: "pip", Done: done, Total: 100})
	}
	if r.End(); !strings.HasSuffix(b.String(), " \r") {
		t.Errorf("the line is left standing: %q", b.String())
	}
	if strings.Contains(b.String(), "10 bytes of") || strings.Contains(b.String(), "50 bytes of") {
		t.Errorf("progress went back: %q", b.String())
	}
}
