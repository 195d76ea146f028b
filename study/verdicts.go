package study

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
)

// verdictKey names what a model of the study said as a judge of a setting.
type verdictKey struct {
	judge   string
	setting record.Setting
}

// modelVerdict is what a model said of an answer, with the keys of its calls in the ledger.
type modelVerdict struct {
	collect.Judged
	forced, written string
}

// verdictWork asks a model whether the answers of all models to one data set are correct.
func (r *runner) verdictWork(m *model, d dataset.Dataset) *work[[]modelVerdict] {
	once, again := r.file.judging(m, false), r.file.judging(m, true)
	repeated, identity := r.file.repeatedItems(d.Items), m.opened.Engine.Identity()
	whole := func([]modelVerdict) bool { return true } // what it lacks, the stages before have said
	return &work[[]modelVerdict]{items: d.Items, complete: whole, item: func(ctx context.Context, ask collect.Asker, i int) ([]modelVerdict, error) {
		judging := once
		if repeated[i] {
			judging = again
		}
		var list []modelVerdict
		for _, answering := range r.file.Models {
			w := r.works.uncertainty[record.Setting{Model: answering.Name, Dataset: d.Name}]
			if w == nil || i >= len(w.items) { // a model with a limit
				continue
			}
			u, err := w.get(ctx, i)
			if err != nil {
				return nil, err
			}
			one := modelVerdict{Judged: collect.Judged{Item: d.Items[i], Answer: u.Answer.Answer}}
			if err := judging.Answer(ctx, ask, &one.Judged); err != nil {
				return nil, err
			}
			if err := one.keep(identity); err != nil {
				return nil, err
			}
			list = append(list, one)
		}
		return list, nil
	}}
}

