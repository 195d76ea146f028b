package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-lab/credence/bayes"
	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/validation"
)

// validationTables are all tables of a validation; without full, those that fit a terminal. Cells of
// matrices have intervals where they are asked for.
func validationTables(r *validation.Result, full, intervals bool) []StudyTable {
	add := func(list []StudyTable, name string, views ...tableView) []StudyTable {
		for _, v := range views {
			if len(v.Rows) > 0 {
				v.Caption += unsureClause(r)
				list = append(list, StudyTable{Name: name, view: v})
			}
		}
		return list
	}
	var list []StudyTable
	list = add(list, "judges", judgesTable(r))
	list = add(list, "places", placesTables(r.Places, r.Reference)...)
	for i, m := range r.Matrices {
		if i == 0 || full {
			list = add(list, "matrix", matrixTables(m, r, intervals)...)
		}
	}
	list = add(list, "effects", effectsTable(r, full))
	list = add(list, "subsamples", subsampleTables(r, full)...)
	list = add(list, "side-by-side", sideTables(r)...)
	if full {
		for _, s := range r.Side {
			list = add(list, "side-by-side", placesTables(s.Places, s.Person)...)
			list = add(list, "side-by-side", matrixTables(s.AUROC, r, false)...)
		}
	}
	list = add(list, "scopes", scopesTable(r), priorsTable(r))
	if full {
		list = add(list, "scopes", checksTable(r))
	}
	list = add(list, "agreement", labelsTable(r), disagreementsTable(r))
	if full {
		list = add(list, "tradeoffs", tradeoffsTable(r))
	}
	return list
}

// byF1 are the indices of the judges, the best F1 first.
func byF1(judges []validation.JudgeResult) []int {
	order := make([]int, len(judges))
	for i := range order {
		order[i] = i
	}
	f1 := func(j int) float64 {
		x, ok := judges[j].F1.Get()
		if !ok {
			return -1
		}
		return x
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f1(b), f1(a)) })
	return order
}

func judgesTable(r *validation.Result) tableView {
	t := tableView{Name: "judges", Caption: "Judges against " + r.Reference + ": F1 over n items, "}
	t.Head = []headView{{Text: "judge"}, {Text: "n", Number: true}, {Text: "F1", Term: "f1", Number: true}, {Text: "group", Term: "group"}}
	if r.Fits != nil {
		t.Caption += "its posterior median alone and among all, "
		t.Head = append(t.Head, headView{Text: "alone", Term: "scopes", Number: true}, headView{Text: "all", Term: "scopes", Number: true})
	}
	t.Caption += "likeness of the ranking of quantifiers (RBO, Kendall), mean shift of AUROC"
	t.Head = append(t.Head, headView{Text: "RBO", Term: "rbo", Number: true}, headView{Text: "τ", Term: "rbo", Number: true}, headView{Text: "shift", Term: "shift-auroc", Number: true})
	for _, j := range byF1(r.Judges) {
		judge := r.Judges[j]
		row := []cellView{rowCell(judge.Name), countCell(judge.F1.N), bare(judge.F1), ownCell(string(judge.Group))}
		if p := judge.Posterior; p != nil {
			row = append(row, bare(p.F1.Alone.Median), bare(p.F1.All.Median))
		}
		t.Rows = append(t.Rows, append(row, bare(r.Likeness[j].RBO), bare(r.Likeness[j].Kendall), bare(shiftOf(r, judge.Name))))
	}
	return t
}

func shiftOf(r *validation.Result, judge string) measure.Value {
	for _, c := range r.Recommendation.Candidates {
		if c.Judge == judge {
			return c.MeanShift
		}
	}
	return measure.Undefined("auroc.shift.mean", measure.OneClass, 0)
}

// bare is a value without its interval, a dash where there is none.
func bare(v measure.Value) cellView { return bareIn(v, Number) }

func bareIn(v measure.Value, number func(float64) string) cellView {
	x, ok := v.Get()
	if !ok {
		return cellView{Text: "–", Number: true}
	}
	return cellView{Text: number(x), Data: exact(x), Number: true}
}

