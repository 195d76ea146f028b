package report

import (
	"fmt"
	"strings"

	"github.com/credence-lab/credence/protocol"
)

// The tables of a study over its settings, in the form of "Same Answer, Different Confidence". Each has
// a name by which it can be asked for.

// StudyTable is one of them.
type StudyTable struct {
	// Name is short and stable, such as "shift" or "ablation"; several tables of one kind, such as those of
	// two groups of models, share it.
	Name string
	// Title says what it is of in a few words.
	Title string
	// Source is the table of the paper whose form it has; empty where the paper has none.
	Source string
	// Paper is the paper meant, where it is not "Same Answer, Different Confidence".
	Paper string
	view  tableView
}

// StudyTables are all tables that a study's results give, in the order of the paper.
func StudyTables(settings []*protocol.SettingResult, s *protocol.Summaries) []StudyTable {
	if s == nil {
		return nil
	}
	var list []StudyTable
	add := func(name, source, title string, v tableView) {
		if len(v.Rows) > 0 {
			v.Name = name
			list = append(list, StudyTable{Name: name, Title: title, Source: source, view: v})
		}
	}
	for _, shift := range shown(s.Shifts) {
		add("shift", "Table 2", fmt.Sprintf("The same answers in %s: %s", plural(len(shift.Contexts), "context"), shiftTitle(shift)), shiftTable(shift))
	}
	for _, shift := range ablated(s.Shifts) {
		add("ablation", "Tables 3 and 11", "Prompt ablation, cell by cell: "+shiftTitle(shift), cellsTable(shift))
		add("ablation", "Tables 3 and 11", "Prompt ablation, edit by edit: "+shiftTitle(shift), stepsTable(shift))
	}
	for _, group := range groupsOf(s.Axes) {
		add("axes", "Table 4", "How far each choice moves the gap: "+group+" models", axesTable(group, s.Axes))
	}
	add("items", "Table 8", "Items of each setting", itemsTable(settings))
	add("multiple-choice", "Table 14", "The multiple-choice format", lettersTable(settings))
	for _, group := range groupsOf(s.Axes) {
		add("estimators", "Table 15", "Estimators of calibration error: "+group+" models", estimatorsTable(group, s.Axes))
		add("estimators", "Table 15", "Flips by estimator and number of bins: "+group+" models", flipsTable(group, s.Flips))
	}
	for _, one := range s.Supplied {
		add("supplied", "Table 17", "Stated confidence in supplied answers, in pairs: "+one.Group+" models", pairsTable(one))
		add("supplied", "Table 17", "Stated confidence by answer: "+one.Group+" models", levelsTable(one))
	}
	for _, one := range s.Selection {
		add("selection", "appendix D", "Answers under two prompts: "+one.Group+" models", selectionTable(one))
	}
	for _, one := range s.Reference {
		add("reference", "appendix E", "Reference answers in place of own ones: "+one.Group+" models", referenceTable(one))
	}
	add("transfer", "appendix G", "Calibration maps carried to another context", transferTable(s.Transfer))
	add("range", "appendix H", "Range of the gap over protocols", spreadTable(s.Spread))
	add("multiverse", "", "Every protocol that the records allow", multiverseTable(s.Multiverse))
	return list
}

// shown are the shifts with a table of their own: of the main comparisons one for each correctness rule,
// since the other aggregations are in the table of the axes.
func shown(shifts []protocol.NamedShift) []protocol.NamedShift {
	var list []protocol.NamedShift
	first := map[string]string{} // aggregation of each group
	for _, s := range shifts {
		if len(s.Settings) == 0 {
			continue
		}
		if first[s.Group] == "" {
			first[s.Group] = s.Choice.Aggregation
		}
		if s.Choice.Aggregation == first[s.Group] {
			list = append(list, s)
		}
	}
	return list
}

// ablated are the shifts whose cells are shown: of each set of answers the first.
func ablated(shifts []protocol.NamedShift) []protocol.NamedShift {
	var list []protocol.NamedShift
	seen := map[[2]string]bool{}
	for _, s := range shifts {
		key := [2]string{s.Group, s.Choice.Answers}
		if len(s.Settings) > 0 && len(s.Steps) > 0 && !seen[key] {
			seen[key] = true
			list = append(list, s)
		}
	}
	return list
}

func shiftTitle(s protocol.NamedShift) string {
	what := s.Name + ", "
	if s.Name == protocol.MainName {
		what = ""
	}
	return fmt.Sprintf("%s%s models, %s", what, s.Group, s.Choice.Judge)
}

