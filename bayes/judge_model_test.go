package bayes_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/bayes"
	"github.com/credence-lab/credence/measure"
)

func fit(t *testing.T, d bayes.JudgeData) *bayes.JudgePosterior {
	t.Helper()
	p, err := bayes.FitJudges(t.Context(), d, bayes.PaperPriors(), bayes.NUTS, brief)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func get(t *testing.T, p *bayes.JudgePosterior, judge string, q bayes.Quantity) float64 {
	t.Helper()
	e, ok := p.By(judge, q)
	if !ok {
		t.Fatalf("no %s of %s", q, judge)
	}
	x, ok := e.Mean.Get()
	if !ok {
		t.Fatalf("%s of %s is undefined: %s", q, judge, e.Mean.Reason())
	}
	return x
}

// The joint masses of the paper sum to 1 over the four outcomes; the conditional rates sum to 1 over the
// judgements of each label.
func TestTheTwoDefinitionsAreNamedApart(t *testing.T) {
	t.Parallel()
	p := fit(t, few())
	for _, j := range p.Judges {
		at := func(q bayes.Quantity) float64 { return get(t, p, j.Name, q) }
		for _, sum := range []float64{
			at(bayes.JointTP) + at(bayes.JointTN) + at(bayes.JointFP) + at(bayes.JointFN),
			at(bayes.TPR) + at(bayes.FNR), at(bayes.TNR) + at(bayes.FPR),
			at(bayes.JointTP) + at(bayes.JointTN) + 1 - at(bayes.Accuracy),
		} {
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("%s: rates sum to %v", j.Name, sum)
			}
		}
		if math.Abs(at(bayes.JointTP)-at(bayes.TPR)) < .01 {
			t.Errorf("%s: the joint mass of true positives is the rate", j.Name)
		}
		// An estimate of 1 minus a quantity has its interval turned around.
		tnr, fpr := j.Quantities[bayes.TNR], j.Quantities[bayes.FPR]
		if fpr.Mean.Interval.Lower != 1-tnr.Mean.Interval.Upper || fpr.Half.Upper != 1-tnr.Half.Lower {
			t.Errorf("%s: interval of FPR %v, of TNR %v", j.Name, fpr.Mean.Interval, tnr.Mean.Interval)
		}
	}
	// Quantities of one draw, from its sensitivity, specificity and mean correctness.
	tp, fp, fn := p.Draws(0, bayes.JointTP)[1][7], p.Draws(0, bayes.JointFP)[1][7], p.Draws(0, bayes.JointFN)[1][7]
	if got := p.Draws(0, bayes.F1)[1][7]; math.Abs(got-2*tp/(2*tp+fp+fn)) > 1e-15 {
		t.Errorf("F1 of a draw is %v", got)
	}
	if got := p.Draws(0, bayes.Precision)[1][7]; math.Abs(got-tp/(tp+fp)) > 1e-15 {
		t.Errorf("precision of a draw is %v", got)
	}
}

