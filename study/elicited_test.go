package study_test

import (
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/credence-lab/credence/study"
)

// Every way of asking for a confidence brings what was planted for it; one that is of another guess is missing.
func TestEveryStatedConfidenceIsReadAndIsOfTheAnswer(t *testing.T) {
	t.Parallel()
	const list = "verbalised-confidence, verbalised-confidence.top-1, verbalised-confidence.top-k, verbalised-confidence.top-k.normalised, " +
		"verbalised-confidence.two-stage, verbalised-confidence.reasoning, verbalised-confidence.linguistic"
	folder := t.TempDir()
	text := withQuantifiers(list, "")
	plan, err := study.MakePlan(t.Context(), parse(t, text), folder, wavering{})
	if err != nil {
		t.Fatal(err)
	}
	_, info, err := study.Run(t.Context(), parse(t, text), study.Options{Folder: folder, Open: wavering{}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.ReadFile[struct {
		Item    string   `parquet:"item"`
		Signal  string   `parquet:"signal"`
		Value   *float64 `parquet:"value"`
		Missing string   `parquet:"missing"`
	}](filepath.Join(folder, "readings.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		"verbalised-confidence": .8, "verbalised-confidence.top-1": .9, "verbalised-confidence.top-k": .6, "verbalised-confidence.top-k.normalised": .75,
		"verbalised-confidence.two-stage": .7, "verbalised-confidence.reasoning": .4, "verbalised-confidence.linguistic": .9,
	}
	seen := map[string]int{}
	for _, r := range rows {
		x, ok := want[r.Signal]
		if !ok {
			continue
		}
		seen[r.Signal]++
		if r.Signal == "verbalised-confidence.reasoning" && r.Value == nil {
			if r.Missing != "answer not among the guesses" {
				t.Errorf("another guess: %q", r.Missing)
			}
			seen["another"]++
			continue
		}
		if r.Value == nil || *r.Value < x-1e-12 || *r.Value > x+1e-12 {
			t.Errorf("%s of %s: %v (%s), planted %v", r.Signal, r.Item, r.Value, r.Missing, x)
		}
	}
	for signal := range want {
		if seen[signal] != 12 {
			t.Errorf("%d values of %s", seen[signal], signal)
		}
	}
	if seen["another"] != 1 {
		t.Errorf("%d confidences in another guess, planted 1", seen["another"])
	}
	if planned := plan.Settings[0].Calls; planned != info.Made {
		t.Errorf("planned %d calls, made %d", planned, info.Made)
	}
}
