package chart

import (
	"html/template"
	"math"
)

// Intervals is a chart of estimates about zero, one row each, such as the gap between two scores in
// each context.
type Intervals struct {
	Head
	// Below and Above say what values on either side of zero mean.
	Below, Above string
	Rows         []IntervalRow
}

// IntervalRow is one estimate.
type IntervalRow struct {
	Label  string
	Series int
	// Value with its interval Lower..Upper; the interval is left out where it is not finite.
	Value, Lower, Upper float64
	// Clear marks an estimate whose interval excludes zero.
	Clear bool
	// Why says why there is no value, which is then not drawn.
	Why string
	// Hover has the numbers in words.
	Hover string
}

const (
	intervalWidth  = 340
	intervalLabel  = 92 // room for the labels of rows
	intervalRow    = 26
	intervalTop    = 24
	intervalBottom = 22
	labelLength    = 15
)

// SVG draws the chart.
func (p Intervals) SVG() template.HTML {
	bottom := float64(intervalTop + intervalRow*len(p.Rows))
	d := newDrawing("intervals", intervalWidth, bottom+intervalBottom, p.Head)
	edge := p.edge()
	x := scale{-edge, edge, intervalLabel + 8, intervalWidth - 12}
	for _, v := range []float64{-edge, 0, edge} {
		class := "grid"
		if v == 0 {
			class = "zero"
		}
		d.line(class, x.at(v), intervalTop-4, x.at(v), bottom)
		d.text("", "m", x.at(v), bottom+15, tick(v))
	}
	d.text("", "e", x.at(0)-8, 12, p.Below)
	d.text("", "", x.at(0)+8, 12, p.Above)
	for i, r := range p.Rows {
		r.draw(d, x, intervalTop+intervalRow*(float64(i)+.5))
	}
	return d.done()
}

func (r IntervalRow) draw(d *drawing, x scale, y float64) {
	d.group(seriesClass(r.Series), r.Hover)
	d.printf(`<rect class="hit" x="0" y="%s" width="%d" height="%d"/>`, num(y-intervalRow/2), intervalWidth, intervalRow)
	d.text("label", "e", intervalLabel, y+4, short(r.Label, labelLength))
	switch {
	case r.Why != "" || !finite(r.Value):
		d.text("", "m", x.at(0), y+4, r.reason())
	default:
		if r.hasInterval() {
			d.line("whisker", x.at(r.Lower), y, x.at(r.Upper), y)
		}
		class := "open"
		if r.Clear {
			class = "dot"
		}
		d.printf(`<circle class="%s" cx="%s" cy="%s" r="4"/>`, class, num(x.at(r.Value)), num(y))
	}
	d.end()
}

func (r IntervalRow) reason() string {
	if r.Why != "" {
		return "undefined: " + short(r.Why, 30)
	}
	return "undefined"
}

func (r IntervalRow) hasInterval() bool {
	return finite(r.Lower, r.Upper) && r.Upper >= r.Lower && r.Upper-r.Lower > 0
}

// edge is the end of the axis, the same on both sides so that zero is in the middle.
func (p Intervals) edge() float64 {
	most := 0.0
	for _, r := range p.Rows {
		if r.Why != "" || !finite(r.Value) {
			continue
		}
		most = max(most, math.Abs(r.Value))
		if r.hasInterval() {
			most = max(most, math.Abs(r.Lower), math.Abs(r.Upper))
		}
	}
	return roundUp(most)
}

// roundUp is the next round number from x on; .1 for nothing.
func roundUp(x float64) float64 {
	if x <= 0 || !finite(x) {
		return .1
	}
	unit := math.Pow(10, math.Floor(math.Log10(x)))
	if unit == 0 || !finite(10*unit) {
		return x
	}
	for _, m := range []float64{1, 1.5, 2, 3, 4, 5, 6, 8} {
		if m*unit >= x {
			return m * unit
		}
	}
	return 10 * unit
}
