package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/report"
	"github.com/credence-lab/credence/resample"
)

// Sampling says how samples are drawn for quantifiers.
type Sampling struct {
	// Samples of each item; 10 by default.
	Samples int `yaml:"samples,omitempty"`
	// Temperature above 0; 1 by default.
	Temperature float64 `yaml:"temperature,omitempty"`
}

// Defaults of sampling, those of "A Tale of Two Error Categories", section 4.
const (
	DefaultSamples     = 10
	DefaultTemperature = 1
)

// The ids of judges that need more than texts: a model of the study, and the model of embeddings.
const (
	llmJudge       = "llm"
	embeddingJudge = "embedding"
)

// quantifiersOf are the study's quantifiers; "default" stands for those of the paper.
func (f *File) quantifiersOf() ([]quantify.Quantifier, error) {
	var list []quantify.Quantifier
	for i, id := range f.Quantifiers {
		if id == "default" {
			list = append(list, quantify.Default()...)
			continue
		}
		q, err := quantify.ByID(id)
		if err != nil {
			return nil, f.at.errorf(fmt.Sprintf("$.quantifiers[%d]", i), "\"default\" stands for those of the paper; docs/quantifiers.md lists all", "%v", err)
		}
		list = append(list, q)
	}
	for i, q := range list {
		for _, before := range list[:i] {
			if before.ID == q.ID {
				return nil, f.at.errorf("$.quantifiers", "list it once", "quantifiers has %q twice", q.ID)
			}
		}
	}
	return list, nil
}

// givenEvidence is what every engine of a study gives: texts with their tokens, forced options, and vectors
// where the study names a model for them.
func (f *File) givenEvidence() quantify.Needs {
	have := quantify.Everything()
	have.Samples = f.Sampling.Samples
	have.Answer, have.Sample = quantify.LogProbs, quantify.LogProbs
	have.Similarity, have.Embeddings = 0, f.Embeddings != ""
	have.Questions = []quantify.Question{
		quantify.IsTrue, quantify.IsTrueSwapped, quantify.IsTrueWithIdeas, quantify.IsTrueWithIdeasSwapped, quantify.OwnAnswer,
	}
	slices.Sort(have.Questions)
	return have
}

func (f *File) checkQuantifiers() error {
	list, err := f.quantifiersOf()
	if err != nil {
		return err
	}
	if f.Sampling.Samples < 0 || f.Sampling.Samples > maxSamples {
		return f.at.errorf("$.sampling.samples", fmt.Sprintf("use 1 to %d", maxSamples), "samples is %d", f.Sampling.Samples)
	}
	if t := f.Sampling.Temperature; !(t > 0 && t <= math.MaxFloat32) && len(list) > 0 {
		return f.at.errorf("$.sampling.temperature", "the paper's is 1", "temperature %g draws no samples", t)
	}
	have := f.givenEvidence()
	for _, q := range list {
		if lacking := q.Needs.Lacking(have); len(lacking) > 0 {
			return f.at.errorf("$.quantifiers", "leave it out", "the quantifier %q cannot be had here: %s", q.ID, joinMissing(lacking))
		}
	}
	return f.checkJudges(len(list) > 0)
}

// maxSamples bounds what a typing error can cost.
const maxSamples = 1000

func joinMissing(list []record.Missing) string {
	words := make([]string, len(list))
	for i, m := range list {
		words[i] = string(m)
	}
	return strings.Join(words, ", ")
}

