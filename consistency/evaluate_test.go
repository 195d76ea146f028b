package consistency_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

// A base model states no confidence at all: that score is then missing for it, and does not take the others along.
func TestAScoreThatAModelNeverHas(t *testing.T) {
	t.Parallel()
	table := func(baseStates bool) consistency.Table {
		out := consistency.Table{Scores: []consistency.Score{
			{Name: "c3", Scaling: consistency.Clipped}, {Name: "self-consistency", Scaling: consistency.Clipped}, {Name: "self-report", Scaling: consistency.AsIs},
		}}
		for i := range 12 {
			x := float64(i) / 12
			for _, model := range []string{"base", "chat"} {
				report := record.Known(1 - x)
				if model == "base" && !baseStates {
					report = record.Absent("no probability stated")
				}
				out.Rows = append(out.Rows, consistency.Row{Benchmark: "facts", Item: fmt.Sprint("q", i), Model: model,
					Performance: record.Known(float64(i % 2)), Scores: []record.Number{record.Known(x), record.Known(x * x), report}})
			}
		}
		return out
	}
	evaluate := func(baseStates bool) *consistency.Evaluation {
		e, err := consistency.Evaluate(t.Context(), table(baseStates), consistency.EvaluationOptions{Bins: 5, Resampling: consistency.Resampling{N: 50, Level: .9}})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	whole, lacking := evaluate(true), evaluate(false)
	for k, row := range lacking.PerModel[0].Metrics {
		for s := range 2 {
			if diff := cmp.Diff(whole.PerModel[0].Metrics[k].Values[s], row.Values[s], cmp.AllowUnexported(measure.Value{})); diff != "" {
				t.Errorf("%s of score %d moved:\n%s", row.Metric, s, diff)
			}
		}
		if v := row.Values[2]; v.Defined() || v.Reason() != measure.NoItems || v.NLeftOut() != 12 {
			t.Errorf("%s of a score that is never there: %+v", row.Metric, v)
		}
		if !row.Differences[0].Defined() || row.Differences[1].Defined() {
			t.Errorf("%s: differences %+v", row.Metric, row.Differences)
		}
		mean := lacking.Means[0].Metrics[k]
		if mean.Values[0].N != 24 || mean.Values[2].N != 12 || len(mean.Values[2].Warnings) == 0 {
			t.Errorf("%s: means over n = %d and %d; want 24 of both models, 12 of the one that states it, with a warning", row.Metric, mean.Values[0].N, mean.Values[2].N)
		}
	}
}
