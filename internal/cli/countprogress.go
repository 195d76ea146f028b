package cli

import (
	"fmt"
	"time"
)

// count shows how far counted work is, with the time left, under the same rules as [progress.update].
func (p *progress) count(what string, done, total int) {
	if p.quiet || !p.terminal && total < manyCounted {
		return
	}
	now := p.now()
	if p.began.IsZero() {
		p.began, p.shown = now, now
	}
	if done < total && now.Sub(p.shown) < max(p.every, redrawEvery) || done == 0 {
		return
	}
	p.shown = now
	line := fmt.Sprintf("%d of %d %s", done, total, what)
	if left := now.Sub(p.began) * time.Duration(total-done) / time.Duration(done); done < total {
		line += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		p.drawn = true
		return
	}
	if done < total {
		fmt.Fprintln(p.w, line)
	}
}

// manyCounted is the work below which nothing is said where lines cannot be redrawn.
const manyCounted = 1000
