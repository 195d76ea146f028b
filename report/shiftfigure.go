package report

import (
	"fmt"
	"math"

	"github.com/credence-lab/credence/internal/chart"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/protocol"
)

// mostShiftRows bounds the rows of a chart of settings; of more, the table has them all.
const mostShiftRows = 60

// shiftFigures draw the shift of every setting from the base to the guess slot, or to the last context,
// with its interval: a chart for each metric ("Same Answer, Different Confidence", Figure 3).
func shiftFigures(settings []*protocol.SettingResult) []gapView {
	if len(settings) < 2 || len(settings[0].Comparisons[0].Contexts) < 2 {
		return nil
	}
	var charts []gapView
	for m, v := range settings[0].Comparisons[0].Verbalised.Metrics {
		title := Title(v.Method)
		from, to := shiftEnds(settings[0].Comparisons[0])
		plot := chart.Intervals{
			Head: chart.Head{
				ID:    fmt.Sprintf("shift-g%d", m),
				Title: fmt.Sprintf("%s: shift of the gap from %s to %s, by setting", title, from.Name, to.Name),
				Desc:  "The change of stated minus token, with its interval. A filled dot is a shift beyond chance.",
			},
			Below: "towards stated", Above: "towards token",
		}
		if s, err := metric.ByID(v.Method); err == nil && s.Better == metric.Higher {
			plot.Below, plot.Above = plot.Above, plot.Below
		}
		for _, s := range settings[:min(len(settings), mostShiftRows)] {
			plot.Rows = append(plot.Rows, shiftRow(s.Comparisons[0], m))
		}
		about, _ := heading(title)
		charts = append(charts, gapView{title, "shift", about, plot.SVG()})
	}
	return charts
}

// shiftEnds are the base and the context that the shift is shown to.
func shiftEnds(c *protocol.Comparison) (from, to protocol.Context) {
	to = c.Contexts[len(c.Contexts)-1]
	for _, context := range c.Contexts[1:] {
		if context.Name == "guess-slot" {
			to = context
		}
	}
	return c.Contexts[0], to
}

func shiftRow(c *protocol.Comparison, m int) chart.IntervalRow {
	_, to := shiftEnds(c)
	label := c.Setting.String()
	shift := *to.Gaps[m].Shift
	row := chart.IntervalRow{Label: label, Series: 1, Lower: math.NaN(), Upper: math.NaN(), Clear: protocol.Resolves(shift)}
	x, ok := shift.Get()
	if !ok {
		row.Why = string(shift.Reason())
		row.Hover = fmt.Sprintf("%s: undefined, %s", label, row.Why)
		return row
	}
	row.Value = x
	row.Hover = fmt.Sprintf("%s: shift %s, n %d", label, SignedEstimate(shift), shift.N)
	if iv := shift.Interval; iv != nil {
		row.Lower, row.Upper = iv.Lower, iv.Upper
	}
	return row
}
