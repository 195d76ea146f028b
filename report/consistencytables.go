package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/measure"
)

// consistencyPaper is the paper whose tables those of consistency are like.
const consistencyPaper = "Wu, Jiang and Aragam 2026"

// ConsistencyTables are the tables of a survey of cross-contextual consistency. Each counts the items whose C3 is
// undetermined.
func ConsistencyTables(s *consistency.Survey) []StudyTable {
	var list []StudyTable
	add := func(name, source, title string, v tableView) {
		if len(v.Rows) == 0 {
			return
		}
		v.Name = name
		t := StudyTable{Name: name, Title: title, Source: source, view: v}
		if source != "" {
			t.Paper = consistencyPaper
		}
		list = append(list, t)
	}
	add("consistency", "", "C3 of every setting, with the agreements that it is made of", statesTable(s))
	for _, e := range s.Evaluations {
		name, source := "c3-"+e.Over, map[string]string{"sources": "Table 8", "estimators": "Table 9"}[e.Over]
		if e.Over == "baselines" {
			add(name, "Table 1", "C3 and baselines against performance, mean over models", evaluationTable(e, e.Means, "mean over models"))
			add("c3-models", "Tables 2 to 7", "C3 and baselines against performance, model by model", evaluationTable(e, e.PerModel, "model by model"))
			add("c3-pooled", "Figure 3", "C3 and baselines against performance, rows of all models pooled", evaluationTable(e, e.Pooled, "rows of all models pooled"))
			add("c3-averaged", "Figure 3", "C3 and baselines against performance, items averaged over models", evaluationTable(e, e.Averaged, "items averaged over models"))
			add("c3-differences", "", "C3 minus each baseline", differenceTable(e))
			continue
		}
		add(name, source, "C3 over "+e.Over+", mean over models", evaluationTable(e, e.Means, "mean over models"))
	}
	add("diagnosis", "Figure 4", "What the benchmarks still tell", diagnosisTable(s.Diagnosis))
	add("diagnosis-items", "Figure 4", "Every item in its region", regionItemsTable(s.Diagnosis))
	add("neutrality", "appendix A.3", "Do perturbations move performance?", neutralityTable(s))
	add("leaks", "appendix A.3", "Perturbations that give answers away or mislead", leaksTable(s))
	add("perturbations", "appendix A", "How perturbations were found", sourcesTable(s))
	add("topics", "appendix A.4", "Are perturbations of the topic?", topicsTable(s))
	add("paraphrases", "", "How paraphrases were found", paraphrasesTable(s))
	add("equivalence", "", "What the judge of equivalence was asked", judgedTable(s))
	add("convergence", "Figure 7", "How C3 settles as trials are added", convergenceTable(s))
	add("trends", "Figures 1 and 2", "Over models by release and size", trendsTable(s))
	return list
}

// short is the title with the table of the paper that has this form.
func (t StudyTable) short() string {
	if t.Source == "" {
		return t.Title
	}
	return t.Title + " (" + t.Source + ")"
}

func textHeads(heads ...string) []headView {
	list := make([]headView, len(heads))
	for i, h := range heads {
		list[i] = headView{Text: h}
	}
	return list
}

func countHeads(heads ...string) []headView {
	list := make([]headView, len(heads))
	for i, h := range heads {
		list[i] = headView{Text: h, Number: true}
	}
	return list
}

func valueHeads(heads ...string) []headView {
	list := make([]headView, len(heads))
	for i, h := range heads {
		list[i] = headView{Text: h, Number: true, Values: true}
	}
	return list
}

func statesTable(s *consistency.Survey) tableView {
	t := tableView{
		Caption: fmt.Sprintf("C3 over items, with 0 to 1 meant and raw values kept; undetermined items agree in nothing and are left out of the mean C3; \"shifted\" counts permutation p values below %s, not adjusted for their number", Number(s.Design.Alpha)),
		Head: slices.Concat(textHeads("model", "data set", "source", "kernel", "estimator"), countHeads("items", "determined", "undetermined", "missing", "shifted"),
			valueHeads("C3", "C3 clipped", "within original", "within perturbed", "across", "performance")),
	}
	for _, c := range s.States {
		t.Rows = append(t.Rows, []cellView{
			rowCell(c.Model), textCell(c.Benchmark), textCell(c.Source), ownCell(string(c.Kernel)), ownCell(string(c.Estimator)),
			countCell(c.Items), countCell(c.Determined), countCell(c.Undetermined), countCell(c.Missing), countCell(c.Significant),
			valueCell(c.C3), valueCell(c.Clipped), valueCell(c.WithinOriginal), valueCell(c.WithinPerturbed), valueCell(c.Cross), valueCell(c.Performance),
		})
	}
	return t
}

