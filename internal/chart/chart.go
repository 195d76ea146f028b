// Package chart draws the few charts of confidence measurement as SVG: intervals about zero,
// reliability, scores by label, curves, posteriors, points, and errors by confidence.
//
// Charts are strings made of numbers and texts by pure functions. They hold no style of their own:
// colours and type come from the classes in [CSS], so that one page has one look, in light and dark
// and on paper. Every chart has a title and a description for screen readers, and every mark tells its
// numbers on hover. Texts are escaped; a number that is not finite is never drawn, and what cannot be
// drawn is said in words.
//
// The well-kept SVG libraries of Go draw paths without titles, descriptions or classes, which these
// charts cannot do without.
package chart

import (
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/credence-lab/credence/internal/termsafe"
)

// CSS is the style of all charts: the colours of Okabe and Ito, which colour-blind readers tell apart,
// as variables --s0 to --s5 for light and dark.
//
//go:embed chart.css
var CSS string

// Head is what a screen reader says of a chart.
type Head struct {
	// ID is unique on the page; letters, digits and hyphens.
	ID string
	// Title names the chart; Desc says in a sentence what it shows.
	Title, Desc string
}

// seriesStyles is the number of styles in CSS; more series repeat them.
const seriesStyles = 6

func seriesClass(series int) string {
	if series < 0 {
		series = 0
	}
	return "s" + strconv.Itoa(series%seriesStyles)
}

// drawing collects the elements of one chart.
type drawing struct{ b strings.Builder }

// newDrawing opens a chart of a size in user units, which are pixels at full width.
func newDrawing(kind string, width, height float64, h Head) *drawing {
	d := &drawing{}
	id := escape(h.ID)
	d.printf(`<svg class="chart %s" viewBox="0 0 %s %s" role="img" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>`,
		kind, num(width), num(height), id, id, id, escape(h.Title), id, escape(h.Desc))
	return d
}

func (d *drawing) done() template.HTML {
	d.b.WriteString("</svg>")
	return template.HTML(d.b.String())
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.b, format, args...) }

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	d.printf(`<path class="%s" d="M%s %sL%s %s"/>`, class, num(x1), num(y1), num(x2), num(y2))
}

// grid draws lines across at the given places of each axis.
func (d *drawing) grid(x, y scale, xs, ys []float64) {
	d.b.WriteString(`<path class="grid" d="`)
	for _, v := range xs {
		d.printf("M%s %sV%s", num(x.at(v)), num(y.a), num(y.b))
	}
	for _, v := range ys {
		d.printf("M%s %sH%s", num(x.a), num(y.at(v)), num(x.b))
	}
	d.b.WriteString(`"/>`)
}

// text writes s; anchor is "", "m" for the middle or "e" for the end.
func (d *drawing) text(class, anchor string, x, y float64, s string) {
	if class = strings.TrimSpace(class + " " + anchor); class != "" {
		class = ` class="` + class + `"`
	}
	d.printf(`<text%s x="%s" y="%s">%s</text>`, class, num(x), num(y), escape(s))
}

// group opens a group with a text on hover; end closes it.
func (d *drawing) group(class, hover string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	d.printf(`<g%s><title>%s</title>`, class, escape(hover))
}

func (d *drawing) end() { d.b.WriteString("</g>") }

// escape makes any text one harmless line of a page: control characters and marks that turn the
// direction of reading are written out.
func escape(s string) string { return html.EscapeString(termsafe.String(s)) }

// num writes a coordinate with one decimal, as short as it goes. What is not finite becomes 0; callers
// leave such marks out before.
func num(x float64) string {
	if !finite(x) {
		return "0"
	}
	s := strconv.FormatFloat(x, 'f', 1, 64)
	s = strings.TrimSuffix(s, ".0")
	if s == "-0" {
		return "0"
	}
	return s
}

func finite(xs ...float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// tick writes the number at an axis.
func tick(x float64) string {
	if !finite(x) {
		return ""
	}
	s := strconv.FormatFloat(x, 'g', 3, 64)
	if s == "-0" {
		return "0"
	}
	return s
}

// short cuts a label to n characters.
func short(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// scale maps [from,to] onto [a,b]; values beyond are put on the edge.
type scale struct{ from, to, a, b float64 }

func (s scale) at(x float64) float64 {
	if s.to == s.from {
		return (s.a + s.b) / 2
	}
	return s.a + (s.b-s.a)*min(1, max(0, (x-s.from)/(s.to-s.from)))
}
