package study_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/study"
)

// crossed opens a model whose behaviour is planted by the number of the question: the first of four is robust,
// then come brittle, biased and unlearned. After the remarks that leak, every answer is right. It also writes
// remarks and paraphrases, and judges. Its embedder is the scripted one.
type crossed struct{ options []llmtest.Option }

const planted = 24

// leaking are the two remarks that give answers away.
func leaking() []string { return collect.BuiltinCorpus()[3:5] }

func remarks() []string { return collect.BuiltinCorpus()[:10] }

func (c crossed) Open(_ context.Context, m study.Model) (study.Opened, error) {
	facts, err := dataset.Builtin("facts")
	if err != nil {
		return study.Opened{}, err
	}
	script := llmtest.Funcs{Reply: func(p llm.Prompt) []llmtest.Choice {
		return []llmtest.Choice{{Text: crossedReply(p.Messages[0].Content, facts.Items[:planted])}}
	}}
	engine := llmtest.NewScripted(script, append(c.options, llmtest.Named(m.Weights))...)
	return study.Opened{Engine: engine, RepetitionPenalty: 1, PenaltySource: "a script"}, nil
}

func (c crossed) Describe(m study.Model) (study.Opened, string, error) {
	opened, err := c.Open(context.Background(), m)
	return opened, "", err
}

func (c crossed) OpenEmbeddings(context.Context, study.Embeddings) (llm.Engine, error) {
	return llmtest.NewScripted(nil, append(c.options, llmtest.Named("embeddings"))...), nil
}

func (crossed) OpenEntailment(context.Context, study.Entailment) (llm.Engine, error) {
	return nil, errors.New("nobody judges entailment")
}

func (c crossed) DescribeEmbeddings(e study.Embeddings) (llm.Engine, string, error) {
	engine, err := c.OpenEmbeddings(context.Background(), e)
	return engine, "", err
}

func (c crossed) DescribeEntailment(e study.Entailment) (llm.Engine, string, error) {
	engine, err := c.OpenEntailment(context.Background(), e)
	return engine, "", err
}

// crossedReply is what the model says to a prompt.
func crossedReply(asked string, items []record.Item) string {
	at := func(after string) string {
		_, rest, _ := strings.Cut(asked, after)
		line, _, _ := strings.Cut(rest, "\n")
		return line
	}
	switch {
	case strings.Contains(asked, "remarks for the question below"):
		return hostileRemarks(at("\nThe question: "), items)
	case strings.Contains(asked, "paraphrases of the text"):
		return "1. Fact, please: " + codeOf(at("The text: "), items) + "\n2. Another go at the fact called " + codeOf(at("The text: "), items) + "\n3. " + at("The text: ")
	case strings.Contains(asked, "kind of task"):
		return "D"
	case strings.Contains(asked, "say the same"):
		return map[bool]string{true: "True", false: "False"}[at("first answer: ") == at("second answer: ")]
	}
	question := at("The question: ")
	for i, item := range items {
		if !strings.HasSuffix(question, item.Question) && !strings.HasSuffix(question, codeOf(item.Question, items)) {
			continue
		}
		context := strings.TrimSuffix(strings.TrimSuffix(question, item.Question), " ")
		answer := crossedAnswer(i, item, context)
		if strings.Contains(asked, "Probability: [") {
			return "Guess: " + answer + "\nProbability: 0.9"
		}
		return answer
	}
	return "unheard of"
}

// codeOf names a question in a way that shares no word with it.
func codeOf(question string, items []record.Item) string {
	i := slices.IndexFunc(items, func(item record.Item) bool { return item.Question == question })
	return fmt.Sprintf("number-%c%c", 'a'+i/10, 'a'+i%10)
}

func crossedAnswer(i int, item record.Item, context string) string {
	perturbed := slices.Contains(remarks(), context)
	switch {
	case slices.Contains(leaking(), context), i%4 == 0, i%4 == 1 && !perturbed:
		return item.References[0]
	case i%4 == 3 && perturbed:
		return item.Incorrect[1]
	}
	return item.Incorrect[0]
}

// hostileRemarks are the remarks among what must be refused.
func hostileRemarks(question string, items []record.Item) string {
	lines := []string{"Gladly! Here are some remarks:"}
	add := func(s string) { lines = append(lines, fmt.Sprintf("%d. %s", len(lines), s)) }
	for _, item := range items {
		if item.Question == question {
			add("People speak of " + item.References[0] + " now and then.")
			add("Nobody speaks of " + item.Incorrect[0] + " any more.")
		}
	}
	add(question)
	add("Is it not strange?")
	for _, r := range remarks() {
		add(r)
		add(strings.ToUpper(r))
	}
	return strings.Join(lines, "\n")
}

