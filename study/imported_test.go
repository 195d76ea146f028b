package study_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/study"
)

// graded is a study of one model whose answers somebody judged in a file.
func graded(judges, file string) string {
	return fmt.Sprintf("name: graded\nmodels:\n- {name: a, weights: w}\ndatasets:\n- {name: facts, limit: 12}\nprotocol: {contexts: [bare], correctness: [exact.ascii]}\n"+
		"quantifiers: [log-probability]\njudges: [%s]\nimported: {g: %q}\nanalysis: {resamples: 0}\n", judges, filepath.ToSlash(file))
}

// answered are the answers that a study of quantifiers judges, as a run's table has them.
func answered(t *testing.T, folder string) (list []answeredRow) {
	t.Helper()
	rows, err := parquet.ReadFile[answeredRow](filepath.Join(folder, "answers.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if row.Prompt == "answer-only" && row.Sample == 0 {
			list = append(list, row)
		}
	}
	return list
}

type answeredRow struct {
	Model   string `parquet:"model"`
	Dataset string `parquet:"dataset"`
	Item    string `parquet:"item"`
	Prompt  string `parquet:"prompt"`
	Sample  int32  `parquet:"sample"`
	Text    string `parquet:"text"`
}

// finished runs a study of these models without any import.
func finished(t *testing.T, text string) (folder string, answers []answeredRow) {
	t.Helper()
	folder = t.TempDir()
	if _, _, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: folder, Open: wavering{}, Version: "test"}); err != nil {
		t.Fatal(err)
	}
	return folder, answered(t, folder)
}

