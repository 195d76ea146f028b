package consistency_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/record"
)

// behaviour is how a planted item is answered: the answers under either prompt, each equally likely. "right"
// is correct.
type behaviour struct{ original, perturbed []string }

var planted = map[consistency.Region]behaviour{
	consistency.Mastered:  {[]string{"right"}, []string{"right"}},
	consistency.Brittle:   {[]string{"right"}, []string{"right", "x", "y", "z"}},
	consistency.Biased:    {[]string{"wrong"}, []string{"wrong"}},
	consistency.Unlearned: {[]string{"x", "y", "z"}, []string{"u", "v", "x"}},
}

// world is a table of every planted behaviour, 20 items each, with C3, self-consistency and a self-report
// that knows nothing.
func world(t *testing.T, models ...string) (consistency.Table, map[string]consistency.Region) {
	t.Helper()
	table := consistency.Table{Scores: []consistency.Score{
		{Name: "c3", Scaling: consistency.Clipped}, {Name: "self-consistency", Scaling: consistency.AsIs}, {Name: "self-report", Scaling: consistency.AsIs},
	}}
	truth := map[string]consistency.Region{}
	for m, model := range models {
		random := rand.New(rand.NewPCG(uint64(m), 77))
		sample := func(of []string) []consistency.Sample {
			s := make([]consistency.Sample, 30)
			for i := range s {
				s[i].Answer = of[random.IntN(len(of))]
			}
			return s
		}
		for _, region := range consistency.Regions()[:4] {
			for i := range 20 {
				item := fmt.Sprintf("%s %02d", region, i)
				truth[item] = region
				original := sample(planted[region].original)
				r := c3(t, consistency.CompareAnswers(original, sample(planted[region].perturbed)), "")
				right := 0.
				for _, s := range original {
					if s.Answer == "right" {
						right++
					}
				}
				value, _ := r.C3.Get()
				self, _ := r.Original.Get()
				table.Rows = append(table.Rows, consistency.Row{
					Model: model, Benchmark: "planted", Item: item, Performance: record.Known(right / 30),
					Scores:       []record.Number{record.Known(value), record.Known(self), record.Known(random.Float64())},
					Undetermined: r.State == consistency.Undetermined,
				})
			}
		}
	}
	return table, truth
}

func TestPlantedItemsAreDiagnosed(t *testing.T) {
	t.Parallel()
	table, truth := world(t, "m1", "m2", "m3")
	d, err := consistency.Diagnose(table, .95)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Items {
		if p.Region != truth[p.Item] || p.Models != 3 {
			t.Errorf("%s is %s with performance %v and C3 %v", p.Item, p.Region, p.Performance, p.C3)
		}
	}
	part := d.Benchmarks[0]
	if part.N != 80 || len(d.In("planted", consistency.Brittle)) != 20 {
		t.Errorf("%d items, %d brittle", part.N, len(d.In("planted", consistency.Brittle)))
	}
	near(t, "saturation", part.Saturation, .25, 0)
	near(t, "leakage", part.Leakage, .5, 0)
	near(t, "misconception", part.Misconception, .5, 0)
}

// Medians are over all benchmarks: a benchmark on which all is mastered stays so beside one that is not.
func TestMediansArePooled(t *testing.T) {
	t.Parallel()
	table := consistency.Table{Scores: []consistency.Score{{Name: "c3", Scaling: consistency.Clipped}}}
	for i := range 10 {
		for b, x := range map[string]float64{"easy": .9, "hard": .1} {
			table.Rows = append(table.Rows, consistency.Row{
				Model: "m", Benchmark: b, Item: fmt.Sprint(i), Performance: record.Known(x), Scores: []record.Number{record.Known(x)},
			})
		}
	}
	table.Rows = append(table.Rows,
		consistency.Row{Model: "m", Benchmark: "hard", Item: "distinct", Performance: record.Known(0), Scores: []record.Number{record.Known(1)}, Undetermined: true},
		consistency.Row{Model: "m", Benchmark: "hard", Item: "unjudged", Performance: record.Absent(record.NoReference), Scores: []record.Number{record.Known(1)}})
	d, err := consistency.Diagnose(table, .95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "saturation of the easy", d.Benchmarks[0].Saturation, 1, 0)
	near(t, "saturation of the hard", d.Benchmarks[1].Saturation, 0, 0)
	if got := d.In("hard", consistency.Unknown); len(got) != 1 || got[0].Item != "distinct" {
		t.Errorf("undetermined: %v", got)
	}
	if diff := cmp.Diff([]measure.Excluded{{Reason: "no reference", N: 1}}, d.Benchmarks[1].LeftOut); diff != "" {
		t.Error(diff)
	}
}

