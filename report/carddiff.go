package report

import (
	"io"
	"slices"
	"strings"

	"github.com/credence-lab/credence/card"
	"github.com/credence-lab/credence/internal/termsafe"
)

// WriteCardDiff writes what differs between two cards, a and b: side by side where the width has room
// for two columns, else one below the other.
func WriteCardDiff(w io.Writer, width int, a, b string, d card.Diff) error {
	p := newPrinter(w, width)
	p.wrapped("A  "+termsafe.String(a), "   ")
	p.wrapped("B  "+termsafe.String(b), "   ")
	p.line("")
	p.wrapped(d.Summary(), "")
	for _, x := range d.Differences {
		p.line("")
		p.wrapped(termsafe.String(x.About+": "+x.Choice), "  ")
		left, right := sideOf(x.A), sideOf(x.B)
		if p.width < sideBySide {
			p.labelled("A", left)
			p.labelled("B", right)
			continue
		}
		p.columns(left, right)
	}
	return p.err
}

// sideBySide is the width from which two columns of text can be read.
const sideBySide = 64

// sideOf is a side's text, line by line, harmless to a terminal.
func sideOf(says *string) []string {
	switch {
	case says == nil:
		return []string{"–"}
	case strings.TrimSpace(*says) == "":
		return []string{"not stated"}
	}
	return strings.Split(strings.ReplaceAll(termsafe.Text(*says), "\t", "    "), "\n")
}

// labelled writes a text behind its label.
func (p *printer) labelled(label string, text []string) {
	for i, line := range fold(text, p.width-5) {
		if i > 0 {
			label = " "
		}
		p.line("%s", strings.TrimRight("  "+label+"  "+line, " "))
	}
}

// columns writes two texts beside each other.
func (p *printer) columns(left, right []string) {
	room := (p.width - 5) / 2
	a, b := fold(left, room), fold(right, room)
	for i := range max(len(a), len(b)) {
		line := "  "
		if i < len(a) {
			line += a[i]
		}
		if i < len(b) && b[i] != "" {
			line += strings.Repeat(" ", 2+room+3-termsafe.Width(line)) + b[i]
		}
		p.line("%s", strings.TrimRight(line, " "))
	}
}

// fold wraps each line and cuts words that are longer than one.
func fold(text []string, width int) []string {
	var lines []string
	for _, paragraph := range text {
		for _, line := range Wrap(paragraph, width, "") {
			for runes := range slices.Chunk([]rune(line), width) {
				lines = append(lines, string(runes))
			}
			if line == "" {
				lines = append(lines, "")
			}
		}
	}
	return lines
}
