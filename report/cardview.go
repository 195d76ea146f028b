package report

import (
	"fmt"

	"github.com/credence-lab/credence/card"
)

// cardView is the measurement card on a page: the same statements as card.md.
type cardView struct {
	*card.Card
	Models  []cardModel
	Used    tableView
	Prompts []card.Prompt
	// Stated counts the reporting items that the card states; Items lists all, nil where there are none.
	Stated string
	Items  *tableView
}

type cardModel struct {
	Name, Identity, Form, Licence, Weights string
}

func cardViewOf(c *card.Card) cardView {
	v := cardView{Card: c, Prompts: c.Prompts}
	for _, m := range c.Models {
		weights := m.Identity.Weights
		if weights == "" {
			weights = "not told by the engine"
		}
		v.Models = append(v.Models, cardModel{m.Name, m.Identity.String(), m.Form, m.Licence, weights})
	}
	v.Used = tableView{
		Name:    "used",
		Caption: fmt.Sprintf("What was used of each setting, under each of %s", plural(len(c.Correctness), "correctness rule")),
		Head: []headView{
			{Text: "setting"}, {Text: "judge", Term: "judge"}, {Text: "asked", Number: true}, {Text: "used", Term: "n", Number: true},
			{Text: "parse rate", Term: "parse-rate", Number: true, Values: true},
			{Text: "by fallback", Term: "fallback", Number: true, Values: true},
			{Text: "left out", Term: "left-out"},
		},
	}
	for _, s := range c.Settings {
		v.Used.Rows = append(v.Used.Rows, []cellView{
			rowCell(s.Setting), textCell(s.Judge), countCell(s.Asked), countCell(s.Used),
			valueCell(s.ParseRate), valueCell(s.FallbackRate), textCell(LeftOut(s.LeftOut)),
		})
	}
	v.reporting(c.Reporting)
	return v
}

func (v *cardView) reporting(items []card.Item) {
	if len(items) == 0 {
		return
	}
	stated := 0
	t := tableView{
		Name: "reporting", Caption: "What a report must say, and whether this one does", Narrow: true,
		Head: []headView{{Text: "item"}, {Text: "asked for by"}, {Text: "stated"}},
	}
	for _, i := range items {
		if i.Stated {
			stated++
		}
		t.Rows = append(t.Rows, []cellView{rowCell(i.Item), ownCell(i.Source), ownCell(yesNo(i.Stated))})
	}
	v.Items, v.Stated = &t, fmt.Sprintf("%d of %d reporting items are stated here. A reader must still be told:", stated, len(items))
}
