package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html/template"
	"strconv"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
)

// Setting is all that a page shows of one setting.
type Setting struct {
	// Comparisons of the setting, at least one; the first is shown in full.
	Comparisons []*protocol.Comparison
	// Scores of the first comparison, as [protocol.Aligned.Scores] gives them.
	Scores []*metric.Prepared
	// Items of the data set, and what was collected, read and judged of them.
	Items      []record.Item
	Answers    []record.Answer
	Readings   []record.Reading
	Scorings   []record.Scoring
	Judgements []record.Judgement
}

// Section is one setting, made ready for a page. It keeps nothing of the records, so that a study of
// many settings needs the memory of its page and not of its items.
type Section struct {
	// ID is the section's anchor on the page. It depends on the setting alone.
	ID string
	// Name of the setting, and what is said of it in a line.
	Name, Line string
	// Points are the verdict in words, Warnings what a reader must know besides.
	Points   []point
	Warnings []string

	first *protocol.Comparison
	body  template.HTML
}

// Body is all that stands below the words.
func (s *Section) Body() template.HTML { return s.body }

// NewSection draws a setting. It is an error if there is no comparison, or if the scores are not those
// of the first one.
func NewSection(s Setting) (*Section, error) {
	if len(s.Comparisons) == 0 {
		return nil, fmt.Errorf("report: a setting without a comparison")
	}
	c := s.Comparisons[0]
	if len(s.Scores) != 1+len(c.Contexts) {
		return nil, fmt.Errorf("report: %s has %d scores for %d contexts", c.Setting, len(s.Scores), len(c.Contexts))
	}
	section := &Section{
		ID:       anchor(c.Setting),
		Name:     c.Setting.String(),
		Line:     lineOf(c),
		Points:   pointsOf(c),
		Warnings: Warnings(c),
		first:    c,
	}
	for _, other := range s.Comparisons[1:] {
		section.Points = append(section.Points, differencePoint(c, other))
	}
	view := sectionView{
		ID:     section.ID,
		Used:   c.Used,
		Counts: countTable(s.Comparisons),
		Items:  itemsOf(s),
	}
	if c.Used > 0 {
		view.Gaps = gapFigures(section.ID, c)
		view.Tables = []tableView{scoresTable(c), gapsTable(c)}
		var err error
		if view.Panels, err = panelsOf(section.ID, c, s.Scores); err != nil {
			return nil, err
		}
		view.Curves = curvesOf(section.ID, scoreLabels(c), s.Scores, func(i int) []measure.Value { return scoreOf(c, i).Metrics })
		for _, other := range s.Comparisons[1:] {
			view.Others = append(view.Others, gapsTable(other))
		}
	}
	var b bytes.Buffer
	if err := execute(&b, "section", view); err != nil {
		return nil, err
	}
	section.body = template.HTML(b.String())
	return section, nil
}

type sectionView struct {
	ID     string
	Used   int
	Counts tableView
	Gaps   []gapView
	Tables []tableView
	Panels []panelView
	Curves curvesView
	Others []tableView
	Items  itemsView
}

// anchor names a setting on its page, whatever characters its name has.
func anchor(s record.Setting) string {
	sum := sha256.Sum256([]byte(s.Model + "\x00" + s.Dataset))
	return "s" + hex.EncodeToString(sum[:5])
}

// lineOf says the most telling thing of a setting in a line.
func lineOf(c *protocol.Comparison) string {
	head := fmt.Sprintf("%d asked, %d used", c.Asked, c.Used)
	if c.Used == 0 {
		return head + "; nothing can be compared"
	}
	for _, strength := range []protocol.Flip{protocol.ResolvedFlip, protocol.PointFlip} {
		for m, v := range c.Verbalised.Metrics {
			if flipIn(c, m) != strength {
				continue
			}
			if strength == protocol.ResolvedFlip {
				return head + "; " + Title(v.Method) + " flips with the context"
			}
			return head + "; " + Title(v.Method) + " changes with the context, within chance"
		}
	}
	for m, v := range c.Verbalised.Metrics {
		for _, signal := range []record.Signal{record.TokenSignal, record.VerbalisedSignal} {
			switch where := resolvedIn(c, m, signal); len(where) {
			case 0:
			case len(c.Contexts):
				return head + "; " + signalWord(signal) + " better by " + Title(v.Method) + " in every context"
			default:
				return head + "; " + signalWord(signal) + " better by " + Title(v.Method) + " in " + plain(where)
			}
		}
	}
	return head + "; every difference is within chance"
}

// resolvedIn lists the contexts in which signal is better beyond chance.
func resolvedIn(c *protocol.Comparison, m int, signal record.Signal) []string {
	var names []string
	for _, context := range c.Contexts {
		if g := context.Gaps[m]; g.Resolved && g.Better == signal {
			names = append(names, context.Name)
		}
	}
	return names
}

// scoreLabels name the scores of a comparison, by series.
func scoreLabels(c *protocol.Comparison) []string {
	labels := []string{"stated"}
	for _, context := range c.Contexts {
		labels = append(labels, "token, "+context.Name)
	}
	return labels
}

