package report_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/report"
)

const hostile = `<script>alert("x")</script>|*` + "\x1b[2J\u202e"

// surveyed is a small survey of two models with items of every region, one undetermined, one without C3, and
// texts that would break a page.
func surveyed(t *testing.T) *consistency.Survey {
	t.Helper()
	answers := func(perturbed bool, correct float64, texts ...string) []consistency.Answer {
		var list []consistency.Answer
		for i, text := range texts {
			a := consistency.Answer{Text: text, Form: text, Correct: record.Known(correct)}
			if perturbed {
				a.Perturbation = fmt.Sprintf("%s %d", hostile, i)
			}
			list = append(list, a)
		}
		return list
	}
	var list []consistency.Answered
	for _, model := range []string{"a", hostile} {
		for i := range 12 {
			one := consistency.Answered{Model: model, Benchmark: "facts", Item: fmt.Sprintf("%s-%d", hostile, i), Stated: record.Known(.1 + .07*float64(i))}
			right := float64(i % 2)
			one.Original, one.Perturbed = answers(false, right, "x", "x", "x"), [][]consistency.Answer{answers(true, right, "x", "x", "x")}
			if i%4 < 2 {
				one.Perturbed = [][]consistency.Answer{answers(true, 0, "y", "z", "y")}
			}
			switch i {
			case 10:
				one.Original, one.Perturbed = answers(false, 0, "a", "b", "c"), [][]consistency.Answer{answers(true, 0, "d", "e", "f")}
			case 11:
				one.Perturbed = [][]consistency.Answer{answers(true, 1, "x")}
			}
			list = append(list, one)
		}
	}
	d := consistency.Design{
		Sources: []string{"written"}, Kernels: []consistency.Kernel{consistency.Indicator}, Estimators: []consistency.Estimator{consistency.UnbiasedMMD, consistency.CrossComparison},
		SelfReport: true, Bins: 10, Alpha: .05, Tolerance: .02, Trials: []int{2, 3}, Level: .95, Resamples: 50, ItemResamples: 20, Seed: 1,
		Models: []consistency.ModelFacts{{Model: "a", Parameters: .5}, {Model: hostile, Parameters: 1.5}},
	}
	s, _, err := consistency.Conduct(context.Background(), d, list)
	if err != nil {
		t.Fatal(err)
	}
	s.Sources = []consistency.SourceFacts{{Source: "written", Benchmark: "facts", From: hostile, Items: 12, Candidates: 40, Kept: 36, Fewest: 2, Wanted: 3, Batches: 13,
		Refused: map[consistency.Refusal]int{consistency.RefusedAlike: 4}, K: .8, KFrom: "the study file", Nearest: []int{0, 0, 30, 10}}}
	s.Judged = []consistency.JudgeFacts{{Model: "a", Benchmark: "facts", Judge: hostile, Pairs: 100, Distinct: 10, Asked: 10}}
	return s
}

func TestConsistencyIsShownWithItsUndeterminedItems(t *testing.T) {
	t.Parallel()
	s := surveyed(t)
	tables := report.ConsistencyTables(s)
	var names []string
	for _, table := range tables {
		if !slices.Contains(names, table.Name) {
			names = append(names, table.Name)
		}
		var text, markdown, csv bytes.Buffer
		if err := table.WriteText(&text, 120); err != nil {
			t.Fatal(err)
		}
		if err := table.WriteMarkdown(&markdown); err != nil {
			t.Fatal(err)
		}
		if err := table.WriteCSV(&csv, func(s string) string { return s }); err != nil {
			t.Fatal(err)
		}
		for form, out := range map[string]string{"text": text.String(), "markdown": markdown.String()} {
			if strings.Contains(out, "NaN") || strings.Contains(out, "\x1b") || strings.Contains(out, "\u202e") || form == "markdown" && strings.Contains(out, "<script") {
				t.Errorf("%s as %s:\n%s", table.Name, form, out)
			}
		}
		if strings.HasPrefix(table.Name, "c3-") || table.Name == "consistency" || strings.HasPrefix(table.Name, "diagnosis") {
			if !strings.Contains(strings.ToLower(markdown.String()), "undetermined") {
				t.Errorf("%s does not count undetermined items:\n%s", table.Name, markdown.String())
			}
		}
	}
	want := []string{
		"consistency", "c3-baselines", "c3-models", "c3-pooled", "c3-averaged", "c3-differences", "c3-estimators", "diagnosis", "diagnosis-items",
		"neutrality", "leaks", "perturbations", "equivalence", "convergence", "trends",
	}
	if !slices.Equal(names, want) {
		t.Errorf("tables %q, want %q", names, want)
	}
	var items bytes.Buffer
	if err := tables[slices.IndexFunc(tables, func(t report.StudyTable) bool { return t.Name == "diagnosis-items" })].WriteCSV(&items, func(s string) string { return s }); err != nil {
		t.Fatal(err)
	}
	for _, region := range consistency.Regions() {
		if !strings.Contains(items.String(), string(region)) {
			t.Errorf("no item is %s:\n%s", region, items.String())
		}
	}
}

func TestThePageOfAStudyShowsConsistency(t *testing.T) {
	t.Parallel()
	s := surveyed(t)
	var first, second bytes.Buffer
	for _, w := range []*bytes.Buffer{&first, &second} {
		if err := report.WriteHTML(w, report.Page{Title: "x", Consistency: s}); err != nil {
			t.Fatal(err)
		}
	}
	page := first.String()
	if page != second.String() {
		t.Error("the same survey gives two pages")
	}
	for _, words := range []string{
		"Do answers survive context", "Figure 4", "Figure 7", "mastered (", "undetermined (1)", `id="quadrants-t"`, `id="neutrality-0-t"`, `id="diversity-0-t"`, `id="convergence-t"`, `id="trend-parameters-t"`,
		"among them undetermined: 2", "12 items", "2 undetermined)", `<figure class="panel"><figcaption><b>Δ of written on facts</b>`,
		"some items have 2 of 3 perturbations", "agree in nothing", `<dt id="regions">`,
	} {
		if !strings.Contains(page, words) {
			t.Errorf("the page lacks %q", words)
		}
	}
	if strings.Contains(page, `<script>alert`) || strings.Contains(page, "NaN") || strings.Contains(page, "\u202e") {
		t.Error("a text of a model became part of the page, or a number is none")
	}
	var text bytes.Buffer
	if err := report.WriteConsistency(&text, 80, s); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"self-consistency", "undetermined", "Perturbations: written: of 3"} {
		if !strings.Contains(text.String(), words) {
			t.Errorf("%q is not in\n%s", words, text.String())
		}
	}
}
