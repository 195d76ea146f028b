package chart

import (
	"fmt"
	"html/template"
)

// Histogram counts a score by label: correct answers upwards, incorrect ones downwards and paler, so
// that the two are told apart without colour.
type Histogram struct {
	Head
	Series int
	Bins   []HistogramBin
	// Says replaces the counts of right and wrong above the bars, for a histogram of something else, whose counts
	// are the Correct ones.
	Says string
	// At are places on the axis that are marked by a line across; those that are not finite are left out.
	At []float64
}

// HistogramBin is one pair of bars.
type HistogramBin struct {
	From, To           float64
	Correct, Incorrect int
	// Hover has the numbers in words; where it is empty the counts are given.
	Hover string
}

const (
	histogramTop    = 18
	histogramBottom = 98
	histogramHeight = 116
)

// SVG draws the chart.
func (p Histogram) SVG() template.HTML {
	d := newDrawing("histogram", panelWidth, histogramHeight, p.Head)
	up, down, right, wrong := p.counts()
	if right+wrong == 0 || !finite(p.Bins[0].From, p.Bins[len(p.Bins)-1].To) {
		d.text("", "m", (panelLeft+panelRight)/2, histogramHeight/2, "no answers")
		return d.done()
	}
	x := scale{p.Bins[0].From, p.Bins[len(p.Bins)-1].To, panelLeft, panelRight}
	y := scale{float64(-down), float64(up), histogramBottom, histogramTop}
	width := (panelRight - panelLeft) / float64(len(p.Bins))
	d.printf(`<g class="bars %s" stroke-width="%s">`, seriesClass(p.Series), num(max(1, .85*width)))
	for _, b := range p.Bins {
		b.draw(d, x, y)
	}
	d.end()
	for _, at := range p.At {
		if finite(at) {
			d.line("ideal", x.at(at), histogramBottom, x.at(at), histogramTop)
		}
	}
	d.line("axis", panelLeft, y.at(0), panelRight, y.at(0))
	p.labels(d, x, right, wrong)
	return d.done()
}

// draw draws the bars as thick lines from the axis, of the width that the group has.
func (b HistogramBin) draw(d *drawing, x, y scale) {
	if b.Correct+b.Incorrect == 0 || !finite(b.From, b.To) {
		return
	}
	hover := b.Hover
	if hover == "" {
		hover = fmt.Sprintf("%s to %s: %d right, %d wrong", tick(b.From), tick(b.To), b.Correct, b.Incorrect)
	}
	middle, axis := num((x.at(b.From)+x.at(b.To))/2), num(y.at(0))
	d.group("", hover)
	if b.Correct > 0 {
		d.printf(`<path d="M%s %sV%s"/>`, middle, axis, num(y.at(float64(b.Correct))))
	}
	if b.Incorrect > 0 {
		d.printf(`<path class="wrong" d="M%s %sV%s"/>`, middle, axis, num(y.at(float64(-b.Incorrect))))
	}
	d.end()
}

func (p Histogram) labels(d *drawing, x scale, right, wrong int) {
	for _, v := range []float64{x.from, x.from/2 + x.to/2, x.to} {
		d.text("", "m", x.at(v), histogramHeight-2, tick(v))
	}
	says := p.Says
	if says == "" {
		says = fmt.Sprintf("%d right, %d wrong", right, wrong)
	}
	d.text("", "", panelLeft, topLabel, says)
}

// counts gives the highest bars and the totals. A side without answers keeps a little room.
func (p Histogram) counts() (up, down, right, wrong int) {
	for _, b := range p.Bins {
		up, down = max(up, b.Correct), max(down, b.Incorrect)
		right, wrong = right+b.Correct, wrong+b.Incorrect
	}
	return up, down, right, wrong
}