func (f *File) checkJudges(quantified bool) error {
	if len(f.Judges) > 0 && !quantified {
		return f.at.errorf("$.judges", "add \"quantifiers: [default]\"; the main comparison is judged by protocol.correctness", "judges without quantifiers have nothing to judge")
	}
	for i, text := range f.Judges {
		node := fmt.Sprintf("$.judges[%d]", i)
		id, err := judge.ParseID(text)
		if err != nil {
			return f.at.errorf(node, "docs/judges.md lists all", "%v", err)
		}
		if slices.Contains(f.Judges[:i], text) {
			return f.at.errorf(node, "list it once", "judges has %q twice", text)
		}
		switch {
		case id.Judge == llmJudge:
			if !slices.ContainsFunc(f.Models, func(m Model) bool { return m.Name == id.Name }) {
				return f.at.errorf(node, "name a model of the study", "there is no model %q to judge", id.Name)
			}
		case id.Judge == embeddingJudge && f.Embeddings == "":
			return f.at.errorf(node, "add \"embeddings: all-minilm-l6-v2\"", "the judge %q compares embeddings, and the study names no model of them", text)
		case id.Judge == embeddingJudge:
		case !id.Entry().FromText():
			return f.at.errorf(node, "it can be imported into a table of scores", "the judge %q cannot be asked here", text)
		}
	}
	return nil
}

// textJudges and llmJudges part the study's judges by who is asked.
func (f *File) textJudges() []string {
	return slices.DeleteFunc(slices.Clone(f.Judges), func(id string) bool {
		return strings.HasPrefix(id, llmJudge+":") || strings.HasPrefix(id, embeddingJudge+"@") || id == embeddingJudge
	})
}

// embeddingJudges are those that compare vectors.
func (f *File) embeddingJudges() []judge.ID {
	var list []judge.ID
	for _, text := range f.Judges {
		if id, err := judge.ParseID(text); err == nil && id.Judge == embeddingJudge {
			list = append(list, id)
		}
	}
	return list
}

// embeds reports whether anything in the study reads embeddings.
func (f *File) embeds() bool {
	list, err := f.quantifiersOf()
	return err == nil && f.Embeddings != "" && (quantify.NeedsOf(list).Embeddings || len(f.embeddingJudges()) > 0)
}

func (f *File) llmJudges() []string {
	var names []string
	for _, text := range f.Judges {
		if name, ok := strings.CutPrefix(text, llmJudge+":"); ok {
			names = append(names, name)
		}
	}
	return names
}

// uncertainty is what is asked of every item of a setting for the study's quantifiers.
func (r *runner) uncertainty(m *model, setting record.Setting) (*collect.Uncertainty, error) {
	f := r.file
	parser, err := prompt.NewParser(f.Protocol.Parser, prompt.Unit)
	if err != nil {
		return nil, err
	}
	list, err := f.quantifiersOf()
	if err != nil {
		return nil, err
	}
	needs := quantify.NeedsOf(list)
	u := &collect.Uncertainty{
		Setting: setting, Prompts: r.prompts, Form: m.form, Prompt: prompt.AnswerOnly, Parser: parser,
		Decoding: m.decoding(f.Protocol.MaxTokens), Seed: f.Seed,
		Sampling: llm.Decoding{MaxTokens: f.Protocol.MaxTokens, Temperature: f.Sampling.Temperature},
		Supply:   collect.Supply{Prompt: prompt.Confidence, Parser: parser, Decoding: m.decoding(suppliedTokens)},
	}
	if needs.Samples > 0 || needs.Ideas {
		u.Samples = f.Sampling.Samples
	}
	u.Pairs, u.PairsWithQuestion = pairsOf(needs.Entailment), pairsOf(needs.EntailmentWithQuestion)
	for _, q := range needs.Questions {
		u.Questions = append(u.Questions, asked(q))
	}
	return u, nil
}

func pairsOf(p quantify.Pairs) func(string, []string) []collect.Pair {
	if p == 0 {
		return nil
	}
	return func(answer string, samples []string) []collect.Pair {
		var list []collect.Pair
		for _, pair := range p.Of(answer, samples) {
			list = append(list, collect.Pair{Premise: pair.Premise, Hypothesis: pair.Hypothesis})
		}
		return list
	}
}

