package study

import (
	"context"
	"math"
	"slices"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// verdictKey names what a model of the study said as a judge of a setting.
type verdictKey struct {
	judge   string
	setting record.Setting
}

// verdictWork asks a model whether the answers of all models to one data set are correct.
func (r *runner) verdictWork(m *model, d dataset.Dataset) *work[[]collect.Judged] {
	judging := &collect.Judging{Prompt: prompt.DefaultVerdict(), Form: m.form}
	whole := func([]collect.Judged) bool { return true } // what it lacks, the stages before have said
	return &work[[]collect.Judged]{items: d.Items, complete: whole, item: func(ctx context.Context, ask collect.Asker, i int) ([]collect.Judged, error) {
		var list []collect.Judged
		for _, answering := range r.file.Models {
			w := r.works.uncertainty[record.Setting{Model: answering.Name, Dataset: d.Name}]
			if w == nil || i >= len(w.items) { // a model with a limit
				continue
			}
			u, err := w.get(ctx, i)
			if err != nil {
				return nil, err
			}
			one := collect.Judged{Item: d.Items[i], Answer: u.Answer.Answer}
			if err := judging.Answer(ctx, ask, &one); err != nil {
				return nil, err
			}
			list = append(list, one)
		}
		return list, nil
	}}
}

// judgeAnswers judges every answer by every judge of the study, judgements by judge and item.
func (r *runner) judgeAnswers(setting record.Setting, d dataset.Dataset, list []collect.Uncertain) ([]string, []record.Judgement, error) {
	items := make(map[string]record.Item, len(d.Items))
	for _, item := range d.Items {
		items[item.ID] = item
	}
	texts := r.file.textJudges()
	set, err := judge.NewSet(texts...)
	if err != nil {
		return nil, nil, err
	}
	var judgements []record.Judgement
	for _, u := range list {
		judgements = set.Append(judgements, u.Answer.Answer, items[u.Item])
	}
	names := slices.Clone(texts)
	for _, id := range r.file.embeddingJudges() {
		names = append(names, id.String())
		for _, u := range list {
			judgements = append(judgements, r.similar(id, u.Answer.Answer, items[u.Item]))
		}
	}
	for _, name := range r.file.llmJudges() {
		id := llmJudge + ":" + name
		names = append(names, id)
		for _, v := range r.verdicts[verdictKey{name, setting}] {
			judgements = append(judgements, verdictOf(id, v))
		}
	}
	return names, judgements, nil
}

// similar judges by the cosine of the answer's vector and the nearest reference's.
func (r *runner) similar(id judge.ID, answer record.Answer, item record.Item) record.Judgement {
	j := record.Judgement{Answer: answer.ID, Judge: id.String()}
	if answer.Missing != record.Present {
		j.Missing = record.AnswerMissing
		return j
	}
	var references [][]float64
	for _, text := range item.References {
		if v := r.vectors[text]; v.Missing == record.Present {
			references = append(references, v.Values)
		}
	}
	j.Verdict, j.Missing = id.Cut.Verdict(judge.Similarity(r.vectors[answer.Text].Values, references))
	return j
}

// verdictOf is the more probable of the two forced verdicts.
func verdictOf(id string, v collect.Judged) record.Judgement {
	j := record.Judgement{Answer: v.Answer.ID, Judge: id, Missing: v.Forced.Missing}
	if j.Missing != record.Present {
		return j
	}
	p, ok := judge.PTrue(v.Forced.LogProbs[0], v.Forced.LogProbs[1]).Get()
	switch {
	case !ok:
		j.Missing = judge.PTrue(v.Forced.LogProbs[0], v.Forced.LogProbs[1]).Missing()
	case p == .5:
		j.Missing = judge.TiedVerdict
	case p > .5:
		j.Verdict = record.Correct
	default:
		j.Verdict = record.Incorrect
	}
	return j
}

// labelsOf are a judge's verdicts in the order of items, NaN where there is none.
func labelsOf(name string, judgements []record.Judgement, n int, level float64) ([]float64, JudgeResult) {
	var labels []float64
	correct, judged, left := 0, 0, map[string]int{}
	for _, j := range judgements {
		if j.Judge != name {
			continue
		}
		label, ok := j.Label()
		if !ok {
			left[string(j.Missing)]++
			label = math.NaN()
		} else {
			judged++
			correct += int(label)
		}
		labels = append(labels, label)
	}
	accuracy := metric.Proportion(correct, judged, level)
	accuracy.Method = "accuracy"
	return labels, JudgeResult{name, accuracy.Leaving(left)}
}
