package study

import (
	"os"

	"github.com/parquet-go/parquet-go"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
)

// The tables of a run, one observation a row. docs/format.md describes every column. An absent value
// is null and its reason stands in the column missing or reason.

type answerKey struct {
	Model   string `parquet:"model,dict"`
	Dataset string `parquet:"dataset,dict"`
	Item    string `parquet:"item"`
	Source  string `parquet:"source,dict"`
	Prompt  string `parquet:"prompt,dict"`
	Role    string `parquet:"role,dict"`
	Sample  int32  `parquet:"sample"`
}

func keyOf(id record.AnswerID) answerKey {
	return answerKey{id.Setting.Model, id.Setting.Dataset, id.Item, string(id.Origin.Source), id.Origin.Prompt, string(id.Origin.Role), int32(id.Origin.Sample)}
}

type answerRow struct {
	answerKey
	Text      string `parquet:"text"`
	Reply     string `parquet:"reply"`
	Truncated bool   `parquet:"truncated"`
	Missing   string `parquet:"missing,dict"`
}

type readingRow struct {
	answerKey
	Signal       string   `parquet:"signal,dict"`
	Context      string   `parquet:"context,dict"`
	Aggregation  string   `parquet:"aggregation,dict"`
	Elicitation  string   `parquet:"elicitation,dict"`
	Value        *float64 `parquet:"value"`
	Missing      string   `parquet:"missing,dict"`
	Fallback     bool     `parquet:"fallback"`
	Reproducible bool     `parquet:"reproducible"`
}

type tokenRow struct {
	answerKey
	Context  string  `parquet:"context,dict"`
	Position int32   `parquet:"position"`
	ID       int32   `parquet:"id"`
	Piece    []byte  `parquet:"piece"`
	LogProb  float64 `parquet:"log_prob"`
}

type judgementRow struct {
	answerKey
	Judge   string   `parquet:"judge,dict"`
	Verdict string   `parquet:"verdict,dict"`
	Missing string   `parquet:"missing,dict"`
	Score   *float64 `parquet:"score"`
	Reply   string   `parquet:"reply,dict"`
	Calls   string   `parquet:"calls"`
}

type metricRow struct {
	Comparison  string   `parquet:"comparison,dict"`
	Model       string   `parquet:"model,dict"`
	Dataset     string   `parquet:"dataset,dict"`
	Judge       string   `parquet:"judge,dict"`
	Aggregation string   `parquet:"aggregation,dict"`
	Quantity    string   `parquet:"quantity,dict"`
	Context     string   `parquet:"context,dict"`
	Metric      string   `parquet:"metric,dict"`
	Value       *float64 `parquet:"value"`
	Lower       *float64 `parquet:"lower"`
	Upper       *float64 `parquet:"upper"`
	Level       *float64 `parquet:"level"`
	Interval    string   `parquet:"interval,dict"`
	N           int32    `parquet:"n"`
	LeftOut     int32    `parquet:"left_out"`
	Undefined   int32    `parquet:"undefined_resamples"`
	Reason      string   `parquet:"reason,dict"`
}

type outcomeRow struct {
	Model       string   `parquet:"model,dict"`
	Dataset     string   `parquet:"dataset,dict"`
	Answers     string   `parquet:"answers,dict"`
	Context     string   `parquet:"context,dict"`
	Aggregation string   `parquet:"aggregation,dict"`
	Judge       string   `parquet:"judge,dict"`
	Metric      string   `parquet:"metric,dict"`
	Gap         *float64 `parquet:"gap"`
	Lower       *float64 `parquet:"lower"`
	Upper       *float64 `parquet:"upper"`
	N           int32    `parquet:"n"`
	Reason      string   `parquet:"reason,dict"`
	Better      string   `parquet:"better,dict"`
	Resolved    bool     `parquet:"resolved"`
}

