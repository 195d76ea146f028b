package chart

import "html/template"

// Strips is a chart of points on [0,1] in rows, such as confidences by what became of an answer, over
// regions that speak for or against what is measured.
type Strips struct {
	Head
	XLabel string
	Series int
	// At draws a line across all rows where it is in [0,1]; CrossRow marks a row with a cross at At, if not negative.
	At       float64
	CrossRow int
	Rows     []StripRow
}

// StripRow is one row.
type StripRow struct {
	Label  string
	Points []float64
	// Below and Above say what the regions on either side of At do; Plain draws nothing.
	Below, Above Region
	// Hover has the numbers in words.
	Hover string
}

// Region is what a part of a row does.
type Region uint8

// The regions. Those that are not plain have a sign as well as a colour.
const (
	Plain Region = iota
	Reward
	Penalty
)

const (
	stripWidth  = 220
	stripLeft   = 30
	stripRow    = 26
	stripTop    = 6
	stripBottom = 34
)

// SVG draws the chart.
func (p Strips) SVG() template.HTML {
	bottom := float64(stripTop + stripRow*len(p.Rows))
	d := newDrawing("strips", stripWidth, bottom+stripBottom, p.Head)
	x := scale{0, 1, stripLeft, stripWidth - 10}
	for i, r := range p.Rows {
		top := float64(stripTop + stripRow*i)
		p.region(d, x, r.Below, 0, p.At, top)
		p.region(d, x, r.Above, p.At, 1, top)
	}
	d.grid(x, scale{0, 1, bottom, stripTop}, []float64{0, .5, 1}, nil)
	for _, v := range []float64{0, .5, 1} {
		d.text("", "m", x.at(v), bottom+15, tick(v))
	}
	d.text("", "m", (x.a+x.b)/2, bottom+30, p.XLabel)
	if p.At >= 0 && p.At <= 1 {
		d.line("ideal", x.at(p.At), stripTop, x.at(p.At), bottom)
	}
	for i, r := range p.Rows {
		y := stripTop + stripRow*(float64(i)+.5)
		d.group(seriesClass(p.Series), r.Hover)
		d.printf(`<rect class="hit" x="0" y="%s" width="%d" height="%d"/>`, num(y-stripRow/2), stripWidth, stripRow)
		d.text("label", "e", stripLeft-6, y+4, short(r.Label, 4))
		for k, v := range r.Points {
			if finite(v) {
				// Points stand on four lines in turn, so that equal ones are seen.
				d.printf(`<circle class="point" cx="%s" cy="%s" r="1.8"/>`, num(x.at(v)), num(y-6+float64(k%4)*4))
			}
		}
		d.end()
		if i == p.CrossRow && p.At >= 0 && p.At <= 1 {
			d.line("cross", x.at(p.At)-4, y-4, x.at(p.At)+4, y+4)
			d.line("cross", x.at(p.At)-4, y+4, x.at(p.At)+4, y-4)
		}
	}
	return d.done()
}

func (p Strips) region(d *drawing, x scale, r Region, from, to, top float64) {
	if r == Plain || !finite(from, to) || !(from < to) {
		return
	}
	class, sign := "reward", "+"
	if r == Penalty {
		class, sign = "penalty", "−"
	}
	d.printf(`<rect class="%s" x="%s" y="%s" width="%s" height="%d"/>`, class, num(x.at(from)), num(top), num(x.at(to)-x.at(from)), stripRow)
	d.text("", "m", (x.at(from)+x.at(to))/2, top+stripRow/2+4, sign)
}
