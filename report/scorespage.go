package report

import (
	"fmt"
	"io"
	"strconv"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
)

// ScoresPage is the HTML report of scores that someone already has, without a study behind them.
type ScoresPage struct {
	// Title is the name of the file.
	Title string
	// Rows is how many rows the file has; Notes say how it was read.
	Rows  int
	Notes []string
	// Values of all groups, in the order to show them.
	Values []ScoreValue
	Groups []ScoresGroup
	// Level of the intervals, in (0,1).
	Level float64
}

// ScoreValue is a metric of one score of one group, or the difference of two scores.
type ScoreValue struct {
	Group, Score string
	// Against is the second score of a difference; empty for a plain value.
	Against string
	Value   measure.Value
	// P and Holm are p values of a difference, as they are and adjusted; nil where there is none.
	P, Holm *float64
}

// ScoresGroup is what is drawn of one group.
type ScoresGroup struct {
	Name   string
	Scores []ScoreForms
}

// ScoreForms is one score: for ranks, and as a probability.
type ScoreForms struct {
	Name               string
	Ranks, Probability *metric.Prepared
}

// mostGroups is how many groups are drawn; the tables have them all.
const mostGroups = 24

// WriteScoresHTML writes a page of scores in the manner of [WriteHTML].
func WriteScoresHTML(w io.Writer, p ScoresPage) error {
	scores := &scoresView{}
	plain, differences := splitDifferences(p.Values)
	scores.Tables = append(scores.Tables, valuesTable(p.Title, plain))
	if len(differences) > 0 {
		scores.Tables = append(scores.Tables, differencesTable(p.Title, differences))
	}
	for i, g := range p.Groups {
		if i == mostGroups {
			p.Notes = append(p.Notes, fmt.Sprintf("the first %d of %d groups are drawn; the tables have all", mostGroups, len(p.Groups)))
			break
		}
		view, err := scoresGroupOf(fmt.Sprintf("g%d", i), g, plain, p.Level)
		if err != nil {
			return err
		}
		scores.Groups = append(scores.Groups, view)
	}
	scores.Notes = p.Notes
	view := pageView{
		Title:    p.Title,
		Lead:     fmt.Sprintf("%s, %s.", plural(p.Rows, "row"), plural(countScores(plain), "score")),
		Verdict:  verdict{Points: scorePoints(plain, differences), Warnings: valueWarnings(p.Values)},
		Scores:   scores,
		Glossary: append(scoreTerms(), metricTerms(p.Values)...),
	}
	return execute(w, "page", view)
}

// scoresView is what a page of scores alone shows.
type scoresView struct {
	Notes  []string
	Tables []tableView
	Groups []scoresGroup
}

type scoresGroup struct {
	Name   string
	Panels []panelView
	Curves curvesView
}

func splitDifferences(values []ScoreValue) (plain, differences []ScoreValue) {
	for _, v := range values {
		if v.Against == "" {
			plain = append(plain, v)
		} else {
			differences = append(differences, v)
		}
	}
	return plain, differences
}

func countScores(values []ScoreValue) int {
	names := map[string]bool{}
	for _, v := range values {
		names[v.Score] = true
	}
	return len(names)
}

func valuesTable(title string, values []ScoreValue) tableView {
	t := tableView{
		Name:    "values-" + title,
		Caption: "Every metric of every score, over all items that have the score and a label",
		Head: []headView{
			{Text: "group"}, {Text: "score"}, {Text: "metric"}, {Text: "value", Term: "interval", Number: true, Values: true},
			{Text: "n", Term: "n", Number: true}, {Text: "left out", Term: "left-out"},
		},
	}
	for _, v := range values {
		t.Rows = append(t.Rows, []cellView{
			rowCell(groupName(v.Group)), textCell(v.Score), metricCell(v.Value.Method), valueCell(v.Value), countCell(v.Value.N), textCell(LeftOut(v.Value.LeftOut)),
		})
	}
	return t
}

func differencesTable(title string, values []ScoreValue) tableView {
	t := tableView{
		Name:    "differences-" + title,
		Caption: "Differences of scores, the first minus the second, over the items that have both",
		Head: []headView{
			{Text: "group"}, {Text: "score"}, {Text: "minus"}, {Text: "metric"}, {Text: "difference", Term: "difference", Number: true, Values: true},
			{Text: "better", Term: "difference"}, {Text: "p", Term: "p", Number: true}, {Text: "p (Holm)", Term: "p", Number: true}, {Text: "n", Term: "n", Number: true},
		},
	}
	for _, v := range values {
		t.Rows = append(t.Rows, []cellView{
			rowCell(groupName(v.Group)), textCell(v.Score), textCell(v.Against), metricCell(v.Value.Method), signedCell(v.Value),
			textCell(winner(v)), pCell(v.P), pCell(v.Holm), countCell(v.Value.N),
		})
	}
	return t
}

func groupName(name string) string {
	if name == "" {
		return "all rows"
	}
	return name
}

func metricCell(id string) cellView { return cellView{Text: id, Link: termOf(id)} }

