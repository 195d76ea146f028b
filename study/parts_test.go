package study_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/study"
)

// panel opens two models that answer the built-in questions under every prompt. Every third question
// model a answers wrongly with the first listed wrong answer, and model b with the second.
type panel struct{ options []llmtest.Option }

const (
	levelBare  = -2
	levelGuess = -.2
)

func (p panel) Open(_ context.Context, m study.Model) (study.Opened, error) {
	facts, err := dataset.Builtin("facts")
	if err != nil {
		return study.Opened{}, err
	}
	which := map[string]int{"a": 0, "b": 1}[m.Name]
	var planted []llmtest.Item
	for i, item := range facts.Items {
		answer := item.References[0]
		if i%3 == 0 {
			answer = item.Incorrect[which]
		}
		planted = append(planted, rater(item, answer, facts.Items))
	}
	return study.Opened{Engine: llmtest.NewQuiz(planted, append(p.options, llmtest.Named(m.Weights))...), RepetitionPenalty: 1, PenaltySource: "a script"}, nil
}

func (p panel) Describe(m study.Model) (study.Opened, string, error) {
	opened, err := p.Open(context.Background(), m)
	return opened, "", err
}

func probability(text, p string) llmtest.Reply {
	return llmtest.Reply{Opening: "Guess: " + text + "\nProbability:", Choices: []llmtest.Choice{{Text: " " + p}}}
}

// rater states .9 for its own answer however it is asked, .7 for the canonical one, .5 for the alias, .4
// for listed wrong ones, .1 for answers to other questions.
func rater(item record.Item, answer string, all []record.Item) llmtest.Item {
	planted := llmtest.Item{Question: item.Question, Answer: answer}
	planted.Replies = append(planted.Replies, probability(answer, "0.9"))
	for _, text := range item.Incorrect {
		planted.Replies = append(planted.Replies, probability(text, "0.4"))
	}
	for i, text := range item.References {
		planted.Replies = append(planted.Replies, probability(text, []string{"0.7", "0.5"}[min(i, 1)]))
	}
	for _, other := range all {
		planted.Replies = append(planted.Replies, probability(other.References[0], "0.1"))
	}
	letter := "A"
	if i := index(item.Choices, answer); i >= 0 {
		letter = prompt.Letters[i : i+1]
	}
	planted.Replies = append(planted.Replies,
		llmtest.Reply{User: "one letter", Choices: []llmtest.Choice{{Text: "Guess: " + letter + "\nProbability: 0.8"}}},
		llmtest.Reply{User: "0 to 100", Choices: []llmtest.Choice{{Text: "Guess: " + answer + "\nProbability: 90"}}},
		llmtest.Reply{User: "Probability: [", Opening: "", Choices: []llmtest.Choice{{Text: "Guess: " + answer + "\nProbability: 0.9"}}},
		llmtest.Reply{User: "no other words", Choices: []llmtest.Choice{{Text: answer}}},
	)
	planted.Levels = []llmtest.Level{{Opening: "", LogProb: levelBare}, {Opening: "Guess:", LogProb: levelGuess}, {Opening: "Answer:", LogProb: -1}}
	planted.Reply = "?"
	return planted
}

func index(list []string, text string) int {
	for i, s := range list {
		if s == text {
			return i
		}
	}
	return -1
}

const everyPart = `name: parts
models:
- {name: b, weights: v}
- {name: a, weights: w}
datasets:
- {name: facts, limit: 12}
protocol:
  parser: lenient
  aggregations: [geometric-mean, product]
  correctness: [containment.ascii, exact.ascii]
  parts: [ablation, percent, answer-only, reference, supplied, multiple-choice, multiverse]
analysis: {resamples: 100}
`

func runParts(t *testing.T, folder, text string) (*study.Results, *study.RunInfo) {
	t.Helper()
	results, info, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: folder, Open: panel{}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return results, info
}

func TestEveryPartOfThePaperFromOneFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	results, _ := runParts(t, folder, everyPart)
	sum := results.Summaries
	names := map[string]int{}
	for _, s := range sum.Shifts {
		names[s.Name]++
		if len(s.Settings) != 2 {
			t.Errorf("%s has settings %v, left out %v", s.Name, s.Settings, s.LeftOut)
		}
	}
	want := map[string]int{"main": 4, "without fallback": 1, "0-100 scale": 1, "answer-only answers": 1, "multiple choice": 1}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("comparisons (-want +got):\n%s", diff)
	}
	main := sum.Shifts[0]
	level, _ := main.Contexts[0].Token.Mean.Get()
	if math.Abs(level-math.Exp(levelBare)) > 1e-12 || main.Contexts[0].Underconfident != 2 {
		t.Errorf("level in the bare context %v, planted %v; %d of 2 underconfident", level, math.Exp(levelBare), main.Contexts[0].Underconfident)
	}
	if len(main.Steps) != len(protocol.Steps()) {
		t.Errorf("%d steps of the ablation, want %d", len(main.Steps), len(protocol.Steps()))
	}
	if len(sum.Selection) != 1 || len(sum.Reference) != 1 || len(sum.Transfer) == 0 || len(sum.Spread) == 0 || len(sum.Axes) == 0 || len(sum.Multiverse) == 0 {
		t.Errorf("parts are missing: %d selection, %d reference, %d transfer, %d spread, %d axes, %d multiverse",
			len(sum.Selection), len(sum.Reference), len(sum.Transfer), len(sum.Spread), len(sum.Axes), len(sum.Multiverse))
	}
	if differ, _ := sum.Selection[0].Differ.Get(); differ != 0 {
		t.Errorf("answers under two prompts differ in %v, planted equal", differ)
	}
	for _, name := range []string{"answers", "readings", "tokens", "judgements", "metrics", "multiverse"} {
		if rows(t, filepath.Join(folder, name+".parquet")) == 0 {
			t.Errorf("%s.parquet is empty", name)
		}
	}
}

// TestSuppliedAnswersAreThoseOfTheRules: of 12 questions four are answered wrongly by both models, each
// with its own wrong answer; on the others there is no plausible wrong answer, so an off-type one is
// supplied.
func TestSuppliedAnswersAreThoseOfTheRules(t *testing.T) {
	t.Parallel()
	results, _ := runParts(t, t.TempDir(), everyPart)
	supplied := results.Summaries.Supplied[0]
	pairs := map[string]string{}
	for _, p := range supplied.Pairs {
		if x, ok := p.Difference.Get(); ok && p.Dataset == "" {
			pairs[strings.TrimSuffix(p.First+" - "+p.Second+", "+p.Where, ", ")] = fmt.Sprintf("%.3f n %d", x, p.Difference.N)
		}
	}
	for name, want := range map[string]string{
		// The own correct answer is the canonical one, so it gets .9 as such; the canonical reference of a
		// question answered wrongly gets .7.
		"own, wrong - other model's wrong, the own answer is wrong":            "0.500 n 8",
		"own, wrong - canonical, the own answer is wrong":                      "0.200 n 8",
		"canonical - other model's wrong, the own answer is wrong":             "0.300 n 8",
		"canonical - other model's wrong, the wrong answer is a listed option": "0.300 n 8",
	} {
		if pairs[name] != want {
			t.Errorf("%s: %q, want %q\nall: %v", name, pairs[name], want, pairs)
		}
	}
	levels := map[string]int{}
	for _, l := range supplied.Levels {
		levels[l.Answer] = l.Mean.N
	}
	if levels["other model's wrong"] != 8 || levels["off-type"] != 16 || levels["own, correct"] != 16 || levels["own, wrong"] != 8 {
		t.Errorf("levels by number: %v", levels)
	}
	if change, _ := supplied.Resupplied.LargestChange.Get(); change != 0 {
		t.Errorf("the own answer again moves the mean by %v", change)
	}
	if same, _ := supplied.CanonicalMatch.Get(); same != 1 {
		t.Errorf("%v of the own correct answers are canonical", same)
	}
}