func asked(q quantify.Question) collect.Asked {
	a := collect.Asked{Name: string(q)}
	switch q {
	case quantify.IsTrue, quantify.IsTrueWithIdeas:
		a.IsTrue = &prompt.IsTrue{}
	case quantify.IsTrueSwapped, quantify.IsTrueWithIdeasSwapped:
		a.IsTrue = &prompt.IsTrue{Swapped: true}
	}
	a.WithIdeas = q == quantify.IsTrueWithIdeas || q == quantify.IsTrueWithIdeasSwapped
	return a
}

// evidence is what was collected of an item in the form that quantifiers read.
func (r *runner) evidence(u collect.Uncertain) *quantify.Evidence {
	e := &quantify.Evidence{Answer: textOf(u.Answer), Reproducible: u.Answer.Reproducible}
	if r.vectors != nil {
		e.Embeddings = append(e.Embeddings, r.vectors[u.Answer.Text].Values)
		for _, s := range u.Samples {
			e.Embeddings = append(e.Embeddings, r.vectors[s.Text].Values)
		}
	}
	var samples []string
	for _, s := range u.Samples {
		e.Samples = append(e.Samples, textOf(s))
		samples = append(samples, s.Text)
		e.Reproducible = e.Reproducible && s.Reproducible
	}
	e.Entailment = relations(u.Answer.Text, samples, u.Relations)
	e.EntailmentWithQuestion = relations(u.Answer.Text, samples, u.RelationsWithQuestion)
	e.Options, e.Stated = map[quantify.Question]quantify.Options{}, map[quantify.Question]record.Number{}
	for name, o := range u.Forced {
		options := quantify.Options{Missing: o.Missing}
		if len(o.LogProbs) == 2 {
			options.True, options.False = o.LogProbs[:1], o.LogProbs[1:]
		}
		e.Options[quantify.Question(name)] = options
	}
	for name, p := range u.Stated {
		e.Stated[quantify.Question(name)] = p
	}
	return e
}

func textOf(s collect.Sampled) quantify.Text {
	return quantify.Text{Text: s.Text, Tokens: s.Tokens, NoTokens: s.NoTokens, Truncated: s.Truncated, Missing: s.Missing}
}

func relations(answer string, samples []string, of map[collect.Pair]collect.Forced) *quantify.Relations {
	if of == nil {
		return nil
	}
	return quantify.Relate(answer, samples, func(premise, hypothesis string) quantify.Relation {
		f, ok := of[collect.Pair{Premise: premise, Hypothesis: hypothesis}]
		switch {
		case !ok:
			return quantify.Relation{Missing: quantify.NoEntailment}
		case f.Missing != record.Present:
			return quantify.Relation{Missing: f.Missing}
		}
		return relationOf(f.LogProbs)
	})
}

// relationOf turns the log-probabilities of the three options into shares that sum to 1.
func relationOf(logProbs []float64) quantify.Relation {
	top := slices.Max(logProbs)
	if math.IsInf(top, -1) {
		return quantify.Relation{Missing: quantify.BadEntailment}
	}
	shares, sum := make([]float64, len(logProbs)), 0.
	for i, x := range logProbs {
		shares[i] = math.Exp(x - top)
		sum += shares[i]
	}
	return quantify.Relation{Entails: shares[prompt.Entails] / sum, Neither: shares[prompt.Neither] / sum, Contradicts: shares[prompt.Contradicts] / sum}
}

// askUncertainty asks one setting for what its uncertainty is quantified from.
func (r *runner) askUncertainty(ctx context.Context, m *model, ask collect.Asker, d dataset.Dataset, pace collect.Pace) error {
	setting := settingOf(m, d)
	u, err := r.uncertainty(m, setting)
	if err != nil {
		return err
	}
	r.uncertain[setting], err = u.All(ctx, ask, d.Items, pace)
	return err
}

// verdictKey names what a model of the study said as a judge of a setting.
type verdictKey struct {
	judge   string
	setting record.Setting
}