func scoresTable(c *protocol.Comparison) tableView {
	t := tableView{
		Name:    "scores-" + c.Setting.String(),
		Caption: fmt.Sprintf("Level and quality of each score, over the same %s, graded by %s", plural(c.Used, "answer"), c.Choice.Judge),
		Head:    []headView{{Text: "score"}, {Text: "n", Term: "n", Number: true}, {Text: "mean", Term: "mean", Number: true, Values: true}},
	}
	for _, v := range c.Verbalised.Metrics {
		t.Head = append(t.Head, metricHead(v.Method))
	}
	for i, label := range scoreLabels(c) {
		name, score := rowCell(label), scoreOf(c, i)
		name.Series = 1 + i
		row := []cellView{name, countCell(c.Used), valueCell(score.Mean)}
		for _, v := range score.Metrics {
			row = append(row, valueCell(v))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// gapsTable has a row for each metric in each context.
func gapsTable(c *protocol.Comparison) tableView {
	t := tableView{
		Name:    fmt.Sprintf("gaps-%s-%s-%s", c.Setting, c.Choice.Judge, c.Choice.Aggregation),
		Caption: fmt.Sprintf("Gap between stated and token score, and its shift from %s; n = %d, graded by %s, %s", c.Choice.Contexts[0], c.Used, c.Choice.Judge, c.Choice.Aggregation),
		Head: []headView{
			{Text: "context", Term: "context"}, {Text: "metric"},
			{Text: "gap", Term: "gap", Number: true, Values: true}, {Text: "shift", Term: "shift", Number: true, Values: true},
			{Text: "better", Term: "gap"}, {Text: "beyond chance", Term: "interval"}, {Text: "flip", Term: "flip"},
		},
	}
	for m := range c.Verbalised.Metrics {
		for i, context := range c.Contexts {
			g := context.Gaps[m]
			name := rowCell(context.Name)
			name.Series = 2 + i
			shift := cellView{Text: "base", Data: ";;;" + strconv.Itoa(c.Used), Number: true}
			flip := ownCell("base")
			if g.Shift != nil {
				shift, flip = signedCell(*g.Shift), ownCell(flipWord(g.Flip))
			}
			t.Rows = append(t.Rows, []cellView{
				name, ownCell(Title(g.Metric)), signedCell(g.Gap), shift, ownCell(betterWord(g)), ownCell(yesNo(g.Resolved)), flip,
			})
		}
	}
	return t
}

func betterWord(g protocol.Gap) string {
	switch {
	case !g.Gap.Defined():
		return "undefined"
	case g.Better == "":
		return "level"
	}
	return signalWord(g.Better)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// countTable says what became of the items under every judge.
func countTable(comparisons []*protocol.Comparison) tableView {
	c := comparisons[0]
	t := tableView{
		Name:    "counts-" + c.Setting.String(),
		Caption: "What was asked, what was used, and what was left out",
		Head: []headView{
			{Text: "judge", Term: "judge"}, {Text: "aggregation"}, {Text: "asked", Number: true}, {Text: "used", Term: "n", Number: true},
			{Text: "parse rate", Term: "parse-rate", Number: true, Values: true},
			{Text: "by fallback", Term: "fallback", Number: true, Values: true},
			{Text: "accuracy", Term: "accuracy", Number: true, Values: true},
			{Text: "left out", Term: "left-out"},
		},
	}
	for _, c := range comparisons {
		t.Rows = append(t.Rows, []cellView{
			rowCell(c.Choice.Judge), textCell(c.Choice.Aggregation), countCell(c.Asked), countCell(c.Used),
			valueCell(c.ParseRate), valueCell(c.FallbackRate), valueCell(c.Accuracy), textCell(LeftOut(c.LeftOut)),
		})
	}
	return t
}

// overviewTable has a row for every setting.
func overviewTable(sections []*Section) tableView {
	t := tableView{
		Name:    "settings",
		Caption: fmt.Sprintf("Every setting, in the %s context; flips are over all contexts", sections[0].first.Contexts[0].Name),
		Head: []headView{
			{Text: "model"}, {Text: "data set"}, {Text: "asked", Number: true}, {Text: "used", Term: "n", Number: true},
			{Text: "accuracy", Term: "accuracy", Number: true, Values: true},
		},
	}
	for _, v := range sections[0].first.Verbalised.Metrics {
		t.Head = append(t.Head, headView{Text: Title(v.Method) + " gap", Term: "gap", Number: true, Values: true}, headView{Text: "flip", Term: "flip"})
	}
	for _, s := range sections {
		c := s.first
		name := rowCell(c.Setting.Model)
		name.Link = s.ID
		row := []cellView{
			name, textCell(c.Setting.Dataset), countCell(c.Asked), countCell(c.Used),
			valueCell(c.Accuracy),
		}
		for m := range c.Verbalised.Metrics {
			gap := c.Contexts[0].Gaps[m].Gap
			flip := ownCell(flipWord(flipIn(c, m)))
			if !gap.Defined() {
				flip = cellView{Why: "undefined"}
			}
			row = append(row, signedCell(gap), flip)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func flipWord(f protocol.Flip) string {
	switch f {
	case protocol.ResolvedFlip:
		return "resolved"
	case protocol.PointFlip:
		return "within chance"
	}
	return "none"
}

// intervalLevel is the level of the intervals of a comparison, 95 % where it has none.
func intervalLevel(v measure.Value) float64 {
	if v.Interval != nil {
		return v.Interval.Level
	}
	return .95
}
