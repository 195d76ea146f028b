package scores_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/scores"
)

func read(t *testing.T, name, text string, s scores.Spec) (*scores.Table, error) {
	t.Helper()
	r, err := table.New(strings.NewReader(text), name, table.Options{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return scores.Read(r, s)
}

func must(t *testing.T, name, text string, s scores.Spec) *scores.Table {
	t.Helper()
	got, err := read(t, name, text, s)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// rows makes CSV of a header and n equal rows but for an id, so that guesses have something to go by.
func rows(header string, lines ...string) string {
	return header + "\n" + strings.Join(lines, "\n") + "\n"
}

func TestLabels(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		spec   scores.Spec
		labels []string
		want   []float64
	}{
		{"digits", scores.Spec{}, []string{"1", "0", "1.0", "0.0"}, []float64{1, 0, 1, 0}},
		{"words", scores.Spec{}, []string{"true", "False", "YES", "no", "Correct", "incorrect"}, []float64{1, 0, 1, 0, 1, 0}},
		{"letters", scores.Spec{}, []string{"C", "I"}, []float64{1, 0}},
		{"grades", scores.Spec{}, []string{"0.25", "1", ".5"}, []float64{.25, 1, .5}},
		{"own words", scores.Spec{Correct: []string{"Gold"}, Incorrect: []string{"unsure"}}, []string{"gold", "Unsure"}, []float64{1, 0}},
		{"None is a label unless said", scores.Spec{Missing: []string{"None"}}, []string{"none", "1"}, []float64{math.NaN(), 1}},
		{"a word for missing can be made a label", scores.Spec{Incorrect: []string{"NA"}}, []string{"NA", "1"}, []float64{0, 1}},
		{"a number for missing", scores.Spec{Missing: []string{"-1"}}, []string{"-1", "1"}, []float64{math.NaN(), 1}},
		{"missing", scores.Spec{}, []string{"", "NA", "NaN", "null", "n/a", "1"}, []float64{math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lines := make([]string, len(tt.labels))
			for i, l := range tt.labels {
				lines[i] = l + ",0.5"
			}
			tt.spec.Label, tt.spec.Scores = "y", []scores.ScoreSpec{{Column: "s"}}
			got := must(t, "a.csv", rows("y,s", lines...), tt.spec)
			if diff := cmp.Diff(tt.want, got.Label.Values, cmpopts.EquateNaNs()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMissing: each missing value has its reason, from every format.
func TestMissing(t *testing.T) {
	t.Parallel()
	spec := scores.Spec{Label: "y", Scores: []scores.ScoreSpec{{Column: "s"}}}
	for name, text := range map[string]string{
		"a.csv":   rows("y,s", "1,0.5", "1,", "1,NA", "0,NaN", ",1"),
		"a.jsonl": "{\"y\":1,\"s\":0.5}\n{\"y\":true,\"s\":\"\"}\n{\"y\":\"C\",\"s\":\"NA\"}\n{\"y\":0,\"s\":NaN}\n{\"y\":null,\"s\":1}\n",
	} {
		got := must(t, name, text, spec)
		if diff := cmp.Diff([]string{"", "no s (empty)", "no s (na)", "no s (nan)", ""}, got.Scores[0].Why); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if why := got.Label.Why[4]; why != "no label (empty)" && why != "no label (null)" {
			t.Errorf("%s: label: %q", name, why)
		}
	}
	got := must(t, "a.jsonl", "{\"y\":1,\"s\":0.5}\n{\"y\":1}\n", spec)
	if why := got.Scores[0].Why[1]; why != "no s (absent)" {
		t.Errorf("absent key: %q", why)
	}
}

func TestGuesses(t *testing.T) {
	t.Parallel()
	text := rows("id,model,correct,stated,token_logprob,entropy,pct,n_tokens,judge,note",
		"1,a,1,0.9,-0.1,0.2,90,12,1,x", "2,a,0,0.4,-3.5,2.2,35,7,0,y", "3,b,1,1,-0,0,100,9,1,z")
	got := must(t, "a.csv", text, scores.Spec{By: []string{"model"}})
	kinds := map[string]scores.Kind{}
	for _, s := range got.Scores {
		kinds[s.Name] = s.Kind
	}
	want := map[string]scores.Kind{"stated": scores.Confidence, "token_logprob": scores.LogProbability, "entropy": scores.Uncertainty, "pct": scores.Percent}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
	if got.Label.Name != "correct" || len(got.Groups) != 2 || got.Groups[1].Name != "model=b" {
		t.Errorf("label %q, groups %v", got.Label.Name, got.Groups)
	}
	said := strings.Join(got.Notes, "\n")
	for _, part := range []string{
		"label: column correct, by its name", "item: column id, by its name",
		"not taken for scores, since their kind is open or they are 0 and 1 only: n_tokens, judge",
		"scores: stated, token_logprob, entropy, pct", "pct is read as percent, by its name",
	} {
		if !strings.Contains(said, part) {
			t.Errorf("%q is not said in\n%s", part, said)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		spec       scores.Spec
		want       string
	}{
		{"a log-probability is no confidence", rows("correct,s", "1,-0.5", "0,-2.25"), spec("s:confidence"),
			`a.csv:3:3: score "s" is read as confidence but has the value -2.25; a confidence lies in [0,1]; it looks like log-probability: --score s:log-probability`},
		{"a percentage is no confidence", rows("correct,s", "1,0.5", "0,95"), spec("s:confidence"),
			`a.csv:3:3: score "s" is read as confidence but has the value 95; a confidence lies in [0,1]; it looks like percent: --score s:percent`},
		{"a fraction is no percentage", rows("correct,s", "1,0.5", "0,0.9"), spec("s:percent"),
			`a.csv:3:3: score "s" is read as percent but has the value 0.9; no percentage is above 1; it looks like confidence: --score s:confidence`},
		{"a positive log-probability", rows("correct,s", "1,-0.5", "0,0.9"), spec("s:log-probability"),
			`a.csv:3:3: score "s" is read as log-probability but has the value 0.9; a log-probability is at most 0; say what it is: --score s:KIND`},
		{"no kind fits", rows("correct,s", "1,-0.5", "0,12"), spec("s"),
			`a.csv:2:3: score "s" has values from -0.5 to 12, which tell no kind; say what it is: --score s:KIND with a KIND of confidence, percent, log-probability, logit, uncertainty`},
		{"kind misspelt", rows("correct,s", "1,0.5"), spec("s:confidense"),
			`a.csv: score "s": unknown kind of score "confidense"; the kinds are confidence, percent, log-probability, logit, uncertainty`},
		{"unknown column", rows("correct,token", "1,0.5"), spec("tokn"), `a.csv: no column "tokn"; did you mean "token"? the columns are "correct", "token"`},
		{"number cut short", rows("correct,s", "1,0.5", "0,1e-"), spec("s"), `a.csv:3:3: score "s": "1e-" is no number; it looks cut: an exponent, a sign or a point without digits`},
		{"word among numbers", rows("correct,s", "1,0.5", "0,high"), spec("s"), `a.csv:3:3: score "s": "high" is no number; if it stands for a missing value: --missing high`},
		{"label of another kind", rows("correct,s", "1,0.5", "unsure,0.5"), spec("s"), `a.csv:3:1: the label "unsure" is neither correct nor incorrect nor a number in [0,1]; say which it is: --correct WORD, --incorrect WORD or --missing WORD`},
		{"grade out of range", rows("correct,s", "4,0.5"), spec("s"), `a.csv:2:1: the label 4 lies outside [0,1]; scale graded labels to [0,1]`},
		{"no label column", rows("a,s", "1,0.5"), scores.Spec{}, `a.csv: no column has a usual name of a label (correct, is_correct, correctness, label, labels, acc, accuracy); say which it is: --label COLUMN; the columns are "a", "s"`},
		{"no score column", rows("correct,s", "1,x"), scores.Spec{}, `a.csv: no column can be told to be a score; say which they are: --score COLUMN:KIND; the columns are "correct", "s"`},
		{"an item twice (F10)", rows("doc_id,correct,s", "1,1,0.5", "2,0,0.5", "1,1,0.6"), spec("s"),
			`a.csv:4:1: item "1" occurs twice, first in line 2; group by a column that tells the rows apart (--by COLUMN), say that they belong together (--cluster doc_id), or that the column names no item (--item none)`},
		{"a score twice", rows("correct,s", "1,0.5"), scores.Spec{Scores: []scores.ScoreSpec{{Column: "s"}, {Column: "s"}}}, `a.csv: score "s" is named twice; name it once`},
		{"no list to reduce", rows("correct,lp", "1,0.5"), spec("mean(lp)"), `a.csv:2:3: score "mean(lp)": no JSON list of numbers; name the keys that lead to the list, such as mean(logprobs.token_logprobs)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := read(t, "a.csv", tt.text, tt.spec)
			if err == nil || err.Error() != tt.want {
				t.Errorf("\n got %v\nwant %s", err, tt.want)
			}
		})
	}
}

func spec(score string) scores.Spec {
	return scores.Spec{Scores: []scores.ScoreSpec{scores.ParseScore(score)}}
}

// TestItems: an item may occur once in each group, or as often as it likes within a cluster.
func TestItems(t *testing.T) {
	t.Parallel()
	text := rows("doc_id,filter,correct,s", "1,strict,1,0.5", "1,flexible,0,0.5", "2,strict,1,0.6", "2,flexible,1,0.6")
	by := spec("s")
	by.By = []string{"filter"}
	if got := must(t, "a.csv", text, by); len(got.Groups) != 2 || len(got.Groups[0].Rows) != 2 {
		t.Errorf("groups %+v", got.Groups)
	}
	cluster := spec("s")
	cluster.Cluster = "doc_id"
	got := must(t, "a.csv", text, cluster)
	if diff := cmp.Diff([]string{"1", "1", "2", "2"}, got.Clusters); diff != "" {
		t.Error(diff)
	}
}

// TestReductions: token log-probabilities in a cell, as completions of a language model come.
func TestReductions(t *testing.T) {
	t.Parallel()
	text := rows("correct,logprobs", `1,"{""tokens"":["" A"",""b""],""token_logprobs"":[-0.5,-1.5]}"`, `0,"{""token_logprobs"":[null,-1]}"`, `0,{}`, `1,"{""token_logprobs"":[]}"`)
	for reduction, want := range map[string]float64{"mean": -1, "sum": -2, "min": -1.5, "first": -.5} {
		got := must(t, "a.csv", text, spec(reduction+"(logprobs.token_logprobs)"))
		nan := math.NaN()
		if diff := cmp.Diff([]float64{want, nan, nan, nan}, got.Scores[0].Values, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s: %s", reduction, diff)
		}
		if got.Scores[0].Kind != scores.LogProbability {
			t.Errorf("%s is read as %s", reduction, got.Scores[0].Kind)
		}
	}
}

func evaluate(t *testing.T, tab *scores.Table, resamples int, compare [][2]string, ids ...string) []scores.Result {
	t.Helper()
	metrics, err := scores.Metrics(ids)
	if err != nil {
		t.Fatal(err)
	}
	got, err := scores.Evaluate(t.Context(), tab, scores.Options{Metrics: metrics, Compare: compare, Resamples: resamples, Level: .95, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestRanksAreExact: probabilities too small for a float64 keep their order as log-probabilities.
func TestRanksAreExact(t *testing.T) {
	t.Parallel()
	tab := must(t, "a.csv", rows("correct,s", "1,-800", "0,-900", "0,-1000", "1,-750"), spec("s:log-probability"))
	got := evaluate(t, tab, 0, nil, "auroc", "brier")
	if x, _ := got[0].Value.Get(); x != 1 {
		t.Errorf("AUROC %v, want 1", x)
	}
	if x, _ := got[1].Value.Get(); x != .5 {
		t.Errorf("Brier score %v, want .5: all probabilities are 0", x)
	}
}

// TestKindsAgree: the same judgements in every kind have the same ranks and the same calibration.
func TestKindsAgree(t *testing.T) {
	t.Parallel()
	var lines []string
	g := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		p := float64(1+g.IntN(98)) / 100
		y := 0
		if g.Float64() < p {
			y = 1
		}
		lines = append(lines, fmt.Sprintf("%d,%v,%v,%v,%v,%v", y, p, 100*p, math.Log(p), math.Log(p/(1-p)), 1-p))
	}
	tab := must(t, "a.csv", rows("correct,c,p,l,o,u", lines...), scores.Spec{Scores: []scores.ScoreSpec{
		{Column: "c", Kind: scores.Confidence}, {Column: "p", Kind: scores.Percent}, {Column: "l", Kind: scores.LogProbability},
		{Column: "o", Kind: scores.Logit}, {Column: "u", Kind: scores.Uncertainty},
	}})
	got := evaluate(t, tab, 200, nil, "auroc", "brier")
	for i := 2; i < len(got); i++ {
		want, _ := got[i%2].Value.Get()
		x, ok := got[i].Value.Get()
		if got[i].Score == "u" && got[i].Value.Method == "brier" {
			if ok {
				t.Errorf("an uncertainty has a Brier score of %v", x)
			}
			continue
		}
		if math.Abs(x-want) > 1e-12 {
			t.Errorf("%s of %s is %v, want %v", got[i].Value.Method, got[i].Score, x, want)
		}
		if diff := math.Abs(got[i].Value.Interval.Lower - got[i%2].Value.Interval.Lower); diff > 1e-12 {
			t.Errorf("%s of %s was drawn otherwise", got[i].Value.Method, got[i].Score)
		}
	}
}

// TestComparisons: a difference rests on the items with both scores, whatever else is missing, and is
// the same however many other scores are looked at.
func TestComparisons(t *testing.T) {
	t.Parallel()
	var lines []string
	g := rand.New(rand.NewPCG(5, 6))
	for i := range 300 {
		y := g.IntN(2)
		a, b := fmt.Sprint(.3*float64(y)+.7*g.Float64()), fmt.Sprint(g.Float64())
		if i%10 == 0 {
			b = ""
		}
		lines = append(lines, fmt.Sprintf("%d,%s,%s,%v", y, a, b, g.Float64()))
	}
	text := rows("correct,a,b,c", lines...)
	pair := [][2]string{{"a", "b"}, {"a", "c"}}
	all := must(t, "a.csv", text, scores.Spec{})
	got := evaluate(t, all, 500, pair, "auroc")
	diff := got[len(got)-2]
	if diff.Value.N != 270 || diff.Value.NLeftOut() != 30 || got[0].Value.N != 300 {
		t.Errorf("difference of %d items, %d left out; level of %d", diff.Value.N, diff.Value.NLeftOut(), got[0].Value.N)
	}
	few := evaluate(t, must(t, "a.csv", text, scores.Spec{Scores: []scores.ScoreSpec{{Column: "a"}, {Column: "b"}}}), 500, pair[:1], "auroc")
	if d := cmp.Diff(diff.Value, few[len(few)-1].Value, cmp.AllowUnexported(diff.Value), cmpopts.IgnoreFields(diff.Value, "Warnings")); d != "" {
		t.Error(d)
	}
	if diff.P == nil || *diff.P > .05 || *diff.Holm < *diff.P {
		t.Errorf("p %v, Holm %v", diff.P, diff.Holm)
	}
	plain := evaluate(t, all, 0, pair, "auroc")
	x, _ := plain[len(plain)-2].Value.Get()
	if y, _ := diff.Value.Get(); math.Abs(x-y) > 1e-15 {
		t.Errorf("the difference is %v without intervals and %v with", x, y)
	}
}

// TestGroupsAreIndependent: a further group changes no number of the others.
func TestGroupsAreIndependent(t *testing.T) {
	t.Parallel()
	first := []string{"x,1,0.5", "x,0,0.4", "x,1,0.9", "x,0,0.95", "x,1,0.2"}
	by := spec("s")
	by.By = []string{"m"}
	one := evaluate(t, must(t, "a.csv", rows("m,correct,s", first...), by), 300, nil)
	two := evaluate(t, must(t, "a.csv", rows("m,correct,s", append([]string{"w,1,0.1", "w,0,0.7"}, first...)...), by), 300, nil)
	if diff := cmp.Diff(one, two[len(two)-len(one):], cmp.AllowUnexported(one[0].Value)); diff != "" {
		t.Error(diff)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tab := must(t, "a.csv", rows("correct,s", "1,0.5", "0,0.4"), scores.Spec{})
	metrics, err := scores.Metrics(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 100} {
		if _, err := scores.Evaluate(ctx, tab, scores.Options{Metrics: metrics, Resamples: n, Level: .95}); err != context.Canceled {
			t.Errorf("%d resamples: %v", n, err)
		}
	}
}
