package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/credence-lab/credence/bayes"
	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/validation"
)

// ValidationPage is the report of a validation of judges.
type ValidationPage struct {
	// Title is the name of the file or study.
	Title string
	// Notes say how the input was read.
	Notes  []string
	Result *validation.Result
	// Items names the items, in order.
	Items []string
}

// WriteValidation writes a validation as text of at most width columns: the recommendation in words, then
// the tables. With full false, matrices other than that of AUROC are left to the other formats.
func WriteValidation(w io.Writer, width int, p ValidationPage, full bool) error {
	out := newPrinter(w, width)
	for _, s := range validationWords(p) {
		out.wrapped(termsafe.String(s.About+": "+s.Says), "  ")
		out.line("")
	}
	for _, text := range validationWarnings(p.Result) {
		out.wrapped("warning: "+termsafe.String(text), "  ")
	}
	if out.err != nil {
		return out.err
	}
	for _, t := range validationTables(p.Result, full, false) {
		if err := t.WriteText(w, out.width); err != nil {
			return err
		}
	}
	if !full {
		out.wrapped("More: --full prints all matrices, --format html draws the figures, --format json has every number.", "  ")
	}
	return out.err
}

// WriteValidationMarkdown writes a validation as Markdown, all tables included.
func WriteValidationMarkdown(w io.Writer, p ValidationPage) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", markdownCell("Validation of judges: "+p.Title))
	for _, s := range validationWords(p) {
		fmt.Fprintf(&b, "- **%s:** %s\n", markdownCell(s.About), markdownCell(s.Says))
	}
	for _, text := range validationWarnings(p.Result) {
		fmt.Fprintf(&b, "- **Warning:** %s\n", markdownCell(text))
	}
	b.WriteString("\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	for _, t := range validationTables(p.Result, true, true) {
		if err := t.WriteMarkdown(w); err != nil {
			return err
		}
	}
	return nil
}

// validationWords say what was compared, and which judge may stand for people.
func validationWords(p ValidationPage) []point {
	r := p.Result
	about := fmt.Sprintf("%s, %d with a label of %s, of which %s correct; %s, %s.",
		plural(r.N, "item"), r.Labelled, r.Reference, count(r.Positives), plural(len(r.Quantifiers), "quantifier"), plural(len(r.Judges), "judge"))
	if r.Unsures > 0 {
		verb := "count"
		if r.Unsures == 1 {
			verb = "counts"
		}
		about += fmt.Sprintf(" %s of people %s as %s.", plural(r.Unsures, "unsure label"), verb, unsureWord(r.Unsure))
	}
	if out := r.Matrices[0].People.Cells[0].Value.LeftOut; len(out) > 0 {
		about += " Left out of people's AUROCs: " + LeftOut(out) + "; the judges' n counts further missing verdicts."
	}
	words := []point{{About: "Compared", Says: about}, {About: "People", Says: agreementWords(r)}, {About: "Use", Says: recommendationWords(r)}}
	if says := effectWords(r); says != "" {
		words = append(words, point{About: "Errors", Says: says})
	}
	return append(words, point{About: "Scope", Says: validation.Scope})
}

func unsureWord(u validation.UnsureRule) string {
	if u == validation.UnsureHalf {
		return "half correct and half incorrect"
	}
	return string(u)
}

// unsureClause ends every caption.
func unsureClause(r *validation.Result) string { return "; unsure as " + string(r.Unsure) }

func agreementWords(r *validation.Result) string {
	if len(r.Agreement.Pairs) == 0 {
		return "one person labelled the items; how far another would agree is not known."
	}
	var parts []string
	for _, pair := range r.Agreement.Pairs {
		says := fmt.Sprintf("%s and %s: kappa %s", pair.A, pair.B, Estimate(pair.Kappa))
		if r.Unsures > 0 {
			says += fmt.Sprintf(" (%s with unsure as %s)", Estimate(pair.KappaCounted), r.Unsure)
		}
		parts = append(parts, says+", equal "+Estimate(pair.Raw))
	}
	if a := r.Agreement.Alpha; a != nil {
		parts = append(parts, "alpha of all "+Estimate(*a))
	}
	return strings.Join(parts, "; ") + fmt.Sprintf("; they differ on %s.", differing(r.Agreement))
}

// differing counts the items on which people differ, and those of them on which it counts.
func differing(a validation.Agreement) string {
	all, counted := len(a.Disagreements), a.Differing()
	if all == counted {
		return plural(all, "item")
	}
	return fmt.Sprintf("%s, as labels count on %d of them", plural(all, "item"), counted)
}

func recommendationWords(r *validation.Result) string {
	rec := r.Recommendation
	switch {
	case rec.Judge != "":
		c := rec.Candidates[0]
		return fmt.Sprintf("%s: it moves the AUROCs least, by %s on average and %s at most, keeps people's best quantifier, and has an F1 above .7.",
			rec.Judge, Estimate(c.MeanShift), Estimate(c.MaxShift))
	case rec.Nearest != "":
		return fmt.Sprintf("no judge is good enough: evaluate on the labels of people, or try other judges. %s comes nearest, but %s.",
			rec.Nearest, strings.Join(rec.Candidates[0].Fails, ", and "))
	case len(r.Judges) == 0:
		return "there is no judge to recommend."
	}
	switch r.Positives {
	case 0:
		return fmt.Sprintf("no judge can be compared, since %s accepts no answer: nothing is there to be told apart.", r.Reference)
	case float64(r.Labelled):
		return fmt.Sprintf("no judge can be compared, since %s accepts every answer: nothing is there to be told apart.", r.Reference)
	}
	return "no judge can be compared: each accepts everything or nothing, or lacks verdicts."
}