func TestAFitSaysWhatItRestsOn(t *testing.T) {
	t.Parallel()
	p := fit(t, few())
	if d := cmp.Diff([]string{"loose", "strict", "model", "person"}, p.Together); d != "" {
		t.Error(d)
	}
	var items []int
	for _, j := range p.Judges {
		items = append(items, j.Items)
		for q, e := range j.Quantities {
			if e.Mean.N != 6 || !strings.HasSuffix(e.Mean.Method, string(q)+".mean") || !strings.HasPrefix(e.Mean.Method, "judge-model.nuts.") {
				t.Errorf("%s of %s: N %d, method %s", q, j.Name, e.Mean.N, e.Mean.Method)
			}
		}
	}
	if d := cmp.Diff([]int{5, 5, 5, 5}, items); d != "" {
		t.Error(d)
	}
	// 180 draws are too few, and each value says so, through JSON too.
	if p.Convergence.Verdict != bayes.Doubtful {
		t.Errorf("verdict is %s", p.Convergence.Verdict)
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back bayes.JudgePosterior
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	for _, e := range []bayes.Estimate{back.Judges[2].Quantities[bayes.FNR], back.MeanCorrectness} {
		if !slices.ContainsFunc(e.Median.Warnings, func(w measure.Warning) bool { return w.Code == "low-ess" }) {
			t.Errorf("%s carries %v", e.Median.Method, e.Median.Warnings)
		}
	}
	if d := cmp.Diff(p.Judges, back.Judges, cmp.AllowUnexported(measure.Value{})); d != "" {
		t.Errorf("JSON is not the fit:\n%s", d)
	}
}

// Items without judgements keep their prior; people's labels move it.
func TestCorrectnessOfItemsWithoutJudgements(t *testing.T) {
	t.Parallel()
	d := bayes.JudgeData{
		People: []bayes.Votes{{Correct: 2}, {}, {Incorrect: 1}, {Correct: .5, Incorrect: .5}},
		Judges: []bayes.Judge{{Name: "j", Counts: counts("1---")}},
	}
	p := fit(t, d)
	for i, want := range []float64{0, .5, .25, .5} {
		if i > 0 {
			near(t, fmt.Sprint("correctness of item ", i), p.Correctness[i].Mean, want, 1e-12)
		}
	}
	near(t, "deviation", p.Correctness[1].SD, math.Sqrt(.5*.5/2), 1e-12) // of Beta(.5, .5)
	exact, err := bayes.FitExactly(d.People, d.Judges[0], bayes.PaperPriors())
	if err != nil {
		t.Fatal(err)
	}
	// One positive judgement of an item that is correct with probability 2.5/3.
	m := 2.5 / 3
	if want := math.Log(m/2 + (1-m)/2); math.Abs(exact.LogMarginal-want) > 1e-12 {
		t.Errorf("log marginal likelihood is %v, want %v", exact.LogMarginal, want)
	}
}

// Thousands of judgements, more than an exact rule is taken for: the posterior is then nearly that of counts.
func TestQuadratureOfManyJudgements(t *testing.T) {
	t.Parallel()
	const items = 1200
	d := bayes.JudgeData{People: make([]bayes.Votes, items), Judges: []bayes.Judge{{Name: "j", Counts: make([]bayes.Count, items)}}}
	for i := range items {
		correct, accepts := i%3 > 0, i%10 > 0
		d.People[i] = bayes.Votes{Incorrect: 1e5}
		if correct {
			d.People[i] = bayes.Votes{Correct: 1e5}
		}
		if accepts == correct {
			d.Judges[0].Counts[i].Correct = 1
		} else {
			d.Judges[0].Counts[i].Incorrect = 1
		}
	}
	e, err := bayes.FitExactly(d.People, d.Judges[0], bayes.PaperPriors())
	if err != nil {
		t.Fatal(err)
	}
	if e.Nodes <= 512 || e.Nodes > 2048 {
		t.Errorf("%d nodes", e.Nodes)
	}
	if m := e.Quantities[bayes.TPR]; math.Abs(m.Mean-.9) > .003 || math.Abs(m.SD-math.Sqrt(.9*.1/800)) > 2e-4 {
		t.Errorf("sensitivity is %+v", m)
	}
}

func TestRepresentatives(t *testing.T) {
	t.Parallel()
	d := few()
	// Against the majority, without items 1 and 3: loose has TP 2 (items 0, 4), FP 0 (item 2), FN 0; so has strict.
	if d := cmp.Diff([]string{"loose", "model", "person"}, bayes.Representatives(d)); d != "" {
		t.Error(d)
	}
	d.Judges[0].Counts[2] = bayes.Count{Correct: 1} // a false positive
	if d := cmp.Diff([]string{"strict", "model", "person"}, bayes.Representatives(d)); d != "" {
		t.Error(d)
	}
}

func TestScopesSideBySide(t *testing.T) {
	t.Parallel()
	f, err := bayes.FitScopes(t.Context(), few(), bayes.PaperPriors(), bayes.NUTS, brief, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Alone) != 4 || f.All.Scope != bayes.All || f.OnePerFamily.Scope != bayes.OnePerFamily || f.Alone[0].Scope != bayes.Alone {
		t.Errorf("scopes are %s, %s", f.All.Scope, f.OnePerFamily.Scope)
	}
	if d := cmp.Diff([][]string{{"loose", "strict", "model", "person"}, {"loose", "model", "person"}, {"strict"}},
		[][]string{f.All.Together, f.OnePerFamily.Together, f.Alone[1].Together}); d != "" {
		t.Error(d)
	}
	rows := f.Table(bayes.Accuracy)
	if rows[0].OnePerFamily == nil || rows[1].OnePerFamily != nil {
		t.Error("the wrong threshold stands for the family")
	}
	for _, r := range rows {
		x, _ := r.Alone.Mean.Get()
		e, _ := r.Alone.MCSE.Get()
		if r.Exact == nil || math.Abs(x-r.Exact.Mean) > 5*e {
			t.Errorf("%s alone: %v sampled, %v exactly", r.Judge, x, r.Exact)
		}
	}
	if f.Table(bayes.F1)[0].Exact != nil {
		t.Error("F1 has no closed form")
	}
	if _, err := bayes.FitScopes(t.Context(), few(), bayes.PaperPriors(), bayes.NUTS, brief, []string{"nobody"}); err == nil {
		t.Error("an unknown representative is taken")
	}
}

func TestPriorSensitivity(t *testing.T) {
	t.Parallel()
	p, err := bayes.PriorSensitivity(t.Context(), few(), []bayes.NamedPriors{
		{Name: "paper"}, {Name: "certain", Priors: bayes.JudgePriors{Sensitivity: bayes.Beta{A: 1000, B: 1}}},
	}, bayes.TPR, bayes.NUTS, brief)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Rows) != 4 || len(p.Rows[0].Estimates) != 2 || len(p.Convergence) != 2 {
		t.Fatalf("%+v", p)
	}
	sensitive := func(r bayes.PriorRow) bool {
		return slices.ContainsFunc(r.Shift.Warnings, func(w measure.Warning) bool { return w.Code == "prior-sensitive" })
	}
	// The prior of judges has no hold on people.
	if !sensitive(p.Rows[1]) || sensitive(p.Rows[3]) {
		t.Errorf("shifts: strict %+v, person %+v", p.Rows[1].Shift, p.Rows[3].Shift)
	}
	if _, err := bayes.PriorSensitivity(t.Context(), few(), nil, "f2", bayes.NUTS, brief); err == nil {
		t.Error("an unknown quantity is taken")
	}
	for _, set := range bayes.SensiblePriors() {
		if _, err := bayes.FitJudges(t.Context(), few(), set.Priors, bayes.Gibbs, brief); err != nil {
			t.Errorf("%s: %v", set.Name, err)
		}
	}
}

