package scores

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-lab/credence/internal/table"
)

// Gate is a condition on results, such as
//
//	auroc(token).lower >= 0.7
//	ece(verbalised).upper < .1 and n(verbalised) >= 200
//	auroc(token,verbalised).value > 0
//
// It consists of comparisons joined by "and". Each names a metric by its id or the beginning of one,
// a score in parentheses, or two for their difference, and after a point which number of the result is
// meant: value (the default), lower, upper, n, left_out, p, p_holm. "n(score)" and "left_out(score)"
// need no metric. A name with other characters than letters, digits and _ . - @ is put in double quotes.
type Gate struct {
	Text        string
	Comparisons []Comparison
}

// Comparison is one condition of a gate.
type Comparison struct {
	Text string
	// Metric is the id of the metric; empty where only n or left_out is asked for.
	Metric         string
	Score, Against string
	Field          string
	Op             string
	Bound          float64
}

var (
	fields    = []string{"value", "lower", "upper", "n", "left_out", "p", "p_holm"}
	operators = []string{">=", "<=", ">", "<"}
)

// ParseGate reads a gate. The error says where it stops making sense.
func ParseGate(text string) (Gate, error) {
	p := gateParser{text: text}
	g := Gate{Text: text}
	for {
		c, err := p.comparison()
		if err != nil {
			return g, err
		}
		g.Comparisons = append(g.Comparisons, c)
		p.blanks()
		if p.at == len(text) {
			return g, nil
		}
		if !p.word("and") && !p.word("&&") {
			return g, p.fail(`"and" or the end is wanted`)
		}
	}
}

type gateParser struct {
	text string
	at   int
}

func (p *gateParser) fail(format string, args ...any) error {
	return fmt.Errorf("gate %q, column %d: %s", p.text, p.at+1, fmt.Sprintf(format, args...))
}

func (p *gateParser) blanks() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// word takes a word that comes next.
func (p *gateParser) word(w string) bool {
	p.blanks()
	if !strings.HasPrefix(p.text[p.at:], w) {
		return false
	}
	p.at += len(w)
	return true
}

func isName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-' || c == '@' || c >= 0x80
}

// name takes a name, quoted or not.
func (p *gateParser) name(what string) (string, error) {
	p.blanks()
	rest := p.text[p.at:]
	if strings.HasPrefix(rest, `"`) {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return "", p.fail("a quote is left open")
		}
		p.at += len(quoted)
		return strconv.Unquote(quoted)
	}
	n := 0
	for n < len(rest) && isName(rest[n]) {
		n++
	}
	if n == 0 {
		return "", p.fail("%s is wanted", what)
	}
	p.at += n
	return rest[:n], nil
}

func (p *gateParser) comparison() (Comparison, error) {
	p.blanks()
	from := p.at
	c := Comparison{Field: "value"}
	if err := p.result(&c); err != nil {
		return c, err
	}
	i := slices.IndexFunc(operators, p.word)
	if i < 0 {
		return c, p.fail("one of %s is wanted", strings.Join(operators, " "))
	}
	c.Op = operators[i]
	p.blanks()
	at := p.at
	bound, err := p.bound()
	if err != nil {
		p.at = at
		return c, p.fail("a number is wanted")
	}
	c.Bound = bound
	c.Text = strings.TrimSpace(p.text[from:p.at])
	return c, nil
}

func (p *gateParser) bound() (float64, error) {
	n := 0
	rest := p.text[p.at:]
	for n < len(rest) && rest[n] != ' ' && rest[n] != '&' {
		n++
	}
	p.at += n
	x, err := table.ParseFloat([]byte(rest[:n]))
	if err == nil && math.IsNaN(x) {
		err = fmt.Errorf("not a number")
	}
	return x, err
}

