package study_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/study"
)

const minimal = "name: x\nmodels:\n- weights: w\ndatasets:\n- name: facts\n"

func TestDefaultsAreWrittenOut(t *testing.T) {
	t.Parallel()
	f, err := study.Parse("s.yaml", []byte(minimal))
	if err != nil {
		t.Fatal(err)
	}
	want := study.Protocol{
		Contexts:     []string{"bare", "answer-slot", "guess-slot", "answer-only"},
		Aggregations: []string{"geometric-mean"},
		Correctness:  []string{"containment.unicode", "exact.unicode"},
		Parser:       "strict",
		MaxTokens:    32,
	}
	if diff := cmp.Diff(want, f.Protocol); diff != "" {
		t.Errorf("protocol (-want +got):\n%s", diff)
	}
	if *f.Analysis.Resamples != 10_000 || f.Analysis.Level != .95 || f.Seed != 1 || f.Models[0].Name != "w" || f.Models[0].Mode != "exact" {
		t.Errorf("%+v %+v seed %d", f.Models[0], f.Analysis, f.Seed)
	}
}

func TestSeedZeroIsNotTheDefault(t *testing.T) {
	t.Parallel()
	f, err := study.Parse("s.yaml", []byte(minimal+"seed: 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	if f.Seed != 0 {
		t.Errorf("seed 0 became %d", f.Seed)
	}
}

// TestDeviceIsNotReadToItsEnd, which it does not have.
func TestDeviceIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	const endless = "/dev/zero"
	if _, err := os.Stat(endless); err != nil {
		t.Skip("there is no " + endless)
	}
	if _, err := study.Load(endless); err == nil || !strings.Contains(err.Error(), "has more than 1048576 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestNoIntervalsIsNotTheDefaultNumberOfThem(t *testing.T) {
	t.Parallel()
	f, err := study.Parse("s.yaml", []byte(minimal+"analysis: {resamples: 0}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if n := *f.Analysis.Resamples; n != 0 {
		t.Errorf("resamples 0 became %d", n)
	}
}

func TestMistakesAreNamedWithTheirPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text         string
		line, column int
		what         string
	}{
		"unknown key":         {minimal + "sede: 3\n", 6, 1, `unknown key "sede"`},
		"wrong type":          {minimal + "seed: many\n", 6, 7, "a text where a whole number, not negative, is wanted"},
		"duplicate key":       {minimal + "name: y\n", 6, 1, "name"},
		"unknown judge":       {minimal + "protocol:\n  correctness: [exact.ascii, exat.ascii]\n", 7, 30, `"exat.ascii"`},
		"listed twice":        {minimal + "protocol:\n  contexts: [bare, bare]\n", 7, 20, "twice"},
		"unknown aggregation": {minimal + "protocol:\n  aggregations: [mean]\n", 7, 18, `"mean"`},
		"unknown parser":      {minimal + "protocol:\n  parser: loose\n", 7, 11, `"loose"`},
		"resamples":           {minimal + "analysis:\n  resamples: -5\n", 7, 14, "-5"},
		"no name":             {"models:\n- weights: w\ndatasets:\n- name: facts\n", 0, 0, "name"},
		"no weights":          {"name: x\nmodels:\n- name: m\ndatasets:\n- name: facts\n", 3, 7, "no weights"},
		"penalty":             {"name: x\nmodels:\n- weights: w\n  repetition_penalty: 0\ndatasets:\n- name: facts\n", 4, 23, "repetition_penalty"},
		"mode":                {"name: x\nmodels:\n- weights: w\n  mode: quick\ndatasets:\n- name: facts\n", 4, 9, "quick"},
		"empty":               {"", 0, 0, "name"},
		"no mapping":          {"- a\n- b\n", 1, 1, ""},
		"second document":     {minimal + "---\n" + minimal, 7, 0, "a second document"},
		"fraction of a seed":  {minimal + "seed: 1.5\n", 6, 7, "seed 1.5 is no whole number"},
		"too large a seed":    {minimal + "seed: 18446744073709551616\n", 6, 7, "no whole number that fits"},
		"purpose of lines":    {minimal + "purpose: \"a\\nb\"\n", 6, 10, "line break"},
		"huge seed":           {minimal + "seed: 99999999999999999999999\n", 6, 7, "99999999999999999999999 where a whole number, not negative, is wanted: it does not fit"},
		"seed by exponent":    {minimal + "seed: 1e3\n", 6, 7, "no whole number"},
		"fraction of a limit": {"name: x\nmodels:\n- weights: w\ndatasets:\n- {name: facts, limit: 1.9}\n", 5, 24, "limit 1.9"},
		"no level":            {minimal + "analysis: {level: 0}\n", 6, 19, "level 0 is not between 0 and 1"},
		"no tokens":           {minimal + "protocol: {max_tokens: 0}\n", 6, 24, "max_tokens 0 is not positive"},
		"no contexts":         {minimal + "protocol: {contexts: []}\n", 6, 22, "contexts is empty"},
		"penalty without end": {"name: x\nmodels:\n- weights: w\n  repetition_penalty: .inf\ndatasets:\n- name: facts\n", 4, 23, "no"},
		"too many threads":    {"name: x\nmodels:\n- weights: w\n  threads: 4294967297\ndatasets:\n- name: facts\n", 4, 12, "threads is 4294967297, more than 512"},
		"named after a path":  {"name: x\nmodels:\n- weights: /a/b.gguf\ndatasets:\n- name: facts\n", 3, 0, "add \"name:\""},
		"columns of facts":    {minimal + "  columns: {question: q}\n", 6, 0, "has columns of its own"},
		"nested deeply":       {"a: " + strings.Repeat("[", 10_000), 1, 0, "brackets nested deeper than 100"},
		"words without end":   {minimal + "protocol: {contexts: [" + strings.Repeat("x, ", 50_000) + "]}\n", 0, 0, "words and signs"},
		"unknown prompt":      {minimal + "prompts:\n  confidance: \"{{.Question}}\"\n", 7, 15, "confidance"},
		"prompt as program":   {minimal + "prompts:\n  bare: \"{{.Question | printf}}\\nAnswer:\"\n", 7, 9, "bare"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := study.Parse("s.yaml", []byte(c.text))
			var e *study.InputError
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if e.Line != c.line || (e.Column != c.column && c.column != 0) || !strings.Contains(e.Error(), c.what) || !e.BadInput() {
				t.Errorf("%d:%d %v; want %d:%d with %q", e.Line, e.Column, e, c.line, c.column, c.what)
			}
		})
	}
}

