package consistency

import (
	"context"

	"github.com/credence-lab/credence/record"
)

// NamedEvaluation is an evaluation over one kind of choice.
type NamedEvaluation struct {
	// Over is "baselines", "sources", "kernels" or "estimators".
	Over string `json:"over"`
	*Evaluation
}

func (c *conduct) evaluate(ctx context.Context) error {
	add := func(over string, columns []scoreColumn) error {
		e, err := Evaluate(ctx, c.table(columns), EvaluationOptions{Bins: c.Bins, Resampling: Resampling{Level: c.Level, N: max(1, c.Resamples), Seed: c.Seed}})
		if err == nil {
			c.out.Evaluations = append(c.out.Evaluations, NamedEvaluation{over, e})
		}
		return err
	}
	if err := add("baselines", c.baselines()); err != nil {
		return err
	}
	var sources, kernels, estimators []scoreColumn
	main := c.main()
	for i, v := range c.variants() {
		if v.kernel == main.kernel && v.estimator == main.estimator {
			sources = append(sources, c.c3Column("c3, "+c.Sources[v.source], i))
		}
		if v.source == main.source && v.estimator == main.estimator {
			kernels = append(kernels, c.c3Column("c3, "+string(v.kernel), i))
		}
		if v.source == main.source && v.kernel == main.kernel {
			estimators = append(estimators, c.c3Column("c3, "+string(v.estimator), i))
		}
	}
	// Tables 8 and 9 have the baselines beside the C3s; those of another kernel would be of another kernel too.
	for _, one := range []struct {
		over            string
		columns, beside []scoreColumn
	}{{"sources", sources, c.baselines()[1:]}, {"kernels", kernels, nil}, {"estimators", estimators, c.baselines()[1:]}} {
		if len(one.columns) < 2 {
			continue
		}
		if err := add(one.over, append(one.columns, one.beside...)); err != nil {
			return err
		}
	}
	return nil
}

// scoreColumn is a named score with its value of an item.
type scoreColumn struct {
	Score
	of func(Scored) record.Number
}

func (c *conduct) c3Column(name string, v int) scoreColumn {
	return scoreColumn{Score{name, Clipped}, func(s Scored) record.Number { return numberOf(s.Variants[v].C3) }}
}

func (c *conduct) baselines() []scoreColumn {
	list := []scoreColumn{
		c.c3Column("c3", 0),
		{Score{"self-consistency", Clipped}, func(s Scored) record.Number { return numberOf(s.SelfConsistency) }},
	}
	if c.Paraphrased {
		list = append(list, scoreColumn{Score{"paraphrasing", Clipped}, func(s Scored) record.Number { return numberOf(s.Paraphrasing) }})
	}
	if c.SelfReport {
		list = append(list, scoreColumn{Score{"self-report", AsIs}, func(s Scored) record.Number { return s.Stated }})
	}
	return list
}

// table joins columns; the state is that of the first.
func (c *conduct) table(columns []scoreColumn) Table {
	var t Table
	for _, col := range columns {
		t.Scores = append(t.Scores, col.Score)
	}
	for _, s := range c.scored {
		r := Row{Model: s.Model, Benchmark: s.Benchmark, Item: s.Item, Performance: numberOf(s.Performance), Undetermined: s.Variants[0].State == Undetermined}
		for _, col := range columns {
			r.Scores = append(r.Scores, col.of(s))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}
