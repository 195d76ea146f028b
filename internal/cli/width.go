package cli

import (
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/credence-lab/credence/report"
)

// width is how many columns of standard output text may take: what COLUMNS says, else the width of the
// terminal, else that of a page.
func (a *app) width() int { return columnsOf(a.out) }

func columnsOf(stream any) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := stream.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return report.DefaultWidth
}