const ungraded = "name: graded\nmodels:\n- {name: a, weights: w}\ndatasets:\n- {name: facts, limit: 12}\nprotocol: {contexts: [bare], correctness: [exact.ascii]}\n" +
	"quantifiers: [log-probability]\njudges: [exact-match]\nanalysis: {resamples: 0}\n"

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestJudgementsAreImported adds a file to a finished run, which asks nothing: scores at two thresholds, verdicts,
// a row that is missing, one without a score, one that is repeated, and answers in another normal form.
func TestJudgementsAreImported(t *testing.T) {
	t.Parallel()
	folder, answers := finished(t, ungraded)
	var lines strings.Builder
	for i, a := range answers {
		row := map[string]any{"item": a.Item, "answer": " " + a.Text + "\n", "score": float64(i) / 12, "correct": i%2 == 0, "tool": "x"}
		switch i {
		case 3:
			continue
		case 4:
			row["score"], row["correct"] = nil, "n/a"
		}
		line, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
		if i == 5 {
			lines.Write(append(line, '\n'))
		}
	}
	path := written(t, "grades.jsonl", lines.String())
	text := graded(`exact-match, "imported:g@0.5", "imported:g@0.5.inclusive", "imported:g"`, path)
	plan, err := study.MakePlan(t.Context(), parse(t, text), folder, wavering{})
	if err != nil || plan.Settings[0].Calls != 0 {
		t.Fatalf("the plan asks for %d calls, %v", plan.Settings[0].Calls, err)
	}
	var notes []string
	results, info, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: folder, Open: wavering{}, Version: "test", Note: func(about, note string) { notes = append(notes, about+": "+note) }})
	if err != nil || info.Made != 0 {
		t.Fatalf("%v after %+v calls", err, info)
	}
	// Of rows 0 to 11 but 3 and 4, five lie above 6/12, six at or above it; even ones are correct.
	want := map[string][2]int{"exact-match": {8, 12}, "imported:g@0.5": {5, 10}, "imported:g@0.5.inclusive": {6, 10}, "imported:g": {5, 10}}
	u := results.Uncertainty[0]
	if len(u.Judges) != len(want) || len(u.AUROC) != len(want) {
		t.Fatalf("judges %+v", u.Judges)
	}
	for k, j := range u.Judges {
		w := want[j.Judge]
		if x, _ := j.Accuracy.Get(); math.Abs(x-float64(w[0])/float64(w[1])) > 1e-12 || j.Accuracy.N != w[1] {
			t.Errorf("%s finds %v of %d right, planted %v", j.Judge, x, j.Accuracy.N, w)
		}
		if n := u.AUROC[k][0].N; n != w[1] {
			t.Errorf("the AUROC under %s is of %d answers", j.Judge, n)
		}
		if j.Judge == "imported:g@0.5" && fmt.Sprint(j.Accuracy.LeftOut) != "[{no score 1} {not in the imported file 1}]" {
			t.Errorf("left out: %v", j.Accuracy.LeftOut)
		}
	}
	rows, err := parquet.ReadFile[judgementRow](filepath.Join(folder, "judgements.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	scored := 0
	for _, r := range rows {
		if r.Judge == "imported:g@0.5" && r.Score != nil {
			scored++
			if (*r.Score > .5) != (r.Verdict == "correct") {
				t.Errorf("%+v", r)
			}
		}
	}
	if scored != 10 {
		t.Errorf("%d scores in the table", scored)
	}
	card := read(t, folder, "card.md")
	for _, part := range []string{"`grades.jsonl`, rows: 12, SHA-256 `" + sum(t, path), "1 of 12 answers have no row", "the scores of the column score", "the verdicts of the column correct", "1 row repeats what another says", `columns not read: "tool"`} {
		if !strings.Contains(card, part) {
			t.Errorf("the card does not say %q", part)
		}
	}
	if strings.Contains(card, filepath.Dir(path)) {
		t.Error("the card has a folder of this machine")
	}
	if got := strings.Join(notes, "\n"); !strings.Contains(got, "imported file g: 1 row repeats") {
		t.Errorf("notes %q", got)
	}
	// The effective study, in the run's folder, finds the file from there.
	if again, err := study.Load(filepath.Join(folder, "study.yaml")); err != nil {
		t.Error(err)
	} else if _, err := os.Stat(again.Imported["g"]); err != nil {
		t.Error(err)
	}
}

// TestWhatAnImportGetsWrongIsRefused wants each fault by file and line; all but the wrong answer are found before
// anything is asked.
func TestWhatAnImportGetsWrongIsRefused(t *testing.T) {
	t.Parallel()
	folder, answers := finished(t, ungraded)
	const scores, verdicts = `"imported:g@0.5"`, `"imported:g"`
	first := answers[0].Item + "," + answers[0].Text
	for _, c := range []struct{ judges, file, want string }{
		{scores, "item,answer,score\n" + first + ",0.7\n" + answers[1].Item + ",Something else,0.7\n", "grades.csv:3:"},
		{scores, "item,answer,score\n" + answers[1].Item + ",Something else,0.7\n", `this row judges "Something else"`},
		{scores, "item,answer,score\n" + first + ",0.7\n" + first + ",0.8\n", "grades.csv:3:"},
		{scores, "item,answer,score\n" + first + ",0.7\n" + first + ",0.8\n", "grades.csv:2:"},
		{scores, "item,answer,score\n" + first + ",0.7\n" + first + ",\n", "another judgement of this answer"},
		{scores, "item,answer,score\n" + first + ",87.5\n", "the score 87.5 lies outside [-1,1]"},
		{scores, "item,answer,score\n" + first + ",Inf\n", "the score Inf lies outside"},
		{scores, "item,answer,score\n" + first + ",high\n", `grades.csv:2:`},
		{scores, "item,answer,score\n" + first + ",high\n", `"high" is no number`},
		{scores, "item,answer,scores\n" + first + ",1\n", `grades.csv:1: there is no column "score"`},
		{scores, "item,answer,correct\n" + first + ",1\n", `write "imported:g"`},
		{verdicts, "item,answer,score\n" + first + ",1\n", `such as "imported:g@0.5"`},
		{verdicts, "item,answer,correct\n" + first + ",perhaps\n", `"perhaps" is no verdict`},
		{verdicts, "item,text,correct\n" + first + ",yes\n", `"answer"`},
		{verdicts, "itm,answer,correct\n" + first + ",yes\n", `did you mean "itm"`},
		{verdicts, "item,answer,correct\n,x,yes\n", "no item"},
		{verdicts, "model,item,answer,correct\nb," + first + ",yes\n", `no model "b"`},
		{verdicts, "dataset,item,answer,correct\nfcats," + first + ",yes\n", `no data set "fcats"; there are facts`},
		{verdicts, "item,answer,correct\n", "no rows"},
		{verdicts, "item,answer,correct\n" + first + "\n", "grades.csv:2"},
	} {
		f := parse(t, graded(c.judges, written(t, "grades.csv", c.file)))
		_, _, err := study.Run(t.Context(), f, study.Options{Folder: folder, Open: wavering{}, Version: "test"})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.file, err, c.want)
		}
		if _, err := study.MakePlan(t.Context(), f, folder, wavering{}); (err == nil) != strings.Contains(c.file, "Something else") {
			t.Errorf("%q: planned with %v", c.file, err)
		}
	}
	// What a limit leaves out is counted; without a limit it is unknown.
	rest := "item,answer,correct\n" + first + ",yes\nnowhere,x,yes\n"
	text := graded(verdicts, written(t, "grades.csv", rest))
	results, _, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: folder, Open: wavering{}, Version: "test"})
	if err != nil || results.Uncertainty[0].Judges[0].Accuracy.N != 1 || !strings.Contains(read(t, folder, "card.md"), "1 row is about an item beyond the study's limit") {
		t.Errorf("beyond the limit: %v", err)
	}
	text = strings.Replace(text, "limit: 12", "limit: 0", 1)
	if _, err := study.MakePlan(t.Context(), parse(t, text), folder, wavering{}); err == nil || !strings.Contains(err.Error(), `the study has no item "nowhere"`) {
		t.Errorf("an unknown item: %v", err)
	}
	gone := parse(t, graded(verdicts, filepath.Join(t.TempDir(), "gone.csv")))
	if _, _, err := study.Run(t.Context(), gone, study.Options{Folder: folder, Open: wavering{}}); err == nil || !strings.HasPrefix(err.Error(), "s.yaml:9:15: ") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestScoresOfParquet reads a table as pandas writes it, with NaN where there is no score.
