package scores_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/scores"
)

func TestParseGate(t *testing.T) {
	t.Parallel()
	const ece = "ece.equal-width.10.left-closed"
	tests := map[string][]scores.Comparison{
		"auroc(token).lower >= 0.7":      {{Metric: "auroc", Score: "token", Field: "lower", Op: ">=", Bound: .7}},
		"ece(a)<.1":                      {{Metric: ece, Score: "a", Field: "value", Op: "<", Bound: .1}},
		"aurc.expected( judge.x@0.3 )>0": {{Metric: "aurc.expected", Score: "judge.x@0.3", Field: "value", Op: ">", Bound: 0}},
		`auroc("two words",b).p <= 5e-2 and n(b) >= 200 && left_out(b) < 1`: {
			{Metric: "auroc", Score: "two words", Against: "b", Field: "p", Op: "<=", Bound: .05},
			{Score: "b", Field: "n", Op: ">=", Bound: 200},
			{Score: "b", Field: "left_out", Op: "<", Bound: 1},
		},
	}
	for text, want := range tests {
		got, err := scores.ParseGate(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for i := range got.Comparisons {
			if !strings.Contains(text, got.Comparisons[i].Text) {
				t.Errorf("%q is no part of %q", got.Comparisons[i].Text, text)
			}
			got.Comparisons[i].Text = ""
		}
		if diff := cmp.Diff(want, got.Comparisons); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	for text, want := range map[string]string{
		"":                             `gate "", column 1: a metric is wanted`,
		"auroc":                        `gate "auroc", column 6: a score in parentheses is wanted`,
		"auroc(a)":                     `gate "auroc(a)", column 9: one of >= <= > < is wanted`,
		"auroc(a) >= ":                 `gate "auroc(a) >= ", column 13: a number is wanted`,
		"auroc(a) >= x":                `gate "auroc(a) >= x", column 13: a number is wanted`,
		"auroc(a) >= nan":              `gate "auroc(a) >= nan", column 13: a number is wanted`,
		"auroc(a).low >= 1":            `gate "auroc(a).low >= 1", column 10: no field "low"; the fields are value, lower, upper, n, left_out, p, p_holm`,
		"auroc(a).p < 1":               `gate "auroc(a).p < 1", column 11: p needs two scores, such as auroc(a,b).p`,
		"auroc(a) > 1 or auroc(a) > 2": `gate "auroc(a) > 1 or auroc(a) > 2", column 14: "and" or the end is wanted`,
		`auroc("a) > 1`:                `gate "auroc(\"a) > 1", column 7: a quote is left open`,
	} {
		if _, err := scores.ParseGate(text); err == nil || err.Error() != want {
			t.Errorf("\n got %v\nwant %s", err, want)
		}
	}
	if _, err := scores.ParseGate("aurok(a) > 1"); err == nil || !strings.Contains(err.Error(), `"auroc"`) {
		t.Errorf("no suggestion: %v", err)
	}
}

func TestCheckGate(t *testing.T) {
	t.Parallel()
	interval := measure.Interval{Lower: .6, Upper: .8, Level: .95}
	p := .01
	results := []scores.Result{
		{Group: "g=1", Score: "a", Value: measure.Of("auroc", .7, 100).With(interval)},
		{Group: "g=2", Score: "a", Value: measure.Undefined("auroc", measure.OneClass, 7)},
		{Group: "g=1", Score: "a", Against: "b", Value: measure.Of("auroc", .1, 90), P: &p},
	}
	for text, want := range map[string][]string{
		"auroc(a) >= .7":          {"+ auroc(a) >= .7 in g=1: it is 0.7", "- auroc(a) >= .7 in g=2: undefined (one class)"},
		"auroc(a).upper < .8":     {"- auroc(a).upper < .8 in g=1: it is 0.8", "- auroc(a).upper < .8 in g=2: undefined (one class)"},
		"n(a) > 50":               {"+ n(a) > 50 in g=1: it is 100", "- n(a) > 50 in g=2: it is 7"},
		"auroc(a,b).p <= .01":     {"+ auroc(a,b).p <= .01 in g=1: it is 0.01"},
		"auroc(a,b).lower > 0":    {"- auroc(a,b).lower > 0 in g=1: there is no interval"},
		"auroc(a,b).p_holm < .05": {"- auroc(a,b).p_holm < .05 in g=1: there is no p value"},
		"auroc(c) > 0":            {"- auroc(c) > 0: there is no such result"},
	} {
		g, err := scores.ParseGate(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range g.Check(results) {
			sign := "- "
			if o.Holds {
				sign = "+ "
			}
			got = append(got, sign+o.Text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// FuzzParseGate: no text makes the parser crash, and what it accepts has a metric and a score.
func FuzzParseGate(f *testing.F) {
	for _, s := range []string{"auroc(a).lower >= 0.7", `ece("x y",b).p<1 and n(a)>2`, "auroc(", "\"", "n()>=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := scores.ParseGate(text)
		if err != nil {
			return
		}
		for _, c := range g.Comparisons {
			if c.Metric == "" && c.Field != "n" && c.Field != "left_out" {
				t.Fatalf("a comparison without a metric: %+v", c)
			}
		}
		g.Check(nil)
	})
}

func TestAnIntervalWithoutWidthSatisfiesNoBound(t *testing.T) {
	t.Parallel()
	g, err := scores.ParseGate("auroc(s).lower >= 0.7")
	if err != nil {
		t.Fatal(err)
	}
	v := measure.Of("auroc", 1, 2).With(measure.Interval{Lower: 1, Upper: 1, Level: .95, Method: "bootstrap.percentile", Resamples: 100})
	o := g.Check([]scores.Result{{Score: "s", Value: v}})
	if len(o) != 1 || o[0].Holds || !strings.Contains(o[0].Text, "no width") {
		t.Errorf("%+v", o)
	}
}

func TestMetricsAreFoundAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for _, written := range []string{"AUROC", "auroc", "ECE"} {
		if s, err := scores.Metric(written); err != nil || !strings.HasPrefix(s.ID, strings.ToLower(written)) {
			t.Errorf("%s: %q, %v", written, s.ID, err)
		}
	}
}
