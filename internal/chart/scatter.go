package chart

import (
	"html/template"
	"math"
)

// Scatter is a chart of points with X in [0,1], such as the likeness of two rankings against the F1 of a
// judge. The vertical axis ends at 1 and begins at a round number below all points.
type Scatter struct {
	Head
	// XLabel and YLabel name the axes.
	XLabel, YLabel string
	Points         []ScatterPoint
	// Ends are what stands below X 0 and 1, in place of these numbers, where X is a share of some other range.
	Ends [2]string
	// Cross is where a line across each axis parts the chart into quadrants; nil draws none.
	Cross *Point
}

// ScatterPoint is one mark; one that is not finite is left out.
type ScatterPoint struct {
	Series int
	X, Y   float64
	// Hover has the numbers in words.
	Hover string
}

// SVG draws the chart.
func (p Scatter) SVG() template.HTML {
	d := newDrawing("scatter", curveWidth, curveHeight, p.Head)
	lowest := 1.0
	for _, m := range p.Points {
		if finite(m.X, m.Y) {
			lowest = min(lowest, m.Y)
		}
	}
	lowest = math.Floor(lowest*10) / 10
	if lowest >= 1 {
		lowest = .9
	}
	x, y := scale{0, 1, curveLeft, curveRight}, scale{lowest, 1, curveBottom, curveTop}
	middle := (1 + lowest) / 2
	d.grid(x, y, []float64{0, .5, 1}, []float64{lowest, middle, 1})
	for _, v := range []float64{lowest, middle, 1} {
		d.text("", "e", curveLeft-6, y.at(v)+4, tick(v))
	}
	if p.Ends != [2]string{} {
		d.text("", "", x.at(0), curveBottom+15, p.Ends[0])
		d.text("", "e", x.at(1), curveBottom+15, p.Ends[1])
	} else {
		for _, v := range []float64{0, .5, 1} {
			d.text("", "m", x.at(v), curveBottom+15, tick(v))
		}
	}
	d.text("", "m", (curveLeft+curveRight)/2, curveHeight-4, p.XLabel)
	d.text("", "", curveLeft, topLabel, p.YLabel)
	if p.Cross != nil && finite(p.Cross.X, p.Cross.Y) {
		d.line("ideal", x.at(p.Cross.X), curveBottom, x.at(p.Cross.X), curveTop)
		d.line("ideal", curveLeft, y.at(p.Cross.Y), curveRight, y.at(p.Cross.Y))
	}
	drawn := false
	for _, m := range p.Points {
		if !finite(m.X, m.Y) {
			continue
		}
		drawn = true
		d.group(seriesClass(m.Series), m.Hover)
		d.printf(`<path class="mark" d="%s"/>`, shape(m.Series, x.at(m.X), y.at(m.Y)))
		d.end()
	}
	if !drawn {
		d.text("", "m", x.at(.5), y.at(middle), "no point can be drawn")
	}
	return d.done()
}
