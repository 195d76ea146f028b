package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-isatty"

	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/study"
)

// progress shows how far work is: one line that is redrawn on a terminal, plain lines now and then
// elsewhere, events where these were asked for, nothing when quiet.
type progress struct {
	w        io.Writer
	terminal bool
	quiet    bool
	width    int
	every    time.Duration
	now      func() time.Time
	events   *events
	pace     pace
	shown    time.Time
	current  string
	made     int64 // calls made when the pace began
	drawn    bool
}

// How often progress is told: on a plain stream, as an event, on a terminal.
const (
	plainEvery  = 10 * time.Second
	eventEvery  = time.Second
	redrawEvery = 100 * time.Millisecond
)

func (a *app) newProgress() *progress {
	p := &progress{w: a.err, terminal: isTerminal(a.err), quiet: a.quiet, width: columnsOf(a.err), every: plainEvery, now: time.Now, events: a.events()}
	switch {
	case p.events != nil:
		p.terminal, p.every = false, eventEvery
	case p.terminal:
		p.every = redrawEvery
	}
	if a.verbose && !p.terminal {
		p.every = 0 // a line for each item
	}
	return p
}

// isTerminal reports whether lines can be redrawn on w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd()) && os.Getenv("TERM") != "dumb"
}

func (p *progress) update(s study.Progress) {
	if p.quiet {
		return
	}
	now := p.now()
	name := s.Setting.String()
	if s.Stage != study.StageAnswers {
		name += ", " + string(s.Stage)
	}
	if name != p.current {
		p.end()
		p.current, p.shown, p.made = name, time.Time{}, s.Counts.Made
		p.pace = pace{now, s.Done}
	}
	// Until something new is asked, the ledger answers, and its speed tells nothing of the model's.
	if s.Counts.Made == p.made {
		p.pace = pace{now, s.Done}
	}
	if s.Done < s.Total && now.Sub(p.shown) < p.every {
		return
	}
	p.shown = now
	if p.events != nil {
		p.events.setting(now, p.pace, s)
		return
	}
	p.show(p.line(now, s))
}

// line says how far a setting is, as briefly as the width demands.
func (p *progress) line(now time.Time, s study.Progress) string {
	name := termsafe.String(p.current)
	var rate, left []string
	if perSecond, rest, known := p.pace.speed(now, s.Done, s.Total); known && s.Done < s.Total {
		rate, left = []string{rateWords(perSecond)}, []string{leftWords(rest)}
	}
	whole := join([]string{fmt.Sprintf("%s: %d of %d items", name, s.Done, s.Total)}, rate, left,
		[]string{fmt.Sprintf("%d retried", s.Retries), fmt.Sprintf("%d not scored", s.NotScored)})
	if !p.terminal || fits(whole, p.width) {
		return whole
	}
	// The name is cut first; then what is not there goes unsaid, the rate, and the name.
	count := []string{fmt.Sprintf("%d/%d", s.Done, s.Total)}
	var trouble []string
	if s.Retries > 0 {
		trouble = append(trouble, fmt.Sprintf("%d retried", s.Retries))
	}
	if s.NotScored > 0 {
		trouble = append(trouble, fmt.Sprintf("%d unscored", s.NotScored))
	}
	for _, rest := range []string{join(count, rate, left, trouble), join(count, left, trouble)} {
		if room := p.width - 1 - utf8.RuneCountInString(rest) - 2; room >= shortestName {
			return shorten(name, room) + ": " + rest
		}
	}
	return shorten(join(count, left, trouble), max(p.width-1, 1))
}

func join(parts ...[]string) string { return strings.Join(slices.Concat(parts...), ", ") }

// shortestName is how much of a setting's name must be seen for it to be worth its place.
const shortestName = 6

// fits reports whether a line leaves the last column free, in which a terminal would break it.
func fits(line string, width int) bool { return utf8.RuneCountInString(line) < width }

// shorten cuts a text to a width of at least 1, in the middle where there is room: names differ at both ends.
func shorten(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	tail := (width - 1) / 2
	return string(runes[:width-1-tail]) + "…" + string(runes[len(runes)-tail:])
}

// show draws the line anew on a terminal, and writes one elsewhere.
func (p *progress) show(line string) {
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		p.drawn = true
		return
	}
	fmt.Fprintln(p.w, line)
}

// end leaves the redrawn line standing.
func (p *progress) end() {
	if p.drawn {
		fmt.Fprintln(p.w)
		p.drawn = false
	}
}
