package study_test

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/study"
)

// wavering opens a model that answers two of three built-in questions rightly and always alike, and the
// others wrongly, half of the samples in other words. It knows a right answer when it sees one.
type wavering struct{ options []llmtest.Option }

func (w wavering) Open(_ context.Context, m study.Model) (study.Opened, error) {
	facts, err := dataset.Builtin("facts")
	if err != nil {
		return study.Opened{}, err
	}
	var planted []llmtest.Item
	for i, item := range facts.Items {
		answer, other := item.References[0], item.References[0]
		truth := -.1 // log-probability of the first option of a forced choice
		if i%3 == 0 {
			answer, other, truth = item.Incorrect[0], item.Incorrect[1], -3
		}
		planted = append(planted, llmtest.Item{
			Question: item.Question, Answer: answer,
			Replies: []llmtest.Reply{
				{User: "judge whether an answer", Choices: []llmtest.Choice{{Text: map[bool]string{true: "False.", false: "Verdict: True"}[i%3 == 0], Weight: 1.0001}, {Text: "True", Weight: 1}}},
				{User: "best guesses at a question", Choices: []llmtest.Choice{{Text: "G1: " + answer + "\nP1: 0.6\nG2: nothing\nP2: 0.2"}}},
				{User: "State the probability", Choices: []llmtest.Choice{{Text: " 0.7"}}},
				{User: "in one of these phrases", Choices: []llmtest.Choice{{Text: "Guess: " + answer + "\nConfidence: **Highly likely**"}}},
				{User: "what speaks for which answer", Choices: []llmtest.Choice{{Text: "It may be so.\n\nGuess: " + map[bool]string{true: "something else", false: answer}[i == 1] + "\nProbability: 0.4"}}},
				{User: "you gave before", Choices: []llmtest.Choice{{Text: " 0.8"}}},
				{User: "Probability: [", Choices: []llmtest.Choice{{Text: "Guess: " + answer + "\nProbability: 0.9"}}},
				{User: "no other words", Choices: []llmtest.Choice{{Text: answer, Weight: 1.0001}, {Text: other, Weight: 1}}},
			},
			Levels: []llmtest.Level{
				{User: "judge whether a possible answer", Opening: "My choice:", Answer: "a", LogProb: truth},
				{User: "judge whether a possible answer", Opening: "My choice:", Answer: "b", LogProb: -1},
				{User: "judge whether an answer", Opening: "Verdict:", Answer: "True", LogProb: truth},
				{User: "judge whether an answer", Opening: "Verdict:", Answer: "False", LogProb: -1},
				{User: "According to the text", Opening: "Answer:", Answer: "True", LogProb: -4},
				{User: "According to the text", Opening: "Answer:", Answer: "False", LogProb: -.1},
			},
		})
	}
	return study.Opened{Engine: llmtest.NewQuiz(planted, append(w.options, llmtest.Named(m.Weights))...), RepetitionPenalty: 1, PenaltySource: "a script"}, nil
}

func (w wavering) Describe(m study.Model) (study.Opened, string, error) {
	opened, err := w.Open(context.Background(), m)
	return opened, "", err
}

const quantified = `name: quantified
models:
- {name: a, weights: w}
datasets:
- {name: facts, limit: 12}
protocol: {contexts: [bare], correctness: [exact.ascii]}
quantifiers: [default]
judges: [exact-match, rouge-l@0.3, "llm:a"]
sampling: {samples: 6}
analysis: {resamples: 200}
`

