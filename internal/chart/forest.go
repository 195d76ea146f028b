package chart

import "html/template"

// Forest is a chart of posteriors on [0,1], one row each: the median with a thick line for the inner and
// a thin one for the outer interval.
type Forest struct {
	Head
	// XLabel names the axis.
	XLabel string
	Rows   []ForestRow
}

// ForestRow is one posterior. What is not finite is left out.
type ForestRow struct {
	Label                  string
	Series                 int
	Value                  float64
	InnerLower, InnerUpper float64
	OuterLower, OuterUpper float64
	// Why says why there is no value.
	Why string
	// Hover has the numbers in words.
	Hover string
}

const (
	forestWidth  = 420
	forestLabel  = 142
	forestRow    = 15
	forestTop    = 6
	forestBottom = 34
	forestChars  = 24
)

// SVG draws the chart.
func (p Forest) SVG() template.HTML {
	bottom := float64(forestTop + forestRow*len(p.Rows))
	d := newDrawing("forest", forestWidth, bottom+forestBottom, p.Head)
	x := scale{0, 1, forestLabel + 8, forestWidth - 12}
	ticks := []float64{0, .25, .5, .75, 1}
	d.grid(x, scale{0, 1, bottom, forestTop}, ticks, nil)
	for _, v := range ticks {
		d.text("", "m", x.at(v), bottom+15, tick(v))
	}
	d.text("", "m", (x.a+x.b)/2, bottom+30, p.XLabel)
	for i, r := range p.Rows {
		r.draw(d, x, forestTop+forestRow*(float64(i)+.5))
	}
	return d.done()
}

func (r ForestRow) draw(d *drawing, x scale, y float64) {
	d.group(seriesClass(r.Series), r.Hover)
	d.printf(`<rect class="hit" x="0" y="%s" width="%d" height="%d"/>`, num(y-forestRow/2.), forestWidth, forestRow)
	d.text("label", "e", forestLabel, y+4, short(r.Label, forestChars))
	switch {
	case r.Why != "" || !finite(r.Value):
		d.text("", "", x.at(0), y+4, "undefined: "+short(r.Why, 40))
	default:
		if finite(r.OuterLower, r.OuterUpper) {
			d.line("whisker outer", x.at(r.OuterLower), y, x.at(r.OuterUpper), y)
		}
		if finite(r.InnerLower, r.InnerUpper) {
			d.line("whisker inner", x.at(r.InnerLower), y, x.at(r.InnerUpper), y)
		}
		d.printf(`<circle class="open" cx="%s" cy="%s" r="3"/>`, num(x.at(r.Value)), num(y))
	}
	d.end()
}
