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
	panelWidth = 230
	panelLeft  = 34
	panelRight = 222

	reliabilityTop    = 8
	reliabilityBottom = 196
	reliabilityHeight = 228
)

// SVG draws the chart.
func (p Reliability) SVG() template.HTML {
	d := newDrawing("reliability", panelWidth, reliabilityHeight, p.Head)
	x := scale{0, 1, panelLeft, panelRight}
	y := scale{0, 1, reliabilityBottom, reliabilityTop}
	for _, v := range []float64{0, .5, 1} {
		d.line("grid", x.at(0), y.at(v), x.at(1), y.at(v))
		d.line("grid", x.at(v), y.at(0), x.at(v), y.at(1))
		d.text("", "e", panelLeft-6, y.at(v)+4, tick(v))
		d.text("", "m", x.at(v), reliabilityBottom+15, tick(v))
	}
	d.line("ideal", x.at(0), y.at(0), x.at(1), y.at(1))
	d.text("", "m", (panelLeft+panelRight)/2, reliabilityHeight-2, "confidence")
	d.text("", "", panelLeft+5, reliabilityTop+12, "share right")
	most := 1
	for _, b := range p.Bins {
		most = max(most, b.N)
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
		d.printf(`<circle class="bubble" cx="%s" cy="%s" r="%s"/>`, num(x.at(b.Confidence)), num(y.at(b.Share)), num(radius(b.N, most)))
		d.end()
	}
	d.end()
	if !drawn {
		d.text("", "m", x.at(.5), y.at(.5), "no answers")
	}
	return d.done()
}

// radius makes the area of a dot follow its count, down to a size that can still be seen and pointed at.
func radius(n, most int) float64 { return max(3, 10*math.Sqrt(float64(n)/float64(most))) }