// Where most items stand at the least value there is nothing below the median: they are low, not high.
func TestAMedianAtTheBottomIsLow(t *testing.T) {
	t.Parallel()
	table := consistency.Table{Scores: []consistency.Score{{Name: "c3", Scaling: consistency.Clipped}}}
	for i := range 10 {
		table.Rows = append(table.Rows, consistency.Row{
			Model: "m", Benchmark: "b", Item: fmt.Sprint(i), Performance: record.Known(float64(i / 8)), Scores: []record.Number{record.Known(.5)},
		})
	}
	d, err := consistency.Diagnose(table, .95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "leakage", d.Benchmarks[0].Leakage, 1, 0)
	if n := len(d.In("b", consistency.Unlearned)); n != 8 || !warned(d.MedianPerformance, "ties-at-median") {
		t.Errorf("%d of 8 are unlearned; %v", n, d.MedianPerformance.Warnings)
	}
}

func TestEvaluationOfPlantedItems(t *testing.T) {
	t.Parallel()
	table, _ := world(t, "m1", "m2")
	o := consistency.EvaluationOptions{Bins: 10, Resampling: consistency.Resampling{Level: .95, N: 200, Seed: 3}}
	e, err := consistency.Evaluate(context.Background(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.PerModel) != 2 || len(e.Means) != 1 || len(e.Pooled) != 1 || len(e.Averaged) != 1 {
		t.Fatalf("%d, %d, %d, %d blocks", len(e.PerModel), len(e.Means), len(e.Pooled), len(e.Averaged))
	}
	ids := func(b consistency.Block) (out []string) {
		for _, m := range b.Metrics {
			out = append(out, m.Metric)
		}
		return out
	}
	want := []string{"ece.equal-width.10.left-closed", "auroc", "ap.correct", "ap.incorrect", "spearman"}
	if diff := cmp.Diff(want, ids(e.Means[0])); diff != "" {
		t.Error(diff)
	}
	for k := range want {
		mean := (number(t, e.PerModel[0].Metrics[k].Values[1]) + number(t, e.PerModel[1].Metrics[k].Values[1])) / 2
		near(t, "mean of "+want[k], e.Means[0].Metrics[k].Values[1], mean, 1e-14)
		gap := number(t, e.Pooled[0].Metrics[k].Values[0]) - number(t, e.Pooled[0].Metrics[k].Values[2])
		near(t, "gap of "+want[k], e.Pooled[0].Metrics[k].Differences[1], gap, 1e-14)
	}
	if n := e.Pooled[0].Metrics[1].Values[0].N; n != 160 {
		t.Errorf("%d rows pooled", n)
	}
	if n := e.Averaged[0].Metrics[1].Values[0].N; n != 80 {
		t.Errorf("%d items averaged", n)
	}
	// Self-consistency parts unlearned items from the rest and so tells more than a report that knows nothing.
	auroc := e.Averaged[0].Metrics[1]
	if diff := auroc.Differences[1].Interval; auroc.Values[0].Interval == nil || diff == nil {
		t.Error("no interval")
	}
	if slices.Contains(auroc.Best, 2) {
		t.Error("the report that knows nothing is best")
	}
	again, err := consistency.Evaluate(context.Background(), reversed(table), o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, again, cmp.AllowUnexported(measure.Value{})); diff != "" {
		t.Errorf("the order of rows matters: %s", diff)
	}
}

func reversed(t consistency.Table) consistency.Table {
	t.Rows = slices.Clone(t.Rows)
	slices.Reverse(t.Rows)
	return t
}

// Two copies of one model say no more than one: the items are drawn once for both, so that the mean over them
// has the width of one. Drawn apart, it would be narrower by √2.
func TestModelsOnTheSameItemsAreNoIndependentEvidence(t *testing.T) {
	t.Parallel()
	table, _ := world(t, "m")
	twice := table
	for _, r := range table.Rows {
		r.Model = "copy"
		twice.Rows = append(twice.Rows, r)
	}
	width := func(table consistency.Table, of func(*consistency.Evaluation) consistency.Block) float64 {
		e, err := consistency.Evaluate(context.Background(), table, consistency.EvaluationOptions{
			Bins: 10, Resampling: consistency.Resampling{Level: .9, N: 1000},
		})
		if err != nil {
			t.Fatal(err)
		}
		iv := of(e).Metrics[1].Values[1].Interval
		return iv.Upper - iv.Lower
	}
	one := width(table, func(e *consistency.Evaluation) consistency.Block { return e.PerModel[0] })
	for name, of := range map[string]func(*consistency.Evaluation) consistency.Block{
		"mean":   func(e *consistency.Evaluation) consistency.Block { return e.Means[0] },
		"pooled": func(e *consistency.Evaluation) consistency.Block { return e.Pooled[0] },
	} {
		if two := width(twice, of); two < .85*one || two > 1.15*one {
			t.Errorf("%s of two copies has width %v, one model %v", name, two, one)
		}
	}
}

func TestUndeterminedRowsAreCountedAndCanBeLeftOut(t *testing.T) {
	t.Parallel()
	table, _ := world(t, "m")
	for i := range 5 {
		table.Rows[i].Undetermined = true
	}
	o := consistency.EvaluationOptions{Bins: 10, Resampling: consistency.Resampling{Level: .9, N: 50}}
	for without, want := range map[bool]int{false: 80, true: 75} {
		o.WithoutUndetermined = without
		e, err := consistency.Evaluate(context.Background(), table, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []consistency.Block{e.PerModel[0], e.Means[0], e.Pooled[0], e.Averaged[0]} {
			if v := b.Metrics[1].Values[0]; v.N != want || b.Undetermined != 5 || v.NLeftOut() != 80-want {
				t.Errorf("without %v: n %d, undetermined %d, left out %v", without, v.N, b.Undetermined, v.LeftOut)
			}
		}
	}
}

func TestTablesThatContradictThemselves(t *testing.T) {
	t.Parallel()
	row := consistency.Row{Model: "m", Benchmark: "b", Item: "i", Performance: record.Known(1), Scores: []record.Number{record.Known(.5)}}
	score := []consistency.Score{{Name: "c3", Scaling: consistency.AsIs}}
	bad := func(change func(*consistency.Row)) consistency.Row {
		r := row
		change(&r)
		return r
	}
	for name, table := range map[string]consistency.Table{
		"no scores":   {Rows: []consistency.Row{row}},
		"no scaling":  {Scores: []consistency.Score{{Name: "c3"}}},
		"twice":       {Scores: score, Rows: []consistency.Row{row, row}},
		"performance": {Scores: score, Rows: []consistency.Row{bad(func(r *consistency.Row) { r.Performance = record.Known(2) })}},
		"columns":     {Scores: score, Rows: []consistency.Row{bad(func(r *consistency.Row) { r.Scores = nil })}},
		"outside":     {Scores: score, Rows: []consistency.Row{bad(func(r *consistency.Row) { r.Scores = []record.Number{record.Known(1.2)} })}},
	} {
		if _, err := consistency.Diagnose(table, .9); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A model that is always right has no AUROC: the mean is over the others, and says so.
func TestAModelWithoutAValueLeavesTheMean(t *testing.T) {
	t.Parallel()
	table, _ := world(t, "m", "right")
	for i, r := range table.Rows {
		if r.Model == "right" {
			table.Rows[i].Performance = record.Known(1)
		}
	}
	e, err := consistency.Evaluate(context.Background(), table, consistency.EvaluationOptions{
		Bins: 10, Resampling: consistency.Resampling{Level: .9, N: 50},
	})
	if err != nil {
		t.Fatal(err)
	}
	auroc := e.Means[0].Metrics[1].Values[0]
	near(t, "mean AUROC", auroc, number(t, e.PerModel[0].Metrics[1].Values[0]), 1e-15)
	if !warned(auroc, "models-left-out") || auroc.N != 80 {
		t.Errorf("n %d, %v", auroc.N, auroc.Warnings)
	}
	// Where all models are always right, the mean has their reason.
	for i := range table.Rows {
		table.Rows[i].Performance = record.Known(1)
	}
	one, err := consistency.Evaluate(context.Background(), table, consistency.EvaluationOptions{Bins: 10, Resampling: consistency.Resampling{Level: .9, N: 50}})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []measure.Value{one.Means[0].Metrics[1].Values[0], one.Means[0].Metrics[1].Differences[0]} {
		if v.Defined() || v.Reason() != measure.OneClass || v.N != 160 || !warned(v, "models-left-out") {
			t.Errorf("%+v", v)
		}
	}
	if d := e.PerModel[1].Metrics[1].Differences[0]; d.Reason() != measure.OneClass {
		t.Errorf("a difference where there is one class: %v", d.Reason())
	}
}