// writeTables writes all Parquet files of a run, and the list of near misses where there is one.
func (r *runner) writeTables() error {
	f, all := r.folder, collect.Records{}
	for i := range r.models {
		for _, d := range r.data {
			all.Add(*r.collected[settingOf(r.models[i].model, d)])
		}
	}
	steps := []func() error{
		func() error { return writeTable(f, answersFile, answerRows(all.Answers)) },
		func() error { return writeTable(f, readingsFile, readingRows(r.readings)) },
		func() error { return writeTable(f, tokensFile, tokenRows(all.Scorings)) },
		func() error { return writeTable(f, judgementsFile, judgementRows(r.judgements)) },
		func() error { return writeTable(f, metricsFile, metricRows(r.settings)) },
	}
	if r.file.Protocol.Has(PartMultiverse) {
		steps = append(steps, func() error { return writeTable(f, multiverseFile, outcomeRows(r.outcomes)) })
	}
	if r.file.Protocol.Has(PartSupplied) {
		steps = append(steps, func() error { return f.writeNear(r.near) })
	}
	steps = append(steps, r.writeConsistency)
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func writeTable[T any](f *folder, name string, rows []T) error {
	return f.writeWith(name, func(file *os.File) error {
		w := parquet.NewGenericWriter[T](file, parquet.Compression(&parquet.Zstd), parquet.KeyValueMetadata("credence.schema", schemaVersion))
		if _, err := w.Write(rows); err != nil {
			return err
		}
		return w.Close()
	})
}

func answerRows(answers []record.Answer) []answerRow {
	rows := make([]answerRow, len(answers))
	for i, a := range answers {
		rows[i] = answerRow{keyOf(a.ID), a.Text, a.Reply, a.Truncated, string(a.Missing)}
	}
	return rows
}

func readingRows(readings []record.Reading) []readingRow {
	rows := make([]readingRow, len(readings))
	for i, r := range readings {
		p := r.Protocol
		rows[i] = readingRow{keyOf(r.Answer), string(r.Signal), p.Context, p.Aggregation, p.Elicitation, optional(r.Value.Get()), string(r.Value.Missing()), r.Fallback, r.Reproducible}
	}
	return rows
}

func tokenRows(scorings []record.Scoring) []tokenRow {
	var rows []tokenRow
	for _, s := range scorings {
		for i, t := range s.Tokens {
			rows = append(rows, tokenRow{keyOf(s.Answer), s.Context, int32(i), t.ID, t.Piece, t.LogProb})
		}
	}
	return rows
}

func judgementRows(judgements []record.Judgement) []judgementRow {
	rows := make([]judgementRow, len(judgements))
	for i, j := range judgements {
		rows[i] = judgementRow{answerKey: keyOf(j.Answer), Judge: j.Judge, Verdict: j.Verdict.String(), Missing: string(j.Missing)}
		if t := j.Trace; t != nil {
			rows[i].Score, rows[i].Reply, rows[i].Calls = optional(t.Score.Get()), t.Reply, t.Calls
		}
	}
	return rows
}

func metricRows(settings []*protocol.SettingResult) []metricRow {
	var rows []metricRow
	for _, s := range settings {
		for _, c := range s.Comparisons {
			rows = append(rows, comparisonRows(protocol.MainName, c)...)
		}
		for _, further := range s.Further {
			rows = append(rows, comparisonRows(further.Name, further.Comparison)...)
		}
	}
	return rows
}

func comparisonRows(name string, c *protocol.Comparison) []metricRow {
	var rows []metricRow
	add := func(quantity, context, metric string, v measure.Value) {
		row := metricRowOf(c, quantity, context, metric, v)
		row.Comparison = name
		rows = append(rows, row)
	}
	add("parse-rate", "", c.ParseRate.Method, c.ParseRate)
	add("fallback-rate", "", c.FallbackRate.Method, c.FallbackRate)
	add("accuracy", "", c.Accuracy.Method, c.Accuracy)
	add("verbalised", "", c.Verbalised.Mean.Method, c.Verbalised.Mean)
	for _, m := range c.Verbalised.Metrics {
		add("verbalised", "", m.Method, m)
	}
	for _, context := range c.Contexts {
		add("token", context.Name, context.Token.Mean.Method, context.Token.Mean)
		for i, m := range context.Token.Metrics {
			add("token", context.Name, m.Method, m)
			g := context.Gaps[i]
			add("gap", context.Name, g.Metric, g.Gap)
			if g.Shift != nil {
				add("shift", context.Name, g.Metric, *g.Shift)
			}
		}
	}
	return rows
}

func outcomeRows(outcomes []protocol.Outcome) []outcomeRow {
	rows := make([]outcomeRow, len(outcomes))
	for i, o := range outcomes {
		rows[i] = outcomeRow{
			Model: o.Setting.Model, Dataset: o.Setting.Dataset, Answers: o.Answers, Context: o.Context, Aggregation: o.Aggregation,
			Judge: o.Judge, Metric: o.Metric, Gap: optional(o.Gap.Get()), N: int32(o.Gap.N), Reason: string(o.Gap.Reason()),
			Better: string(o.Better), Resolved: o.Resolved,
		}
		if iv := o.Gap.Interval; iv != nil {
			rows[i].Lower, rows[i].Upper = &iv.Lower, &iv.Upper
		}
	}
	return rows
}

func metricRowOf(c *protocol.Comparison, quantity, context, metric string, v measure.Value) metricRow {
	row := metricRow{
		Model: c.Setting.Model, Dataset: c.Setting.Dataset, Judge: c.Choice.Judge, Aggregation: c.Choice.Aggregation,
		Quantity: quantity, Context: context, Metric: metric,
		Value: optional(v.Get()), N: int32(v.N), LeftOut: int32(v.NLeftOut()), Reason: string(v.Reason()),
	}
	if iv := v.Interval; iv != nil {
		row.Lower, row.Upper, row.Level = &iv.Lower, &iv.Upper, &iv.Level
		row.Interval, row.Undefined = iv.Method, int32(iv.Undefined)
	}
	return row
}

// optional turns (value, known) into a column value that is null where nothing is known.
func optional(x float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &x
}
