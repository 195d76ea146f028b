package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/credence-lab/credence/weights"
)

// fetchReport tells a person how a fetch goes: one line that is redrawn on a terminal, else few
// plain lines. Announcements and notes are shown even when progress is not wanted.
type fetchReport struct {
	w        io.Writer
	terminal bool
	quiet    bool
	now      func() time.Time

	item    string // what the figures below are of
	source  string
	first   int64 // bytes that were there when it began
	began   time.Time
	done    int64
	shown   time.Time
	shownAt int64
	drawn   int // characters on the terminal's line
}

func (a *app) newReporter() weights.Reporter {
	if e := a.events(); e != nil {
		return &fetchEvents{events: e, quiet: a.quiet}
	}
	return &fetchReport{w: a.err, terminal: isTerminal(a.err), quiet: a.quiet, now: time.Now}
}

func (r *fetchReport) Announce(a weights.Announcement) {
	fmt.Fprintf(r.w, "Fetching into %s:\n", a.Home)
	for _, i := range a.Items {
		size := weights.FormatBytes(i.Bytes)
		if i.Have > 0 {
			size += ", " + weights.FormatBytes(i.Have) + " of it there"
		}
		fmt.Fprintf(r.w, "  %s: %s, %s\n    licence: %s, %s\n", i.Name, i.Title, size, i.Licence.Name, i.Licence.URL)
		if i.Licence.Terms != "" {
			fmt.Fprintf(r.w, "    %s\n", i.Licence.Terms)
		}
	}
}

func (r *fetchReport) Note(line string) {
	r.erase()
	fmt.Fprintln(r.w, line)
}

func (r *fetchReport) Done(i weights.Item) {
	r.erase()
	if !r.quiet {
		fmt.Fprintf(r.w, "%s: %s, checked\n", i.Name, weights.FormatBytes(i.Bytes))
	}
}

// End leaves the terminal's line to whatever is written next.
func (r *fetchReport) End() { r.erase() }

func (r *fetchReport) Progress(p weights.Progress) {
	if r.quiet {
		return
	}
	now := r.now()
	if p.Name != r.item || p.Source != r.source {
		r.item, r.source, r.first, r.began, r.done = p.Name, p.Source, p.Done, now, p.Done
		r.shown, r.shownAt = now, p.Done
	}
	// Unpacking a package goes once more over what its download has counted.
	r.done = max(r.done, p.Done)
	if !r.due(now, p.Total) {
		return
	}
	r.shown, r.shownAt = now, r.done
	line := r.line(now, p)
	if r.terminal {
		fmt.Fprintf(r.w, "\r%s%s", line, strings.Repeat(" ", max(0, r.drawn-len(line))))
		r.drawn = len(line)
		return
	}
	fmt.Fprintln(r.w, line)
}

// due says whether it is time for the next line: five times a second on a terminal; else after a
// tenth of the whole but not within two seconds, and at the latest after half a minute.
func (r *fetchReport) due(now time.Time, total int64) bool {
	since := now.Sub(r.shown)
	if r.terminal {
		return since >= 200*time.Millisecond
	}
	return since >= 2*time.Second && r.done-r.shownAt >= total/10 || since >= 30*time.Second
}

func (r *fetchReport) line(now time.Time, p weights.Progress) string {
	line := fmt.Sprintf("%s: %s of %s, %d %%", p.Name, weights.FormatBytes(r.done), weights.FormatBytes(p.Total), 100*r.done/max(1, p.Total))
	if seconds := now.Sub(r.began).Seconds(); seconds > 0 && r.done > r.first {
		rate := float64(r.done-r.first) / seconds
		left := time.Duration(float64(p.Total-r.done) / rate * float64(time.Second))
		line += fmt.Sprintf(", %s/s, %s left", weights.FormatBytes(int64(rate)), left.Round(time.Second))
	}
	return line + " (" + p.Source + ")"
}

// erase frees the terminal's line for another text.
func (r *fetchReport) erase() {
	if r.drawn > 0 {
		fmt.Fprintf(r.w, "\r%s\r", strings.Repeat(" ", r.drawn))
		r.drawn = 0
	}
}