// Ten copies of one judge agree in everything, which judges that are independent given the item cannot: of all checks
// the one of agreement must see it. A judge whose judgements follow the model must pass.
func TestPredictiveChecks(t *testing.T) {
	t.Parallel()
	d := bayes.JudgeData{People: make([]bayes.Votes, 60)}
	copied := make([]bayes.Count, 60)
	for i := range d.People {
		d.People[i] = bayes.Votes{Correct: 1}
		copied[i] = bayes.Count{Correct: i % 2, Incorrect: 1 - i%2}
	}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		d.Judges = append(d.Judges, bayes.Judge{Name: name, Counts: copied})
	}
	o := bayes.Options{Seed: 1, Chains: 2, Warmup: 200, Draws: 500}
	p, err := bayes.FitJudges(t.Context(), d, bayes.PaperPriors(), bayes.NUTS, o)
	if err != nil {
		t.Fatal(err)
	}
	misfit := func(c bayes.PredictiveCheck) bool {
		return slices.ContainsFunc(c.Predicted.Warnings, func(w measure.Warning) bool { return w.Code == "predictive-misfit" })
	}
	for _, c := range p.Checks {
		x, _ := c.Observed.Get()
		y, _ := c.Predicted.Get()
		switch c.Check {
		case bayes.CheckOthers:
			if x != 1 || !misfit(c) {
				t.Errorf("%s: agreement %v, predicted %v, is no misfit", c.Judge, x, y)
			}
		case bayes.CheckAccepted, bayes.CheckPeople:
			if x != .5 || math.Abs(y-.5) > .05 || misfit(c) {
				t.Errorf("%s: %s %v, predicted %v, tail %+v", c.Judge, c.Check, x, y, c.Tail)
			}
		case bayes.CheckReconstructed:
			if c.Observed.Defined() || y < .5 || y > .95 {
				t.Errorf("%s: label reconstruction %v", c.Judge, y)
			}
		}
	}
	if len(p.Checks) != 40 {
		t.Errorf("%d checks", len(p.Checks))
	}
	// A judge alone has no others to agree with.
	d.Judges = d.Judges[:1]
	p, err = bayes.FitJudges(t.Context(), d, bayes.PaperPriors(), bayes.NUTS, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Checks {
		if c.Check == bayes.CheckOthers && c.Predicted.Defined() {
			t.Errorf("%+v", c)
		}
	}
}