func TestThePlanOfEveryPartCountsWhatARunMakes(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	plan, err := study.MakePlan(t.Context(), parse(t, everyPart), folder, panel{})
	if err != nil {
		t.Fatal(err)
	}
	planned := int64(0)
	for _, s := range plan.Settings {
		planned += s.Calls
	}
	_, info := runParts(t, folder, everyPart)
	// The plan cannot know that an answer will repeat a reference, which saves calls.
	if len(plan.Settings) != 2 || planned < info.Made || float64(planned) > 1.4*float64(info.Made) {
		t.Errorf("planned %d calls in %d settings, made %d", planned, len(plan.Settings), info.Made)
	}
	plan, err = study.MakePlan(t.Context(), parse(t, everyPart), folder, panel{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range plan.Settings {
		if s.Calls != 0 || s.Known == 0 {
			t.Errorf("after the run %d calls of %s are planned, %d known", s.Calls, s.Setting, s.Known)
		}
	}
}

func TestFurtherPartsAskOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	one := strings.Replace(everyPart, "[ablation, percent, answer-only, reference, supplied, multiple-choice, multiverse]", "[]", 1)
	first, before := runParts(t, folder, one)
	all, after := runParts(t, folder, everyPart)
	if after.Reused < before.Made {
		t.Errorf("%d calls made at first, %d reused", before.Made, after.Reused)
	}
	if diff := cmp.Diff(encode(t, first.Settings[0].Comparisons[0].Contexts), encode(t, all.Settings[0].Comparisons[0].Contexts[:4])); diff != "" {
		t.Errorf("further parts change the main comparison:\n%s", diff)
	}
	_, again := runParts(t, folder, everyPart)
	if again.Made != 0 {
		t.Errorf("a third run made %d calls", again.Made)
	}
}

// TestAPersonDecidesOnNearCorrectAnswers: a wrong answer that contains a reference's singular is listed,
// and leaves its pairs once it is ruled correct.
func TestAPersonDecidesOnNearCorrectAnswers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "q.csv")
	write(t, data, "id,question,answer,aliases\nq1,What orbits a planet?,a moon,\nq2,What is H2O?,water,\n")
	text := "name: near\nmodels:\n- {name: a, weights: w}\n- {name: b, weights: v}\ndatasets:\n- {name: q, file: " + filepath.ToSlash(data) + "}\n" +
		"protocol: {correctness: [exact.ascii], parts: [supplied]}\nanalysis: {resamples: 0}\n"
	rates := func(question, own string) llmtest.Item {
		planted := llmtest.Item{Question: question, Reply: "Guess: " + own + "\nProbability: 0.9"}
		for _, text := range []string{"a sun", "moons", "a moon", "water"} {
			planted.Replies = append(planted.Replies, probability(text, "0.5"))
		}
		return planted
	}
	open := scripted{
		"a": {rates("What orbits a planet?", "a sun"), rates("What is H2O?", "water")},
		"b": {rates("What orbits a planet?", "moons"), rates("What is H2O?", "water")},
	}
	folder := filepath.Join(dir, "run")
	results := runScripted(t, folder, text, open)
	if s := results.Summaries.Supplied[0]; s.Undecided != 1 || s.Removed != 0 {
		t.Errorf("undecided %d, removed %d", s.Undecided, s.Removed)
	}
	list := filepath.Join(folder, "near-correct.csv")
	records, err := csv.NewReader(strings.NewReader(read(t, folder, "near-correct.csv"))).ReadAll()
	if err != nil || len(records) != 2 || records[1][4] != "moons" || records[1][6] != "" {
		t.Fatalf("list %v, %v", records, err)
	}
	ruled := filepath.Join(dir, "ruled.csv")
	write(t, ruled, strings.TrimRight(read(t, folder, "near-correct.csv"), "\n")+"yes\n")
	results = runScripted(t, folder, strings.Replace(text, "parts:", "rulings: "+filepath.ToSlash(ruled)+", parts:", 1), open)
	if s := results.Summaries.Supplied[0]; s.Undecided != 0 || s.Removed != 1 {
		t.Errorf("ruled correct: undecided %d, removed %d", s.Undecided, s.Removed)
	}
	if kept, err := os.ReadFile(list); err != nil || !strings.HasSuffix(strings.TrimSpace(string(kept)), ",yes") {
		t.Errorf("the next list forgets the ruling: %q, %v", kept, err)
	}
}

func TestBrokenRulingsAreNamedWithTheirPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for content, want := range map[string]string{
		"model,dataset,item\n":                         `ruled.csv:1: there is no column "correct"`,
		"model,dataset,item,correct\na,q,q1,perhaps\n": `ruled.csv:2: correct is "perhaps"`,
	} {
		write(t, filepath.Join(dir, "ruled.csv"), content)
		text := strings.Replace(everyPart, "parts:", "rulings: "+filepath.ToSlash(filepath.Join(dir, "ruled.csv"))+"\n  parts:", 1)
		_, _, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: t.TempDir(), Open: panel{}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
}

// scripted opens a quiz for each model by name.
type scripted map[string][]llmtest.Item

func (s scripted) Open(_ context.Context, m study.Model) (study.Opened, error) {
	return study.Opened{Engine: llm.Engine(llmtest.NewQuiz(s[m.Name], llmtest.Named(m.Weights)))}, nil
}

func runScripted(t *testing.T, folder, text string, open study.Opener) *study.Results {
	t.Helper()
	results, _, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: folder, Open: open, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTheCardSaysWhatEveryPartDoes(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	results, _ := runParts(t, folder, everyPart)
	c := results.Card
	if len(c.Parts) != len(study.Parts()) {
		t.Errorf("%d parts on the card, want %d", len(c.Parts), len(study.Parts()))
	}
	for _, r := range c.Parts {
		if r.What == "" {
			t.Errorf("nothing is said of %s", r.ID)
		}
	}
	if want := 1 + 8 + 1 + 1 + 3; len(c.Contexts) != want {
		t.Errorf("%d contexts on the card, want %d: bare, the cells, answer-only-generating, percent, letters", len(c.Contexts), want)
	}
	if len(c.Prompts) != len(prompt.Names())-1 { // code is asked for by consistency alone
		t.Errorf("%d prompts in full, want all %d but that for code", len(c.Prompts), len(prompt.Names())-1)
	}
	for _, a := range c.Agreement {
		if n := a.Both + a.Neither + a.OnlyA + a.OnlyB + a.NotJudged; n != 12 {
			t.Errorf("agreement over %d answers of %s, want the 12 own ones", n, a.Setting)
		}
	}
}

func TestASlowModelMayBeAskedOfFewerItems(t *testing.T) {
	t.Parallel()
	text := strings.Replace(everyPart, "{name: a, weights: w}", "{name: a, weights: w, limit: 3}", 1)
	plan, err := study.MakePlan(t.Context(), parse(t, text), t.TempDir(), panel{})
	if err != nil {
		t.Fatal(err)
	}
	if plan.Settings[0].Items != 12 || plan.Settings[1].Items != 3 {
		t.Errorf("planned %+v", plan.Settings)
	}
	results, _ := runParts(t, t.TempDir(), text)
	for i, want := range []int{12, 3} {
		if got := results.Settings[i].Comparisons[0].Asked; got != want {
			t.Errorf("%s asked %d items, want %d", results.Settings[i].Setting, got, want)
		}
	}
}
