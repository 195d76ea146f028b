package report

import (
	"fmt"
	"io"
)

// Widths of text. Lines of more than 80 columns are hard to read, and with fewer than 30 a number and
// its interval do not fit on one.
const (
	DefaultWidth = 80
	minWidth     = 30
)

// printer writes text of a width and keeps the first error, so that a page of output reads as a page.
type printer struct {
	w     io.Writer
	width int
	err   error
}

func newPrinter(w io.Writer, width int) *printer {
	return &printer{w: w, width: min(max(width, minWidth), DefaultWidth)}
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *printer) table(t *table) {
	if p.err == nil {
		p.err = t.write(p.w, p.width)
	}
}

func (p *printer) wrapped(text, indent string) {
	for _, line := range Wrap(text, p.width, indent) {
		p.line("%s", line)
	}
}
