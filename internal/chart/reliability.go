package chart

import (
	"html/template"
	"math"
)

// Reliability is a reliability diagram: the share of correct answers against the confidence, the dot's
// area for the number of answers, and an interval of the share.
type Reliability struct {
	Head
	Series int
	Bins   []ReliabilityBin
}

// ReliabilityBin is one dot. Confidence and Share lie in [0,1]; the interval is left out where it is
// not finite.
type ReliabilityBin struct {
	Confidence, Share, Lower, Upper float64
	N                               int
	Hover                           string
}

// The reliability diagram and the histogram have the same width and margins, so that one stands above
// the other with a common axis.
const (
	panelWidth = 180
	panelLeft  = 26
	panelRight = 174

	reliabilityTop    = 20
	reliabilityBottom = 168
	reliabilityHeight = 200
	// topLabel is the baseline of what stands above a panel.
	topLabel = 9
)

// SVG draws the chart.
func (p Reliability) SVG() template.HTML {
	d := newDrawing("reliability", panelWidth, reliabilityHeight, p.Head)
	x := scale{0, 1, panelLeft, panelRight}
	y := scale{0, 1, reliabilityBottom, reliabilityTop}
	ticks := []float64{0, .5, 1}
	d.grid(x, y, ticks, ticks)
	for _, v := range ticks {
		d.text("", "e", panelLeft-6, y.at(v)+4, tick(v))
		d.text("", "m", x.at(v), reliabilityBottom+15, tick(v))
	}
	d.line("ideal", x.at(0), y.at(0), x.at(1), y.at(1))
	d.text("", "m", (panelLeft+panelRight)/2, reliabilityHeight-2, "confidence")
	d.text("", "", panelLeft, topLabel, "share right")
	all := 0
	for _, b := range p.Bins {
		all += max(0, b.N)
	}
	d.printf(`<g class="%s">`, seriesClass(p.Series))
	drawn := false
	for _, b := range p.Bins {
		if !finite(b.Confidence, b.Share) || b.N < 1 {
			continue
		}
		drawn = true
		d.group("", b.Hover)
		if finite(b.Lower, b.Upper) {
			d.line("thin", x.at(b.Confidence), y.at(b.Lower), x.at(b.Confidence), y.at(b.Upper))
		}
		d.printf(`<circle class="bubble" cx="%s" cy="%s" r="%s"/>`, num(x.at(b.Confidence)), num(y.at(b.Share)), num(radius(b.N, all)))
		d.end()
	}
	d.end()
	if !drawn {
		d.text("", "m", x.at(.5), y.at(.5), "no answers")
	}
	return d.done()
}

// radius makes the area of a dot follow its share of all answers, down to a size that can still be seen
// and pointed at.
func radius(n, all int) float64 { return max(2.5, 11*math.Sqrt(float64(n)/float64(all))) }