// A confidence that people agree with rises with the score, whatever the scale and direction of it; a missing score has none.
func TestItemResponse(t *testing.T) {
	t.Parallel()
	d := bayes.ResponseData{People: []bayes.Judge{{Name: "p", Counts: counts("0001011-1111")}, {Name: "q", Counts: counts("00-001111111")}}}
	up := bayes.Quantifier{Name: "up", Scores: make([]float64, 12)}
	down := bayes.Quantifier{Name: "down", Scores: make([]float64, 12), Missing: make([]bool, 12)}
	for i := range 12 {
		up.Scores[i], down.Scores[i] = float64(i), -1000*float64(i)
	}
	down.Missing[5] = true
	down.Scores[5] = math.NaN()
	d.Quantifiers = []bayes.Quantifier{up, down}
	p, err := bayes.FitResponses(t.Context(), d, bayes.Options{Seed: 2, Chains: 2, Warmup: 300, Draws: 300})
	if err != nil {
		t.Fatal(err)
	}
	if p.Scale != bayes.Standardised {
		t.Errorf("scale is %q", p.Scale)
	}
	for _, q := range p.Quantifiers {
		last := 0.0
		for i, v := range q.Confidence {
			x, ok := v.Get()
			if q.Name == "down" && i == 5 {
				if ok || v.Reason() != "no score" {
					t.Errorf("%s: missing score has %+v", q.Name, v)
				}
				continue
			}
			if !ok || x <= last || x >= 1 {
				t.Errorf("%s: confidence of item %d is %v after %v", q.Name, i, x, last)
			}
			last = x
		}
	}
	for _, bad := range []struct {
		says   string
		change func(*bayes.ResponseData)
	}{
		{"do not vary", func(d *bayes.ResponseData) {
			d.Quantifiers = []bayes.Quantifier{{Name: "c", Scores: make([]float64, 12)}}
		}},
		{"mark it as missing", func(d *bayes.ResponseData) { d.Quantifiers = []bayes.Quantifier{{Name: "c", Scores: down.Scores}} }},
		{"needs both", func(d *bayes.ResponseData) { d.People = nil }},
		{"unknown scale", func(d *bayes.ResponseData) { d.Scale = "ranked" }},
		{"there twice", func(d *bayes.ResponseData) { d.People = []bayes.Judge{d.People[0], d.People[0]} }},
		{"has 1 scores", func(d *bayes.ResponseData) { d.Quantifiers = []bayes.Quantifier{{Name: "c", Scores: []float64{1}}} }},
		{"both a label and a score", func(d *bayes.ResponseData) { d.People = []bayes.Judge{{Name: "p", Counts: make([]bayes.Count, 12)}} }},
	} {
		changed := d
		bad.change(&changed)
		if _, err := bayes.FitResponses(t.Context(), changed, brief); err == nil || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("want an error with %q, got %v", bad.says, err)
		}
	}
}
