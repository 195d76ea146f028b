package card

import (
	"fmt"
	"strings"

	"github.com/credence-lab/credence/measure"
)

// Markdown writes the card for people. Names and texts that come from a model or a user are put into
// code spans and fences that they cannot end.
func (c *Card) Markdown() string {
	w := &writer{}
	w.line("# Measurement card: %s", plain(c.Study))
	if c.Purpose != "" {
		w.line("")
		w.line("What the scores are for: %s", plain(c.Purpose))
	}
	w.section("Models")
	for _, m := range c.Models {
		w.line("- %s: %s, asked as %s%s", code(m.Name), code(m.Identity.String()), m.Form, licence(m.Licence))
		w.line("  - weights SHA-256 %s", orMissing(m.Identity.Weights))
		if m.Exactness != "" {
			w.line("  - exactness: %s", m.Exactness)
		}
	}
	for _, m := range c.Models {
		w.checks(m)
	}
	w.section("Data")
	for _, d := range c.Datasets {
		w.line("- %s: %d items, content SHA-256 %s", code(d.Name), d.Items, code(d.SHA256))
		for _, note := range d.Notes {
			w.line("  - %s", code(note))
		}
	}
	for _, x := range c.Imported {
		w.line("- %s, imported judgements: %s, rows: %d, SHA-256 %s; %d of %d answers have no row", code(x.Name), code(x.File), x.Rows, code(x.SHA256), x.Without, x.Answers)
		for _, note := range x.Notes {
			w.line("  - %s", code(note))
		}
	}
	w.section("Where confidence is read")
	w.line("Shifts are taken from the context %s.", code(c.Base))
	w.line("")
	for _, x := range c.Contexts {
		w.line("- %s: %s", code(x.Name), plain(x.What))
	}
	w.line("")
	w.line("Tokenisation: %s", c.Tokenisation)
	w.line("")
	w.line("Aggregation of token probabilities: %s", codes(c.Aggregations))
	w.section("How answers are made and read")
	w.rule("rated answers", c.Answers)
	w.rule("stated confidence", c.Elicitation)
	for _, g := range c.Generation {
		w.line("- %s", plain(g))
	}
	w.line("- parser %s: %s", code(c.Parser.ID), c.Parser.What)
	if len(c.Parts) > 0 {
		w.section("Further parts")
		w.rules(c.Parts)
	}
	w.section("Correctness")
	w.rules(c.Correctness)
	w.section("Judges and their validation")
	for _, v := range c.Validation {
		w.line("- %s: %s", code(v.Judge), plain(v.Says()))
	}
	for _, a := range c.Agreement {
		w.line("- %s: %s and %s %s", code(a.Setting), code(a.A), code(a.B), a.Says())
	}
	w.section("Metrics and intervals")
	w.rules(c.Metrics)
	w.line("- %s", c.Intervals)
	w.section("What was used")
	w.line("| setting | judge | asked | used | parse rate | by fallback | left out |")
	w.line("|---|---|--:|--:|--:|--:|---|")
	for _, s := range c.Settings {
		w.line("| %s | %s | %d | %d | %s | %s | %s |", cell(s.Setting), cell(s.Judge), s.Asked, s.Used, number(s.ParseRate), number(s.FallbackRate), leftOut(s.LeftOut))
	}
	w.section("Prompts in full")
	for _, p := range c.Prompts {
		own := ""
		if p.Own {
			own = " (the study's own)"
		}
		w.line("%s%s", code(p.Name), own)
		w.line("")
		w.fence(p.Text)
		w.line("")
	}
	w.section("Reporting items")
	w.line("| item | asked for by | stated |")
	w.line("|---|---|---|")
	for _, i := range c.Reporting {
		w.line("| %s | %s | %s |", i.Item, i.Source, yesNo(i.Stated))
	}
	w.section("What a reader must still be told")
	if len(c.Missing) == 0 {
		w.line("Nothing of the reporting items is missing.")
	}
	for _, m := range c.Missing {
		w.line("- %s", plain(m))
	}
	return w.b.String()
}

type writer struct{ b strings.Builder }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

func (w *writer) section(title string) { w.line("\n## %s\n", title) }

// checks are a table of what was found out of a model's server.
func (w *writer) checks(m Model) {
	if len(m.Checks) == 0 {
		return
	}
	w.line("\nThe server of %s, checked before the first call:\n", code(m.Name))
	w.line("| check | state | found | what it means |")
	w.line("|---|---|---|---|")
	for _, c := range m.Checks {
		means := plain(c.Means)
		if len(c.Affects) > 0 {
			means += " Touches " + plain(strings.Join(c.Affects, ", ")) + "."
		}
		w.line("| %s | %s | %s | %s |", plain(c.Check), plain(c.State), cell(c.Found), means)
	}
}

func (w *writer) rules(rules []Rule) {
	for _, r := range rules {
		w.line("- %s: %s", code(r.ID), r.What)
	}
}

// rule writes a rule that may be unsaid.
func (w *writer) rule(about string, r Rule) {
	if r.ID != "" {
		w.line("- %s %s: %s", about, code(r.ID), r.What)
	}
}

// Says is how far two judges agree, in a sentence.
func (a Agreement) Says() string {
	said := fmt.Sprintf("agree on %d of %d answers (both correct %d, neither %d, only the first %d, only the second %d)",
		a.Both+a.Neither, a.Both+a.Neither+a.OnlyA+a.OnlyB, a.Both, a.Neither, a.OnlyA, a.OnlyB)
	if a.NotJudged > 0 {
		said += fmt.Sprintf(", %d not judged", a.NotJudged)
	}
	return said
}

// fence puts text between fences longer than any run of backticks in it.
func (w *writer) fence(text string) {
	mark := strings.Repeat("`", max(3, longestRun(text)+1))
	w.line("%s\n%s\n%s", mark, text, mark)
}

// code is an inline code span that text cannot end; line breaks become blanks.
func code(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	mark := strings.Repeat("`", longestRun(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return mark + text + mark
}

// plain is text in which a name from a file or a server may stand, as a paragraph that it cannot leave.
func plain(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;").Replace(text)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func codes(texts []string) string {
	spans := make([]string, len(texts))
	for i, t := range texts {
		spans[i] = code(t)
	}
	return strings.Join(spans, ", ")
}

// cell is a code span that cannot end a table cell either.
func cell(text string) string { return strings.ReplaceAll(code(text), "|", "\\|") }

func longestRun(text string) int {
	longest, run := 0, 0
	for _, r := range text {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}

func number(v measure.Value) string {
	x, ok := v.Get()
	switch {
	case !ok:
		return "– (" + string(v.Reason()) + ")"
	case v.Interval == nil:
		return fmt.Sprintf("%.3f", x)
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", x, v.Interval.Lower, v.Interval.Upper)
}

func leftOut(list []measure.Excluded) string {
	if len(list) == 0 {
		return "none"
	}
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = fmt.Sprintf("%d %s", e.N, cell(e.Reason))
	}
	return strings.Join(parts, ", ")
}

func licence(name string) string {
	if name == "" {
		return ""
	}
	return ", licence " + plain(name)
}

func orMissing(hash string) string {
	if hash == "" {
		return "not told by the engine"
	}
	return code(hash)
}