func TestScoresOfParquet(t *testing.T) {
	t.Parallel()
	folder, answers := finished(t, ungraded)
	type row struct {
		Item   string  `parquet:"item"`
		Answer string  `parquet:"answer"`
		Score  float32 `parquet:"score"`
	}
	var rows []row
	for i, a := range answers {
		rows = append(rows, row{a.Item, a.Text, []float32{.25, .75, float32(math.NaN())}[i%3]})
	}
	path := filepath.Join(t.TempDir(), "bert.parquet")
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	results, _, err := study.Run(t.Context(), parse(t, graded(`"imported:g@0.5"`, path)), study.Options{Folder: folder, Open: wavering{}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	got := results.Uncertainty[0].Judges[0].Accuracy
	if x, _ := got.Get(); x != .5 || got.N != 8 || fmt.Sprint(got.LeftOut) != "[{no score 4}]" {
		t.Errorf("accuracy %v of %d, left out %v", x, got.N, got.LeftOut)
	}
}

// mute answers all questions but the first.
type mute struct{}

func (mute) Open(_ context.Context, m study.Model) (study.Opened, error) {
	asked, err := dataset.Builtin("facts")
	if err != nil {
		return study.Opened{}, err
	}
	script := llmtest.Funcs{Reply: func(p llm.Prompt) []llmtest.Choice {
		if strings.Contains(p.Messages[0].Content, asked.Items[0].Question) {
			return []llmtest.Choice{{Text: " "}}
		}
		return []llmtest.Choice{{Text: "Guess: Venus"}}
	}}
	return study.Opened{Engine: llmtest.NewScripted(script, llmtest.Named(m.Weights)), RepetitionPenalty: 1, PenaltySource: "a script"}, nil
}

// TestNoAnswerIsNotJudged: a row of a table of answers may stand for one that is missing, and judges nothing; one with
// a text judges another answer.
func TestNoAnswerIsNotJudged(t *testing.T) {
	t.Parallel()
	facts, err := dataset.Builtin("facts")
	if err != nil {
		t.Fatal(err)
	}
	first, second := facts.Items[0].ID, facts.Items[1].ID
	for answer, want := range map[string]string{"": "", "Venus": "has no answer in this run"} {
		path := written(t, "grades.csv", "item,answer,correct\n"+first+","+answer+",no\n"+second+",Venus,yes\n")
		folder := t.TempDir()
		results, _, err := study.Run(t.Context(), parse(t, graded(`"imported:g"`, path)), study.Options{Folder: folder, Open: mute{}, Version: "test"})
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path+":2:") {
				t.Errorf("%q: %v", answer, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got := results.Uncertainty[0].Judges[0].Accuracy
		if got.N != 1 || fmt.Sprint(got.LeftOut) != "[{answer missing 1} {not in the imported file 10}]" {
			t.Errorf("%d judged, left out %v", got.N, got.LeftOut)
		}
	}
}

// TestImportsOfSeveralModels wants the columns that tell the settings of an item apart, and no others.
func TestImportsOfSeveralModels(t *testing.T) {
	t.Parallel()
	two := strings.Replace(ungraded, "- {name: a, weights: w}\n", "- {name: a, weights: w}\n- {name: b, weights: w2}\n", 1)
	folder, answers := finished(t, two)
	with := func(file string) string {
		return strings.Replace(graded(`"imported:g"`, written(t, "grades.csv", file)), "- {name: a, weights: w}\n", "- {name: a, weights: w}\n- {name: b, weights: w2}\n", 1)
	}
	rest := answers[0].Item + "," + answers[0].Text + ",yes\n"
	if _, err := study.MakePlan(t.Context(), parse(t, with("item,answer,correct\n"+rest)), folder, wavering{}); err == nil || !strings.Contains(err.Error(), "fill the column model") || !strings.Contains(err.Error(), "grades.csv:2:") {
		t.Errorf("ambiguous: %v", err)
	}
	twice := strings.Replace(with("item,answer,correct\n"+rest), "- {name: facts, limit: 12}\n", "- {name: facts, limit: 12}\n- {name: facts-120, limit: 12}\n", 1)
	if _, err := study.MakePlan(t.Context(), parse(t, twice), folder, wavering{}); err == nil || !strings.Contains(err.Error(), "fill the column model and the column dataset") {
		t.Errorf("ambiguous: %v", err)
	}
	results, _, err := study.Run(t.Context(), parse(t, with("model,item,answer,correct\nb,"+rest)), study.Options{Folder: folder, Open: wavering{}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range results.Uncertainty {
		want := map[string]int{"a": 0, "b": 1}[u.Setting.Model]
		if n := u.Judges[0].Accuracy.N; n != want {
			t.Errorf("%s has %d judgements, the file has %d", u.Setting, n, want)
		}
	}
}

func TestJudgesAndImportedFilesBelongTogether(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]string{
		"judges: [\"imported:g@0.5\"]":                       `s.yaml:7:10: the judge "imported:g@0.5" has no file; add "imported: {g: FILE}"`,
		"judges: [\"imported:g\"]\nimported: {gg: x.csv}":    `did you mean "gg"?`,
		"judges: [exact-match]\nimported: {g: x.csv}":        `no judge reads the imported file "g"`,
		"imported: {g: x.csv}":                               `no judge reads the imported file "g"`,
		"judges: [\"imported:g\"]\nimported: {g: \"\"}":      `the judge "imported:g" has no file`,
		"judges: [\"imported:g\"]\nimported: [x.csv]":        "s.yaml:8",
		"judges: [\"imported:g@1.5\"]\nimported: {g: x.csv}": "outside the scores of imported",
		"judges: [\"imported:g\"]\nimports: {g: x.csv}":      `did you mean "imported"?`,
		"judges: [people]":                                   "credence annotate",
	} {
		_, err := study.Parse("s.yaml", []byte("name: x\nmodels:\n- {name: a, weights: w}\ndatasets:\n- {name: facts}\nquantifiers: [log-probability]\n"+change+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", change, err, want)
		}
	}
}

func sum(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}
