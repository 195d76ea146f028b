package chart

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// Curves is a chart of curves over [0,1], such as risk against coverage or the receiver operating
// characteristic.
type Curves struct {
	Head
	// XLabel and YLabel name the axes.
	XLabel, YLabel string
	// YMax ends the vertical axis; 0 takes the next round number above all points.
	YMax float64
	// Diagonal draws what chance gives.
	Diagonal bool
	Curves   []Curve
}

// Curve is one line.
type Curve struct {
	Name   string
	Series int
	// Points by ascending X in [0,1]; those that are not finite are left out.
	Points []Point
	// Hover has the summary in words.
	Hover string
}

// Point is a point of a curve.
type Point struct{ X, Y float64 }

const (
	curveWidth, curveHeight = 340, 252
	curveLeft, curveRight   = 38, 330
	curveTop, curveBottom   = 22, 216
	// Marks stand at these shares of the x axis; they tell series apart and have values on hover.
	marks = 5
	// tolerance, in pixels, within which a thinned curve follows the full one.
	tolerance = .75
)

// SVG draws the chart.
func (p Curves) SVG() template.HTML {
	d := newDrawing("curves", curveWidth, curveHeight, p.Head)
	top := p.YMax
	if !(top > 0) || !finite(top) {
		top = p.highest()
	}
	x, y := scale{0, 1, curveLeft, curveRight}, scale{0, top, curveBottom, curveTop}
	d.grid(x, y, nil, []float64{0, .5 * top, top})
	for _, share := range []float64{0, .5, 1} {
		d.text("", "e", curveLeft-6, y.at(share*top)+4, tick(share*top))
		d.text("", "m", x.at(share), curveBottom+15, tick(share))
	}
	d.line("axis", curveLeft, curveBottom, curveRight, curveBottom)
	d.text("", "m", (curveLeft+curveRight)/2, curveHeight-4, p.XLabel)
	d.text("", "", curveLeft, topLabel, p.YLabel)
	if p.Diagonal {
		d.line("ideal", x.at(0), y.at(0), x.at(1), y.at(1))
	}
	drawn := false
	for _, c := range p.Curves {
		drawn = c.draw(d, x, y, p.XLabel, p.YLabel) || drawn
	}
	if !drawn {
		d.text("", "m", x.at(.5), y.at(top/2), "no curve can be drawn")
	}
	return d.done()
}

func (p Curves) highest() float64 {
	most := 0.0
	for _, c := range p.Curves {
		for _, point := range c.Points {
			if finite(point.X, point.Y) {
				most = max(most, point.Y)
			}
		}
	}
	return min(1, roundUp(most))
}

func (c Curve) draw(d *drawing, x, y scale, xLabel, yLabel string) bool {
	var points []Point
	for _, p := range c.Points {
		if finite(p.X, p.Y) {
			points = append(points, p)
		}
	}
	if len(points) == 0 {
		return false
	}
	onPaper := make([]Point, len(points))
	for i, p := range points {
		onPaper[i] = Point{x.at(p.X), y.at(p.Y)}
	}
	d.group(seriesClass(c.Series), c.Hover)
	d.printf(`<path class="curve" d="%s"/>`, path(thin(onPaper)))
	d.end()
	d.printf(`<g class="%s">`, seriesClass(c.Series))
	// Marks of several series stand a little apart, so that they do not cover each other.
	shift := float64(c.Series%seriesStyles) / (marks * seriesStyles)
	next := 0
	for k := range marks {
		at := (float64(k) + .4 + shift*marks*.8) / marks
		for next < len(points)-1 && points[next].X < at {
			next++
		}
		p := points[next]
		d.group("", fmt.Sprintf("%s: %s %.2f, %s %.2f", c.Name, xLabel, p.X, yLabel, p.Y))
		d.printf(`<path class="mark" d="%s"/>`, shape(c.Series, onPaper[next].X, onPaper[next].Y))
		d.end()
	}
	d.end()
	return true
}

func path(points []Point) string {
	var b strings.Builder
	b.WriteString("M")
	for i, p := range points {
		if i > 0 {
			b.WriteString("L")
		}
		b.WriteString(num(p.X) + " " + num(p.Y))
	}
	return b.String()
}