func rankWord(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

// placesTables are the forms of Tables 2 and 3.
func placesTables(places []validation.Place, reference string) []tableView {
	counts := groupCounts(places)
	return []tableView{
		placesTable(places, reference, "rank", "Table 2"+counts, func(g validation.GroupMean) cellView { return bareIn(g.Rank, rankWord) }),
		placesTable(places, reference, "diff", "Table 3"+counts, func(g validation.GroupMean) cellView { return bareIn(g.Difference, Signed) }),
	}
}

func placesTable(places []validation.Place, reference, what, caption string, cell func(validation.GroupMean) cellView) tableView {
	words := map[string]string{"rank": "mean rank", "diff": "mean difference of AUROC"}
	t := tableView{
		Name:    "places-" + what + "-" + reference,
		Caption: "Best, medium and worst quantifier by " + reference + ", and their " + words[what] + " under good (G), medium (M) and bad (B) judges, the form of " + caption,
		Head:    []headView{{Text: "place"}, {Text: "quantifier"}, {Text: "AUROC", Number: true}},
	}
	for _, g := range []string{"G", "M", "B"} {
		t.Head = append(t.Head, headView{Text: what + " " + g, Number: true, Term: "group"})
	}
	for _, p := range places {
		row := []cellView{rowCell(p.Name), textCell(p.Quantifier), bare(p.Actual)}
		for _, g := range p.Groups {
			row = append(row, cell(g))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// groupCounts says how many judges are behind the averages, and how many have one class.
func groupCounts(places []validation.Place) string {
	if len(places) == 0 {
		return ""
	}
	text := ""
	for _, g := range places[0].Groups {
		text += fmt.Sprintf("; %d %s", g.Rank.N, g.Group)
		if out := g.Rank.NLeftOut(); out > 0 {
			text += fmt.Sprintf(" (%d more without an AUROC)", out)
		}
	}
	return text
}

// matrixTables are values, differences and ranks. Columns come in the order of people's ranking.
func matrixTables(m validation.Matrix, r *validation.Result, intervals bool) []tableView {
	order := make([]int, len(m.Quantifiers))
	for q := range order {
		order[q] = q
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, _ := m.People.Cells[a].Rank.Get()
		y, _ := m.People.Cells[b].Rank.Get()
		return cmp.Compare(x, y)
	})
	return []tableView{
		matrixTable(m, r, order, "", func(c validation.Cell) cellView { return valueIn(c.Value, Number, intervals) }),
		matrixTable(m, r, order, ", judge minus "+m.People.Judge, func(c validation.Cell) cellView { return valueIn(c.Difference, Signed, intervals) }),
		matrixTable(m, r, order, ", ranks", func(c validation.Cell) cellView { return bareIn(c.Rank, rankWord) }),
	}
}

func valueIn(v measure.Value, number func(float64) string, interval bool) cellView {
	if !interval || !v.Defined() {
		return bareIn(v, number)
	}
	c := valueCellIn(v, number)
	c.Data = "" // one column of CSV: the number as it stands
	return c
}

// matrixTitle names a metric with its parameter.
func matrixTitle(id string) string {
	for prefix, words := range map[string]string{"risk.at-coverage.": "Risk at coverage ", "coverage.at-risk.": "Coverage at risk "} {
		if parameter, ok := strings.CutPrefix(id, prefix); ok {
			return words + parameter
		}
	}
	if id == "brier" {
		return "Brier score of the confidences on one scale"
	}
	return Title(id)
}

func matrixTable(m validation.Matrix, r *validation.Result, order []int, what string, cell func(validation.Cell) cellView) tableView {
	t := tableView{Name: m.Metric + what, Caption: matrixTitle(m.Metric) + " with " + m.People.Judge + " as the reference" + what + ", " + string(m.Better) + " is better; columns:"}
	t.Head = append(t.Head, headView{Text: "judge"})
	for k, q := range order {
		t.Caption += fmt.Sprintf(" %d %s", k+1, m.Quantifiers[q])
		t.Head = append(t.Head, headView{Text: strconv.Itoa(k + 1), Number: true})
	}
	rows := []validation.Row{m.People}
	for _, j := range byF1(r.Judges) {
		rows = append(rows, m.Judges[j])
	}
	for i, row := range rows {
		if i == 0 && what != "" && what != ", ranks" {
			continue // the reference does not differ from itself
		}
		cells := []cellView{rowCell(row.Judge)}
		for _, q := range order {
			cells = append(cells, cell(row.Cells[q]))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// shownJudges are those of the figures: the three with the best F1, as in the paper, and the one
// recommended.
func shownJudges(r *validation.Result) []int {
	var list []int
	for _, j := range byF1(r.Judges) {
		if r.Matrices[0].Judges[j].Complete() && (len(list) < 3 || r.Judges[j].Name == r.Recommendation.Judge) {
			list = append(list, j)
		}
	}
	return list
}

func effectsTable(r *validation.Result, full bool) tableView {
	t := tableView{
		Name:    "decomposition",
		Caption: "AUROC under a judge minus that under " + r.Reference + ", by the errors it comes from: wrongly rejected (FN), wrongly accepted (FP), pairs of both, other weights of pairs",
		Head: []headView{
			{Text: "judge"}, {Text: "quantifier"}, {Text: "FN", Term: "effect-terms", Number: true}, {Text: "FP", Term: "effect-terms", Number: true},
			{Text: "FN×FP", Term: "effect-terms", Number: true}, {Text: "weights", Term: "effect-terms", Number: true}, {Text: "sum", Term: "effect-terms", Number: true},
		},
	}
	chosen := shownJudges(r)
	if full {
		chosen = byF1(r.Judges)
	}
	for _, j := range chosen {
		for _, e := range r.Effects {
			if e.Judge != r.Judges[j].Name || e.Decomposition == nil {
				continue
			}
			row := []cellView{rowCell(e.Judge), textCell(e.Quantifier)}
			d := e.Decomposition
			for _, x := range []float64{d.FN, d.FP, d.FNFP, d.Reweighting, d.Total} {
				row = append(row, cellView{Text: Signed(x), Data: exact(x), Number: true})
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// subsampleTables are ranks, and in full the means that they come from.
func subsampleTables(r *validation.Result, full bool) []tableView {
	rows := slices.Clone(r.Subsamples)
	if len(rows) == 0 {
		return nil
	}
	f1 := func(s validation.Subsampled) float64 { x, _ := s.F1.Get(); return x }
	slices.SortStableFunc(rows[1:], func(a, b validation.Subsampled) int { return cmp.Compare(f1(b), f1(a)) })
	s := r.Subsampling
	of := fmt.Sprintf("%s of %s", plural(s.Runs, "subsample"), plural(s.Size, "item"))
	list := []tableView{subsampleTable(r, rows, fmt.Sprintf("Ranks from %s, mean AUROCs within %v tied, and mean F1", of, s.Tolerance),
		func(c validation.SubsampledCell) cellView { return bareIn(c.Rank, rankWord) })}
	if full {
		list = append(list, subsampleTable(r, rows, "Mean AUROC and its standard deviation over "+of+", and mean F1", meanWithSD))
	}
	return list
}

func meanWithSD(c validation.SubsampledCell) cellView {
	cell := bare(c.Mean)
	if sd, ok := c.SD.Get(); ok {
		cell.Text += " ± " + Number(sd)
	}
	return cell
}

func subsampleTable(r *validation.Result, rows []validation.Subsampled, caption string, cell func(validation.SubsampledCell) cellView) tableView {
	t := tableView{Name: "subsamples", Caption: caption + "; columns:", Head: []headView{{Text: "judge"}, {Text: "F1", Number: true}}}
	for q, info := range r.Quantifiers {
		t.Caption += fmt.Sprintf(" %d %s", q+1, info.Name)
		t.Head = append(t.Head, headView{Text: strconv.Itoa(q + 1), Number: true})
	}
	for _, row := range rows {
		cells := []cellView{rowCell(row.Judge), bare(row.F1)}
		for _, c := range row.Cells {
			cells = append(cells, cell(c))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// sideTables are the quantifiers, and the judges, with each person as the reference.
func sideTables(r *validation.Result) []tableView {
	if len(r.Side) == 0 {
		return nil
	}
	quantifiers := tableView{Name: "side-by-side-quantifiers", Caption: "AUROC and rank of the quantifiers with each person as the reference", Head: []headView{{Text: "quantifier"}}}
	judges := tableView{Name: "side-by-side-judges", Caption: "F1 of the judges and RBO of their rankings with each person as the reference", Head: []headView{{Text: "judge"}}}
	for _, s := range r.Side {
		quantifiers.Head = append(quantifiers.Head, headView{Text: termsafe.String(s.Person), Number: true}, headView{Text: "rank", Number: true})
		judges.Head = append(judges.Head, headView{Text: termsafe.String(s.Person), Number: true}, headView{Text: "group"}, headView{Text: "RBO", Number: true})
	}
	for q, info := range r.Quantifiers {
		row := []cellView{rowCell(info.Name)}
		for _, s := range r.Side {
			c := s.AUROC.People.Cells[q]
			row = append(row, bare(c.Value), bareIn(c.Rank, rankWord))
		}
		quantifiers.Rows = append(quantifiers.Rows, row)
	}
	for _, j := range byF1(r.Judges) {
		row := []cellView{rowCell(r.Judges[j].Name)}
		for _, s := range r.Side {
			row = append(row, bare(s.Judges[j].F1), ownCell(string(s.Judges[j].Group)), bare(s.Likeness[j].RBO))
		}
		judges.Rows = append(judges.Rows, row)
	}
	return []tableView{quantifiers, judges}
}

func scopesTable(r *validation.Result) tableView {
	t := tableView{
		Name: "posterior-f1",
		Caption: "Posterior F1: median with the highest-density interval of 95 %, each judge fitted alone, with one threshold of every family, and all together; people are judges too, " +
			"and estimates depend on who is fitted together",
		Head: []headView{
			{Text: "judge"}, {Text: "alone", Term: "scopes", Number: true}, {Text: "per family", Term: "scopes", Number: true}, {Text: "all", Term: "scopes", Number: true},
		},
	}
	if r.Fits == nil {
		return t
	}
	t.Caption += fmt.Sprintf("; priors: %s; sampler: %s", r.Fits.Priors.Name, r.Fits.Sampler)
	for _, p := range byMedian(r.Fits) {
		perFamily := cellView{Text: "", Number: true}
		if e := p.F1.OnePerFamily; e != nil {
			perFamily = estimateCell(*e)
		}
		t.Rows = append(t.Rows, []cellView{rowCell(p.Judge), estimateCell(p.F1.Alone), perFamily, estimateCell(p.F1.All)})
	}
	return t
}

// priorsTable is F1 under each of several priors.
func priorsTable(r *validation.Result) tableView {
	t := tableView{Name: "priors", Caption: "Prior sensitivity: median of F1 under each of several priors, all judges together, and the largest shift from the first", Head: []headView{{Text: "judge"}}}
	if r.Fits == nil || r.Fits.PriorSensitivity == nil {
		return t
	}
	p := r.Fits.PriorSensitivity
	for _, set := range p.Priors {
		t.Head = append(t.Head, headView{Text: set.Name, Number: true})
	}
	t.Head = append(t.Head, headView{Text: "shift", Number: true})
	for _, row := range p.Rows {
		cells := []cellView{rowCell(row.Judge)}
		for _, e := range row.Estimates {
			cells = append(cells, plainCell(e.Median))
		}
		t.Rows = append(t.Rows, append(cells, plainCell(row.Shift)))
	}
	return t
}

// checksTable are the posterior predictive checks of the fit of all.
func checksTable(r *validation.Result) tableView {
	t := tableView{
		Name:    "checks",
		Caption: "Posterior predictive checks, all judges together: what the judges did, what the fitted model would have them do with the central interval of 95 %, and how much of that lies above",
		Head:    []headView{{Text: "judge"}, {Text: "check"}, {Text: "observed", Number: true}, {Text: "predicted", Number: true}, {Text: "above", Number: true}},
	}
	if r.Fits == nil {
		return t
	}
	for _, c := range r.Fits.Checks {
		t.Rows = append(t.Rows, []cellView{rowCell(c.Judge), textCell(string(c.Check)), plainCell(c.Observed), valueCell(c.Predicted), plainCell(c.Tail)})
	}
	return t
}

// plainCell is a value without its interval.
func plainCell(v measure.Value) cellView {
	v.Interval = nil
	return valueCell(v)
}

func estimateCell(e bayes.Estimate) cellView {
	c := valueCell(e.Median)
	c.Data = ""
	return c
}

// byMedian are the posteriors as Figure 2 has them, the highest first.
func byMedian(f *validation.Fits) []validation.Posterior {
	list := slices.Clone(f.Judges)
	median := func(p validation.Posterior) float64 { x, _ := p.Figure().Median.Get(); return x }
	slices.SortStableFunc(list, func(a, b validation.Posterior) int { return cmp.Compare(median(b), median(a)) })
	return list
}

func labelsTable(r *validation.Result) tableView {
	t := tableView{
		Name: "labels", Caption: "Labels of people against each other, as they were given",
		Head: []headView{{Text: "people"}, {Text: "first"}, {Text: "second"}, {Text: "items", Number: true}},
	}
	for _, pair := range r.Agreement.Pairs {
		for _, l := range pair.Labels {
			t.Rows = append(t.Rows, []cellView{rowCell(pair.A + ", " + pair.B), ownCell(l.A), ownCell(l.B), countCell(l.N)})
		}
	}
	return t
}

func disagreementsTable(r *validation.Result) tableView {
	t := tableView{Name: "disagreements", Caption: "Items on which people differ", Head: []headView{{Text: "item"}}}
	for k := range r.Side {
		t.Head = append(t.Head, headView{Text: termsafe.String(r.Side[k].Person)})
	}
	t.Head = append(t.Head, headView{Text: "as labels count"})
	for _, d := range r.Agreement.Disagreements {
		row := []cellView{rowCell(d.Item)}
		for _, l := range d.Labels {
			row = append(row, ownCell(l))
		}
		t.Rows = append(t.Rows, append(row, ownCell(differWord(d))))
	}
	return t
}

// differWord says whether labels that differ also count differently.
func differWord(d validation.Disagreement) string {
	if d.Counted {
		return "differ"
	}
	return "equal"
}

func tradeoffsTable(r *validation.Result) tableView {
	t := tableView{
		Name:    "tradeoffs",
		Caption: "Errors by confidence: accepted and rejected at the threshold, and the net effect there and around an instance in FN and in FP",
		Head: []headView{
			{Text: "judge"}, {Text: "quantifier"}, {Text: "FP accepted", Number: true}, {Text: "FP rejected", Number: true}, {Text: "FN accepted", Number: true},
			{Text: "FN rejected", Number: true}, {Text: "net", Term: "tradeoff", Number: true}, {Text: "net FN", Term: "tradeoff", Number: true}, {Text: "net FP", Term: "tradeoff", Number: true},
		},
	}
	for _, x := range r.Tradeoffs {
		f := x.Fixed
		t.Rows = append(t.Rows, []cellView{
			rowCell(x.Judge), textCell(x.Quantifier), countCell(f.FPAccepted), countCell(f.FPRejected), countCell(f.FNAccepted), countCell(f.FNRejected),
			bareIn(f.Net, Signed), regionCell(x.FN), regionCell(x.FP),
		})
	}
	return t
}

func regionCell(p *validation.PairRegions) cellView {
	if p == nil {
		return cellView{Text: "–", Number: true}
	}
	return bareIn(p.Net, Signed)
}
