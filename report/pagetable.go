package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/credence-lab/credence/measure"
)

// tableView is a table of the page. The page's script makes each sortable and downloadable as CSV.
type tableView struct {
	// Name is that of the downloaded file, without its ending.
	Name    string
	Caption string
	// Narrow tables do not take the page's width.
	Narrow bool
	Head   []headView
	Rows   [][]cellView
}

type headView struct {
	Text string
	// Term is the glossary's id of what the column means; may be empty.
	Term string
	// Number aligns the column to the right.
	Number bool
	// Values says that the column has values, each of which becomes four columns of CSV.
	Values bool
}

// cellView is a cell. Exactly one of Text and Why is shown.
type cellView struct {
	Text string
	// Interval stands small below the text.
	Interval string
	// Why is there no value.
	Why string
	// Data is what is sorted by and downloaded, where that is not the text: a number at full precision,
	// or "value;lower;upper;n".
	Data string
	// Link is the id of a section of this page.
	Link   string
	Number bool
	// Own marks a word of the report's own, which needs no guard.
	Own bool
	// Row marks the cell that names its row; Series gives it the key of a series, from 1.
	Row    bool
	Series int
}

// KeyOf is the number of the series that the cell has the key of.
func (c cellView) KeyOf() int { return c.Series - 1 }

func textCell(s string) cellView { return cellView{Text: s} }

func ownCell(s string) cellView { return cellView{Text: s, Own: true} }

func rowCell(s string) cellView { return cellView{Text: s, Row: true} }

func countCell(n int) cellView { return cellView{Text: strconv.Itoa(n), Number: true} }

func numberCell(x float64) cellView {
	return cellView{Text: Number(x), Data: exact(x), Number: true}
}

func valueCell(v measure.Value) cellView { return valueCellIn(v, Number) }

func signedCell(v measure.Value) cellView { return valueCellIn(v, Signed) }

func valueCellIn(v measure.Value, number func(float64) string) cellView {
	x, ok := v.Get()
	if !ok {
		return cellView{Why: string(v.Reason()), Data: fmt.Sprintf(";;;%d", v.N), Number: true}
	}
	c := cellView{Text: number(x), Number: true}
	lower, upper := "", ""
	if iv := v.Interval; iv != nil {
		c.Interval = fmt.Sprintf("[%s, %s]", number(iv.Lower), number(iv.Upper))
		lower, upper = exact(iv.Lower), exact(iv.Upper)
	}
	c.Data = strings.Join([]string{exact(x), lower, upper, strconv.Itoa(v.N)}, ";")
	return c
}

// exact writes x so that reading it gives the same float64.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func metricHead(id string) headView {
	return headView{Text: Title(id), Term: termOf(id), Number: true, Values: true}
}