// effectWords say for which quantifier the recommended or nearest judge changes most, and by which errors.
func effectWords(r *validation.Result) string {
	judge := cmp.Or(r.Recommendation.Judge, r.Recommendation.Nearest)
	var most *validation.Effect
	for i, e := range r.Effects {
		if e.Judge == judge && e.Decomposition != nil && (most == nil || math.Abs(e.Decomposition.Total) > math.Abs(most.Decomposition.Total)) {
			most = &r.Effects[i]
		}
	}
	if most == nil {
		return ""
	}
	d := most.Decomposition
	return fmt.Sprintf("under %s the AUROC of %s moves most, by %s: %s by what it wrongly rejects, %s by what it wrongly accepts, %s by pairs of both, %s by other weights.",
		judge, most.Quantifier, Signed(d.Total), Signed(d.FN), Signed(d.FP), Signed(d.FNFP), Signed(d.Reweighting))
}

// validationWarnings are those of the fits and of agreement, each text once.
func validationWarnings(r *validation.Result) []string {
	var list []string
	add := func(what, text string) {
		if text = what + ": " + text; !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if f := r.Fits; f != nil {
		for _, w := range f.All.Warnings {
			add("judge model, all judges", w.Text)
		}
		for _, w := range f.OnePerFamily.Warnings {
			add("judge model, one threshold per family", w.Text)
		}
		for _, w := range aloneWarnings(f) {
			add("judge model", w)
		}
		if misfits, of, first := misfitsOf(f); misfits > 0 {
			add("judge model, all judges", fmt.Sprintf("%d of %d predictive checks fail, such as the %s of %s: judges that it takes for independent may be thresholds of one score",
				misfits, of, first.Check, first.Judge))
		}
		if moved, most := priorSensitive(f); moved > 0 {
			add("priors", fmt.Sprintf("the F1 of %s moves with the prior by more than its posterior standard deviation, that of %s most, by %s", plural(moved, "judge"), most.Judge, Estimate(most.Shift)))
		}
	}
	if c := r.Confidences; c != nil {
		for _, q := range c.Quantifiers {
			if q.Unfitted != "" {
				add("item-response model", fmt.Sprintf("%s has no confidences, since %s", q.Quantifier, q.Unfitted))
			}
		}
		if c.Convergence != nil {
			for _, w := range c.Convergence.Warnings {
				add("item-response model", w.Text)
			}
		}
	}
	for _, pair := range r.Agreement.Pairs {
		for _, w := range pair.Kappa.Warnings {
			add("kappa", w.Text)
		}
	}
	return list
}

// misfitsOf counts the predictive checks that the fit of all fails, of those that compare with data, and has the first of
// them.
func misfitsOf(f *validation.Fits) (n, of int, first bayes.PredictiveCheck) {
	for _, c := range f.Checks {
		if c.Observed.Defined() {
			of++
		}
		if warns(c.Predicted, "predictive-misfit") {
			if n++; n == 1 {
				first = c
			}
		}
	}
	return n, of, first
}

// priorSensitive counts the judges whose F1 is as much the prior's as the data's, and has the one that moves most.
func priorSensitive(f *validation.Fits) (n int, most bayes.PriorRow) {
	if f.PriorSensitivity == nil {
		return 0, most
	}
	furthest := 0.0
	for _, row := range f.PriorSensitivity.Rows {
		if !warns(row.Shift, "prior-sensitive") {
			continue
		}
		n++
		if x, _ := row.Shift.Get(); x > furthest {
			furthest, most = x, row
		}
	}
	return n, most
}

func warns(v measure.Value, code string) bool {
	return slices.ContainsFunc(v.Warnings, func(w measure.Warning) bool { return w.Code == code })
}

// aloneWarnings are those of the judges fitted alone, one for each code: the first, and how many others
// have one like it.
func aloneWarnings(f *validation.Fits) []string {
	var codes []string
	first, judges := map[string]string{}, map[string]int{}
	for _, p := range f.Judges {
		for _, w := range p.F1.Alone.Median.Warnings {
			if judges[w.Code]++; judges[w.Code] == 1 {
				codes, first[w.Code] = append(codes, w.Code), p.Judge+" alone: "+w.Text
			}
		}
	}
	var list []string
	for _, code := range codes {
		text := first[code]
		if others := judges[code] - 1; others > 0 {
			text += fmt.Sprintf(" (and %s alike)", plural(others, "other"))
		}
		list = append(list, text)
	}
	return list
}

// count writes a number of items, which is whole but where unsure counts half.
func count(x float64) string {
	if x == math.Trunc(x) {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.1f", x)
}
