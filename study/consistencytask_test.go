package study_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/study"
)

// tasked opens a model that answers questions of every task, and something else after any context.
type tasked struct{}

func (tasked) Open(_ context.Context, m study.Model) (study.Opened, error) {
	script := llmtest.Funcs{Reply: func(p llm.Prompt) []llmtest.Choice {
		asked := p.Messages[0].Content
		perturbed := strings.Contains(asked, "The sky was grey.") || strings.Contains(asked, "A dog barked twice.") || strings.Contains(asked, "Leaves fell slowly.")
		say := func(original, after string) []llmtest.Choice {
			if perturbed {
				return []llmtest.Choice{{Text: after}}
			}
			return []llmtest.Choice{{Text: original}}
		}
		switch {
		case strings.Contains(asked, "Probability: ["):
			return say("Guess: B\nProbability: 0.7", "")
		case strings.Contains(asked, "How tall"):
			return say("It is 151 metres.", "152.5 m")
		case strings.Contains(asked, "How many apples"):
			return say("2 + 2 = 4, so the answer is 4.0.", "Four, that is 4 apples")
		case strings.Contains(asked, "Which letter"):
			return say("The answer is B.", "**C**")
		case strings.Contains(asked, "Write f"):
			return say("Here:\n```python\ndef f(): return 1\n```", "```\ndef f(): return 1\n```\nDone.")
		}
		return say("unheard of", "unheard of")
	}}
	return study.Opened{Engine: llmtest.NewScripted(script, llmtest.Named(m.Weights)), RepetitionPenalty: 1, PenaltySource: "a script"}, nil
}

func (tasked) OpenEmbeddings(context.Context, study.Embeddings) (llm.Engine, error) {
	return llmtest.NewScripted(nil, llmtest.Named("embeddings")), nil
}

func (tasked) OpenEntailment(context.Context, study.Entailment) (llm.Engine, error) {
	return nil, errors.New("nobody judges entailment")
}

const taskStudy = `name: tasks
models: [{name: m, weights: w}]
datasets:
- {name: range, file: DIR/range.csv, format: simpleqa-verified}
- {name: sums, file: DIR/sums.json, format: svamp}
- {name: exam, file: DIR/exam.csv, format: mmlu}
- {name: code, file: DIR/code.csv}
protocol: {contexts: [bare], correctness: [exact.unicode]}
consistency:
  samples: 3
  perturbations: [{from: file, file: DIR/contexts.csv}]
  diversity: 1
  tasks: {code: code}
  domains: {range: long factual or biographical}
analysis: {resamples: 50}
`

func taskFiles(t *testing.T) (folder string, f *study.File) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range map[string]string{
		"range.csv":    "original_index,problem,answer,topic\n1,How tall is it?,150 (acceptable range: anything between 148 and 152),x\n",
		"sums.json":    `[{"ID":"s1","Body":"Ann had 2 and got 2","Question":"How many apples has she?","Answer":4.0,"Equation":"","Type":"Addition"}]`,
		"exam.csv":     "Which letter?,one,two,three,four,B\nWhich of two alike?,same,same,x,y,A\n",
		"code.csv":     "question,answer\nWrite f.,def f(): return 1\n",
		"contexts.csv": "perturbation,dataset\nThe sky was grey.,\nA dog barked twice.,\nLeaves fell slowly.,\nNever used.,elsewhere\nA tower of 149 metres is near.,range\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder, parse(t, strings.ReplaceAll(taskStudy, "DIR", filepath.ToSlash(folder)))
}

func TestEveryTaskIsReadAndJudgedInItsWay(t *testing.T) {
	t.Parallel()
	folder, f := taskFiles(t)
	results, _, err := study.Run(t.Context(), f, study.Options{Folder: filepath.Join(folder, "run"), Open: tasked{}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	type found struct {
		C3, Performance float64
		Missing         int
	}
	got := map[string]found{}
	for _, s := range results.Consistency.States {
		c3, _ := s.C3.Get()
		p, ok := s.Performance.Get()
		if !ok {
			p = -1
		}
		got[s.Benchmark] = found{c3, p, s.Missing}
	}
	want := map[string]found{
		"range": {0, 1, 0},  // 151 lies in the range, "152.5 m" is another text
		"sums":  {1, 1, 0},  // 4.0 and 4 are one number
		"exam":  {0, 1, 1},  // B became C; the question with two equal options is not asked
		"code":  {1, -1, 0}, // the same block; nobody runs it
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// 149 metres is an accepted answer, though the reference says 150.
	if f := results.Consistency.Sources[0]; f.Benchmark != "range" || f.Candidates != 4 || f.Refused[consistency.RefusedReference] != 1 || f.Kept != 3 {
		t.Errorf("%+v", f)
	}
	i := slices.IndexFunc(results.Consistency.Diagnosis.Benchmarks, func(b consistency.BenchmarkPart) bool { return b.Benchmark == "code" })
	if i >= 0 && results.Consistency.Diagnosis.Benchmarks[i].N != 0 {
		t.Errorf("code is diagnosed without performance: %+v", results.Consistency.Diagnosis.Benchmarks[i])
	}
	for _, words := range []string{"the letter of an option", "the first code block", "a file of perturbations", "at most 512 tokens"} {
		if !strings.Contains(results.Card.Markdown(), words) {
			t.Errorf("the card does not say %q", words)
		}
	}
}

func TestTheEffectiveStudyOfConsistencyReadsBackAsItself(t *testing.T) {
	t.Parallel()
	_, f := taskFiles(t)
	text, err := yaml.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	again, err := study.Parse("again.yaml", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if diff := cmp.Diff(f.Consistency, again.Consistency); diff != "" {
		t.Error(diff)
	}
}

func TestAPerturbationForAnUnknownItemIsRefused(t *testing.T) {
	t.Parallel()
	folder, f := taskFiles(t)
	f.Datasets = f.Datasets[3:]
	f.Consistency.Tasks, f.Consistency.Domains = nil, nil
	if err := os.WriteFile(filepath.Join(folder, "contexts.csv"), []byte("perturbation,item\nThe sky was grey.,row-9\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, err := study.Run(t.Context(), f, study.Options{Folder: filepath.Join(folder, "run"), Open: tasked{}, Version: "test"})
	if err == nil || !strings.Contains(err.Error(), `the item "row-9", which code does not have`) {
		t.Errorf("%v", err)
	}
}
