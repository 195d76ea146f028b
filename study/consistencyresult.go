package study

import (
	"context"
	"slices"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// NoUnitTests: code is not run, so that nothing says whether it is right.
const NoUnitTests record.Missing = "unit tests are not run"

// analyseConsistency judges the trials of all settings and conducts the survey; nothing without the section.
func (r *runner) analyseConsistency(ctx context.Context) error {
	if r.file.Consistency == nil {
		return nil
	}
	var list []consistency.Answered
	for i := range r.models {
		for _, d := range r.dataOf(r.models[i].Model) {
			of, err := r.answered(settingOf(r.models[i].model, d), d)
			if err != nil {
				return err
			}
			list = append(list, of...)
		}
	}
	var err error
	r.consistent.survey, r.consistent.scored, err = consistency.Conduct(ctx, r.file.consistencyDesign(), list)
	if err != nil {
		return err
	}
	r.sourceFacts()
	r.judgeFacts()
	return nil
}

func (f *File) consistencyDesign() consistency.Design {
	c := f.Consistency
	d := consistency.Design{
		CosineFloor: c.CosineFloor, Paraphrased: c.Paraphrases > 0, SelfReport: *c.SelfReport, Bins: c.Bins, Alpha: c.Alpha, Tolerance: c.Tolerance,
		Trials: c.Trials, Level: f.Analysis.Level, Resamples: *f.Analysis.Resamples, ItemResamples: c.ItemResamples, Seed: f.Seed,
	}
	for _, p := range c.Perturbations {
		d.Sources = append(d.Sources, p.Name)
	}
	for _, k := range c.Kernels {
		d.Kernels = append(d.Kernels, consistency.Kernel(k))
	}
	for _, e := range c.Estimators {
		d.Estimators = append(d.Estimators, consistency.Estimator(e))
	}
	for _, m := range f.Models {
		if m.Parameters > 0 || m.Released != "" {
			d.Models = append(d.Models, consistency.ModelFacts{Model: m.Name, Parameters: m.Parameters, Released: m.Released})
		}
	}
	return d
}

// answered are the judged trials of one setting. The answers join the run's tables.
func (r *runner) answered(setting record.Setting, d dataset.Dataset) ([]consistency.Answered, error) {
	marks, err := r.file.markerOf(d.Name)
	if err != nil {
		return nil, err
	}
	stated := r.consistent.stated[setting]
	if stated == nil {
		stated = statedBy(r.collected[setting].Stated, prompt.Confidence)
	}
	verdicts := map[string]*consistency.Verdicts{}
	for _, e := range r.consistent.equated[setting] {
		verdicts[e.Item] = e.Verdicts
	}
	items := map[string]record.Item{}
	for _, item := range d.Items {
		items[item.ID] = item
	}
	known := map[record.AnswerID]bool{}
	for _, a := range r.collected[setting].Answers {
		known[a.ID] = true
	}
	var list []consistency.Answered
	for _, t := range r.consistent.trials[setting] {
		one := consistency.Answered{Model: setting.Model, Benchmark: setting.Dataset, Item: t.Item, Stated: statedOf(stated, t.Item), Verdicts: verdicts[t.Item]}
		take := func(trials []collect.Trial) []consistency.Answer {
			answers := make([]consistency.Answer, len(trials))
			for i, trial := range trials {
				j := marks.judge(trial, items[t.Item], t.Gold)
				answers[i] = r.answerOf(trial, j, marks)
				if !known[trial.ID] {
					known[trial.ID] = true
					r.collected[setting].Answers = append(r.collected[setting].Answers, trial.Answer)
				}
				r.judgements = append(r.judgements, j)
			}
			return answers
		}
		one.Original, one.Paraphrased = take(t.Original), take(t.Paraphrased)
		for k := range one.Paraphrased {
			one.Paraphrased[k].Perturbation = ""
		}
		for _, perturbed := range t.Perturbed {
			one.Perturbed = append(one.Perturbed, take(perturbed))
		}
		list = append(list, one)
	}
	return list, nil
}

func statedOf(stated map[string]record.Number, item string) record.Number {
	if n, ok := stated[item]; ok {
		return consistency.SelfReport(n, 0, 1)
	}
	return record.Absent(record.NoProbability)
}

func (r *runner) answerOf(t collect.Trial, j record.Judgement, m marker) consistency.Answer {
	a := consistency.Answer{Text: t.Text, Missing: t.Missing, Perturbation: t.Context}
	if label, ok := j.Label(); ok {
		a.Correct = record.Known(label)
	} else {
		a.Correct = record.Absent(j.Missing)
	}
	if t.Missing != record.Present {
		return a
	}
	a.Form = t.Text
	if m.task == TaskShort {
		a.Form = judge.Unicode.Normalise(t.Text)
	}
	a.Vector = r.vectors[t.Text].Values
	return a
}

// marker judges the answers of one data set by its task.
type marker struct {
	task string
	// words judges short answers, ranged those to items whose references accept a range; number judges numbers.
	words  judge.Judge
	ranged *judge.Set
	number *judge.Set
}

func (f *File) markerOf(name string) (m marker, err error) {
	m.task = f.taskOf(name)
	if m.words, err = f.rule(); err != nil {
		return m, err
	}
	if m.number, err = judge.NewSet("number"); err != nil {
		return m, err
	}
	m.ranged, err = judge.NewSet("number-range")
	return m, err
}

// judge says whether the answer of a trial is correct.
func (m marker) judge(t collect.Trial, item record.Item, gold string) record.Judgement {
	switch {
	case m.task == TaskCode:
		return record.Judgement{Answer: t.ID, Judge: "unit-tests", Missing: NoUnitTests}
	case m.task == TaskLetter:
		j := judge.New(judge.Exact, judge.ASCII).Judge(t.Answer, []string{gold})
		j.Judge = letterJudge
		return j
	case judge.HasRange(item.References):
		return m.ranged.Judge(t.Answer, item)[0]
	case m.task == TaskNumber:
		return m.number.Judge(t.Answer, item)[0]
	}
	return m.words.Judge(t.Answer, item.References)
}

// consistencyTexts are the answers that a kernel compares by their vectors.
func (r *runner) consistencyTexts(setting record.Setting) []string {
	if !r.file.comparesCosines() {
		return nil
	}
	var texts []string
	for _, t := range r.consistent.trials[setting] {
		texts = append(texts, collect.Texts(append([][]collect.Trial{t.Original, t.Paraphrased}, t.Perturbed...)...)...)
	}
	return texts
}

// sourceFacts add to the survey how perturbations and paraphrases were found.
func (r *runner) sourceFacts() {
	c, s := r.file.Consistency, r.consistent.survey
	for i, p := range c.Perturbations {
		if r.consistent.thresholds != nil {
			t := r.consistent.thresholds[i]
			if t.calibration != nil && !slices.ContainsFunc(s.Calibrations, func(have consistency.Calibration) bool { return have.Sampler == t.calibration.Sampler }) {
				s.Calibrations = append(s.Calibrations, *t.calibration)
			}
		}
		for _, d := range r.data {
			s.Sources = append(s.Sources, r.factsOf(i, p, d))
		}
	}
	if c.Paraphrases == 0 {
		return
	}
	for _, d := range r.data {
		f := consistency.ParaphraseFacts{Benchmark: d.Name, By: c.Paraphraser, Items: len(r.consistent.paraphrased[d.Name]), Wanted: c.Paraphrases, Fewest: c.Paraphrases, Refused: map[consistency.Refusal]int{}}
		for _, p := range r.consistent.paraphrased[d.Name] {
			f.Kept += len(p.Kept)
			f.Fewest = min(f.Fewest, len(p.Kept))
			for why, n := range p.Refused {
				f.Refused[why] += n
			}
		}
		s.Paraphrases = append(s.Paraphrases, f)
	}
}

func (r *runner) factsOf(source int, p PerturbationSource, d dataset.Dataset) consistency.SourceFacts {
	c := r.file.Consistency
	f := consistency.SourceFacts{
		Source: p.Name, Benchmark: d.Name, From: r.file.fromWords(p), Items: len(r.consistent.perturbed[d.Name][source]), Refused: map[consistency.Refusal]int{},
		Wanted: c.Perturbed, Fewest: c.Perturbed, Nearest: make([]int, consistency.NearestBins),
	}
	if r.consistent.thresholds != nil {
		f.K, f.KFrom = r.consistent.thresholds[source].k, r.consistent.thresholds[source].from
	}
	for _, found := range r.consistent.perturbed[d.Name][source] {
		f.Candidates += len(found.Candidates)
		f.Kept += len(found.Kept)
		f.Batches += found.Batches
		f.Fewest = min(f.Fewest, len(found.Kept))
		for why, n := range found.Refusals() {
			f.Refused[why] += n
		}
		for _, candidate := range found.Candidates {
			if cosine, ok := candidate.Cosine.Get(); ok {
				f.Nearest[consistency.Bin(cosine, consistency.NearestBins)]++
			}
		}
	}
	f.Accept(f.Refused[collect.RefusedSurplus], r.file.Analysis.Level)
	if topics := r.consistent.topics[d.Name]; topics != nil {
		f.Topics, f.TopicJudge = r.topicFacts(topics[source], d), c.TopicJudge
	}
	return f
}

func (r *runner) topicFacts(of topicsOf, d dataset.Dataset) *consistency.Topics {
	list := make([]consistency.Classified, len(of.texts))
	for i := range list {
		list[i] = consistency.Classified{Intended: r.file.domainOf(d.Name), Missing: of.why[i]}
		if of.domains[i] >= 0 {
			list[i].Judged = consistency.Domains()[of.domains[i]]
		}
	}
	topics := consistency.TopicAlignment(list, r.file.Analysis.Level)
	return &topics
}

// fromWords says where the perturbations of a source come from.
func (f *File) fromWords(p PerturbationSource) string {
	switch {
	case p.From == FromModel:
		return "written by " + p.By
	case p.From == FromFile:
		return "a file of perturbations"
	case p.File == "":
		return "the built-in corpus"
	}
	return "snippets of a corpus"
}

// judgeFacts add to the survey what the judge of equivalence was asked.
func (r *runner) judgeFacts() {
	c := r.file.Consistency
	judged, clusters := c.judged()
	if !judged {
		return
	}
	for i := range r.models {
		for _, d := range r.data {
			setting := settingOf(r.models[i].model, d)
			f := consistency.JudgeFacts{Model: setting.Model, Benchmark: setting.Dataset, Judge: c.Judge, Clusters: clusters}
			for _, e := range r.consistent.equated[setting] {
				f.Pairs += e.Pairs
				f.Distinct += e.Distinct
				f.Asked += e.Asked
				f.Unclear += e.Unclear
			}
			r.consistent.survey.Judged = append(r.consistent.survey.Judged, f)
		}
	}
}