// askVerdicts asks a model whether the answers of all models to one data set are correct.
func (r *runner) askVerdicts(ctx context.Context, m *model, ask collect.Asker, d dataset.Dataset, pace collect.Pace) error {
	items := make(map[string]record.Item, len(d.Items))
	for _, item := range d.Items {
		items[item.ID] = item
	}
	var list []collect.Judged
	for _, answering := range r.file.Models {
		for _, u := range r.uncertain[record.Setting{Model: answering.Name, Dataset: d.Name}] {
			if item, ok := items[u.Item]; ok {
				list = append(list, collect.Judged{Item: item, Answer: u.Answer.Answer})
			}
		}
	}
	judging := &collect.Judging{Prompt: prompt.DefaultVerdict(), Form: m.form}
	if err := judging.All(ctx, ask, list, pace); err != nil {
		return err
	}
	for _, one := range list {
		key := verdictKey{m.Name, one.Answer.ID.Setting}
		r.verdicts[key] = append(r.verdicts[key], one)
	}
	return nil
}

// UncertaintyResult is how well each quantifier ranks the answers of a setting, under each judge ("A Tale
// of Two Error Categories", figures 7 to 12).
type UncertaintyResult struct {
	Setting record.Setting `json:"setting"`
	Items   int            `json:"items"`
	Samples int            `json:"samples"`
	Judges  []JudgeResult  `json:"judges"`
	// Quantifiers are the columns of AUROC, in order.
	Quantifiers []QuantifierResult `json:"quantifiers"`
	// AUROC has a row for each judge and a column for each quantifier.
	AUROC [][]measure.Value `json:"auroc"`
}

// JudgeResult is what one judge says of the answers.
type JudgeResult struct {
	Judge    string        `json:"judge"`
	Accuracy measure.Value `json:"accuracy"`
}

// QuantifierResult is a quantifier with what it could not be computed of.
type QuantifierResult struct {
	Quantifier  string             `json:"quantifier"`
	Orientation string             `json:"orientation"`
	Missing     []measure.Excluded `json:"missing"`
}

// Matrix is the result in the form in which it is shown.
func (u *UncertaintyResult) Matrix() report.Matrix {
	m := report.Matrix{Setting: u.Setting.String(), Items: u.Items, Samples: u.Samples, AUROC: u.AUROC}
	for _, j := range u.Judges {
		m.Judges, m.Accuracy = append(m.Judges, j.Judge), append(m.Accuracy, j.Accuracy)
	}
	for _, q := range u.Quantifiers {
		m.Quantifiers = append(m.Quantifiers, q.Quantifier)
	}
	return m
}

// quantified analyses the uncertainty of one setting. It returns the readings and judgements besides.
func (r *runner) quantified(ctx context.Context, setting record.Setting, d dataset.Dataset, list []collect.Uncertain) (*UncertaintyResult, []record.Reading, []record.Judgement, error) {
	quantifiers, err := r.file.quantifiersOf()
	if err != nil {
		return nil, nil, nil, err
	}
	values, readings, err := r.evaluated(quantifiers, list)
	if err != nil {
		return nil, nil, nil, err
	}
	judges, judgements, err := r.judgeAnswers(setting, d, list)
	if err != nil {
		return nil, nil, nil, err
	}
	out := &UncertaintyResult{Setting: setting, Items: len(list), Samples: r.file.Sampling.Samples}
	for k, q := range quantifiers {
		missing := map[string]int{}
		for i := range list {
			if why := values[k][i].Missing(); why != record.Present {
				missing[string(why)]++
			}
		}
		out.Quantifiers = append(out.Quantifiers, QuantifierResult{q.ID, q.Orientation.String(), append([]measure.Excluded{}, measure.Exclusions(missing)...)})
	}
	for _, name := range judges {
		labels, result := labelsOf(name, judgements, len(list), r.file.Analysis.Level)
		row := make([]measure.Value, len(quantifiers))
		for k, q := range quantifiers {
			if row[k], err = r.auroc(ctx, setting, q, values[k], labels); err != nil {
				return nil, nil, nil, err
			}
		}
		out.Judges, out.AUROC = append(out.Judges, result), append(out.AUROC, row)
	}
	return out, readings, judgements, nil
}

