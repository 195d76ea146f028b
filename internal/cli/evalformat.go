package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/report"
	"github.com/credence-lab/credence/scores"
)

// evaluated is what an evaluation has to show.
type evaluated struct {
	table   *scores.Table
	results []scores.Result
	options scores.Options
	// width is how many columns text may take.
	width int
}

// evalWriter writes results in one format.
type evalWriter func(io.Writer, evaluated) error

func evalWriterOf(format string) (evalWriter, error) {
	switch format {
	case "table":
		return writeEvalTable, nil
	case "json":
		return writeEvalJSON, nil
	case "csv":
		return writeEvalCSV, nil
	case "markdown":
		return writeEvalMarkdown, nil
	}
	return nil, usagef("unknown --format %q; the formats are table, json, csv, markdown", format)
}

// evalRow is a result as machines read it. Its JSON names are the columns of CSV too.
type evalRow struct {
	Group    string             `json:"group"`
	Score    string             `json:"score"`
	Against  *string            `json:"against"`
	Metric   string             `json:"metric"`
	Value    *float64           `json:"value"`
	Lower    *float64           `json:"lower"`
	Upper    *float64           `json:"upper"`
	Level    *float64           `json:"level"`
	N        int                `json:"n"`
	LeftOut  []measure.Excluded `json:"left_out"`
	Reason   measure.Reason     `json:"reason"`
	Warnings []measure.Warning  `json:"warnings"`
	P        *float64           `json:"p"`
	Holm     *float64           `json:"p_holm"`
}

func (e evaluated) rows() []evalRow {
	rows := make([]evalRow, len(e.results))
	for i, r := range e.results {
		v := r.Value
		rows[i] = evalRow{
			Group: r.Group, Score: r.Score, Metric: v.Method, N: v.N, Reason: v.Reason(),
			LeftOut: append([]measure.Excluded{}, v.LeftOut...), Warnings: e.warnings(v), P: r.P, Holm: r.Holm,
		}
		if r.Against != "" {
			rows[i].Against = &r.Against
		}
		if x, ok := v.Get(); ok {
			rows[i].Value = &x
		}
		if iv := v.Interval; iv != nil {
			rows[i].Lower, rows[i].Upper, rows[i].Level = &iv.Lower, &iv.Upper, &iv.Level
		}
	}
	return rows
}

// warnings are those of the value, and what was irregular about the file that it comes from.
func (e evaluated) warnings(v measure.Value) []measure.Warning {
	all := append([]measure.Warning{}, v.Warnings...)
	for _, n := range e.table.Irregular {
		all = append(all, measure.Warning{Code: string(n.Kind), Text: n.String()})
	}
	return all
}