// keep puts the keys of the calls in the place of the calls.
func (v *modelVerdict) keep(identity llm.Identity) error {
	keys := map[llm.Kind][]string{}
	for _, c := range v.Calls {
		key, err := ledger.KeyOf(identity, c, 0)
		if err != nil {
			return err
		}
		keys[c.Kind] = append(keys[c.Kind], key.String())
	}
	v.forced, v.written, v.Calls = strings.Join(keys[llm.Score], " "), strings.Join(keys[llm.Generate], " "), nil
	return nil
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
	for _, id := range r.file.tokenJudges() {
		names = append(names, id.String())
		for _, u := range list {
			judgements = append(judgements, r.byTokens(id, u.Answer.Answer, items[u.Item]))
		}
	}
	for _, id := range r.file.modelJudges() {
		names = append(names, id.String())
		said := r.saidBy(membersOf(id), setting)
		for _, u := range list {
			judgements = append(judgements, byModels(id, u.Answer.ID, said[u.Answer.ID]))
		}
	}
	for _, id := range r.file.importedJudges() {
		names = append(names, id.String())
		for _, u := range list {
			judgements = append(judgements, r.byImport(id, u.Item, u.Answer.Answer))
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
	return byScore(id, j, judge.Similarity(r.vectors[answer.Text].Values, references))
}

// byTokens judges by BERTScore, its precision or its recall.
func (r *runner) byTokens(id judge.ID, answer record.Answer, item record.Item) record.Judgement {
	j := record.Judgement{Answer: answer.ID, Judge: id.String()}
	if answer.Missing != record.Present {
		j.Missing = record.AnswerMissing
		return j
	}
	var references [][][]float64
	for _, text := range item.References {
		if m := r.matrices[text]; m.Missing == record.Present {
			references = append(references, m.Values)
		}
	}
	precision, recall, f1 := judge.BERTScores(r.matrices[answer.Text].Values, references)
	return byScore(id, j, map[string]record.Number{bertScore: f1, bertPrecision: precision, bertRecall: recall}[id.Judge])
}

// byScore cuts a score into a verdict and keeps it.
func byScore(id judge.ID, j record.Judgement, score record.Number) record.Judgement {
	j.Verdict, j.Missing = id.Cut.Verdict(score)
	j.Trace = &record.Trace{Score: score}
	return j
}

// saidBy is what each of some models said of a setting's answers, by answer; one that was not asked said nothing.
func (r *runner) saidBy(models []string, setting record.Setting) map[record.AnswerID][]modelVerdict {
	said := map[record.AnswerID][]modelVerdict{}
	for i, name := range models {
		for _, v := range r.verdicts[verdictKey{name, setting}] {
			if said[v.Answer.ID] == nil {
				said[v.Answer.ID] = make([]modelVerdict, len(models))
				for k := range said[v.Answer.ID] {
					said[v.Answer.ID][k].Missing = judge.MemberMissing
				}
			}
			said[v.Answer.ID][i] = v
		}
	}
	return said
}

// byModels makes the judgement of one answer from what the members of a judge said.
func byModels(id judge.ID, answer record.AnswerID, said []modelVerdict) record.Judgement {
	j := record.Judgement{Answer: answer, Judge: id.String()}
	if len(said) == 0 { // models with a limit
		j.Missing = quantify.NotAsked
		return j
	}
	if why := said[0].Missing; why != record.Present && why != judge.MemberMissing { // the item's or the answer's fault
		j.Missing = why
		return j
	}
	trace := &record.Trace{Score: record.Absent(quantify.NotAsked)}
	j.Trace = trace
	var keys []string
	var scores []record.Number
	var verdicts []record.Verdict
	for _, v := range said {
		if v.forced != "" {
			keys = append(keys, v.forced)
		}
		score := scoreOf(v)
		verdict, _ := judge.Cut{}.Verdict(score)
		scores, verdicts = append(scores, score), append(verdicts, verdict)
	}
	trace.Calls = strings.Join(keys, " ")
	switch id.Judge {
	case textJudge:
		trace.Reply, trace.Calls = said[0].Written.Reply, said[0].written
		j.Verdict, j.Missing = rulingOfReply(said[0])
		return j
	case panelMajority:
		j.Verdict, j.Missing = judge.PanelMajority(verdicts)
		return j
	case panelMean:
		trace.Score = judge.PanelMean(scores)
	default:
		trace.Score = scores[0]
	}
	j.Verdict, j.Missing = id.Cut.Verdict(trace.Score)
	return j
}

// scoreOf is the probability of the forced verdict True.
func scoreOf(v modelVerdict) record.Number { return forcedScore(v, v.Forced) }

func forcedScore(v modelVerdict, f collect.Forced) record.Number {
	switch {
	case v.Missing != record.Present:
		return record.Absent(v.Missing)
	case f.Missing != record.Present:
		return record.Absent(f.Missing)
	case len(f.LogProbs) != 2:
		return record.Absent(judge.MemberMissing)
	}
	return judge.PTrue(f.LogProbs[0], f.LogProbs[1])
}

// rulingOfReply reads a written verdict; what is not clear is not judged.
func rulingOfReply(v modelVerdict) (record.Verdict, record.Missing) {
	if v.Missing != record.Present {
		return record.NotJudged, v.Missing
	}
	return readVerdict(v.Written)
}

func readVerdict(w collect.Written) (record.Verdict, record.Missing) {
	if w.Missing != record.Present {
		return record.NotJudged, w.Missing
	}
	ruling := prompt.ParseVerdict(w.Reply)
	return ruling.Verdict, ruling.Missing
}

// steadiness is how far the verdicts of a judge that is one model depend on what should not matter; nothing where the
// study did not ask.
func (r *runner) steadiness(id judge.ID, setting record.Setting) (s Steadiness) {
	if id.Judge != llmJudge && id.Judge != textJudge {
		return s
	}
	said := r.verdicts[verdictKey{id.Name, setting}]
	if r.file.Judging.Orders && id.Judge == llmJudge {
		s.Swapped = r.sway(id, said, func(v modelVerdict) collect.Forced { return v.Swapped })
		s.Turned = r.sway(id, said, func(v modelVerdict) collect.Forced { return v.Turned })
	}
	if r.file.Judging.Repeats > 0 {
		var again [][]record.Verdict
		for _, v := range said {
			var list []record.Verdict
			for _, w := range v.Repeats {
				verdict, _ := readVerdict(w)
				list = append(list, verdict)
			}
			if list != nil {
				again = append(again, list)
			}
		}
		value := judge.Repeatability(again)
		if x, ok := value.Get(); ok {
			value = value.With(metric.WilsonMean(x, value.N, r.file.Analysis.Level))
		}
		s.Repeatability = &value
	}
	return s
}

// sway compares the verdicts with those after a change that should not matter.
func (r *runner) sway(id judge.ID, said []modelVerdict, after func(modelVerdict) collect.Forced) *Sway {
	var a, b []record.Verdict
	for _, v := range said {
		before, _ := id.Cut.Verdict(scoreOf(v))
		changed, _ := id.Cut.Verdict(forcedScore(v, after(v)))
		a, b = append(a, before), append(b, changed)
	}
	s := judge.SwayOf(a, b)
	value := metric.Proportion(s.ToCorrect+s.ToIncorrect, s.Changed.N, r.file.Analysis.Level)
	value.Method, value.LeftOut = s.Changed.Method, s.Changed.LeftOut
	return &Sway{value, s.ToCorrect, s.ToIncorrect}
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
	return labels, JudgeResult{Judge: name, Accuracy: accuracy.Leaving(left)}
}
