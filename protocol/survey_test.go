package protocol_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
)

// world builds the records of one setting with several kinds of answers.
type world struct {
	setting    record.Setting
	answers    []record.Answer
	readings   []record.Reading
	judgements []record.Judgement
	items      []record.Item
}

func (w *world) answer(item string, origin record.Origin, text string) record.AnswerID {
	id := record.AnswerID{Setting: w.setting, Item: item, Origin: origin}
	w.answers = append(w.answers, record.Answer{ID: id, Text: text})
	return id
}

func (w *world) stated(id record.AnswerID, elicitation string, p float64) {
	w.readings = append(w.readings, record.Reading{Answer: id, Signal: record.VerbalisedSignal, Protocol: record.Protocol{Elicitation: elicitation}, Value: record.Known(p)})
}

func (w *world) token(id record.AnswerID, context, aggregation string, p float64) {
	w.readings = append(w.readings, record.Reading{Answer: id, Signal: record.TokenSignal, Protocol: record.Protocol{Context: context, Aggregation: aggregation}, Value: record.Known(p)})
}

func (w *world) judged(id record.AnswerID, judge string, correct bool) {
	verdict := record.Incorrect
	if correct {
		verdict = record.Correct
	}
	w.judgements = append(w.judgements, record.Judgement{Answer: id, Judge: judge, Verdict: verdict})
}

