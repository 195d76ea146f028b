package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/credence-lab/credence/annotate"
	"github.com/credence-lab/credence/internal/termsafe"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/validation"
)

// PeoplePage is how far the people who labelled a run agree.
type PeoplePage struct {
	// Labels are those that stand; the items of Agreement are its answers, in this order.
	Labels    annotate.Table
	Agreement validation.Agreement
	Unsure    validation.UnsureRule
	// Tasks have the texts of the answers.
	Tasks []annotate.Task
}

// WriteAgreement writes how far people agree: kappa of every two, their labels against each other, alpha of all, and
// the answers that they label differently, for adjudication.
func WriteAgreement(w io.Writer, width int, page PeoplePage) error {
	p := newPrinter(w, width)
	if len(page.Agreement.Pairs) == 0 {
		p.line("Fewer than two people have labelled this run.")
		return p.err
	}
	for _, pair := range page.Agreement.Pairs {
		p.pair(pair, page.Unsure)
	}
	a := page.Agreement
	p.wrapped(fmt.Sprintf("Krippendorff's alpha of all, unsure as a label of its own: %s; unsure as %s: %s", Estimate(*a.Alpha), page.Unsure, Estimate(*a.AlphaCounted)), "  ")
	p.line("")
	if len(a.Disagreements) == 0 {
		p.wrapped("Nobody differs on an answer that another labelled.", "")
		return p.err
	}
	p.wrapped(fmt.Sprintf("To adjudicate: people differ on %s; unsure as %s.", differing(a), page.Unsure), "")
	texts := textsOf(page.Tasks)
	for _, d := range a.Disagreements {
		p.line("")
		p.disagreement(page.Labels, d, texts)
	}
	return p.err
}

func textsOf(tasks []annotate.Task) map[record.AnswerID]annotate.Task {
	texts := map[record.AnswerID]annotate.Task{}
	for _, t := range tasks {
		texts[t.Answer] = t
	}
	return texts
}

func (p *printer) pair(pair validation.PairAgreement, unsure validation.UnsureRule) {
	first, second := termsafe.String(pair.A), termsafe.String(pair.B)
	p.wrapped(fmt.Sprintf("%s and %s: %s in common, raw agreement %s, kappa %s with unsure as a label of its own, %s with unsure as %s", first, second,
		plural(pair.Kappa.N, "answer"), Estimate(pair.Raw), Estimate(pair.Kappa), Estimate(pair.KappaCounted), unsure), "  ")
	t := &table{}
	head := []string{first + " says"}
	for _, l := range annotate.Labels() {
		head = append(head, second+" "+string(l))
	}
	t.row(head...)
	for _, l := range annotate.Labels() {
		row := []string{string(l)}
		for _, m := range annotate.Labels() {
			n := 0
			if at := slices.IndexFunc(pair.Labels, func(p validation.LabelPair) bool { return p.A == string(l) && p.B == string(m) }); at >= 0 {
				n = pair.Labels[at].N
			}
			row = append(row, fmt.Sprint(n))
		}
		t.row(row...)
	}
	p.table(t)
	p.line("")
}

func (p *printer) disagreement(labels annotate.Table, d validation.Disagreement, texts map[record.AnswerID]annotate.Task) {
	id := labels.Answers[d.Row]
	task := texts[id]
	p.wrapped(termsafe.String(id.String()), "  ")
	p.indented("question: " + task.Question)
	p.indented("references: " + strings.Join(task.References, "; "))
	p.indented("answer: " + task.Text)
	for k, name := range labels.Annotators {
		if l := labels.Labels[d.Row][k]; l != "" {
			p.indented(strings.TrimSpace(fmt.Sprintf("%s: %s. %s", name, l, labels.Notes[d.Row][k])))
		}
	}
}

func (p *printer) indented(text string) {
	for _, line := range Wrap(termsafe.String(text), p.width-2, "  ") {
		p.line("  %s", line)
	}
}

// peopleJSON is agreement as machines read it.
type peopleJSON struct {
	People []string              `json:"people"`
	Unsure validation.UnsureRule `json:"unsure"`
	validation.Agreement
	// Disagreements stand in for those of Agreement, with the texts.
	Disagreements []disagreementJSON `json:"disagreements"`
}

type disagreementJSON struct {
	Model      string   `json:"model"`
	Dataset    string   `json:"dataset"`
	Item       string   `json:"item"`
	Question   string   `json:"question"`
	References []string `json:"references"`
	Answer     string   `json:"answer"`
	// Labels and Notes are in the order of People; empty where somebody gave none.
	Labels  []annotate.Label `json:"labels"`
	Notes   []string         `json:"notes"`
	Counted bool             `json:"counted"`
}

// WriteAgreementJSON writes the same as one object.
func WriteAgreementJSON(w io.Writer, page PeoplePage) error {
	view := peopleJSON{People: append([]string{}, page.Labels.Annotators...), Unsure: page.Unsure, Agreement: page.Agreement, Disagreements: []disagreementJSON{}}
	texts := textsOf(page.Tasks)
	for _, d := range page.Agreement.Disagreements {
		id := page.Labels.Answers[d.Row]
		view.Disagreements = append(view.Disagreements, disagreementJSON{
			Model: id.Setting.Model, Dataset: id.Setting.Dataset, Item: id.Item,
			Question: texts[id].Question, References: append([]string{}, texts[id].References...), Answer: texts[id].Text,
			Labels: page.Labels.Labels[d.Row], Notes: page.Labels.Notes[d.Row], Counted: d.Counted,
		})
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(view)
}
