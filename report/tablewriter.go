package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"github.com/credence-lab/credence/internal/termsafe"
)

// WriteText writes the table as text of at most width columns: with intervals beside their values where
// that fits, else below them, else each row as a list.
func (t StudyTable) WriteText(w io.Writer, width int) error {
	p := &printer{w: w, width: max(width, minWidth)}
	p.wrapped(termsafe.String(t.heading()), "  ")
	beside := &table{}
	beside.row(t.view.heads()...)
	for _, row := range t.view.Rows {
		beside.row(cellTexts(row, termsafe.String)...)
	}
	below := t.intervalsBelow()
	if fits(below.lines(), p.width) && !fits(beside.lines(), p.width) {
		p.table(below)
	} else {
		p.table(beside)
	}
	p.line("")
	return p.err
}

// intervalsBelow has the head in lines of few words, and each interval in a line of its own below its
// value.
func (t StudyTable) intervalsBelow() *table {
	text := &table{}
	var heads [][]string
	most := 0
	for _, head := range t.view.heads() {
		lines := Wrap(head, headWidth, "")
		heads, most = append(heads, lines), max(most, len(lines))
	}
	for i := range most {
		row := make([]string, len(heads))
		for k, lines := range heads {
			if skip := most - len(lines); i >= skip {
				row[k] = lines[i-skip]
			}
		}
		text.row(row...)
	}
	for _, cells := range t.view.Rows {
		values, intervals, some := make([]string, len(cells)), make([]string, len(cells)), false
		for i, c := range cells {
			whole := c
			whole.Interval = ""
			values[i] = cellTexts([]cellView{whole}, termsafe.String)[0]
			if c.Why == "" && c.Interval != "" {
				intervals[i], some = strings.Replace(c.Interval, ", ", ",", 1), true
			}
		}
		text.row(values...)
		if some {
			text.row(intervals...)
		}
	}
	return text
}

// headWidth is how wide a column's name may be before it is broken into lines.
const headWidth = 13

func fits(lines []string, width int) bool {
	for _, line := range lines {
		if termsafe.Width(line) > width {
			return false
		}
	}
	return true
}

// WriteMarkdown writes the table as a Markdown table under its caption.
func (t StudyTable) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n|", markdownCell(t.heading()))
	for _, head := range t.view.heads() {
		b.WriteString(" " + markdownCell(head) + " |")
	}
	b.WriteString("\n|")
	for _, head := range t.view.Head {
		if head.Number {
			b.WriteString("---:|")
		} else {
			b.WriteString("---|")
		}
	}
	b.WriteString("\n")
	for _, row := range t.view.Rows {
		b.WriteString("|")
		for _, cell := range cellTexts(row, markdownCell) {
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteCSV writes the table as CSV: a value becomes four columns, itself, its interval and its n, at full
// precision; a text that a spreadsheet would run is made harmless by neutral.
func (t StudyTable) WriteCSV(w io.Writer, neutral func(string) string) error {
	out := csv.NewWriter(w)
	var head []string
	for _, h := range t.view.Head {
		head = append(head, h.Text)
		if h.Values {
			head = append(head, h.Text+" lower", h.Text+" upper", h.Text+" n")
		}
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for _, row := range t.view.Rows {
		var cells []string
		for i, c := range row {
			switch values := strings.Split(c.Data, ";"); {
			case t.view.Head[i].Values && len(values) == 4:
				cells = append(cells, values...)
			case t.view.Head[i].Values:
				cells = append(cells, "", "", "", "")
			case c.Data != "":
				cells = append(cells, c.Data)
			default:
				cells = append(cells, neutral(c.Text))
			}
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// heading is the caption, with the table of the paper that has this form.
func (t StudyTable) heading() string {
	if t.Source == "" {
		return t.view.Caption
	}
	if t.Paper != "" {
		return fmt.Sprintf("%s (the form of %s, %s)", t.view.Caption, t.Paper, t.Source)
	}
	return fmt.Sprintf("%s (the form of \"Same Answer, Different Confidence\", %s)", t.view.Caption, t.Source)
}

func (t tableView) heads() []string {
	list := make([]string, len(t.Head))
	for i, h := range t.Head {
		list[i] = h.Text
	}
	return list
}

// cellTexts are the cells of a row as words: a value with its interval, or a dash with the reason.
func cellTexts(row []cellView, guard func(string) string) []string {
	list := make([]string, len(row))
	for i, c := range row {
		switch {
		case c.Why != "":
			list[i] = guard("– (" + c.Why + ")")
		case c.Interval != "":
			list[i] = guard(c.Text + " " + strings.Replace(c.Interval, ", ", ",", 1))
		default:
			list[i] = guard(c.Text)
		}
	}
	return list
}

// markdownCell keeps a text from ending its cell or being read as anything but text.
func markdownCell(s string) string {
	s = strings.Join(strings.Fields(termsafe.Text(s)), " ")
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`).Replace(s)
}
