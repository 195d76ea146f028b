package report

import (
	"fmt"
	"io"

	"github.com/credence-lab/credence/annotate"
	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/record"
)

// WriteAgreement writes how far people agree: kappa of every two, their confusion, alpha of all, and the
// answers that they label differently. tasks have the texts.
func WriteAgreement(w io.Writer, width int, a annotate.Agreement, tasks []annotate.Task) error {
	p := newPrinter(w, width)
	texts := map[record.AnswerID]annotate.Task{}
	for _, t := range tasks {
		texts[t.Answer] = t
	}
	if len(a.Pairs) == 0 {
		p.line("Fewer than two people have labelled this run.")
		return p.err
	}
	for _, pair := range a.Pairs {
		p.wrapped(fmt.Sprintf("%s and %s: %s in common, kappa %s, raw agreement %s", termsafe.String(pair.A), termsafe.String(pair.B),
			plural(pair.Both, "answer"), Estimate(pair.Kappa.Coefficient), Estimate(pair.Kappa.Raw)), "  ")
		t := &table{}
		head := []string{termsafe.String(pair.A) + " says"}
		for _, l := range annotate.Labels() {
			head = append(head, termsafe.String(pair.B)+" "+string(l))
		}
		t.row(head...)
		for i, l := range annotate.Labels() {
			row := []string{string(l)}
			for k := range annotate.Labels() {
				row = append(row, fmt.Sprint(pair.Confusion[i][k]))
			}
			t.row(row...)
		}
		p.table(t)
		for _, id := range pair.Disagreements {
			p.wrapped(fmt.Sprintf("- %s: %s %s", termsafe.String(id.Item), termsafe.String(texts[id].Question), termsafe.String(texts[id].Text)), "  ")
		}
		p.line("")
	}
	p.wrapped(fmt.Sprintf("Krippendorff's alpha of all, nominal, unsure as a label of its own: %s", Estimate(a.Alpha.Coefficient)), "  ")
	return p.err
}