// evaluationTable has a row for each score of each block; the best value of a metric is marked.
func evaluationTable(e consistency.NamedEvaluation, blocks []consistency.Block, over string) tableView {
	var scaled []string
	for _, s := range e.Scores {
		scaled = append(scaled, fmt.Sprintf("%s %s", s.Name, s.Scaling))
	}
	t := tableView{
		Caption: fmt.Sprintf("Against mean correctness of the original samples, %s; n items have performance and every score that a model has at all, once for each model; * is the best of a block. For ECE each score is scaled: %s", over, strings.Join(scaled, ", ")),
		Head:    slices.Concat(textHeads("data set", "model", "score"), countHeads("n", "undetermined")),
	}
	if len(blocks) == 0 {
		return t
	}
	for _, row := range blocks[0].Metrics {
		t.Head = append(t.Head, headView{Text: consistencyMetric(row.Metric), Number: true, Values: true})
	}
	for _, b := range blocks {
		model := b.Model
		if model == "" {
			model = plural(b.Models, "model")
		}
		for k, score := range e.Scores {
			row := []cellView{rowCell(b.Benchmark), textCell(model), ownCell(score.Name), countCell(b.Metrics[0].Values[k].N), countCell(b.Undetermined)}
			for _, m := range b.Metrics {
				c := valueCell(m.Values[k])
				if c.Why == "" && slices.Contains(m.Best, k) {
					c.Text += " *"
				}
				row = append(row, c)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// consistencyMetric is the paper's name of a metric.
func consistencyMetric(id string) string {
	id = strings.TrimSuffix(id, ".mean-over-models")
	switch {
	case strings.HasPrefix(id, "ece"):
		return "ECE ↓"
	case strings.HasPrefix(id, "auroc"):
		return "AUROC ↑"
	case strings.Contains(id, "incorrect"):
		return "AUPRC-N ↑"
	case strings.Contains(id, "correct") || strings.HasPrefix(id, "average-precision") || strings.HasPrefix(id, "auprc"):
		return "AUPRC-P ↑"
	case strings.Contains(id, "spearman"):
		return "Spearman ↑"
	}
	return id
}

// differenceTable has the paired differences of C3 and each baseline.
func differenceTable(e consistency.NamedEvaluation) tableView {
	t := tableView{
		Caption: "C3 minus a baseline on the same items and draws: above 0 speaks for C3, but under ECE, where less is better, below 0 does",
		Head:    textHeads("data set", "model", "baseline"),
	}
	blocks := slices.Concat(e.PerModel, e.Means, e.Pooled)
	if len(blocks) == 0 {
		return t
	}
	t.Head = append(t.Head, countHeads("n", "undetermined")...)
	for _, row := range blocks[0].Metrics {
		t.Head = append(t.Head, headView{Text: consistencyMetric(row.Metric), Number: true, Values: true})
	}
	add := func(list []consistency.Block, whose func(consistency.Block) string) {
		for _, b := range list {
			for k, score := range e.Scores[1:] {
				row := []cellView{rowCell(b.Benchmark), textCell(whose(b)), ownCell(score.Name), countCell(b.Metrics[0].Differences[k].N), countCell(b.Undetermined)}
				for _, m := range b.Metrics {
					row = append(row, signedCell(m.Differences[k]))
				}
				t.Rows = append(t.Rows, row)
			}
		}
	}
	add(e.PerModel, func(b consistency.Block) string { return b.Model })
	add(e.Means, func(b consistency.Block) string { return fmt.Sprintf("mean of %s", plural(b.Models, "model")) })
	add(e.Pooled, func(b consistency.Block) string { return fmt.Sprintf("%s pooled", plural(b.Models, "model")) })
	add(e.Averaged, func(b consistency.Block) string {
		return fmt.Sprintf("items averaged over %s", plural(b.Models, "model"))
	})
	return t
}

func diagnosisTable(d *consistency.Diagnosis) tableView {
	t := tableView{
		Caption: fmt.Sprintf("Items by performance and C3, both averaged over models and cut at the medians over all benchmarks: performance %s, C3 %s. Medians are relative: half of the items are high, however good or bad the models are",
			Estimate(d.MedianPerformance), Estimate(d.MedianC3)),
		Head: slices.Concat(textHeads("data set"), countHeads("items"), valueHeads("mastered", "brittle", "biased", "unlearned", "undetermined", "saturation", "leakage", "misconception"), countHeads("left out")),
	}
	for _, b := range d.Benchmarks {
		row := []cellView{rowCell(b.Benchmark), countCell(b.N)}
		for _, region := range consistency.Regions() {
			for _, r := range b.Regions {
				if r.Region == region {
					row = append(row, valueCell(r.Share))
				}
			}
		}
		out := 0
		for _, l := range b.LeftOut {
			out += l.N
		}
		t.Rows = append(t.Rows, append(row, valueCell(b.Saturation), valueCell(b.Leakage), valueCell(b.Misconception), countCell(out)))
	}
	return t
}

// regionItemsTable lists every item with the evidence for its region, the clearest of each region first.
func regionItemsTable(d *consistency.Diagnosis) tableView {
	t := tableView{
		Caption: "Each region with its items, those farthest from the medians first",
		Head:    slices.Concat(textHeads("item", "data set", "region"), countHeads("performance", "C3", "models", "undetermined")),
	}
	for _, region := range consistency.Regions() {
		for _, b := range d.Benchmarks {
			for _, p := range d.In(b.Benchmark, region) {
				t.Rows = append(t.Rows, []cellView{
					rowCell(p.Item), textCell(p.Benchmark), ownCell(string(p.Region)), numberCell(p.Performance), numberCell(p.C3), countCell(p.Models), countCell(p.Undetermined),
				})
			}
		}
	}
	return t
}

func neutralityTable(s *consistency.Survey) tableView {
	t := tableView{
		Caption: "Δ is the share correct after a perturbation minus that without, in [-1,1]; above 0 perturbations help. Items whose C3 is undetermined are in, since Δ does not need it, and counted: of each model, or averaged, over all",
		Head:    slices.Concat(textHeads("source", "data set", "model"), valueHeads("mean Δ"), countHeads("better", "equal", "worse"), valueHeads("sign test p"), countHeads("undetermined")),
	}
	for _, n := range s.Neutrality {
		row := func(name string, shift consistency.Shift) {
			t.Rows = append(t.Rows, []cellView{
				rowCell(n.Source), textCell(n.Benchmark), textCell(name), signedCell(shift.Mean), countCell(shift.Better), countCell(shift.Equal), countCell(shift.Worse), valueCell(shift.SignP),
				countCell(undetermined(s, n.Source, n.Benchmark, shift.Model)),
			})
		}
		for _, m := range n.PerModel {
			row(m.Model, m)
		}
		if len(n.PerModel) > 1 {
			row("averaged", n.Averaged)
		}
	}
	return t
}

func leaksTable(s *consistency.Survey) tableView {
	t := tableView{
		Caption: "Each perturbation left out in turn: correct answers after it against those expected from the other trials of its items; p values adjusted over all of a source (Holm). What leaks or misleads is listed, and the next nearest to it. " + effectsWords(s),
		Head:    slices.Concat(textHeads("perturbation", "source", "effect"), countHeads("uses", "correct", "expected"), valueHeads("rate", "Δ without it", "p helps", "p hurts")),
	}
	for _, of := range s.Influences {
		for _, in := range of.Shown {
			t.Rows = append(t.Rows, []cellView{
				rowCell(in.Perturbation), textCell(of.Source), ownCell(string(in.Effect)), countCell(in.Uses), countCell(in.Correct), numberCell(in.Expected),
				signedCell(in.Rate), signedCell(in.Without), valueCell(in.HelpsP), valueCell(in.HurtsP),
			})
		}
	}
	return t
}

// effectsWords counts the perturbations of each source by effect.
func effectsWords(s *consistency.Survey) string {
	var parts []string
	for _, of := range s.Influences {
		var effects []string
		for _, e := range []consistency.Effect{consistency.Leaks, consistency.Misleads, consistency.NoEffect, consistency.NotTested} {
			if n := of.Effects[e]; n > 0 {
				effects = append(effects, fmt.Sprintf("%d %s", n, e))
			}
		}
		parts = append(parts, fmt.Sprintf("%s: of %d, %s", of.Source, of.Perturbations, strings.Join(effects, ", ")))
	}
	return strings.Join(parts, "; ")
}

func sourcesTable(s *consistency.Survey) tableView {
	t := tableView{
		Caption: "Candidates for contexts, and why they were not used; acceptance is of those that were needed",
		Head:    slices.Concat(textHeads("source", "data set", "from"), countHeads("items", "candidates", "kept", "fewest an item", "batches"), valueHeads("acceptance"), countHeads("k"), textHeads("k from", "refused")),
	}
	for _, f := range s.Sources {
		k := cellView{Why: "off", Number: true}
		if f.KFrom != "" {
			k = numberCell(f.K)
		}
		t.Rows = append(t.Rows, []cellView{
			rowCell(f.Source), textCell(f.Benchmark), textCell(f.From), countCell(f.Items), countCell(f.Candidates), countCell(f.Kept), countCell(f.Fewest), countCell(f.Batches),
			valueCell(f.Acceptance), k, textCell(f.KFrom), ownCell(refusalWords(f.Refused)),
		})
	}
	return t
}

// refusalWords counts by reason, the most frequent first.
func refusalWords(refused map[consistency.Refusal]int) string {
	type counted struct {
		why consistency.Refusal
		n   int
	}
	var list []counted
	for why, n := range refused {
		list = append(list, counted{why, n})
	}
	slices.SortFunc(list, func(a, b counted) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.why, b.why)) })
	var parts []string
	for _, c := range list {
		parts = append(parts, fmt.Sprintf("%d %s", c.n, c.why))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func topicsTable(s *consistency.Survey) tableView {
	t := tableView{Caption: "The share of distinct perturbations that a judge, shown each alone, finds in the domain of the data set", Head: slices.Concat(textHeads("source", "data set", "judge"), valueHeads("in its domain"))}
	for _, f := range s.Sources {
		if f.Topics != nil {
			t.Rows = append(t.Rows, []cellView{rowCell(f.Source), textCell(f.Benchmark), textCell(f.TopicJudge), valueCell(f.Topics.All)})
		}
	}
	return t
}

func paraphrasesTable(s *consistency.Survey) tableView {
	t := tableView{Caption: "Paraphrases of the questions", Head: slices.Concat(textHeads("data set", "by"), countHeads("items", "wanted each", "kept", "fewest an item"), textHeads("refused"))}
	for _, p := range s.Paraphrases {
		t.Rows = append(t.Rows, []cellView{rowCell(p.Benchmark), textCell(p.By), countCell(p.Items), countCell(p.Wanted), countCell(p.Kept), countCell(p.Fewest), ownCell(refusalWords(p.Refused))})
	}
	return t
}

func judgedTable(s *consistency.Survey) tableView {
	t := tableView{
		Caption: "Pairs of answers to compare, pairs of different texts among them, and pairs that the judge was asked about; a pair without a clear verdict leaves C3 missing",
		Head:    slices.Concat(textHeads("model", "data set", "judge", "how"), countHeads("pairs", "of different texts", "asked", "saved", "unclear")),
	}
	for _, j := range s.Judged {
		how := "every pair"
		if j.Clusters {
			how = "clusters"
		}
		t.Rows = append(t.Rows, []cellView{rowCell(j.Model), textCell(j.Benchmark), textCell(j.Judge), ownCell(how), countCell(j.Pairs), countCell(j.Distinct), countCell(j.Asked), countCell(j.Pairs - j.Asked), countCell(j.Unclear)})
	}
	return t
}

func convergenceTable(s *consistency.Survey) tableView {
	t := tableView{
		Caption: fmt.Sprintf("Mean C3, over the items that have all trials, after so many of each kind, undetermined items included, and its mean absolute change to the last; stable from where that stays within %s on. The last point is 0 from itself and proves nothing", Number(s.Design.Tolerance)),
		Head:    slices.Concat(textHeads("model", "data set"), countHeads("trials", "items"), valueHeads("C3", "change"), countHeads("undetermined"), textHeads("stable from")),
	}
	for _, c := range s.Convergence {
		stable := "not shown"
		if c.Stable > 0 {
			stable = fmt.Sprint(c.Stable)
		}
		for _, p := range c.Points {
			t.Rows = append(t.Rows, []cellView{rowCell(c.Model), textCell(c.Benchmark), countCell(p.Trials), countCell(p.Mean.N), valueCell(p.Mean), valueCell(p.Change), countCell(undetermined(s, s.Design.Sources[0], c.Benchmark, c.Model)), ownCell(stable)})
		}
	}
	return t
}

func trendsTable(s *consistency.Survey) tableView {
	t := tableView{
		Caption: "Spearman's correlation over models: it says nothing of other families. Mean C3 is over determined items",
		Head:    slices.Concat(textHeads("value", "by", "data set"), countHeads("models"), valueHeads("correlation", "p"), countHeads("undetermined"), textHeads("values")),
	}
	for _, n := range s.Trends {
		var values []string
		out := 0
		for _, p := range n.Points {
			out += undetermined(s, s.Design.Sources[0], n.Benchmark, p.Model)
			values = append(values, fmt.Sprintf("%s %s", p.Model, shortValue(p.Value)))
		}
		t.Rows = append(t.Rows, []cellView{rowCell(n.Value), ownCell(n.By), textCell(n.Benchmark), countCell(len(n.Points)), signedCell(n.Correlation), valueCell(n.P), countCell(out), textCell(strings.Join(values, ", "))})
	}
	return t
}

// shortValue is a value without its interval.
func shortValue(v measure.Value) string {
	v.Interval = nil
	return Estimate(v)
}