func choiceWords(name string, s protocol.ShiftSummary) string {
	words := fmt.Sprintf("%s models, %s; graded by %s, %s", s.Group, plural(len(s.Settings), "setting"), s.Choice.Judge, s.Choice.Aggregation)
	if name != protocol.MainName {
		words = name + ": " + words
	}
	if len(s.LeftOut) > 0 {
		var parts []string
		for _, l := range s.LeftOut {
			parts = append(parts, l.Setting+" ("+l.Reason+")")
		}
		words += "; left out: " + strings.Join(parts, ", ")
	}
	return words
}

// shiftTable has a row for each metric in each context: the same answers, scored in several contexts.
func shiftTable(named protocol.NamedShift) tableView {
	s := named.ShiftSummary
	t := tableView{
		Caption: "The same answers in " + plural(len(s.Contexts), "context") + ", means over settings. " + choiceWords(named.Name, s),
		Head: []headView{
			{Text: "context", Term: "context"}, {Text: "metric"}, {Text: "stated", Number: true, Values: true}, {Text: "token", Number: true, Values: true},
			{Text: "gap", Term: "gap", Number: true, Values: true}, {Text: "mean |shift|", Term: "shift", Number: true, Values: true},
			{Text: "shift beyond chance", Term: "interval", Number: true}, {Text: "flips resolved (all)", Term: "flip", Number: true},
		},
	}
	for _, c := range s.Contexts {
		t.Rows = append(t.Rows, []cellView{
			rowCell(c.Name), ownCell("mean"), valueCell(s.Verbalised.Mean), valueCell(c.Token.Mean), ownCell(""), ownCell(""), ownCell(""), ownCell(""),
		})
		for m, g := range c.Gaps {
			row := []cellView{rowCell(c.Name), ownCell(Title(g.Metric)), valueCell(s.Verbalised.Metrics[m]), valueCell(c.Token.Metrics[m]), signedCell(g.Gap)}
			if g.MeanAbsShift == nil {
				row = append(row, ownCell("base"), ownCell(""), ownCell(""))
			} else {
				row = append(row, valueCell(*g.MeanAbsShift), shareCell(g.Resolved, g.Of), cellView{Text: fmt.Sprintf("%d (%d)", g.ResolvedFlips, g.Flips), Number: true, Data: fmt.Sprint(g.ResolvedFlips)})
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// shareCell writes "3 of 20".
func shareCell(k, n int) cellView {
	return cellView{Text: fmt.Sprintf("%d of %d", k, n), Number: true, Data: fmt.Sprint(k)}
}

// cellsTable is the grid of four prompts and two markers: token AUROC and the AUROC gap of each cell.
func cellsTable(named protocol.NamedShift) tableView {
	s := named.ShiftSummary
	t := tableView{
		Caption: "Prompt ablation: the same answers scored in eight cells, means over settings. " + choiceWords(named.Name, s),
		Head:    []headView{{Text: "user prompt"}},
	}
	for _, marker := range []string{"Answer:", "Guess:"} {
		t.Head = append(t.Head,
			headView{Text: "token AUROC, " + marker, Term: aurocTerm(), Number: true, Values: true},
			headView{Text: "AUROC gap, " + marker, Term: "gap", Number: true, Values: true},
			headView{Text: "ECE gap, " + marker, Term: "gap", Number: true, Values: true})
	}
	at := map[string]protocol.ContextSummary{}
	for _, c := range s.Contexts {
		at[c.Name] = c
	}
	cells := protocol.Cells()
	for i := 0; i < len(cells); i += 2 {
		row := []cellView{rowCell(cells[i].Prompt)}
		for _, cell := range cells[i : i+2] {
			c, ok := at[cell.Context]
			if !ok {
				return tableView{}
			}
			row = append(row, valueCell(c.Token.Metrics[aurocColumn]), signedCell(c.Gaps[aurocColumn].Gap), signedCell(c.Gaps[eceColumn].Gap))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Columns of a comparison's metrics.
const (
	eceColumn = iota
	aurocColumn
)

// aurocTerm is the glossary's id of the AUROC that comparisons are made with.
func aurocTerm() string { return termOf(protocol.Metrics()[aurocColumn]) }

// stepsTable has a row for each edit along its path.
func stepsTable(named protocol.NamedShift) tableView {
	s := named.ShiftSummary
	t := tableView{
		Caption: "Each edit along its stated path: what it changes depends on the path, and is no share of the whole. " + choiceWords(named.Name, s),
		Head: []headView{
			{Text: "path"}, {Text: "edit"}, {Text: "from"}, {Text: "to"},
			{Text: "change of token AUROC", Term: aurocTerm(), Number: true, Values: true},
			{Text: "mean |AUROC shift|", Term: "shift", Number: true, Values: true}, {Text: "mean |ECE shift|", Term: "shift", Number: true, Values: true},
			{Text: "AUROC rises", Number: true},
		},
	}
	for _, step := range s.Steps {
		path := step.Path
		if path != "" {
			path += ":"
		}
		t.Rows = append(t.Rows, []cellView{
			ownCell(path), rowCell(step.Edit), ownCell(step.From), ownCell(step.To),
			signedCell(step.Token[aurocColumn]), valueCell(step.MeanAbsShift[aurocColumn]), valueCell(step.MeanAbsShift[eceColumn]),
			shareCell(step.Positive[aurocColumn], step.Settings),
		})
	}
	return t
}

func groupsOf(axes []protocol.AxisSummary) []string {
	var list []string
	for _, a := range axes {
		if len(list) == 0 || list[len(list)-1] != a.Group {
			list = append(list, a.Group)
		}
	}
	return list
}

// axesTable has a row for each replacement of a choice, and columns for the metrics and for where the
// token score is read.
func axesTable(group string, axes []protocol.AxisSummary) tableView {
	return axisRows(group, axes, fmt.Sprintf("How far the gap moves when one choice is replaced: mean |shift| over settings, %s models", group),
		func(a protocol.AxisSummary) bool { return a.Axis != protocol.EstimatorAxis })
}

func estimatorsTable(group string, axes []protocol.AxisSummary) tableView {
	return axisRows(group, axes, fmt.Sprintf("How far the ECE gap moves when another estimator replaces ECE, %s models; estimators are not resampled", group),
		func(a protocol.AxisSummary) bool { return a.Axis == protocol.EstimatorAxis })
}

func axisRows(group string, axes []protocol.AxisSummary, caption string, wanted func(protocol.AxisSummary) bool) tableView {
	t := tableView{
		Caption: caption,
		Head: []headView{
			{Text: "choice"}, {Text: "from"}, {Text: "to"}, {Text: "token read in", Term: "context"}, {Text: "metric"},
			{Text: "mean |shift|", Term: "shift", Number: true, Values: true}, {Text: "largest", Number: true, Values: true},
			{Text: "better signal changes", Term: "flip", Number: true}, {Text: "left out"},
		},
	}
	for _, a := range axes {
		if a.Group != group || !wanted(a) {
			continue
		}
		left := ""
		if len(a.LeftOut) > 0 {
			left = fmt.Sprintf("%s: %s", plural(len(a.LeftOut), "setting"), a.LeftOut[0].Reason)
		}
		t.Rows = append(t.Rows, []cellView{
			rowCell(string(a.Axis)), ownCell(a.From), ownCell(a.To), ownCell(a.Context), ownCell(Title(a.Metric)),
			valueCell(a.MeanAbsShift), valueCell(a.Largest), shareCell(a.BetterChanges, a.Of), ownCell(left),
		})
	}
	return t
}

// flipsTable counts context flips under every estimator and number of bins.
func flipsTable(group string, flips []protocol.FlipSummary) tableView {
	t := tableView{
		Caption: fmt.Sprintf("Settings in which the better signal differs between two contexts, by estimator, point estimates; %s models", group),
		Narrow:  true,
		Head:    []headView{{Text: "estimator"}, {Text: "from", Term: "context"}, {Text: "to", Term: "context"}, {Text: "flips", Term: "flip", Number: true}},
	}
	for _, f := range flips {
		if f.Group == group {
			t.Rows = append(t.Rows, []cellView{rowCell(f.Estimator), ownCell(f.From), ownCell(f.To), shareCell(f.Flips, f.Of)})
		}
	}
	return t
}

// itemsTable says how many answers of each setting are left after unread replies are dropped.
func itemsTable(settings []*protocol.SettingResult) tableView {
	t := tableView{
		Caption: "Items of each setting after replies that could not be read are dropped",
		Head: []headView{
			{Text: "model"}, {Text: "data set"}, {Text: "group"}, {Text: "asked", Number: true}, {Text: "used", Term: "n", Number: true},
			{Text: "parse rate", Term: "parse-rate", Number: true, Values: true}, {Text: "by fallback", Term: "fallback", Number: true, Values: true},
			{Text: "accuracy", Term: "accuracy", Number: true, Values: true}, {Text: "left out", Term: "left-out"},
		},
	}
	if len(settings) < 2 {
		return tableView{}
	}
	for _, s := range settings {
		c := s.Comparisons[0]
		t.Rows = append(t.Rows, []cellView{
			rowCell(c.Setting.Model), textCell(c.Setting.Dataset), textCell(s.Group), countCell(c.Asked), countCell(c.Used),
			valueCell(c.ParseRate), valueCell(c.FallbackRate), valueCell(c.Accuracy), textCell(LeftOut(c.LeftOut)),
		})
	}
	return t
}

// letterJudge marks the comparisons of the multiple-choice format.
const letterJudge = "letter"

// lettersTable has the multiple-choice format of each setting: accuracy and the shift to the last
// context.
func lettersTable(settings []*protocol.SettingResult) tableView {
	t := tableView{
		Caption: "Multiple-choice format: accuracy, and the shift from the bare context to the guess slot",
		Head: []headView{
			{Text: "model"}, {Text: "data set"}, {Text: "used", Term: "n", Number: true}, {Text: "accuracy", Term: "accuracy", Number: true, Values: true},
		},
	}
	for _, s := range settings {
		for _, f := range s.Further {
			c := f.Comparison
			if len(c.Contexts) == 0 || c.Choice.Judge != letterJudge {
				continue
			}
			last := c.Contexts[len(c.Contexts)-1]
			row := []cellView{rowCell(c.Setting.Model), textCell(c.Setting.Dataset), countCell(c.Used), valueCell(c.Accuracy)}
			for _, g := range last.Gaps {
				row = append(row, signedCell(*g.Shift), ownCell(flipWord(g.Flip)))
			}
			if len(t.Rows) == 0 {
				for _, g := range last.Gaps {
					t.Head = append(t.Head, headView{Text: Title(g.Metric) + " shift", Term: "shift", Number: true, Values: true}, headView{Text: "flip", Term: "flip"})
				}
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// pairsTable has paired differences in stated confidence between two answers to the same question.
func pairsTable(s protocol.SuppliedSummary) tableView {
	t := tableView{
		Caption: fmt.Sprintf("Stated confidence in two answers to the same question, first minus second, pairs pooled over settings; %s models", s.Group),
		Head: []headView{
			{Text: "first"}, {Text: "second"}, {Text: "where"}, {Text: "data set"}, {Text: "pairs", Term: "n", Number: true},
			{Text: "difference", Number: true, Values: true}, {Text: "higher", Number: true, Values: true}, {Text: "same", Number: true, Values: true}, {Text: "lower", Number: true, Values: true},
		},
	}
	if s.Removed > 0 || s.Undecided > 0 {
		t.Caption += fmt.Sprintf("; of wrong answers close to a reference, %d were ruled correct and removed, %d are undecided", s.Removed, s.Undecided)
	}
	for _, p := range s.Pairs {
		t.Rows = append(t.Rows, []cellView{
			rowCell(p.First), ownCell(p.Second), ownCell(p.Where), textCell(p.Dataset), countCell(p.Difference.N),
			signedCell(p.Difference), valueCell(p.Higher), valueCell(p.Same), valueCell(p.Lower),
		})
	}
	return t
}

func levelsTable(s protocol.SuppliedSummary) tableView {
	caption := fmt.Sprintf("Mean stated confidence by answer, each over its own questions; %s models", s.Group)
	if x, ok := s.Resupplied.LargestChange.Get(); ok {
		unchanged, _ := s.Resupplied.Unchanged.Get()
		caption += fmt.Sprintf(". The own answer supplied again changes the mean by at most %s in a setting and leaves %s of the values as they are", Number(x), Percent(unchanged))
	}
	t := tableView{Caption: caption, Narrow: true, Head: []headView{{Text: "answer"}, {Text: "n", Term: "n", Number: true}, {Text: "mean stated", Number: true, Values: true}}}
	for _, l := range s.Levels {
		t.Rows = append(t.Rows, []cellView{rowCell(l.Answer), countCell(l.Mean.N), valueCell(l.Mean)})
	}
	return t
}

func selectionTable(s protocol.SelectionSummary) tableView {
	caption := fmt.Sprintf("Answers under the prompts %s and %s to the same questions: mean token score, first minus second; %s models, %s", s.First, s.Second, s.Group, plural(s.Settings, "setting"))
	if x, ok := s.Differ.Get(); ok {
		caption += fmt.Sprintf("; the answers differ in %s of the questions", Percent(x))
	}
	t := tableView{Caption: caption, Narrow: true, Head: []headView{
		{Text: "context", Term: "context"}, {Text: "all questions", Number: true, Values: true}, {Text: "answers differ", Number: true, Values: true},
	}}
	for _, c := range s.Contexts {
		t.Rows = append(t.Rows, []cellView{rowCell(c.Name), signedCell(c.All), signedCell(c.Differing)})
	}
	if s.Contrast != nil {
		t.Rows = append(t.Rows, []cellView{rowCell("guess-slot minus answer-only"), ownCell(""), signedCell(*s.Contrast)})
	}
	return t
}

func referenceTable(s protocol.ReferenceSummary) tableView {
	t := tableView{
		Caption: fmt.Sprintf("If the reference answer is scored instead of the model's own, which breaks the alignment rule: mean change of the token score, mean |change| of the gaps; %s models, %s", s.Group, plural(s.Settings, "setting")),
		Narrow:  true,
		Head:    []headView{{Text: "context", Term: "context"}, {Text: "token score", Number: true, Values: true}},
	}
	for i, c := range s.Contexts {
		row := []cellView{rowCell(c.Name), signedCell(c.Level)}
		for m, g := range c.Gaps {
			if i == 0 {
				t.Head = append(t.Head, headView{Text: "|" + Title(protocol.Metrics()[m]) + " gap|", Term: "gap", Number: true, Values: true})
			}
			row = append(row, valueCell(g))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func transferTable(list []protocol.MapTransferSummary) tableView {
	t := tableView{
		Caption: "A calibration map fitted in one context and used in another: mean Brier score, and the penalty against a map fitted where it is used",
		Head: []headView{
			{Text: "method"}, {Text: "group"}, {Text: "fitted in", Term: "context"}, {Text: "used in", Term: "context"},
			{Text: "Brier", Number: true, Values: true}, {Text: "penalty", Number: true, Values: true}, {Text: "settings with a penalty", Number: true}, {Text: "in every split", Number: true},
		},
	}
	for _, one := range list {
		row := []cellView{rowCell(one.Method), textCell(one.Group), ownCell(one.From), ownCell(one.To), valueCell(one.Brier)}
		if one.Penalty == nil {
			row = append(row, ownCell("stays"), ownCell(""), ownCell(""))
		} else {
			row = append(row, signedCell(*one.Penalty), shareCell(one.Positive, one.Settings), shareCell(one.Always, one.Settings))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func spreadTable(list []protocol.SpreadSummary) tableView {
	t := tableView{
		Caption: "How far apart the gaps of one setting lie over contexts and aggregations: largest minus smallest point estimate, mean over settings",
		Narrow:  true,
		Head: []headView{
			{Text: "metric"}, {Text: "group"}, {Text: "settings", Number: true}, {Text: "range of gaps", Number: true, Values: true}, {Text: "|gap| in the base", Term: "gap", Number: true, Values: true},
		},
	}
	for _, one := range list {
		t.Rows = append(t.Rows, []cellView{rowCell(Title(one.Metric)), textCell(one.Group), countCell(one.Settings), valueCell(one.Range), valueCell(one.Base)})
	}
	return t
}

func multiverseTable(list []protocol.MultiverseSummary) tableView {
	t := tableView{
		Caption: "Every protocol that the records allow, in every setting: which signal each favours, and how many do beyond chance. Each row of it is in multiverse.parquet",
		Head: []headView{
			{Text: "metric"}, {Text: "group"}, {Text: "protocols", Number: true}, {Text: "undefined", Number: true},
			{Text: "token", Number: true}, {Text: "beyond chance", Term: "interval", Number: true},
			{Text: "stated", Number: true}, {Text: "beyond chance", Term: "interval", Number: true},
			{Text: "settings with both beyond chance", Term: "flip", Number: true},
		},
	}
	for _, m := range list {
		t.Rows = append(t.Rows, []cellView{
			rowCell(m.Metric), textCell(m.Group), countCell(m.Protocols), countCell(m.Undefined), countCell(m.Token), countCell(m.TokenResolved),
			countCell(m.Verbalised), countCell(m.VerbalisedResolved), shareCell(m.Split, m.Settings),
		})
	}
	return t
}