func (w *world) join(t *testing.T) *protocol.Records {
	t.Helper()
	r, err := protocol.Join(w.setting, w.answers, w.readings, w.judgements)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var (
	mainAnswers = record.Origin{Source: record.Generated, Prompt: "confidence"}
	onlyAnswers = record.Origin{Source: record.Generated, Prompt: "answer-only"}
	canonicalID = record.Origin{Source: record.Reference, Role: record.Canonical}
	aliasID     = record.Origin{Source: record.Reference, Role: record.Alias}
	wrongID     = record.Origin{Source: record.Supplied, Role: record.PlausibleWrong}
)

// cells are all contexts of the ablation, the base first.
func cells() []string {
	list := []string{"bare"}
	for _, c := range protocol.Cells() {
		list = append(list, c.Context)
	}
	return list
}

func mainChoice(judge, aggregation string) protocol.Choice {
	return protocol.Choice{Answers: "confidence", Contexts: cells(), Aggregation: aggregation, Elicitation: "confidence", Judge: judge}
}

// plantSetting draws n answers; the token score of cell k ranks with strength k/4, so that each edit
// along a path changes AUROC by a known step. Under "minimum" scores are halved, under "strict" every
// tenth answer is wrong in spite of "lenient".
func plantSetting(model string, seed uint64, n int) *world {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := &world{setting: record.Setting{Model: model, Dataset: "d"}}
	for i := range n {
		item, correct := fmt.Sprintf("q%d", i), i%2 == 0
		id := w.answer(item, mainAnswers, "x"+item)
		stated, _ := ranked(rng, correct, .8).Get()
		w.stated(id, "confidence", stated)
		for k, context := range cells() {
			x, _ := ranked(rng, correct, float64(k)/4).Get()
			w.token(id, context, "geometric-mean", x)
			w.token(id, context, "minimum", x/2)
		}
		w.judged(id, "lenient", correct)
		w.judged(id, "strict", correct && i%10 != 0)
		w.items = append(w.items, record.Item{ID: item})
	}
	return w
}

func survey(t *testing.T, d protocol.Design, worlds ...*world) (*protocol.Summaries, []*protocol.SettingResult) {
	t.Helper()
	s := protocol.NewSurvey(d)
	var results []*protocol.SettingResult
	for _, w := range worlds {
		r, err := s.Add(context.Background(), w.join(t), w.items, "g")
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	sum, err := s.Summaries(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return sum, results
}

func same(a, b string) bool { return strings.EqualFold(a, b) }

func design(resamples int) protocol.Design {
	return protocol.Design{
		Options: protocol.Options{Seed: 1, Resamples: resamples, Level: .95}, Same: same,
		Main: []protocol.Choice{mainChoice("lenient", "geometric-mean"), mainChoice("lenient", "minimum"), mainChoice("strict", "geometric-mean")},
	}
}

func TestSummariesAreMeansOfTheSettingsShown(t *testing.T) {
	t.Parallel()
	sum, results := survey(t, design(200), plantSetting("a", 1, 120), plantSetting("b", 2, 80), plantSetting("c", 3, 60))
	shift := sum.Shifts[0]
	if len(shift.Settings) != 3 || shift.Name != protocol.MainName || shift.Group != "g" {
		t.Fatalf("%+v", shift)
	}
	for k, c := range shift.Contexts {
		for m, g := range c.Gaps {
			mean, size, resolved, positive := 0., 0., 0, 0
			for _, r := range results {
				here := r.Comparisons[0].Contexts[k].Gaps[m]
				mean += get(t, here.Gap) / 3
				if here.Shift == nil {
					continue
				}
				x := get(t, *here.Shift)
				size += math.Abs(x) / 3
				if here.Shift.Interval.Excludes(0) {
					resolved++
				}
				if x > 0 {
					positive++
				}
			}
			near(t, "gap", get(t, g.Gap), mean)
			if k == 0 {
				if g.MeanAbsShift != nil {
					t.Errorf("the base has a shift")
				}
				continue
			}
			near(t, "size of the shift", get(t, *g.MeanAbsShift), size)
			if g.Resolved != resolved || g.Positive != positive || g.Of != 3 {
				t.Errorf("%s in %s: resolved %d positive %d of %d, want %d %d of 3", g.Metric, c.Name, g.Resolved, g.Positive, g.Of, resolved, positive)
			}
		}
	}
	if shift.Accuracy.N != 260 {
		t.Errorf("accuracy over %d answers", shift.Accuracy.N)
	}
}

// TestStepsAlongAPathAddUp: the change of token AUROC over all edits of a path is the sum of its edits,
// and each edit is the difference of the two cells.
func TestStepsAlongAPathAddUp(t *testing.T) {
	t.Parallel()
	sum, _ := survey(t, design(100), plantSetting("a", 4, 200), plantSetting("b", 5, 200))
	shift := sum.Shifts[0]
	at := map[string]float64{}
	for _, c := range shift.Contexts {
		at[c.Name] = get(t, c.Token.Metrics[auroc])
	}
	paths := map[string]float64{}
	for _, s := range shift.Steps {
		near(t, s.Edit, get(t, s.Token[auroc]), at[s.To]-at[s.From])
		if s.Settings != 2 {
			t.Errorf("%s over %d settings", s.Edit, s.Settings)
		}
		paths[s.Path] += get(t, s.Token[auroc])
	}
	near(t, "the answer path", paths["answer"], at["guess-slot"]-at["bare"])
	near(t, "the guess path", paths["guess"], at["guess-slot"]-at["answer-slot"])
	if diff := cmp.Diff(len(protocol.Steps()), len(shift.Steps)); diff != "" {
		t.Errorf("steps %s", diff)
	}
}

func TestAnEditWithoutItsCellsIsNotShown(t *testing.T) {
	t.Parallel()
	d := design(0)
	for i := range d.Main {
		d.Main[i].Contexts = []string{"bare", "answer-slot", "guess-slot"}
	}
	sum, _ := survey(t, d, plantSetting("a", 1, 40))
	var edits []string
	for _, s := range sum.Shifts[0].Steps {
		edits = append(edits, s.From+">"+s.To)
	}
	if diff := cmp.Diff([]string{"bare>answer-slot", "answer-slot>guess-slot"}, edits); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAxesCompareOneChoiceAtATime(t *testing.T) {
	t.Parallel()
	sum, results := survey(t, design(100), plantSetting("a", 6, 100), plantSetting("b", 7, 100))
	found := map[protocol.Axis]int{}
	for _, a := range sum.Axes {
		found[a.Axis]++
		if a.Of != 2 || a.MeanAbsShift.Interval == nil && a.Axis != protocol.EstimatorAxis {
			t.Errorf("%+v", a)
		}
		// Halving every token score keeps their order: ranking metrics do not move.
		if a.Axis == protocol.AggregationAxis && a.Metric == protocol.Metrics()[auroc] && get(t, a.MeanAbsShift) != 0 {
			t.Errorf("AUROC moves by %v under a monotone map", get(t, a.MeanAbsShift))
		}
		if a.Axis == protocol.JudgeAxis && a.Context == "bare" && a.Metric == protocol.Metrics()[ece] {
			want := 0.
			for _, r := range results {
				want += math.Abs(get(t, r.Comparisons[2].Contexts[0].Gaps[ece].Gap)-get(t, r.Comparisons[0].Contexts[0].Gaps[ece].Gap)) / 2
			}
			near(t, "the rule's shift", get(t, a.MeanAbsShift), want)
		}
	}
	// Two contexts to read in; 8 other contexts, one other aggregation, one other rule by 3 metrics each; 5
	// estimators.
	want := map[protocol.Axis]int{protocol.ContextAxis: 48, protocol.AggregationAxis: 6, protocol.JudgeAxis: 6, protocol.EstimatorAxis: 10}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// TestExactMatchLeavesOutSettingsItCannotJudge by name: where hardly an answer equals a reference.
func TestExactMatchLeavesOutSettingsItCannotJudge(t *testing.T) {
	t.Parallel()
	good, poor := plantSetting("a", 8, 100), plantSetting("b", 9, 100)
	for _, w := range []*world{good, poor} {
		for i, a := range w.answers {
			w.judged(a.ID, "exact.ascii", w == good && i%2 == 0 || i == 0)
		}
	}
	d := design(50)
	d.Main = []protocol.Choice{mainChoice("lenient", "geometric-mean"), mainChoice("exact.ascii", "geometric-mean")}
	sum, _ := survey(t, d, good, poor)
	exact := sum.Shifts[1]
	if diff := cmp.Diff([]string{"a/d"}, exact.Settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]protocol.LeftSetting{{Setting: "b/d", Reason: "exact-match accuracy below .05"}}, exact.LeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	for _, a := range sum.Axes {
		if a.Axis == protocol.JudgeAxis && (a.Of != 1 || len(a.LeftOut) != 1) {
			t.Errorf("axis over %d settings, left out %v", a.Of, a.LeftOut)
		}
	}
}

// TestSelectionComparesTwoAnswersToOneQuestion worked out by hand: on q1 and q2 the answers differ, on q3
// they are the same but for case, q4 has no second answer.
func TestSelectionComparesTwoAnswersToOneQuestion(t *testing.T) {
	t.Parallel()
	w := &world{setting: record.Setting{Model: "m", Dataset: "d"}}
	scores := map[string][6]float64{ // first in bare, answer-only, guess-slot; then second
		"q1": {.5, .2, .9, .4, .6, .3},
		"q2": {.3, .1, .7, .3, .5, .5},
		"q3": {.8, .8, .8, .8, .8, .8},
	}
	texts := map[string][2]string{"q1": {"a", "b"}, "q2": {"c", "d"}, "q3": {"e", "E"}, "q4": {"f", ""}}
	for _, item := range []string{"q1", "q2", "q3", "q4"} {
		first := w.answer(item, mainAnswers, texts[item][0])
		w.stated(first, "confidence", .5)
		w.judged(first, "lenient", item == "q1")
		w.items = append(w.items, record.Item{ID: item})
		s := scores[item]
		for k, context := range []string{"bare", "answer-only", "guess-slot"} {
			w.token(first, context, "geometric-mean", s[k])
		}
		if item == "q4" {
			continue
		}
		second := w.answer(item, onlyAnswers, texts[item][1])
		for k, context := range []string{"bare", "answer-only", "guess-slot"} {
			w.token(second, context, "geometric-mean", s[3+k])
		}
	}
	d := design(100)
	d.Main, d.Other = []protocol.Choice{{Answers: "confidence", Contexts: []string{"bare", "answer-only", "guess-slot"}, Aggregation: "geometric-mean", Elicitation: "confidence", Judge: "lenient"}}, "answer-only"
	sum, results := survey(t, d, w)
	one := results[0].Selection
	if one.Matched != 3 {
		t.Errorf("%d questions matched", one.Matched)
	}
	near(t, "differ", get(t, one.Differ), 2./3)
	for k, want := range []struct{ all, differing float64 }{{.1 / 3, .05}, {-.8 / 3, -.4}, {.8 / 3, .4}} {
		near(t, one.Contexts[k].Name+" all", get(t, one.Contexts[k].All), want.all)
		near(t, one.Contexts[k].Name+" differing", get(t, one.Contexts[k].Differing), want.differing)
	}
	near(t, "contrast", get(t, *one.Contrast), .8)
	near(t, "contrast over one setting", get(t, *sum.Selection[0].Contrast), .8)
}

// TestReferenceShiftByHand: scoring references lowers the guess slot by .4 and leaves bare alone; their
// order is the reverse of the own answers', so AUROC falls from 1 to 0.
func TestReferenceShiftByHand(t *testing.T) {
	t.Parallel()
	w := &world{setting: record.Setting{Model: "m", Dataset: "d"}}
	for i, s := range [][4]float64{{.9, .9, .9, .3}, {.8, .8, .8, .3}, {.3, .3, .3, .5}, {.2, .2, .2, .5}} {
		item := fmt.Sprint("q", i)
		own, ref := w.answer(item, mainAnswers, "x"), w.answer(item, canonicalID, "y")
		w.stated(own, "confidence", .5)
		w.judged(own, "lenient", i < 2)
		w.token(own, "bare", "geometric-mean", s[0])
		w.token(ref, "bare", "geometric-mean", s[1])
		w.token(own, "guess-slot", "geometric-mean", s[2])
		w.token(ref, "guess-slot", "geometric-mean", s[3])
		w.items = append(w.items, record.Item{ID: item})
	}
	d := design(50)
	d.Main, d.Reference = []protocol.Choice{{Answers: "confidence", Contexts: []string{"bare", "guess-slot"}, Aggregation: "geometric-mean", Elicitation: "confidence", Judge: "lenient"}}, true
	sum, results := survey(t, d, w)
	ref := results[0].Reference
	near(t, "bare level", get(t, ref.Contexts[0].Level), 0)
	near(t, "guess level", get(t, ref.Contexts[1].Level), -.15)
	near(t, "bare AUROC gap", get(t, ref.Contexts[0].Gaps[auroc]), 0)
	near(t, "guess AUROC gap", get(t, ref.Contexts[1].Gaps[auroc]), 1) // g rises as the token score's AUROC falls by 1
	near(t, "mean |change|", get(t, sum.Reference[0].Contexts[1].Gaps[auroc]), 1)
}

// TestAMapDoesNotCarryOver: the same order of scores at another level needs another map, so a map that
// is carried over pays a penalty, and one that stays has none.
func TestAMapDoesNotCarryOver(t *testing.T) {
	t.Parallel()
	w := plantSetting("a", 11, 300)
	for i := range w.readings {
		r := &w.readings[i]
		if x, ok := r.Value.Get(); ok && r.Signal == record.TokenSignal && r.Protocol.Context == "guess-slot" {
			r.Value = record.Known(.9 + x/10)
		}
		if x, ok := r.Value.Get(); ok && r.Signal == record.TokenSignal && r.Protocol.Context == "bare" {
			r.Value = record.Known(x / 10)
		}
	}
	sum, results := survey(t, design(0), w)
	seen := map[string]bool{}
	for _, m := range results[0].Transfer {
		seen[m.Method+" "+m.From+">"+m.To] = true
		switch {
		case m.From == m.To && m.Penalty != nil:
			t.Errorf("%s stays and has a penalty", m.Method)
		case m.From != m.To && (get(t, *m.Penalty) <= .05 || m.PositiveSplits != 10):
			t.Errorf("%s from %s to %s: penalty %v, positive in %d of %d splits", m.Method, m.From, m.To, get(t, *m.Penalty), m.PositiveSplits, m.Splits)
		}
	}
	if len(seen) != 8 || len(sum.Transfer) != 8 || sum.Transfer[1].Always != 1 {
		t.Errorf("%d maps, %+v", len(seen), sum.Transfer)
	}
}

func TestSpreadIsTheRangeOverContextsAndAggregations(t *testing.T) {
	t.Parallel()
	_, results := survey(t, design(0), plantSetting("a", 12, 80))
	spread := results[0].Spread[ece]
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, c := range results[0].Comparisons[:2] { // both aggregations under the first rule
		for _, context := range c.Contexts {
			if context.Name == "bare" || context.Name == "answer-slot" || context.Name == "guess-slot" {
				g := get(t, context.Gaps[ece].Gap)
				lowest, highest = min(lowest, g), max(highest, g)
			}
		}
	}
	near(t, "range", get(t, spread.Range), highest-lowest)
	if spread.Protocols != 6 || !strings.Contains(spread.Lowest, "+") {
		t.Errorf("%+v", spread)
	}
}

// TestSuppliedPairsByHand: three questions; on q0 the model is right in the canonical words, on q1 right in
// others, on q2 wrong. A person ruled the wrong answer of q1 correct.
func TestSuppliedPairsByHand(t *testing.T) {
	t.Parallel()
	w := &world{setting: record.Setting{Model: "m", Dataset: "d"}}
	rate := func(item string, origin record.Origin, text string, p float64) {
		w.stated(w.answer(item, origin, text), "supplied", p)
	}
	for i, own := range []struct {
		text    string
		correct bool
		p       float64
	}{{"one", true, .9}, {"a two", true, .8}, {"nought", false, .7}} {
		item := fmt.Sprint("q", i)
		id := w.answer(item, mainAnswers, own.text)
		w.stated(id, "confidence", own.p)
		w.stated(id, "supplied", own.p-.1*float64(i))
		w.token(id, "bare", "geometric-mean", .5)
		w.judged(id, "lenient", own.correct)
		w.items = append(w.items, record.Item{ID: item, Incorrect: []string{"Nil"}})
		rate(item, canonicalID, []string{"ONE", "two", "three"}[i], .6)
		rate(item, wrongID, []string{"zero", "twice", "nil"}[i], []float64{.5, .6, .65}[i])
	}
	rate("q0", aliasID, "one", .6)
	rate("q2", aliasID, "a three", .4)
	d := design(50)
	d.Main = []protocol.Choice{{Answers: "confidence", Contexts: []string{"bare"}, Aggregation: "geometric-mean", Elicitation: "confidence", Judge: "lenient"}}
	d.Supplied = &protocol.SuppliedDesign{Elicitation: "confidence", Judge: "lenient", Supplied: "supplied", Same: same, Ruling: func(id record.AnswerID) protocol.Ruling {
		return map[string]protocol.Ruling{"q1": protocol.JudgedCorrect, "q2": protocol.Undecided}[id.Item]
	}}
	sum, _ := survey(t, d, w)
	s := sum.Supplied[0]
	got := map[string]string{}
	for _, p := range s.Pairs {
		key := fmt.Sprintf("%s - %s (%s)", p.First, p.Second, p.Where)
		got[key] = fmt.Sprintf("%+.3f n %d, higher %.2f same %.2f lower %.2f", get(t, p.Difference), p.Difference.N, get(t, p.Higher), get(t, p.Same), get(t, p.Lower))
	}
	want := map[string]string{
		"canonical - alias ()":                                                  "+0.100 n 2, higher 0.50 same 0.50 lower 0.00",
		"canonical - alias (the strings differ)":                                "+0.200 n 1, higher 1.00 same 0.00 lower 0.00",
		"canonical - alias (the strings are the same)":                          "+0.000 n 1, higher 0.00 same 1.00 lower 0.00",
		"canonical - other model's wrong ()":                                    "+0.025 n 2, higher 0.50 same 0.00 lower 0.50",
		"canonical - other model's wrong (the wrong answer is a listed option)": "-0.050 n 1, higher 0.00 same 0.00 lower 1.00",
		"canonical - other model's wrong (the own answer is wrong)":             "-0.050 n 1, higher 0.00 same 0.00 lower 1.00",
		"alias - other model's wrong ()":                                        "-0.075 n 2, higher 0.50 same 0.00 lower 0.50",
		"own, correct - canonical (written differently)":                        "+0.200 n 1, higher 1.00 same 0.00 lower 0.00",
		"own, wrong - other model's wrong (the own answer is wrong)":            "+0.050 n 1, higher 1.00 same 0.00 lower 0.00",
		"own, wrong - canonical (the own answer is wrong)":                      "+0.100 n 1, higher 1.00 same 0.00 lower 0.00",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
	if s.Removed != 1 || s.Undecided != 1 {
		t.Errorf("removed %d, undecided %d", s.Removed, s.Undecided)
	}
	// q0 has an alias and a correct own answer: canonical and alias both match it.
	near(t, "canonical match", get(t, s.CanonicalMatch), 1)
	near(t, "alias match", get(t, s.AliasMatch), 1)
	near(t, "largest change", get(t, s.Resupplied.LargestChange), .1)
	near(t, "unchanged", get(t, s.Resupplied.Unchanged), 1./3)
}

func TestTheMultiverseHasEveryProtocolOnce(t *testing.T) {
	t.Parallel()
	d := design(300)
	d.Multiverse, d.MultiverseResamples = d.Main, 60
	s := protocol.NewSurvey(d)
	w := plantSetting("a", 13, 60)
	results, err := s.Add(t.Context(), w.join(t), w.items, "g")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, o := range s.Outcomes() {
		seen[fmt.Sprintf("%s %s %s %s", o.Judge, o.Aggregation, o.Context, o.Metric)]++
		if o.Gap.Interval != nil && o.Gap.Interval.Resamples != 60 {
			t.Fatalf("%d resamples", o.Gap.Interval.Resamples)
		}
		if o.Judge == "lenient" && o.Aggregation == "minimum" && o.Context == "guess-slot" && o.Metric == protocol.Metrics()[auroc] {
			near(t, "the same gap as in the comparison", get(t, o.Gap), get(t, results.Comparisons[1].Contexts[8].Gaps[auroc].Gap))
		}
	}
	if len(seen) != 3*9*6 {
		t.Errorf("%d protocols, want 3 choices in 9 contexts by 6 metrics", len(seen))
	}
	sum, err := s.Summaries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range sum.Multiverse {
		if m.Protocols+m.Undefined != 27 || m.Token+m.Verbalised > m.Protocols || m.TokenResolved > m.Token {
			t.Errorf("%+v", m)
		}
	}
}

func TestAnOrderOfSettingsChangesNoSetting(t *testing.T) {
	t.Parallel()
	d := design(60)
	_, one := survey(t, d, plantSetting("a", 1, 50), plantSetting("b", 2, 50))
	_, two := survey(t, d, plantSetting("b", 2, 50), plantSetting("a", 1, 50))
	for k := range one[0].Comparisons[0].Contexts[3].Gaps {
		a, b := one[0].Comparisons[0].Contexts[3].Gaps[k].Gap, two[1].Comparisons[0].Contexts[3].Gaps[k].Gap
		if get(t, a) != get(t, b) || *a.Interval != *b.Interval {
			t.Errorf("%+v, then %+v", a, b)
		}
	}
}
