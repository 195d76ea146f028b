package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/study"
)

// clock is a time that a test moves on.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func step(name string, done, made int, retries int64, missing int) study.Progress {
	return study.Progress{
		Setting: record.Setting{Model: name, Dataset: "facts"}, Stage: study.StageAnswers,
		Done: done, Total: 40, Counts: ledger.Counts{Made: int64(made)}, Retries: retries, NotScored: missing,
	}
}

func TestProgressTellsRateTimeLeftAndWhatIsMissing(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	c := &clock{time.Unix(0, 0)}
	p := &progress{w: &b, width: 80, every: plainEvery, now: c.now}
	p.update(step("m", 0, 0, 0, 0))
	// Ten items that the ledger knew tell nothing of the model's speed.
	c.at = c.at.Add(20 * time.Second)
	p.update(step("m", 10, 0, 0, 0))
	c.at = c.at.Add(20 * time.Second)
	p.update(step("m", 20, 50, 2, 3))
	c.at = c.at.Add(time.Second)
	p.update(step("m", 21, 55, 2, 3)) // too soon
	p.update(step("m", 40, 150, 2, 3))
	p.end()
	want := `m/facts: 0 of 40 items, 0 retried, 0 not scored
m/facts: 10 of 40 items, 0 retried, 0 not scored
m/facts: 20 of 40 items, 30/min, 40s left, 2 retried, 3 not scored
m/facts: 40 of 40 items, 2 retried, 3 not scored
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// A line that a terminal breaks in two cannot be redrawn.
func TestProgressFitsItsTerminal(t *testing.T) {
	t.Parallel()
	for _, width := range []int{20, 30, 40, 60, 80, 200} {
		var b strings.Builder
		c := &clock{time.Unix(0, 0)}
		p := &progress{w: &b, width: width, terminal: true, every: redrawEvery, now: c.now}
		name := "a-model-with-a-long-name\x1b[2J\u202e"
		p.update(step(name, 0, 0, 0, 0))
		c.at = c.at.Add(time.Minute)
		p.update(step(name, 7, 1, 12, 5))
		p.end()
		lines := strings.Split(b.String(), "\r\x1b[K")
		for _, line := range lines {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n >= width {
				t.Errorf("%d columns in %d: %q", n, width, line)
			}
			if strings.ContainsAny(line, "\x1b\u202e") {
				t.Errorf("a name moves the cursor: %q", line)
			}
		}
		if last := lines[len(lines)-1]; width >= 40 && (!strings.Contains(last, "7/40") && !strings.Contains(last, "7 of 40") || !strings.Contains(last, "left")) {
			t.Errorf("at %d columns neither done nor time left is seen: %q", width, last)
		}
	}
}

func TestEventsAreOneObjectALine(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	c := &clock{time.Unix(0, 0)}
	e := &events{w: &b, now: c.now}
	p := &progress{w: &b, every: eventEvery, now: c.now, events: e}
	p.update(step("m\u202e\u009b", 0, 0, 0, 0))
	c.at = c.at.Add(10 * time.Second)
	p.update(step("m\u202e\u009b", 5, 20, 1, 2))
	p.count("resamples", 1, 2)
	e.failed(2, "a\nb", "c")
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines: %s", len(lines), b.String())
	}
	for _, line := range lines {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for _, key := range []string{"event", "time"} {
			if fields[key] == nil {
				t.Errorf("no %s in %s", key, line)
			}
		}
		if strings.ContainsAny(line, "\u202e\u009b") {
			t.Errorf("a terminal would obey %q", line)
		}
	}
	want := `{"event":"progress","time":"1970-01-01T00:00:10Z","model":"m\u202e\u009b","dataset":"facts","stage":"answers",` +
		`"what":"items","done":5,"total":40,"rate":0.5,"eta_seconds":70,"calls_made":20,"calls_reused":0,"retries":1,"not_scored":2}`
	if lines[1] != want {
		t.Errorf("got  %s\nwant %s", lines[1], want)
	}
	if !strings.Contains(lines[0], `"rate":null,"eta_seconds":null`) {
		t.Errorf("a rate before anything is done: %s", lines[0])
	}
}