// writeEvalJSON writes a list of objects, one a line.
func writeEvalJSON(w io.Writer, e evaluated) error {
	var b strings.Builder
	b.WriteString("[")
	for i, row := range e.rows() {
		line, err := json.Marshal(row)
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n")
		b.Write(line)
	}
	b.WriteString("\n]\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func writeEvalCSV(w io.Writer, e evaluated) error {
	out := table.NewWriter(w)
	for _, name := range []string{"group", "score", "against", "metric", "value", "lower", "upper", "level", "n", "left_out", "reason", "warnings", "p", "p_holm"} {
		out.Text(name)
	}
	if err := out.End(); err != nil {
		return err
	}
	number := func(x *float64) {
		if x == nil {
			out.Empty()
			return
		}
		out.Float(*x)
	}
	for _, row := range e.rows() {
		out.Text(row.Group)
		out.Text(row.Score)
		if row.Against == nil {
			out.Empty()
		} else {
			out.Text(*row.Against)
		}
		out.Text(row.Metric)
		number(row.Value)
		number(row.Lower)
		number(row.Upper)
		number(row.Level)
		out.Int(row.N)
		out.Text(leftOut(row.LeftOut))
		out.Text(string(row.Reason))
		out.Text(warningTexts(row.Warnings))
		number(row.P)
		number(row.Holm)
		if err := out.End(); err != nil {
			return err
		}
	}
	return out.Flush()
}

// leftOut lists what was left out by reason, empty if nothing was.
func leftOut(list []measure.Excluded) string {
	if len(list) == 0 {
		return ""
	}
	return report.LeftOut(list)
}

func warningTexts(list []measure.Warning) string {
	texts := make([]string, len(list))
	for i, w := range list {
		texts[i] = w.Code + ": " + w.Text
	}
	return strings.Join(texts, "; ")
}

func writeEvalMarkdown(w io.Writer, e evaluated) error {
	var b strings.Builder
	b.WriteString("| group | score | against | metric | value | lower | upper | level | n | left out | reason | p | p (Holm) |\n")
	b.WriteString("|---|---|---|---|---:|---:|---:|---:|---:|---|---|---:|---:|\n")
	for _, row := range e.rows() {
		against := ""
		if row.Against != nil {
			against = *row.Against
		}
		cells := []string{
			escapeMarkdown(row.Group), escapeMarkdown(row.Score), escapeMarkdown(against), row.Metric,
			orEmpty(row.Value), orEmpty(row.Lower), orEmpty(row.Upper), orEmpty(row.Level),
			strconv.Itoa(row.N), escapeMarkdown(leftOut(row.LeftOut)), string(row.Reason), orEmpty(row.P), orEmpty(row.Holm),
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func orEmpty(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', 6, 64)
}

// escapeMarkdown keeps names from a file from being markup.
func escapeMarkdown(s string) string {
	s = strings.Join(strings.Fields(printable(s)), " ")
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;").Replace(s)
}

// printable replaces what a terminal would obey instead of showing.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, s)
}

// Widths of the table's columns; with two blanks between them they make 78. A narrower terminal gets a list.
const (
	lineWidth     = 80
	narrowest     = 30
	metricWidth   = 32
	valueWidth    = 7
	intervalWidth = 17
	countWidth    = 7
)

// writeEvalTable writes for people: a block for each score, one for each difference.
func writeEvalTable(w io.Writer, e evaluated) error {
	p := evalPrinter{e: e, width: min(max(e.width, narrowest), lineWidth)}
	for i := 0; i < len(e.results); {
		j := i
		for j < len(e.results) && sameBlock(e.results[i], e.results[j]) {
			j++
		}
		if i == 0 || e.results[i].Group != e.results[i-1].Group {
			p.group(e.results[i].Group)
		}
		p.block(e.results[i:j])
		i = j
	}
	p.footnotes()
	_, err := io.WriteString(w, p.b.String())
	return err
}

func sameBlock(a, b scores.Result) bool {
	return a.Group == b.Group && a.Score == b.Score && a.Against == b.Against
}

type evalPrinter struct {
	e     evaluated
	width int
	b     strings.Builder
	notes []string
	noted map[string]bool
}

func (p *evalPrinter) line(format string, args ...any) {
	p.b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

func (p *evalPrinter) wrapped(text, indent string) {
	for _, line := range report.Wrap(text, p.width-len(indent), "") {
		p.b.WriteString(indent + line + "\n")
	}
}

func (p *evalPrinter) group(name string) {
	if name == "" {
		return
	}
	if p.b.Len() > 0 {
		p.line("")
	}
	p.wrapped("== "+printable(name), "")
}

func (p *evalPrinter) block(results []scores.Result) {
	if p.b.Len() > 0 {
		p.line("")
	}
	first := results[0]
	if first.Against != "" {
		p.wrapped(printable(first.Score)+" − "+printable(first.Against), "")
		p.head("diff.", "p", "p Holm")
	} else {
		p.wrapped(fmt.Sprintf("%s (%s)", printable(first.Score), p.kind(first.Score)), "")
		p.head("value", "n", "left out")
	}
	for _, r := range results {
		p.result(r)
		p.warn(r)
	}
	if first.Against != "" {
		p.line("  %d items with both scores", first.Value.N)
	}
	if out := first.Value.LeftOut; len(out) > 0 {
		p.wrapped("left out: "+printable(report.LeftOut(out)), "  ")
	}
}

func (p *evalPrinter) narrow() bool { return p.width < lineWidth }

// head names the columns; a list names its values itself.
func (p *evalPrinter) head(value, a, b string) {
	if !p.narrow() {
		p.row("", value, p.intervalTitle(), a, b)
	}
}

func (p *evalPrinter) intervalTitle() string {
	if p.e.options.Resamples == 0 {
		return ""
	}
	return strconv.FormatFloat(100*p.e.options.Level, 'g', 4, 64) + " % interval"
}

func (p *evalPrinter) kind(score string) scores.Kind {
	for _, s := range p.e.table.Scores {
		if s.Name == score {
			return s.Kind
		}
	}
	return ""
}

func (p *evalPrinter) result(r scores.Result) {
	v := r.Value
	last := [2]string{strconv.Itoa(v.N), strconv.Itoa(v.NLeftOut())}
	if r.Against != "" {
		last = [2]string{probability(r.P), probability(r.Holm)}
	}
	if p.narrow() {
		p.listed(r, last)
		return
	}
	x, ok := v.Get()
	if !ok {
		p.undefined(v, last)
		return
	}
	interval := ""
	if iv := v.Interval; iv != nil {
		interval = "[" + decimal(iv.Lower) + ", " + decimal(iv.Upper) + "]"
	}
	p.row(v.Method, decimal(x), interval, last[0], last[1])
}

// listed writes a result below its metric.
func (p *evalPrinter) listed(r scores.Result, last [2]string) {
	p.wrapped(r.Value.Method, "  ")
	value := "– (" + string(r.Value.Reason()) + ")"
	if x, ok := r.Value.Get(); ok {
		value = decimal(x)
		if iv := r.Value.Interval; iv != nil {
			value += " [" + decimal(iv.Lower) + ", " + decimal(iv.Upper) + "]"
		}
	}
	p.wrapped(value, "    ")
	if r.Against != "" {
		p.wrapped("p "+last[0]+", by Holm "+last[1], "    ")
		return
	}
	p.wrapped("n "+last[0]+", left out "+last[1], "    ")
}

// undefined writes the reason over the columns of value and interval.
func (p *evalPrinter) undefined(v measure.Value, last [2]string) {
	p.line("  %-*s  %*s  %*s  %*s", metricWidth, p.fit(v.Method), valueWidth+2+intervalWidth, "– ("+string(v.Reason())+")", countWidth, last[0], countWidth, last[1])
}

// fit gives a metric whose id is too long for its column a line of its own.
func (p *evalPrinter) fit(metric string) string {
	if utf8.RuneCountInString(metric) <= metricWidth {
		return metric
	}
	p.line("  %s", metric)
	return ""
}

// row writes the cells of a line.
func (p *evalPrinter) row(metric, value, interval, a, b string) {
	p.line("  %-*s  %*s  %-*s  %*s  %*s", metricWidth, p.fit(metric), valueWidth, value, intervalWidth, interval, countWidth, a, countWidth, b)
}

// warn keeps the warnings of a result for the end. That an uncertainty has no calibration is said once a score.
func (p *evalPrinter) warn(r scores.Result) {
	for _, warning := range r.Value.Warnings {
		if warning.Code == "out-of-range" && p.kind(r.Score) == scores.Uncertainty {
			p.note(printable(r.Score) + " is an uncertainty; metrics of calibration need a probability")
			continue
		}
		p.note(printable(r.Score) + ", " + r.Value.Method + ": " + printable(warning.Text))
	}
}

// note remembers a remark for the end, once.
func (p *evalPrinter) note(text string) {
	if p.noted == nil {
		p.noted = map[string]bool{}
	}
	if !p.noted[text] {
		p.noted[text] = true
		p.notes = append(p.notes, text)
	}
}

func (p *evalPrinter) footnotes() {
	for _, n := range p.e.table.Irregular {
		p.note(printable(n.String()))
	}
	for i, text := range p.notes {
		if i == 0 {
			p.line("")
		}
		p.wrapped("note: "+text, "")
	}
}

// decimal writes four decimals of a number near 1, and four digits of any other.
func decimal(x float64) string {
	if math.Abs(x) >= 10 {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	s := strconv.FormatFloat(x, 'f', 4, 64)
	if s == "-0.0000" {
		return "0.0000"
	}
	return s
}

// probability writes a p value; one that four decimals would make 0 says how small it is.
func probability(p *float64) string {
	switch {
	case p == nil:
		return "–"
	case *p < .0001:
		return "<0.0001"
	}
	return strconv.FormatFloat(*p, 'f', 4, 64)
}