func TestQuantifiersAreHeldAgainstEveryJudge(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	results, _, err := study.Run(t.Context(), parse(t, quantified), study.Options{Folder: folder, Open: wavering{}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	u := results.Uncertainty[0]
	at := map[string]int{}
	for k, q := range u.Quantifiers {
		at[q.Quantifier] = k
		if len(q.Missing) > 0 {
			t.Errorf("%s is missing: %v", q.Quantifier, q.Missing)
		}
	}
	var judges []string
	for i, j := range u.Judges {
		judges = append(judges, j.Judge)
		if accuracy, _ := j.Accuracy.Get(); math.Abs(accuracy-2./3) > 1e-12 {
			t.Errorf("%s finds %v right, planted 2/3", j.Judge, accuracy)
		}
		// Wavering and doubt are planted on exactly the wrong answers.
		for _, id := range []string{"predictive-entropy", "semantic-entropy", "p-true"} {
			k, ok := at[id]
			if !ok {
				t.Fatalf("no quantifier %q among %v", id, at)
			}
			if x, _ := u.AUROC[i][k].Get(); x != 1 {
				t.Errorf("%s under %s: AUROC %v, planted 1", id, j.Judge, x)
			}
		}
		// The stated confidence is always .8.
		if x, _ := u.AUROC[i][at["verbalised-confidence"]].Get(); x != .5 {
			t.Errorf("stated confidence under %s: %v, planted .5", j.Judge, x)
		}
	}
	if diff := cmp.Diff([]string{"exact-match", "rouge-l@0.3", "llm:a"}, judges); diff != "" {
		t.Errorf("judges (-want +got):\n%s", diff)
	}
	// 12 main answers, 12 answers of the answer-only prompt, 72 samples.
	if n := rows(t, filepath.Join(folder, "answers.parquet")); n != 12+12+72 {
		t.Errorf("%d answers in the table", n)
	}
	var tables []string
	for _, table := range results.Tables() {
		tables = append(tables, table.Name)
	}
	if tables[len(tables)-1] != "quantifiers" {
		t.Errorf("tables %v", tables)
	}
	if card := read(t, folder, "card.md"); !strings.Contains(card, "6 samples of each item at temperature 1") || !strings.Contains(card, "llm:a") {
		t.Error("the card does not say how uncertainty was measured")
	}
}

func TestThePlanOfQuantifiersCountsWhatARunMakes(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	plan, err := study.MakePlan(t.Context(), parse(t, quantified), folder, wavering{})
	if err != nil {
		t.Fatal(err)
	}
	_, info, err := study.Run(t.Context(), parse(t, quantified), study.Options{Folder: folder, Open: wavering{}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	// How many samples differ cannot be known before: nine of ten are taken to, and here two do.
	if planned := plan.Settings[0].Calls; planned < info.Made || planned > 6*info.Made {
		t.Errorf("planned %d calls, made %d", planned, info.Made)
	}
	_, again, err := study.Run(t.Context(), parse(t, quantified), study.Options{Folder: folder, Open: wavering{}, Version: "test"})
	if err != nil || again.Made != 0 {
		t.Errorf("the second run made %d calls, %v", again.Made, err)
	}
}

func TestWhatCannotBeQuantifiedIsRefusedBeforeTheFirstCall(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]string{
		"quantifiers: [semantic-entropie]":                   `semantic-entropy`,
		"quantifiers: [token-sar]":                           "cannot be had here",
		"quantifiers: [default, log-probability]":            "twice",
		"quantifiers: [default]\nsampling: {samples: 5000}":  "samples is 5000",
		"quantifiers: [default]\nsampling: {temperature: 0}": "draws no samples",
		"quantifiers: [default]\njudges: [rouge-l]":          "rouge-l",
		"quantifiers: [default]\njudges: [\"llm:nobody\"]":   `no model "nobody"`,
		"judges: [exact-match]":                              "nothing to judge",
	} {
		text := "name: x\nmodels:\n- {name: a, weights: w}\ndatasets:\n- {name: facts, limit: 12}\n" + change + "\n"
		_, err := study.Parse("s.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "s.yaml:") {
			t.Errorf("%q: %v, want %q", change, err, want)
		}
	}
}

// OpenEmbeddings opens the scripted vectors: texts with common trigrams are near.
func (w wavering) OpenEmbeddings(context.Context, study.Embeddings) (llm.Engine, error) {
	return llmtest.NewScripted(llmtest.Babble{}), nil
}

func (w wavering) DescribeEmbeddings(study.Embeddings) (llm.Engine, string, error) {
	return llmtest.NewScripted(llmtest.Babble{}), "", nil
}

// OpenEntailment opens a server's place: texts that differ contradict each other.
func (w wavering) OpenEntailment(context.Context, study.Entailment) (llm.Engine, error) {
	return llm.Relating(contrary{}), nil
}

func (w wavering) DescribeEntailment(study.Entailment) (llm.Engine, string, error) {
	return llm.Relating(contrary{}), "", nil
}

type contrary struct{}

func (contrary) Identity() llm.Identity { return llm.Identity{Engine: "tei", Model: "contrary"} }
func (contrary) Close() error           { return nil }

func (contrary) Entail(_ context.Context, pairs []llm.Pair) []llm.EntailmentResult {
	results := make([]llm.EntailmentResult, len(pairs))
	for i := range pairs {
		results[i].Entailment = llm.Entailment{Neither: .25, Contradicts: .75}
	}
	return results
}

func TestEmbeddingsServeQuantifiersAndJudges(t *testing.T) {
	t.Parallel()
	text := strings.Replace(quantified, "quantifiers: [default]", "embeddings: vectors\nquantifiers: [cosine-agreement, predictive-entropy]", 1)
	text = strings.Replace(text, `judges: [exact-match, rouge-l@0.3, "llm:a"]`, "judges: [exact-match, embedding@0.7]", 1)
	folder := t.TempDir()
	results, info, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: folder, Open: wavering{}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	u := results.Uncertainty[0]
	for i, j := range u.Judges {
		if accuracy, _ := j.Accuracy.Get(); math.Abs(accuracy-2./3) > .2 || j.Accuracy.N != 12 {
			t.Errorf("%s finds %v of %d right, planted 2/3", j.Judge, accuracy, j.Accuracy.N)
		}
		// Samples that differ are less alike.
		if x, _ := u.AUROC[i][0].Get(); i == 0 && x != 1 {
			t.Errorf("%s under %s: AUROC %v, planted 1", u.Quantifiers[0].Quantifier, j.Judge, x)
		}
	}
	if card := read(t, folder, "card.md"); !strings.Contains(card, "vectors of vectors") {
		t.Error("the card does not name the model of embeddings")
	}
	_, again, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: folder, Open: wavering{}, Version: "test"})
	if err != nil || again.Made != 0 || again.Reused != info.Made+info.Reused {
		t.Errorf("again: made %d, reused %d; before made %d, %v", again.Made, again.Reused, info.Made, err)
	}
	without := strings.Replace(text, "embeddings: vectors\n", "", 1)
	if _, err := study.Parse("s.yaml", []byte(without)); err == nil {
		t.Error("quantifiers of embeddings without a model of them are accepted")
	}
}

// asking counts what its models are asked, and cannot embed.
type asking struct{ calls *atomic.Int64 }

func (a asking) Open(ctx context.Context, m study.Model) (study.Opened, error) {
	count := func(context.Context, int, llm.Request) error { a.calls.Add(1); return nil }
	return wavering{[]llmtest.Option{llmtest.Interrupted(count)}}.Open(ctx, m)
}

func TestAnEmbedderThatIsNotThereIsFoundBeforeTheFirstCall(t *testing.T) {
	t.Parallel()
	text := strings.Replace(quantified, "quantifiers: [default]", "embeddings: vectors\nquantifiers: [cosine-agreement]", 1)
	open := asking{&atomic.Int64{}}
	_, _, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: t.TempDir(), Open: open})
	if err == nil || !strings.Contains(err.Error(), "cannot embed") || open.calls.Load() != 0 {
		t.Errorf("%v after %d calls", err, open.calls.Load())
	}
}
