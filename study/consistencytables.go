package study

import (
	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/measure"
)

// Files of consistency in a run's folder.
const (
	consistencyFile   = "consistency.parquet"
	perturbationsFile = "perturbations.parquet"
)

// consistencyRow is one C3 of one item.
type consistencyRow struct {
	Model           string   `parquet:"model,dict"`
	Dataset         string   `parquet:"dataset,dict"`
	Item            string   `parquet:"item"`
	Source          string   `parquet:"source,dict"`
	Kernel          string   `parquet:"kernel,dict"`
	Estimator       string   `parquet:"estimator,dict"`
	State           string   `parquet:"state,dict"`
	C3              *float64 `parquet:"c3"`
	Clipped         *float64 `parquet:"c3_clipped"`
	Lower           *float64 `parquet:"lower"`
	Upper           *float64 `parquet:"upper"`
	P               *float64 `parquet:"p"`
	Original        *float64 `parquet:"within_original"`
	Perturbed       *float64 `parquet:"within_perturbed"`
	Cross           *float64 `parquet:"cross"`
	N               int32    `parquet:"n"`
	M               int32    `parquet:"m"`
	LeftOut         int32    `parquet:"left_out"`
	Reason          string   `parquet:"reason,dict"`
	Performance     *float64 `parquet:"performance"`
	PerformanceN    int32    `parquet:"performance_n"`
	SelfConsistency *float64 `parquet:"self_consistency"`
	Paraphrasing    *float64 `parquet:"paraphrasing"`
	SelfReport      *float64 `parquet:"self_report"`
	ModalShare      *float64 `parquet:"modal_share"`
}

// perturbationRow is one candidate, or one paraphrase.
type perturbationRow struct {
	Dataset string   `parquet:"dataset,dict"`
	Item    string   `parquet:"item"`
	Source  string   `parquet:"source,dict"`
	Number  int32    `parquet:"number"`
	Batch   int32    `parquet:"batch"`
	Text    string   `parquet:"text"`
	Kept    bool     `parquet:"kept"`
	Refusal string   `parquet:"refusal,dict"`
	Cosine  *float64 `parquet:"nearest_cosine"`
	Domain  string   `parquet:"domain,dict"`
}

func (r *runner) writeConsistency() error {
	if r.file.Consistency == nil {
		return nil
	}
	if err := writeTable(r.folder, consistencyFile, consistencyRows(r.consistent.scored)); err != nil {
		return err
	}
	return writeTable(r.folder, perturbationsFile, r.perturbationRows())
}

func consistencyRows(list []consistency.Scored) []consistencyRow {
	number := func(v measure.Value) *float64 { return optional(v.Get()) }
	var rows []consistencyRow
	for _, s := range list {
		for _, v := range s.Variants {
			row := consistencyRow{
				Model: s.Model, Dataset: s.Benchmark, Item: s.Item, Source: v.Source, Kernel: string(v.Kernel), Estimator: string(v.Estimator),
				State: string(v.State), C3: number(v.C3), Clipped: number(v.Clipped), P: number(v.P),
				Original: number(v.Original), Perturbed: number(v.Perturbed), Cross: number(v.Cross),
				N: int32(v.Samples), M: int32(v.PerturbedSamples), LeftOut: int32(v.C3.NLeftOut()), Reason: string(v.C3.Reason()),
				Performance: number(s.Performance), PerformanceN: int32(s.Performance.N), SelfConsistency: number(s.SelfConsistency),
				Paraphrasing: number(s.Paraphrasing), SelfReport: optional(s.Stated.Get()), ModalShare: number(s.ModalShare),
			}
			if iv := v.C3.Interval; iv != nil {
				row.Lower, row.Upper = &iv.Lower, &iv.Upper
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func (r *runner) perturbationRows() []perturbationRow {
	var rows []perturbationRow
	for _, d := range r.data {
		for i, p := range r.file.Consistency.Perturbations {
			domains := map[string]string{}
			if topics := r.consistent.topics[d.Name]; topics != nil {
				for k, text := range topics[i].texts {
					if n := topics[i].domains[k]; n >= 0 {
						domains[text] = string(consistency.Domains()[n])
					}
				}
			}
			for _, found := range r.consistent.perturbed[d.Name][i] {
				rows = append(rows, candidateRows(d.Name, p.Name, found, domains)...)
			}
		}
		for i, found := range r.consistent.paraphrased[d.Name] {
			for k, text := range found.Kept {
				rows = append(rows, perturbationRow{Dataset: d.Name, Item: d.Items[i].ID, Source: collect.ParaphrasedLabel, Number: int32(k), Text: text, Kept: true})
			}
		}
	}
	return rows
}

func candidateRows(data, source string, found collect.Perturbed, domains map[string]string) []perturbationRow {
	rows := make([]perturbationRow, len(found.Candidates))
	for k, c := range found.Candidates {
		rows[k] = perturbationRow{
			Dataset: data, Item: found.Item, Source: source, Number: int32(k), Batch: int32(c.Batch), Text: c.Text,
			Kept: c.Refusal == "", Refusal: string(c.Refusal), Cosine: optional(c.Cosine.Get()),
		}
		if rows[k].Kept {
			rows[k].Domain = domains[c.Text]
		}
	}
	return rows
}
