package report_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/report"
	"github.com/credence-lab/credence/validation"
)

// validationPage validates a table whose names all hold name, with fits where draws are asked for.
func validationPage(t *testing.T, name string, draws int) report.ValidationPage {
	t.Helper()
	const n = 24
	random := rand.New(rand.NewPCG(1, 2))
	table := &validation.Table{
		Quantifiers: []validation.Quantifier{{Name: name + " sure", Orientation: measure.Confidence}, {Name: name + " noise", Orientation: measure.Uncertainty}},
		Judges:      []validation.Judge{{Name: name + " near", Family: name}, {Name: name + " all"}, {Name: name + " chance", Family: name}},
		People:      []validation.Person{{Name: name + " one"}, {Name: name + " two"}},
	}
	for i := range n {
		truth := validation.Incorrect
		if i%2 == 0 {
			truth = validation.Correct
		}
		table.Items = append(table.Items, name+strings.Repeat("'", i))
		table.Quantifiers[0].Scores = append(table.Quantifiers[0].Scores, float64(truth)/4+random.Float64()/3)
		table.Quantifiers[1].Scores = append(table.Quantifiers[1].Scores, random.Float64())
		one, near, chance := truth, truth, validation.Incorrect+validation.Label(random.IntN(2))
		switch i {
		case 0:
			one = validation.Unsure
		case 1:
			near = validation.Correct
		case 2:
			near = validation.Missing
			table.Quantifiers[1].Scores[i] = math.NaN()
		}
		table.People[0].Labels, table.People[1].Labels = append(table.People[0].Labels, one), append(table.People[1].Labels, truth)
		for j, l := range []validation.Label{near, validation.Correct, chance} {
			table.Judges[j].Labels = append(table.Judges[j].Labels, l)
		}
	}
	o := validation.Defaults()
	o.Resamples, o.Draws = 50, draws
	r, err := validation.Validate(t.Context(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	return report.ValidationPage{Title: name, Notes: []string{"a note of " + name}, Result: r, Items: table.Items}
}

func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestValidationTextFitsAndGuards(t *testing.T) {
	t.Parallel()
	for _, width := range []int{40, 80} {
		text := written(t, func(w io.Writer) error { return report.WriteValidation(w, width, validationPage(t, "judges", 0), true) })
		for _, line := range strings.Split(text, "\n") {
			if utf8.RuneCountInString(line) > width {
				t.Errorf("wider than %d: %q", width, line)
			}
		}
	}
	text := written(t, func(w io.Writer) error { return report.WriteValidation(w, 80, validationPage(t, evil, 0), true) })
	if strings.ContainsAny(text, "\x00\x1b\u202e\u2066") {
		t.Error("a control character came through")
	}
}

// Every table says what an unsure label counts as; the judge that accepts all is counted, not averaged.
func TestValidationSaysWhatItCounts(t *testing.T) {
	t.Parallel()
	text := written(t, func(w io.Writer) error { return report.WriteValidationMarkdown(w, validationPage(t, "judges", 0)) })
	captions := 0
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "|---") {
			captions++
			if !strings.HasSuffix(lines[i-3], "unsure as incorrect") {
				t.Errorf("the caption %q does not say what unsure counts as", lines[i-3])
			}
		}
	}
	if captions < 15 {
		t.Errorf("%d tables", captions)
	}
	for _, want := range []string{"1 unsure label of people counts as incorrect", "Left out of people's AUROCs: 1 no judges noise", "| judges near | 23 |", "1 medium (1 more without an AUROC)", "FN×FP"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestValidationPageShowsTextsAsTexts(t *testing.T) {
	t.Parallel()
	p := validationPage(t, evil, 100)
	page := written(t, func(w io.Writer) error { return report.WriteValidationHTML(w, p) })
	for what, most := range map[string]int{"<script": 1, "</script": 1, "<style": 1, "<img": 0, "ZgotmplZ": 0} {
		if n := strings.Count(page, what); n > most {
			t.Errorf("%q is there %d times", what, n)
		}
	}
	if strings.ContainsAny(page, "\x00\x1b\u202e\u2066") {
		t.Error("a control character came through")
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("two elements are called %q", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !ids[m[1]] {
			t.Errorf("nothing is called %q", m[1])
		}
	}
	for chart, want := range map[string]int{"chart forest": 1, "chart scatter": 1, "chart strips": 6} {
		if n := strings.Count(page, `class="`+chart+`"`); n < want {
			t.Errorf("%d of %q, want %d or more", n, chart, want)
		}
	}
}

func TestValidationJSONIsOneObject(t *testing.T) {
	t.Parallel()
	p := validationPage(t, "judges", 100)
	text := written(t, func(w io.Writer) error { return report.WriteValidationJSON(w, p) })
	var got struct {
		N         int
		Agreement struct{ Pairs []struct{ Kappa any } }
		Judges    []struct {
			Name, Group string
			F1          *float64
			Posterior   *struct{ F1 map[string]any }
		}
		AUROC []struct {
			Quantifier, Judge         string
			Value, Lower, Upper, Rank *float64
			Reason                    string
			N                         int
		}
		RBO []struct {
			Judge string
			Value *float64
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.N != 24 || len(got.Judges) != 3 || len(got.AUROC) != 2*4 || len(got.RBO) != 3 || len(got.Agreement.Pairs) != 1 {
		t.Fatalf("%+v", got)
	}
	people, all := got.AUROC[0], got.AUROC[4]
	if people.Judge != report.HumanJudge || people.Value == nil || people.Lower == nil || *people.Rank != 1 || people.N != 23 {
		t.Errorf("under people: %+v", people)
	}
	if all.Value != nil || all.Rank != nil || all.Reason != "one class" || got.RBO[1].Value != nil {
		t.Errorf("under the judge that accepts all: %+v", all)
	}
	if j := got.Judges[0]; j.Posterior == nil || j.Posterior.F1["alone"] == nil || j.Posterior.F1["all"] == nil || j.Group != "good" {
		t.Errorf("the first judge: %+v", j)
	}
}