func TestDataFilesAreRelativeToTheStudy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s.yaml")
	text := "\ufeffname: x\nmodels:\n- weights: w\ndatasets:\n- file: a/q.csv\n- {file: /abs/z.csv, name: z}\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := study.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if f.Datasets[0].File != filepath.Join(dir, "a/q.csv") || f.Datasets[0].Name != "q" || f.Datasets[1].File != "/abs/z.csv" {
		t.Errorf("%+v", f.Datasets)
	}
}

func TestHugeStudyFileIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(path, make([]byte, 2<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := study.Load(path); err == nil || !strings.Contains(err.Error(), "has more than 1048576 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestBuiltInStudyIsValid(t *testing.T) {
	t.Parallel()
	if f := study.Quickstart(); f.Protocol.Parser != "lenient" || f.Protocol.Correctness[0] != "containment.ascii" {
		t.Errorf("the built-in study does not follow the paper: %+v", f.Protocol)
	}
}

// FuzzParse: whatever the bytes, Parse returns a study that can be run or an error with the file's name.
func FuzzParse(f *testing.F) {
	f.Add([]byte(minimal))
	f.Add([]byte("name: x\nmodels: &a\n- *a\n"))
	f.Add([]byte("name: [\nprompts: {bare: \"{{\"}\n"))
	f.Add([]byte("models: !00000 000"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := study.Parse("s.yaml", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "s.yaml") {
				t.Errorf("error does not name the file: %v", err)
			}
			return
		}
		if s.Name == "" || strings.ContainsAny(s.Name, "/\\\x00") || len(s.Models) == 0 || len(s.Datasets) == 0 || len(s.Protocol.Contexts) == 0 {
			t.Errorf("accepted %+v", s)
		}
	})
}