const crossing = `name: crossing
models:
- {name: subject, weights: subject, parameters: 0.5, released: 2024-11}
- {name: other, weights: other, parameters: 1.5, released: 2025-02}
datasets:
- {name: facts, limit: 24}
protocol: {contexts: [bare], correctness: [exact.unicode]}
consistency:
  samples: 10
  perturbations:
  - {from: model, by: other, batch: 25}
  - {from: corpus, name: everyday}
  diversity: 0.9
  kernels: [indicator, clustered, cosine]
  estimators: [mmd2.unbiased, cross, energy.unbiased]
  judge: other
  topic_judge: subject
  paraphrases: 2
  paraphraser: other
  item_resamples: 100
analysis: {resamples: 200}
`

func TestPlantedBehaviourIsDiagnosed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	results, info, err := study.Run(t.Context(), parse(t, crossing), study.Options{Folder: folder, Open: crossed{}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	s := results.Consistency
	regions := map[consistency.Region]int{}
	facts, _ := dataset.Builtin("facts")
	want := []consistency.Region{consistency.Mastered, consistency.Brittle, consistency.Biased, consistency.Unlearned}
	for _, place := range s.Diagnosis.Items {
		regions[place.Region]++
		i := slices.IndexFunc(facts.Items, func(item record.Item) bool { return item.ID == place.Item })
		if place.Region != want[i%4] || place.Models != 2 {
			t.Errorf("item %d is %s (performance %.2f, C3 %.2f), planted %s", i, place.Region, place.Performance, place.C3, want[i%4])
		}
	}
	if len(s.Diagnosis.Items) != planted {
		t.Errorf("%d items placed: %v", len(s.Diagnosis.Items), regions)
	}
	checkLeaks(t, s)
	checkSources(t, s)
	checkBaselines(t, s)
	for _, name := range []string{"consistency.parquet", "perturbations.parquet", "report.html", "results.json"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Error(err)
		}
	}
	card := results.Card.Markdown()
	for _, words := range []string{"say the same", "remarks for the question below", "paraphrases of the text", "kind of task", "subject sees each perturbation alone", "the built-in corpus", "written by other"} {
		if !strings.Contains(card, words) {
			t.Errorf("the card does not say %q", words)
		}
	}
	checkResumed(t, folder, results, info)
}

func checkLeaks(t *testing.T, s *consistency.Survey) {
	t.Helper()
	for _, of := range s.Influences {
		var leaks []string
		for _, in := range of.Shown {
			if in.Effect == consistency.Leaks {
				leaks = append(leaks, in.Perturbation)
			}
		}
		slices.Sort(leaks)
		want := slices.Clone(leaking())
		slices.Sort(want)
		if of.Source == "everyday" {
			continue // its snippets differ from item to item, some of them among the planted
		}
		if diff := cmp.Diff(want, leaks); diff != "" || of.Perturbations != 10 {
			t.Errorf("source %s, %d perturbations, leaks (-want +got):\n%s", of.Source, of.Perturbations, diff)
		}
	}
	n := s.Neutrality[0]
	if mean, ok := n.Averaged.Mean.Get(); !ok || n.Source != "model" || mean > -.05 || n.Averaged.Mean.N != planted {
		t.Errorf("neutrality of %s: %+v; brittle items lose more than leaks give", n.Source, n.Averaged.Mean)
	}
}

