package study_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/study"
)

// opener opens scripted models that answer the built-in questions: two right, one wrong, in turn.
type opener struct {
	options []llmtest.Option
}

func (o opener) Open(_ context.Context, m study.Model) (study.Opened, error) {
	facts, err := dataset.Builtin("facts")
	if err != nil {
		return study.Opened{}, err
	}
	var planted []llmtest.Item
	for i, item := range facts.Items {
		stated := .9
		if i%3 == 0 {
			stated = .6
		}
		planted = append(planted, llmtest.Confident(item, i%3 != 0, stated))
	}
	return study.Opened{Engine: llmtest.NewQuiz(planted, append(o.options, llmtest.Named(m.Weights))...), RepetitionPenalty: 1.05, PenaltySource: "a script"}, nil
}

func (o opener) Describe(m study.Model) (study.Opened, string, error) {
	opened, err := o.Open(context.Background(), m)
	return opened, "", err
}

func parse(t *testing.T, text string) *study.File {
	t.Helper()
	f, err := study.Parse("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const small = "name: x\nmodels:\n- {name: a, weights: w}\ndatasets:\n- {name: facts, limit: 12}\nanalysis: {resamples: 200}\n"

func run(t *testing.T, folder string, f *study.File, o opener) (*study.Results, *study.RunInfo) {
	t.Helper()
	results, info, err := study.Run(t.Context(), f, study.Options{Folder: folder, Open: o, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return results, info
}

func bytesOf(t *testing.T, folder string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestFailedRunResumesToTheSameBytes(t *testing.T) {
	t.Parallel()
	whole, broken := t.TempDir(), t.TempDir()
	run(t, whole, parse(t, small), opener{})
	for _, n := range []int{1, 20, 43} {
		_, _, err := study.Run(t.Context(), parse(t, small), study.Options{Folder: broken, Open: opener{[]llmtest.Option{llmtest.FailOn(n, errors.New("gone"))}}})
		if err == nil {
			continue // the ledger already had so much that call n was never made
		}
		if _, err := os.Stat(filepath.Join(broken, "results.json")); err == nil {
			t.Fatal("a failed run left results")
		}
	}
	_, info := run(t, broken, parse(t, small), opener{})
	if info.Made+info.Reused != 60 || info.Reused == 0 {
		t.Errorf("made %d, reused %d; 12 items are 60 calls", info.Made, info.Reused)
	}
	if diff := cmp.Diff(bytesOf(t, whole), bytesOf(t, broken)); diff != "" {
		t.Errorf("resumed results differ:\n%s", diff)
	}
}

func TestResultsDoNotTellWhenAndWhere(t *testing.T) {
	t.Parallel()
	a, b := t.TempDir(), t.TempDir()
	later := func() time.Time { return time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC) }
	run(t, a, parse(t, small), opener{})
	if _, _, err := study.Run(t.Context(), parse(t, small), study.Options{Folder: b, Open: opener{}, Version: "other", Now: later}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(bytesOf(t, a), bytesOf(t, b)); diff != "" {
		t.Errorf("time, place or version is in the results:\n%s", diff)
	}
}

func TestAddingASettingChangesNoOther(t *testing.T) {
	t.Parallel()
	one, _ := run(t, t.TempDir(), parse(t, small), opener{})
	two, _ := run(t, t.TempDir(), parse(t, strings.Replace(small, "- {name: a, weights: w}\n", "- {name: b, weights: v}\n- {name: a, weights: w}\n", 1)), opener{})
	want, got := encode(t, one.Settings[0]), encode(t, two.Settings[1])
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("model a changed when b came:\n%s", diff)
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestResultsReadBackAsWritten(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	want, _ := run(t, folder, parse(t, small), opener{})
	got, err := study.ReadResults(folder)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(encode(t, want), encode(t, got)); diff != "" {
		t.Error(diff)
	}
	if _, err := study.ReadResults(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not finished") {
		t.Errorf("no results: %v", err)
	}
}

func TestTablesHoldWhatTheResultsSay(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	run(t, folder, parse(t, small), opener{})
	for name, want := range map[string]int64{
		"answers.parquet":    12,
		"readings.parquet":   12 * 5,
		"judgements.parquet": 12 * 2,
	} {
		if got := rows(t, filepath.Join(folder, name)); got != want {
			t.Errorf("%s has %d rows, want %d", name, got, want)
		}
	}
	type reading struct {
		Signal  string   `parquet:"signal"`
		Value   *float64 `parquet:"value"`
		Missing string   `parquet:"missing"`
	}
	list, err := parquet.ReadFile[reading](filepath.Join(folder, "readings.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if (r.Value == nil) != (r.Missing != "") {
			t.Errorf("a reading is neither known nor missing with a reason: %+v", r)
		}
	}
}

func rows(t *testing.T, path string) int64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	p, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return p.NumRows()
}

func TestASecondRunInTheSameFolderIsRefused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	gate := llmtest.NewGate()
	done := make(chan error, 1)
	go func() {
		_, _, err := study.Run(t.Context(), parse(t, small), study.Options{Folder: folder, Open: opener{[]llmtest.Option{llmtest.Interrupted(gate.Wait)}}})
		done <- err
	}()
	gate.Next() // the first run is at work
	_, _, err := study.Run(t.Context(), parse(t, small), study.Options{Folder: folder, Open: opener{}})
	if err == nil || !strings.Contains(err.Error(), "another credence is writing this run") {
		t.Errorf("got %v", err)
	}
	gate.Open()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestWhatAKillLeftHalfWrittenIsRemoved(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	run(t, folder, parse(t, small), opener{})
	stray := filepath.Join(folder, ".results.json.tmp-123")
	if err := os.WriteFile(stray, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, folder, parse(t, small), opener{})
	if _, err := os.Stat(stray); err == nil {
		t.Error("the half-written file is still there")
	}
}

func TestInterruptedRunSaysSo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := study.Run(ctx, parse(t, small), study.Options{Folder: t.TempDir(), Open: opener{}, Progress: func(p study.Progress) {
		if p.Done == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAModelThatCannotScoreIsRefusedBeforeTheFirstCall(t *testing.T) {
	t.Parallel()
	called := false
	o := opener{[]llmtest.Option{
		llmtest.Lacking(func(c *llm.Capabilities) { c.Score = false }),
		llmtest.Interrupted(func(context.Context, int, llm.Request) error { called = true; return nil }),
	}}
	_, _, err := study.Run(t.Context(), parse(t, small), study.Options{Folder: t.TempDir(), Open: o})
	if !errors.Is(err, llm.ErrNotSupported) || called {
		t.Errorf("error %v, called %v", err, called)
	}
}

func TestPlanCountsWhatARunMakes(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	before, err := study.MakePlan(t.Context(), parse(t, small), folder, opener{})
	if err != nil {
		t.Fatal(err)
	}
	_, info := run(t, folder, parse(t, small), opener{})
	after, err := study.MakePlan(t.Context(), parse(t, strings.Replace(small, "12", "15", 1)), folder, opener{})
	if err != nil {
		t.Fatal(err)
	}
	if before.Settings[0].Calls != info.Made || before.Settings[0].Known != 0 {
		t.Errorf("planned %d calls, made %d", before.Settings[0].Calls, info.Made)
	}
	if got := after.Settings[0]; got.Known != info.Made || got.Calls != 15 {
		t.Errorf("three more items are %d calls with %d known; want 15 and %d", got.Calls, got.Known, info.Made)
	}
}

func TestAnswersThatCannotFitAreRefusedBeforeTheFirstCall(t *testing.T) {
	t.Parallel()
	o := opener{[]llmtest.Option{llmtest.ContextOf(32)}}
	_, _, err := study.Run(t.Context(), parse(t, small), study.Options{Folder: t.TempDir(), Open: o})
	if err == nil || !strings.Contains(err.Error(), "holds 32 tokens, and max_tokens 32") {
		t.Errorf("got %v", err)
	}
}

func TestAnInterruptedRerunKeepsTheStudyOfItsResults(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	run(t, folder, parse(t, small), opener{})
	larger := strings.Replace(small, "limit: 12", "limit: 20", 1)
	_, _, err := study.Run(t.Context(), parse(t, larger), study.Options{Folder: folder, Open: opener{[]llmtest.Option{llmtest.FailOn(3, errors.New("gone"))}}})
	if err == nil {
		t.Fatal("the run did not fail")
	}
	if kept := read(t, folder, "study.yaml"); !strings.Contains(kept, "limit: 12") {
		t.Errorf("the old results lie beside another study:\n%s", kept)
	}
	run(t, folder, parse(t, larger), opener{})
	if kept := read(t, folder, "study.yaml"); !strings.Contains(kept, "limit: 20") {
		t.Errorf("the new results lie beside another study:\n%s", kept)
	}
}

func read(t *testing.T, folder, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