func pCell(p *float64) cellView {
	switch {
	case p == nil:
		return cellView{Why: "none", Number: true, Data: ""}
	case *p < .001:
		return cellView{Text: "<0.001", Data: exact(*p), Number: true}
	}
	return cellView{Text: strconv.FormatFloat(*p, 'f', 3, 64), Data: exact(*p), Number: true}
}

// winner is the better score of a difference, if the interval excludes 0.
func winner(v ScoreValue) string {
	x, ok := v.Value.Get()
	s, err := metric.ByID(v.Value.Method)
	switch {
	case !ok || err != nil:
		return "undefined"
	case v.Value.Interval == nil:
		return "not known without an interval"
	case !v.Value.Interval.Excludes(0):
		return "within chance"
	case (x > 0) == (s.Better == metric.Higher):
		return v.Score
	}
	return v.Against
}

// mostPoints is how many statements a page of scores opens with.
const mostPoints = 8

// scorePoints say what the differences show; without any, what each metric is.
func scorePoints(plain, differences []ScoreValue) []point {
	var points []point
	for _, v := range differences {
		if len(points) == mostPoints {
			break
		}
		about, question := heading(Title(v.Value.Method))
		says := fmt.Sprintf("%s minus %s is %s over %s", v.Score, v.Against, SignedEstimate(v.Value), plural(v.Value.N, "item"))
		switch w := winner(v); w {
		case v.Score, v.Against:
			says += ": " + w + " is better, beyond chance."
		default:
			says += ": " + w + "."
		}
		points = append(points, point{about + inGroup(v.Group), question, termOf(v.Value.Method), says})
	}
	if len(differences) == 0 {
		points = levelPoints(plain)
	}
	caution := "One file of answers says nothing of other models or questions. A difference of two scores needs an interval of its own (--compare): that two intervals overlap does not settle it."
	return append(points, point{About: "Caution", Term: "interval", Says: caution})
}

// levelPoints list the scores under each metric, of the first group.
func levelPoints(values []ScoreValue) []point {
	var points []point
	at := map[string]int{}
	for _, v := range values {
		if v.Group != values[0].Group {
			break
		}
		i, known := at[v.Value.Method]
		if !known {
			if len(points) == mostPoints {
				continue
			}
			i = len(points)
			at[v.Value.Method] = i
			about, question := heading(Title(v.Value.Method))
			points = append(points, point{About: about + inGroup(v.Group), Asks: question, Term: termOf(v.Value.Method)})
		}
		if known {
			points[i].Says += "; "
		}
		points[i].Says += v.Score + " " + Estimate(v.Value)
	}
	return points
}

func inGroup(name string) string {
	if name == "" {
		return ""
	}
	return ", " + name
}

// valueWarnings are the warnings of all values, each text once.
func valueWarnings(values []ScoreValue) []string {
	var list []string
	seen := map[string]bool{}
	for _, v := range values {
		for _, w := range v.Value.Warnings {
			text := v.Score + ", " + v.Value.Method + ": " + w.Text
			if !seen[text] {
				seen[text] = true
				list = append(list, text)
			}
		}
	}
	return list
}

func scoresGroupOf(id string, g ScoresGroup, values []ScoreValue, level float64) (scoresGroup, error) {
	view := scoresGroup{Name: groupName(g.Name)}
	known := func(i int) []measure.Value {
		var list []measure.Value
		for _, v := range values {
			if v.Group == g.Name && v.Score == g.Scores[i].Name {
				list = append(list, v.Value)
			}
		}
		return list
	}
	var labels []string
	var ranks []*metric.Prepared
	for i, s := range g.Scores {
		p, err := panelOf(fmt.Sprintf("%s-p%d", id, i), g.Name, s.Name, i, s.Probability, level)
		if err != nil {
			return view, err
		}
		p.Says = panelWords(known(i))
		view.Panels = append(view.Panels, p)
		labels, ranks = append(labels, s.Name), append(ranks, s.Ranks)
	}
	view.Curves = curvesOf(id, labels, ranks, known)
	return view, nil
}

// scoreTerms are the terms of the glossary that a page of scores uses.
func scoreTerms() []term {
	list := []term{
		{"difference", "Difference", "The metric of the first score minus that of the second, on the items that have both, with an interval from resampling both together. An interval that excludes 0 is called beyond chance."},
		{"p", "p, p (Holm)", "How often a difference this large would come by chance if there were none, two-sided; Holm's adjustment keeps the chance of any false finding among all differences of the page at the same level."},
	}
	for _, t := range glossary() {
		switch t.ID {
		case "interval", "n", "left-out", "reliability", "atoms", "histogram", "risk-coverage", "roc":
			list = append(list, t)
		}
	}
	return list
}

// metricTerms explain the metrics of a page, each once.
func metricTerms(values []ScoreValue) []term {
	var list []term
	seen := map[string]bool{}
	for _, v := range values {
		if id := v.Value.Method; !seen[id] {
			seen[id] = true
			list = append(list, metricTerm(id))
		}
	}
	return list
}