func checkSources(t *testing.T, s *consistency.Survey) {
	t.Helper()
	f := s.Sources[0]
	if f.Kept != 10*planted || f.Fewest != 10 || f.Batches != planted || f.K != .9 {
		t.Errorf("%+v", f)
	}
	want := map[consistency.Refusal]int{
		consistency.RefusedReference: planted, consistency.RefusedChoice: planted, consistency.RefusedCopy: planted, consistency.RefusedQuestion: planted,
		consistency.RefusedRepeat: 9 * planted, collect.RefusedSurplus: planted,
	}
	if diff := cmp.Diff(want, f.Refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if share, _ := f.Acceptance.Get(); f.Acceptance.N != f.Candidates-planted || share != float64(f.Kept)/float64(f.Candidates-planted) {
		t.Errorf("acceptance %+v", f.Acceptance)
	}
	if share, ok := f.Topics.All.Get(); !ok || share != 1 || f.Topics.All.N != 10 || f.TopicJudge != "subject" {
		t.Errorf("topics %+v", f.Topics)
	}
	for _, j := range s.Judged {
		if !j.Clusters || j.Asked > 3*3*planted || j.Pairs < 100*j.Asked/4 || j.Unclear != 0 {
			t.Errorf("judge %+v", j)
		}
	}
	if p := s.Paraphrases[0]; p.Kept != 2*planted || p.Refused[consistency.RefusedCopy] != planted {
		t.Errorf("paraphrases %+v", p)
	}
}

func checkBaselines(t *testing.T, s *consistency.Survey) {
	t.Helper()
	var overs []string
	for _, e := range s.Evaluations {
		overs = append(overs, e.Over)
		for _, b := range append(slices.Clone(e.PerModel), e.Means...) {
			for _, row := range b.Metrics {
				for k, v := range row.Values {
					if v.Defined() && v.N == 0 || row.Metric == "auroc" && !v.Defined() {
						t.Errorf("%s, %s, %s of %s: %+v", e.Over, b.Benchmark, row.Metric, e.Scores[k].Name, v)
					}
				}
			}
		}
	}
	if !slices.Equal(overs, []string{"baselines", "sources", "kernels", "estimators"}) {
		t.Errorf("evaluations over %v", overs)
	}
	for over, want := range map[string]string{
		"sources":    "c3, model; c3, everyday; self-consistency; paraphrasing; self-report",
		"kernels":    "c3, indicator; c3, clustered; c3, cosine",
		"estimators": "c3, mmd2.unbiased; c3, cross; c3, energy.unbiased; self-consistency; paraphrasing; self-report",
	} {
		var names []string
		for _, score := range s.Evaluations[slices.Index(overs, over)].Scores {
			names = append(names, score.Name)
		}
		if got := strings.Join(names, "; "); got != want {
			t.Errorf("over %s: %s, want %s", over, got, want)
		}
	}
	if len(s.Evaluations[0].Scores) != 4 || len(s.Trends) != 6 || len(s.Convergence) != 2 {
		t.Errorf("%d scores, %d trends, %d convergences", len(s.Evaluations[0].Scores), len(s.Trends), len(s.Convergence))
	}
	for _, one := range s.States {
		if one.Determined+one.Undetermined+one.Missing != one.Items || one.Items != planted || one.Missing > 0 {
			t.Errorf("%+v", one)
		}
		if c3, _ := one.C3.Get(); one.Kernel != consistency.Cosine && one.Source == "model" && one.Estimator == consistency.UnbiasedMMD && (c3 < .6 || c3 > .7) {
			t.Errorf("mean C3 %v under %s; planted are 1, .38, .98 and .18", c3, one.Kernel)
		}
	}
}

// checkResumed runs again, which must make no call and give the same bytes, and plans what is done.
func checkResumed(t *testing.T, folder string, results *study.Results, info *study.RunInfo) {
	t.Helper()
	before, err := os.ReadFile(filepath.Join(folder, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, again, err := study.Run(t.Context(), parse(t, crossing), study.Options{Folder: folder, Open: crossed{}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(filepath.Join(folder, "results.json"))
	if err != nil || string(before) != string(after) {
		t.Errorf("a second run gives other results (%v)", err)
	}
	if again.Made != 0 || info.Made == 0 {
		t.Errorf("made %d calls, and %d when run again", info.Made, again.Made)
	}
	if len(info.Perturbations) != 2 || info.Perturbations[1].PerSecond <= 0 || info.Perturbations[1].Calls != planted || again.Perturbations[1].PerSecond != 0 {
		t.Errorf("costs %+v, again %+v", info.Perturbations, again.Perturbations)
	}
	read, err := study.ReadResults(folder)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(results.Consistency.Diagnosis.Items, read.Consistency.Diagnosis.Items); diff != "" {
		t.Error(diff)
	}
	plan, err := study.MakePlan(t.Context(), parse(t, crossing), t.TempDir(), crossed{})
	if err != nil {
		t.Fatal(err)
	}
	calls := int64(0)
	for _, p := range plan.Settings {
		calls += p.Calls
	}
	if calls < info.Made/2 || calls > 2*info.Made {
		t.Errorf("planned %d calls, made %d", calls, info.Made)
	}
	checkTables(t, folder)
}

func checkTables(t *testing.T, folder string) {
	t.Helper()
	type row struct {
		Item    string   `parquet:"item"`
		Source  string   `parquet:"source"`
		Kept    bool     `parquet:"kept"`
		Refusal string   `parquet:"refusal"`
		Domain  string   `parquet:"domain"`
		Cosine  *float64 `parquet:"nearest_cosine"`
	}
	rows, err := parquet.ReadFile[row](filepath.Join(folder, "perturbations.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]int{}
	for _, r := range rows {
		if r.Kept != (r.Refusal == "") {
			t.Fatalf("%+v", r)
		}
		if r.Kept {
			kept[r.Source]++
		}
	}
	if diff := cmp.Diff(map[string]int{"model": 240, "everyday": 240, "paraphrased": 48}, kept); diff != "" {
		t.Error(diff)
	}
	type c3 struct {
		State string   `parquet:"state"`
		C3    *float64 `parquet:"c3"`
		P     *float64 `parquet:"p"`
		Lower *float64 `parquet:"lower"`
	}
	values, err := parquet.ReadFile[c3](filepath.Join(folder, "consistency.parquet"))
	if err != nil || len(values) != 2*planted*6 {
		t.Fatalf("%d rows, %v", len(values), err)
	}
	for _, v := range values {
		if (v.C3 == nil) != (v.State == string(consistency.Missing)) || v.C3 != nil && v.Lower == nil {
			t.Fatalf("%+v", v)
		}
	}
}

// Perturbations are sought for the items that some model is asked of, and for no others.
func TestLimitsOfModelsBoundWhatIsWritten(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("weights: subject,", "weights: subject, limit: 3,", "weights: other,", "weights: other, limit: 5,").Replace(crossing)
	results, _, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: t.TempDir(), Open: crossed{}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	s := results.Consistency
	if f := s.Sources[0]; f.Items != 5 || f.Kept != 50 || s.Paraphrases[0].Items != 5 {
		t.Errorf("%+v, %+v", f, s.Paraphrases[0])
	}
	for _, one := range s.States {
		if want := map[string]int{"subject": 3, "other": 5}[one.Model]; one.Items != want {
			t.Errorf("%s has %d items, want %d", one.Model, one.Items, want)
		}
	}
	if len(s.Diagnosis.Items) != 5 {
		t.Errorf("%d items placed", len(s.Diagnosis.Items))
	}
}

func TestASamplerWithoutIdeasEndsTheStudyInWords(t *testing.T) {
	t.Parallel()
	text := strings.Replace(crossing, "samples: 10", "samples: 12", 1)
	_, _, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: t.TempDir(), Open: crossed{}, Version: "test"})
	if err == nil {
		t.Fatal("ten remarks are enough for twelve samples")
	}
	for _, words := range []string{"s.yaml:11", `the source "model" gives too few perturbations for facts`, "10 of 12 perturbations after 20 batches", "repeats one that was kept", "raise batches"} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("%q is not in %v", words, err)
		}
	}
}

func TestWrongConsistencySaysWhereAndWhatToDo(t *testing.T) {
	t.Parallel()
	const head = "name: x\nmodels: [{name: a, weights: w}, {name: b, weights: v}]\ndatasets: [{name: facts}]\nconsistency:\n"
	for lines, want := range map[string]string{
		"  samples: 1":                                      "study.yaml:5:12: samples is 1, and lies between 2 and 1000; the paper's is 30",
		"  at_least: 40":                                    "study.yaml:5:13: at_least is 40, and lies between 2 and 30",
		"  paraphrases: 1":                                  "of one paraphrase there is no consistency",
		"  kernels: [indicater]":                            `did you mean "indicator"`,
		"  kernels: [equivalent]":                           "answers are to be judged, and there is no judge",
		"  judge: a":                                        `no kernel asks the judge "a"`,
		"  kernels: [clustered]\n  judge: c":                `there is no model "c"`,
		"  diversity: none":                                 `diversity "none" is unknown; write calibrated, off, or a cosine such as 0.8`,
		"  diversity: 1.5":                                  "is no cosine above -1",
		"  perturbations: [{from: web}]":                    `perturbations cannot come from "web"; use model, corpus or file`,
		"  perturbations: [{from: file}]":                   "has no file",
		"  perturbations: [{from: corpus}, {from: corpus}]": `two sources of perturbations are called "corpus"`,
		"  perturbations: [{from: model, by: z}]":           `there is no model "z" to write perturbations`,
		"  topic_judge: a":                                  "would judge its own perturbations",
		"  tasks: {fact: number}":                           `there is no data set "fact"`,
		"  tasks: {facts: numbers}":                         `did you mean "number"`,
		"  trials: [2, 40]":                                 "cannot be read after 40 of 30 trials",
		"  sample: 3":                                       `unknown key "sample"; did you mean "samples"?`,
		"  samples: 2.5":                                    "no whole number",
		"  estimators: [mmd]":                               "unknown estimators value",
	} {
		_, err := study.Parse("study.yaml", []byte(head+lines+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "study.yaml:") {
			t.Errorf("%s:\n%v, want %q", lines, err, want)
		}
	}
}
