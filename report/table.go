package report

import (
	"io"
	"strings"

	"github.com/credence-lab/credence/internal/termsafe"
)

// table is a plain text table: the first column to the left, the rest to the right, two blanks between.
// The first row names the columns.
type table struct{ rows [][]string }

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// write writes the table in at most width columns: as it is where it fits, else each row as a list.
func (t *table) write(w io.Writer, width int) error {
	lines := t.lines()
	for _, line := range lines {
		if termsafe.Width(line) > width {
			lines = t.stacked(width)
			break
		}
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// WriteTable writes rows as a table in at most width columns, or each row as a list where it does not
// fit. The first row names the columns.
func WriteTable(w io.Writer, width int, rows [][]string) error {
	return (&table{rows}).write(w, max(width, minWidth))
}

func (t *table) lines() []string {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], termsafe.Width(cell))
		}
	}
	var lines []string
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			pad := blanks(widths[i], cell)
			if i == 0 {
				line.WriteString(cell + pad)
			} else {
				line.WriteString("  " + pad + cell)
			}
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
}

// stacked gives each row a line for its name and one for each of its values, behind the column's name.
func (t *table) stacked(width int) []string {
	if len(t.rows) == 0 {
		return nil
	}
	head, label := t.rows[0], 0
	for _, name := range head[1:] {
		label = max(label, termsafe.Width(name))
	}
	var lines []string
	for _, row := range t.rows[1:] {
		name := strings.TrimLeft(row[0], " ")
		indent := row[0][:len(row[0])-len(name)] + "  "
		lines = append(lines, Wrap(name, width, indent)...)
		lines[len(lines)-1] = row[0][:len(row[0])-len(name)] + lines[len(lines)-1]
		for i, cell := range row[1:] {
			if cell != "" {
				lines = append(lines, indent+head[i+1]+blanks(label, head[i+1])+"  "+cell)
			}
		}
	}
	return lines
}

func blanks(width int, cell string) string {
	return strings.Repeat(" ", max(0, width-termsafe.Width(cell)))
}