// shape is a small outline about (x,y), another one for each series. Series beyond the styles share a colour, and have
// another outline than the one that had the colour before.
func shape(series int, x, y float64) string {
	const r = 3
	at := func(dx, dy float64) string { return num(x+dx*r) + " " + num(y+dy*r) }
	switch (series + series/seriesStyles) % seriesStyles {
	case 1:
		return "M" + at(-1, -1) + "h6v6h-6z"
	case 2:
		return "M" + at(0, -1.3) + "L" + at(1.3, 1) + "L" + at(-1.3, 1) + "z"
	case 3:
		return "M" + at(0, -1.4) + "L" + at(1.4, 0) + "L" + at(0, 1.4) + "L" + at(-1.4, 0) + "z"
	case 4:
		return "M" + at(0, 1.3) + "L" + at(1.3, -1) + "L" + at(-1.3, -1) + "z"
	case 5:
		return "M" + at(-1.4, -.6) + "h8.4v3.6h-8.4z"
	}
	return "M" + at(-1, 0) + "a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z"
}

// thin leaves out points as long as the line stays within tolerance of all of them (Douglas and
// Peucker 1973), without recursion, since a curve may have a million points.
func thin(points []Point) []Point {
	if len(points) < 3 {
		return points
	}
	points = coarse(points)
	keep := make([]bool, len(points))
	keep[0], keep[len(points)-1] = true, true
	stack := [][2]int{{0, len(points) - 1}}
	for len(stack) > 0 {
		from, to := stack[len(stack)-1][0], stack[len(stack)-1][1]
		stack = stack[:len(stack)-1]
		far, most := 0, tolerance
		for i := from + 1; i < to; i++ {
			if d := distance(points[i], points[from], points[to]); d > most {
				far, most = i, d
			}
		}
		if far > 0 {
			keep[far] = true
			stack = append(stack, [2]int{from, far}, [2]int{far, to})
		}
	}
	var kept []Point
	for i, p := range points {
		if keep[i] {
			kept = append(kept, p)
		}
	}
	return kept
}

// coarse leaves out points that share a place on a grid of a quarter of a pixel, which bounds what
// thin has to look at.
func coarse(points []Point) []Point {
	cell := func(p Point) [2]float64 { return [2]float64{math.Round(4 * p.X), math.Round(4 * p.Y)} }
	kept := points[:1:1]
	for i, p := range points[1:] {
		if i == len(points)-2 || cell(p) != cell(kept[len(kept)-1]) {
			kept = append(kept, p)
		}
	}
	return kept
}

func distance(p, a, b Point) float64 {
	dx, dy := b.X-a.X, b.Y-a.Y
	length := math.Hypot(dx, dy)
	if length == 0 {
		return math.Hypot(p.X-a.X, p.Y-a.Y)
	}
	return math.Abs(dx*(a.Y-p.Y)-dy*(a.X-p.X)) / length
}

// Key is the sample of a series' line and mark, for a legend beside the charts; the page must hold
// [Keys] once. It says nothing to a screen reader: the name stands beside it.
func Key(series int) template.HTML {
	class := seriesClass(series)
	if series >= seriesStyles {
		return template.HTML(`<svg class="key" aria-hidden="true"><g class="` + class + `">` + keyPaths(series) + `</g></svg>`)
	}
	return template.HTML(`<svg class="key" aria-hidden="true"><use href="#key-` + class + `"/></svg>`)
}

func keyPaths(series int) string {
	return `<path class="curve" d="M1 6L27 6"/><path class="mark" d="` + shape(series, 14, 6) + `"/>`
}

// Keys holds what every [Key] of a page refers to. What is referred to is styled by its own classes
// alone, not by what it stands in.
func Keys() template.HTML {
	var b strings.Builder
	b.WriteString(`<svg class="keys" aria-hidden="true">`)
	for series := range seriesStyles {
		class := seriesClass(series)
		fmt.Fprintf(&b, `<g id="key-%s" class="%s">%s</g>`, class, class, keyPaths(series))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}
