package cli

import "fmt"

// count shows how far counted work is, under the same rules as [progress.update].
func (p *progress) count(what string, done, total int) {
	if p.quiet || !p.terminal && p.events == nil && total < manyCounted {
		return
	}
	now := p.now()
	if p.pace.began.IsZero() {
		p.pace, p.shown = pace{began: now}, now
	}
	if done < total && now.Sub(p.shown) < max(p.every, redrawEvery) || done == 0 {
		return
	}
	p.shown = now
	if p.events != nil {
		p.events.counted(now, p.pace, what, done, total)
		return
	}
	if done == total && !p.terminal {
		return
	}
	line := fmt.Sprintf("%d of %d %s", done, total, what)
	if rate, left, known := p.pace.speed(now, done, total); known && done < total {
		line += ", " + rateWords(rate) + ", " + leftWords(left)
	}
	p.show(shorten(line, max(p.width-1, shortestName)))
}

// manyCounted is the work below which nothing is said where lines cannot be redrawn.
const manyCounted = 1000
