package chart_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"html/template"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/credence-lab/credence/internal/chart"
)

var update = flag.Bool("update", false, "write golden files")

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

func head(id string) chart.Head {
	return chart.Head{ID: id, Title: "Title of " + id, Desc: "What it shows."}
}

func charts() map[string]template.HTML {
	return map[string]template.HTML{
		"intervals": chart.Intervals{Head: head("a"), Below: "stated better", Above: "token better", Rows: []chart.IntervalRow{
			{Label: "bare", Series: 1, Value: .12, Lower: .03, Upper: .21, Clear: true, Hover: "bare: +0.12 [0.03,0.21], n 40"},
			{Label: "guess-slot", Series: 2, Value: -.05, Lower: -.3, Upper: .2, Hover: "guess-slot: -0.05"},
			{Label: "without an interval", Series: 3, Value: .01, Lower: nan, Upper: nan},
			{Label: "nothing", Series: 4, Value: nan, Why: "one class"},
		}}.SVG(),
		"intervals-empty": chart.Intervals{Head: head("b")}.SVG(),
		"reliability": chart.Reliability{Head: head("c"), Series: 0, Bins: []chart.ReliabilityBin{
			{Confidence: .6, Share: .25, Lower: .1, Upper: .5, N: 4, Hover: "0.6: 1 of 4"},
			{Confidence: .95, Share: .9, Lower: .8, Upper: .96, N: 36, Hover: "0.95: 32 of 36"},
		}}.SVG(),
		"reliability-empty": chart.Reliability{Head: head("d")}.SVG(),
		"histogram": chart.Histogram{Head: head("e"), Series: 1, Bins: []chart.HistogramBin{
			{From: 0, To: .5, Correct: 3, Incorrect: 9}, {From: .5, To: 1, Correct: 12, Incorrect: 0, Hover: "much"},
		}}.SVG(),
		"histogram-empty": chart.Histogram{Head: head("f")}.SVG(),
		"curves": chart.Curves{Head: head("g"), XLabel: "coverage", YLabel: "risk", Curves: []chart.Curve{
			{Name: "stated", Series: 0, Hover: "stated: AURC 0.2", Points: []chart.Point{{.25, 0}, {.5, .1}, {.75, .2}, {1, .3}}},
			{Name: "bare", Series: 1, Points: []chart.Point{{0, 0}, {1, nan}, {1, .28}}},
		}}.SVG(),
		"curves-empty": chart.Curves{Head: head("h"), YMax: 1, Diagonal: true}.SVG(),
		"forest": chart.Forest{Head: head("i"), XLabel: "F1", Rows: []chart.ForestRow{
			{Label: "gpt", Series: 1, Value: .9, InnerLower: .88, InnerUpper: .92, OuterLower: .8, OuterUpper: .96, Hover: "gpt: 0.90"},
			{Label: "without intervals", Value: .4, InnerLower: nan, InnerUpper: nan, OuterLower: inf, OuterUpper: inf},
			{Label: "nothing", Value: nan, Why: "refused"},
		}}.SVG(),
		"forest-empty": chart.Forest{Head: head("j")}.SVG(),
		"scatter": chart.Scatter{Head: head("k"), XLabel: "F1", YLabel: "likeness", Points: []chart.ScatterPoint{
			{Series: 2, X: .9, Y: .97, Hover: "gpt"}, {Series: 3, X: .2, Y: .74}, {X: nan, Y: .1},
		}}.SVG(),
		"quadrants": chart.Scatter{Head: head("q"), XLabel: "C3", YLabel: "performance", Cross: &chart.Point{X: .8, Y: .5}, Points: []chart.ScatterPoint{
			{Series: 1, X: .9, Y: .9, Hover: "mastered"}, {Series: 4, X: .2, Y: 0},
		}}.SVG(),
		"histogram-plain": chart.Histogram{Head: head("r"), Says: "30 pairs", At: []float64{.25, nan}, Bins: []chart.HistogramBin{
			{From: -1, To: 0, Correct: 10, Hover: "10"}, {From: 0, To: 1, Correct: 20},
		}}.SVG(),
		"scatter-empty": chart.Scatter{Head: head("l")}.SVG(),
		"strips": chart.Strips{Head: head("m"), XLabel: "confidence", At: .5, CrossRow: 1, Rows: []chart.StripRow{
			{Label: "TP", Points: []float64{.9, .9, nan}, Hover: "2"},
			{Label: "FN", Points: []float64{.2, .7}, Below: chart.Reward, Above: chart.Penalty},
		}}.SVG(),
		"strips-empty": chart.Strips{Head: head("n"), At: nan, CrossRow: -1}.SVG(),
		"key":          chart.Key(3),
		"keys":         chart.Keys(),
	}
}

