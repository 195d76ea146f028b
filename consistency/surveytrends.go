package consistency

import (
	"context"

	"github.com/credence-lab/credence/measure"
)

// NamedTrend is a value over models.
type NamedTrend struct {
	// Value is "mean c3", or the id of a metric of the C3; By is "release" or "parameters".
	Value     string `json:"value"`
	By        string `json:"by"`
	Benchmark string `json:"benchmark"`
	Trend
}

// trends order models by release and by size, where the design knows them.
func (c *conduct) trends(context.Context) error {
	for _, by := range []struct {
		name string
		at   func(ModelFacts) (float64, bool, error)
	}{
		{"release", func(m ModelFacts) (float64, bool, error) {
			if m.Released == "" {
				return 0, false, nil
			}
			x, err := Month(m.Released)
			return x, true, err
		}},
		{"parameters", func(m ModelFacts) (float64, bool, error) { return m.Parameters, m.Parameters > 0, nil }},
	} {
		places := map[string]float64{}
		for _, m := range c.Models {
			x, known, err := by.at(m)
			if err != nil {
				return err
			}
			if known {
				places[m.Model] = x
			}
		}
		if len(places) < 2 {
			continue
		}
		if err := c.trendsBy(by.name, places); err != nil {
			return err
		}
	}
	return nil
}

func (c *conduct) trendsBy(by string, places map[string]float64) error {
	points := map[[2]string][]TrendPoint{}
	var keys [][2]string
	put := func(value, benchmark, model string, v measure.Value) {
		at, known := places[model]
		if !known {
			return
		}
		key := [2]string{value, benchmark}
		if points[key] == nil {
			keys = append(keys, key)
		}
		points[key] = append(points[key], TrendPoint{Model: model, At: at, Value: v})
	}
	for _, s := range c.out.Main() {
		put("mean c3", s.Benchmark, s.Model, s.C3)
	}
	for _, b := range c.out.Evaluations[0].PerModel {
		for _, row := range b.Metrics[:2] { // the calibration error and AUROC
			put(row.Metric, b.Benchmark, b.Model, row.Values[0])
		}
	}
	for _, key := range keys {
		t, err := TrendOf(points[key], c.resampling(max(1, c.Resamples), "", key[1], "trend."+by+"."+key[0]))
		if err != nil {
			return err
		}
		c.out.Trends = append(c.out.Trends, NamedTrend{key[0], by, key[1], t})
	}
	return nil
}