// evaluated are the values of all quantifiers, by quantifier and item, and as readings.
func (r *runner) evaluated(quantifiers []quantify.Quantifier, list []collect.Uncertain) ([][]record.Number, []record.Reading, error) {
	values := make([][]record.Number, len(quantifiers))
	var readings []record.Reading
	for _, u := range list {
		e := r.evidence(u)
		of, err := quantify.Evaluate(quantifiers, e)
		if err != nil {
			return nil, nil, fmt.Errorf("item %s: %w", u.Item, err)
		}
		for k, q := range quantifiers {
			values[k] = append(values[k], of[k])
			readings = append(readings, record.Reading{Answer: u.Answer.ID, Signal: record.Signal(q.ID), Value: of[k], Reproducible: e.Reproducible})
		}
	}
	return values, readings, nil
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

// askEmbeddings asks for the vectors of all answers, samples and references.
func (r *runner) askEmbeddings(ctx context.Context, ask collect.Asker, pace collect.Pace) error {
	var texts []string
	for _, d := range r.data {
		for _, item := range d.Items {
			texts = append(texts, item.References...)
		}
		for _, m := range r.file.Models {
			for _, u := range r.uncertain[record.Setting{Model: m.Name, Dataset: d.Name}] {
				for _, s := range append([]collect.Sampled{u.Answer}, u.Samples...) {
					if s.Missing == record.Present {
						texts = append(texts, s.Text)
					}
				}
			}
		}
	}
	var err error
	r.vectors, err = collect.Embeddings(ctx, ask, texts, pace)
	return err
}

// embed opens the model of embeddings, asks it, and closes it; no other model is open then.
func (r *runner) embed(ctx context.Context) (err error) {
	opener, ok := r.options.Open.(Embedder)
	if !ok {
		return &InputError{Path: "embeddings", What: "this engine cannot embed", Hint: "leave \"embeddings\" out of the study"}
	}
	engine, err := opener.OpenEmbedder(ctx, r.file.Embeddings)
	if err != nil {
		return fmt.Errorf("embeddings %s: %w", r.file.Embeddings, err)
	}
	ask := r.ledger.Through(engine)
	defer func() { err = errors.Join(err, ask.Close()) }()
	if err := engine.Capabilities().Check(llm.Embed); err != nil {
		return &InputError{Path: "embeddings " + r.file.Embeddings, What: err.Error(), Hint: "name a model of embeddings, see \"credence models\"", Err: err}
	}
	r.embedder = ask.Identity()
	return r.askEmbeddings(ctx, ask, collect.Pace{Open: openItems})
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

func (r *runner) auroc(ctx context.Context, setting record.Setting, q quantify.Quantifier, values []record.Number, labels []float64) (measure.Value, error) {
	scores := make([]float64, len(values))
	for i, v := range values {
		x, ok := v.Get()
		if !ok {
			x = math.NaN()
		}
		scores[i] = x
	}
	prepared, err := metric.PrepareJointly(metric.Quality{Values: labels}, metric.Score{Name: q.ID, Values: scores, Orientation: q.Orientation})
	if err != nil {
		return measure.Value{}, err
	}
	if *r.file.Analysis.Resamples == 0 {
		return metric.AUROC().On(prepared[0]), nil
	}
	draws, err := resample.Paired(ctx, prepared, []metric.Statistic{metric.AUROC()}, resample.Options{
		N: *r.file.Analysis.Resamples, Seed: resample.SettingSeed(r.file.Seed, setting.Model, setting.Dataset, "uncertainty"),
	})
	if err != nil {
		return measure.Value{}, err
	}
	return draws.Value(0, 0, r.file.Analysis.Level), nil
}