func TestChartsLookAsTheyDid(t *testing.T) {
	t.Parallel()
	for name, svg := range charts() {
		wellFormed(t, string(svg))
		// An element a line, so that a difference can be read.
		got := strings.ReplaceAll(string(svg), "><", ">\n<") + "\n"
		path := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: if this is meant, run go test ./internal/chart -update\n%s", name, diff)
		}
	}
}

// fataler is what testing.T and rapid.T have in common here.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func wellFormed(t fataler, svg string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("not well formed: %v\n%s", err, svg)
		}
	}
}

func anyFloat() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Float64(), rapid.Float64Range(-2, 2), rapid.SampledFrom([]float64{nan, inf, -inf, 0, 1, math.MaxFloat64, -math.MaxFloat64, 5e-324}))
}

// Whatever the numbers and texts are, a chart is well-formed and shows neither NaN nor infinity, and
// no text becomes an element.
func TestNoNumberAndNoTextBreaksAChart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, n := anyFloat(), rapid.IntRange(-1, 1000)
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`"><script>alert(1)</script>`, "\u202egnp\x00\x1b[2J", "]]>&", "\xff\xfe"})).Draw(t, "text")
		h := chart.Head{ID: "x", Title: text, Desc: text}
		count := rapid.IntRange(0, 6).Draw(t, "rows")
		var rows []chart.IntervalRow
		var dots []chart.ReliabilityBin
		var bars []chart.HistogramBin
		var points []chart.Point
		for range count {
			a, b, c, k := f.Draw(t, "a"), f.Draw(t, "b"), f.Draw(t, "c"), n.Draw(t, "n")
			rows = append(rows, chart.IntervalRow{Label: text, Series: k, Value: a, Lower: b, Upper: c, Hover: text})
			dots = append(dots, chart.ReliabilityBin{Confidence: a, Share: b, Lower: c, Upper: a, N: k, Hover: text})
			bars = append(bars, chart.HistogramBin{From: a, To: b, Correct: max(0, k), Incorrect: max(0, k-500), Hover: text})
			points = append(points, chart.Point{X: a, Y: b})
		}
		for _, svg := range []template.HTML{
			chart.Intervals{Head: h, Below: text, Above: text, Rows: rows}.SVG(),
			chart.Reliability{Head: h, Series: count, Bins: dots}.SVG(),
			chart.Histogram{Head: h, Bins: bars}.SVG(),
			chart.Curves{Head: h, XLabel: text, YLabel: text, YMax: f.Draw(t, "top"), Curves: []chart.Curve{{Name: text, Series: count, Points: points, Hover: text}}}.SVG(),
		} {
			s := string(svg)
			wellFormed(t, s)
			if strings.Contains(s, "<script") || strings.ContainsAny(s, "\x00\x1b\u202e") {
				t.Fatalf("a text came through: %s", s)
			}
			if text == "" || !strings.ContainsAny(text, "NI") {
				if strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
					t.Fatalf("not a number: %s", s)
				}
			}
		}
	})
}

// A curve of very many points is drawn by few, and still passes through its corners.
func TestCurvesAreThinned(t *testing.T) {
	t.Parallel()
	var points []chart.Point
	const n = 100_000
	for i := range n {
		x := float64(i) / (n - 1)
		points = append(points, chart.Point{X: x, Y: math.Abs(x-.5) * 2})
	}
	svg := string(chart.Curves{Head: head("x"), YMax: 1, Curves: []chart.Curve{{Points: points}}}.SVG())
	_, path, _ := strings.Cut(svg, `class="curve" d="`)
	path, _, _ = strings.Cut(path, `"`)
	if corners := strings.Count(path, "L"); corners > 4 {
		t.Errorf("%d corners for two straight lines: %.200s", corners, path)
	}
	if !strings.Contains(path, " 215.9L") {
		t.Errorf("the lowest point is gone: %s", path)
	}
}

func BenchmarkCurve(b *testing.B) {
	var points []chart.Point
	for i := range 1000 {
		points = append(points, chart.Point{X: float64(i) / 999, Y: math.Mod(float64(i)*.618, 1)})
	}
	for b.Loop() {
		chart.Curves{Head: head("x"), Curves: []chart.Curve{{Points: points}}}.SVG()
	}
}

// TestSeriesAreToldApart: no two of thirty-six have colour and outline in common.
func TestSeriesAreToldApart(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for series := range 36 {
		points := []chart.ScatterPoint{{Series: series, X: .5, Y: .5}}
		svg := string(chart.Scatter{Head: chart.Head{ID: "x"}, Points: points}.SVG())
		if other, twice := seen[svg]; twice {
			t.Errorf("series %d looks like series %d", series, other)
		}
		seen[svg] = series
	}
	if a, b := chart.Key(0), chart.Key(6); a == b {
		t.Errorf("series 0 and 6 have one key: %s", a)
	}
}
