package chart

import (
	"fmt"
	"html/template"
)

// Histogram counts a score by label: correct answers upwards, incorrect ones downwards, so that the
// two are told apart without colour.
type Histogram struct {
	Head
	Series int
	Bins   []HistogramBin
}

// HistogramBin is one pair of bars.
type HistogramBin struct {
	From, To           float64
	Correct, Incorrect int
	// Hover has the numbers in words; where it is empty the counts are given.
	Hover string
}

const (
	histogramTop    = 4
	histogramBottom = 108
	histogramHeight = 126
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
	d.printf(`<g class="%s">`, seriesClass(p.Series))
	for _, b := range p.Bins {
		b.draw(d, x, y)
	}
	d.end()
	d.line("axis", panelLeft, y.at(0), panelRight, y.at(0))
	p.labels(d, x, y, right, wrong)
	return d.done()
}

func (b HistogramBin) draw(d *drawing, x, y scale) {
	if b.Correct+b.Incorrect == 0 || !finite(b.From, b.To) {
		return
	}
	hover := b.Hover
	if hover == "" {
		hover = fmt.Sprintf("%s to %s: %d correct, %d incorrect", tick(b.From), tick(b.To), b.Correct, b.Incorrect)
	}
	left, width := x.at(b.From)+.5, max(1, x.at(b.To)-x.at(b.From)-1)
	d.group("", hover)
	if b.Correct > 0 {
		bar(d, "bar", left, y.at(float64(b.Correct)), width, y.at(0))
	}
	if b.Incorrect > 0 {
		bar(d, "barless", left, y.at(0), width, y.at(float64(-b.Incorrect)))
	}
	d.end()
}

func bar(d *drawing, class string, left, top, width, bottom float64) {
	d.printf(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, num(left), num(top), num(width), num(max(1, bottom-top)))
}

func (p Histogram) labels(d *drawing, x, y scale, right, wrong int) {
	for _, v := range []float64{x.from, (x.from + x.to) / 2, x.to} {
		d.text("", "m", x.at(v), histogramHeight-2, tick(v))
	}
	if right > 0 {
		d.text("", "", panelLeft+5, histogramTop+10, fmt.Sprintf("right %d", right))
	}
	if wrong > 0 {
		d.text("", "", panelLeft+5, histogramBottom-3, fmt.Sprintf("wrong %d", wrong))
	}
}

// counts gives the highest bars and the totals. A side without answers keeps a little room.
func (p Histogram) counts() (up, down, right, wrong int) {
	for _, b := range p.Bins {
		up, down = max(up, b.Correct), max(down, b.Incorrect)
		right, wrong = right+b.Correct, wrong+b.Incorrect
	}
	return up, down, right, wrong
}
