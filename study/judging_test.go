package study_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/credence-lab/credence/study"
)

const judgedByModels = `name: judged
models:
- {name: a, weights: w}
- {name: b, weights: w2}
datasets:
- {name: facts, limit: 12}
protocol: {contexts: [bare], correctness: [exact.ascii]}
quantifiers: [log-probability]
judges: [exact-match, "llm:a", "llm:a@0.9", "llm-text:b", "panel-mean:a+b", "panel-majority:a+b"]
judging: {orders: true, repeats: 4, repeat_items: 5}
analysis: {resamples: 0}
`

type judgementRow struct {
	Item    string   `parquet:"item"`
	Model   string   `parquet:"model"`
	Judge   string   `parquet:"judge"`
	Verdict string   `parquet:"verdict"`
	Score   *float64 `parquet:"score"`
	Reply   string   `parquet:"reply"`
	Calls   string   `parquet:"calls"`
}

func TestModelsJudgeAloneInWordsAndInPanels(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	plan, err := study.MakePlan(t.Context(), parse(t, judgedByModels), folder, wavering{})
	if err != nil {
		t.Fatal(err)
	}
	results, info, err := study.Run(t.Context(), parse(t, judgedByModels), study.Options{Folder: folder, Open: wavering{}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	// Forced and written verdicts are planted right; only .9 is more than any score: p(True) is at most .71.
	for _, u := range results.Uncertainty {
		for _, j := range u.Judges {
			want := 2. / 3
			if j.Judge == "llm:a@0.9" {
				want = 0
			}
			if x, _ := j.Accuracy.Get(); math.Abs(x-want) > 1e-12 || j.Accuracy.N != 12 {
				t.Errorf("%s of %s finds %v of %d right, planted %v", j.Judge, u.Setting, x, j.Accuracy.N, want)
			}
			if j.Judge == "llm:a" {
				if j.Swapped == nil || j.Turned == nil || j.Swapped.Changed.N != 12 {
					t.Fatalf("orders: %+v, %+v", j.Swapped, j.Turned)
				}
				if x, _ := j.Swapped.Changed.Get(); x != 0 || j.Swapped.Changed.Interval == nil {
					t.Errorf("swapped verdicts change %v, planted 0: %+v", x, j.Swapped.Changed)
				}
			}
			if (j.Judge == "llm:a" || j.Judge == "llm-text:b") != (j.Repeatability != nil) && !strings.HasPrefix(j.Judge, "llm:a@") {
				t.Errorf("%s: repeatability %+v", j.Judge, j.Repeatability)
			}
			if j.Judge == "llm-text:b" {
				x, _ := j.Repeatability.Get()
				if iv := j.Repeatability.Interval; j.Repeatability.N != 5 || !(x > .3 && x <= 1) || iv == nil || !(iv.Lower < x && x <= iv.Upper && iv.Lower > 0) || iv.Method != "wilson" {
					t.Errorf("repeatability %v of %d answers, %+v", x, j.Repeatability.N, iv)
				}
			}
		}
	}
	shown := 0
	for _, table := range results.Tables() {
		if table.Name != "judge-steadiness" {
			continue
		}
		shown++
		var text strings.Builder
		if err := table.WriteMarkdown(&text); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), "| llm-text:b |") || strings.Contains(text.String(), "| panel-mean:a+b |") || !strings.Contains(text.String(), "[") {
			t.Errorf("%s", text.String())
		}
	}
	if shown != len(results.Uncertainty) {
		t.Errorf("%d tables of how steady the judges are, %d settings", shown, len(results.Uncertainty))
	}
	rows, err := parquet.ReadFile[judgementRow](filepath.Join(folder, "judgements.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		keys := len(strings.Fields(r.Calls))
		want := map[string]int{"llm:a": 2, "llm:a@0.9": 2, "llm-text:b": 1, "panel-mean:a+b": 4, "panel-majority:a+b": 4}[r.Judge]
		if keys != want {
			t.Errorf("%s has %d calls behind its verdict, want %d", r.Judge, keys, want)
		}
		if scored := r.Judge == "llm:a" || r.Judge == "panel-mean:a+b"; scored && (r.Score == nil || (*r.Score > .5) != (r.Verdict == "correct")) {
			t.Errorf("%+v", r)
		}
		if r.Judge == "llm-text:b" && r.Reply == "" {
			t.Errorf("no reply behind %+v", r)
		}
	}
	// Both models give the same answers, so that b's are known when a's were judged.
	var planned, made int64
	for _, s := range plan.Settings {
		planned += s.Calls
	}
	for _, m := range info.Models {
		made += m.Made
	}
	if math.Abs(float64(planned-made)) > .1*float64(made) {
		t.Errorf("planned %d calls, made %d", planned, made)
	}
}

func TestPanelsAreCheckedBeforeAnythingIsAsked(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]string{
		`judges: ["panel-mean:a+nobody"]`:                              `no model "nobody"`,
		`judges: ["panel-mean:a+a"]`:                                   "twice",
		`judges: ["panel-majority:a"]`:                                 "no panel",
		`judges: ["llm-text:nobody"]`:                                  `no model "nobody"`,
		"judges: [exact-match]\njudging: {orders: true}":               "no model judges",
		"judges: [\"llm:a\"]\njudging: {repeats: 1}":                   "repeats is 1",
		"judges: [\"llm:a\"]\njudging: {repeats: 3, temperature: 0}":   "only repeated",
		"judges: [\"llm:a\"]\njudging: {repeats: 3, repeat_items: -1}": "repeat_items is -1",
	} {
		text := "name: x\nmodels:\n- {name: a, weights: w}\n- {name: b, weights: w}\ndatasets:\n- {name: facts, limit: 12}\nquantifiers: [log-probability]\n" + change + "\n"
		_, err := study.Parse("s.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", change, err, want)
		}
	}
}