// result reads metric(score[,score])[.field].
func (p *gateParser) result(c *Comparison) error {
	at := p.at
	id, err := p.name("a metric")
	if err != nil {
		return err
	}
	if err := c.setMetric(id); err != nil {
		p.at = at
		return p.fail("%v", err)
	}
	if !p.word("(") {
		return p.fail("a score in parentheses is wanted")
	}
	if c.Score, err = p.name("a score"); err != nil {
		return err
	}
	if p.word(",") {
		if c.Against, err = p.name("a second score"); err != nil {
			return err
		}
	}
	if !p.word(")") {
		return p.fail("\")\" is wanted")
	}
	if !strings.HasPrefix(p.text[p.at:], ".") {
		return p.needsPair(c)
	}
	p.at++
	at = p.at
	if c.Field, err = p.name("a field"); err != nil {
		return err
	}
	if !slices.Contains(fields, c.Field) {
		p.at = at
		return p.fail("no field %q; the fields are %s", c.Field, strings.Join(fields, ", "))
	}
	return p.needsPair(c)
}

func (p *gateParser) needsPair(c *Comparison) error {
	if (c.Field == "p" || c.Field == "p_holm") && c.Against == "" {
		return p.fail("%s needs two scores, such as auroc(a,b).p", c.Field)
	}
	return nil
}

// setMetric takes n and left_out for what they are.
func (c *Comparison) setMetric(id string) error {
	if id == "n" || id == "left_out" {
		c.Field = id
		return nil
	}
	s, err := Metric(id)
	c.Metric = s.ID
	return err
}

// NeedsInterval reports whether a comparison asks for what only a bootstrap gives.
func (g Gate) NeedsInterval() bool {
	return slices.ContainsFunc(g.Comparisons, func(c Comparison) bool {
		return slices.Contains([]string{"lower", "upper", "p", "p_holm"}, c.Field)
	})
}

// Outcome is whether a comparison holds in one group.
type Outcome struct {
	Comparison Comparison
	Group      string
	Holds      bool
	// Text is a sentence for people.
	Text string
}

// Check evaluates the gate on results. Every comparison must hold in every group; one without a number
// does not hold.
func (g Gate) Check(results []Result) []Outcome {
	var out []Outcome
	for _, c := range g.Comparisons {
		found := false
		seen := map[string]bool{}
		for _, r := range results {
			if r.Score != c.Score || r.Against != c.Against || c.Metric != "" && r.Value.Method != c.Metric || seen[r.Group] {
				continue
			}
			found, seen[r.Group] = true, true
			out = append(out, c.check(r))
		}
		if !found {
			out = append(out, Outcome{Comparison: c, Text: c.Text + ": there is no such result"})
		}
	}
	return out
}

func (c Comparison) check(r Result) Outcome {
	o := Outcome{Comparison: c, Group: r.Group, Text: c.Text}
	if r.Group != "" {
		o.Text += " in " + r.Group
	}
	x, why := c.number(r)
	if why != "" {
		o.Text += ": " + why
		return o
	}
	switch c.Op {
	case ">=":
		o.Holds = x >= c.Bound
	case "<=":
		o.Holds = x <= c.Bound
	case ">":
		o.Holds = x > c.Bound
	case "<":
		o.Holds = x < c.Bound
	}
	o.Text += ": it is " + strconv.FormatFloat(x, 'g', 6, 64)
	return o
}

// number is the field of a result, or why there is none.
func (c Comparison) number(r Result) (x float64, why string) {
	v := r.Value
	switch c.Field {
	case "n":
		return float64(v.N), ""
	case "left_out":
		return float64(v.NLeftOut()), ""
	}
	x, ok := v.Get()
	if !ok {
		return 0, "undefined (" + string(v.Reason()) + ")"
	}
	missing := func(p *float64) (float64, string) {
		if p == nil {
			return 0, "there is no p value"
		}
		return *p, ""
	}
	switch {
	case c.Field == "value":
		return x, ""
	case c.Field == "p":
		return missing(r.P)
	case c.Field == "p_holm":
		return missing(r.Holm)
	case v.Interval == nil:
		return 0, "there is no interval"
	case v.Interval.Upper == v.Interval.Lower:
		return 0, "the interval has no width, so it bounds nothing"
	case c.Field == "lower":
		return v.Interval.Lower, ""
	}
	return v.Interval.Upper, ""
}
