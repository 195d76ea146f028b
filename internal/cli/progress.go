package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/credence-lab/credence/study"
)

// progress shows how far a study is: one line that is redrawn on a terminal, plain lines now and then
// elsewhere, nothing when quiet.
type progress struct {
	w        io.Writer
	terminal bool
	quiet    bool
	every    time.Duration
	now      func() time.Time
	began    time.Time
	shown    time.Time
	current  string
	drawn    bool
}

// plainEvery is how often a plain line is written where lines cannot be redrawn.
const (
	plainEvery  = 10 * time.Second
	redrawEvery = 100 * time.Millisecond
)

func (a *app) newProgress() *progress {
	p := &progress{w: a.err, terminal: isTerminal(a.err), quiet: a.quiet, every: plainEvery, now: time.Now}
	switch {
	case p.terminal:
		p.every = redrawEvery
	case a.verbose:
		p.every = 0 // a line for each item
	}
	return p
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd()) && os.Getenv("TERM") != "dumb"
}

func (p *progress) update(s study.Progress) {
	if p.quiet {
		return
	}
	now := p.now()
	if name := s.Setting.String(); name != p.current {
		p.end()
		p.current, p.began, p.shown = name, now, time.Time{}
	}
	last := s.Done == s.Total
	if !last && now.Sub(p.shown) < p.every {
		return
	}
	p.shown = now
	line := fmt.Sprintf("%s: %d of %d items, %d calls made, %d reused%s", p.current, s.Done, s.Total, s.Counts.Made, s.Counts.Reused, p.left(s, now))
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		p.drawn = true
		return
	}
	fmt.Fprintln(p.w, line)
}

// left estimates the time left from the items done so far.
func (p *progress) left(s study.Progress, now time.Time) string {
	if s.Done == 0 || s.Done == s.Total {
		return ""
	}
	each := now.Sub(p.began) / time.Duration(s.Done)
	return fmt.Sprintf(", %s left", (each * time.Duration(s.Total-s.Done)).Round(time.Second))
}

// end leaves the redrawn line standing.
func (p *progress) end() {
	if p.drawn {
		fmt.Fprintln(p.w)
		p.drawn = false
	}
}
