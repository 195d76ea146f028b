package study

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/internal/table"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// The stages of consistency. Perturbations and paraphrases come before everything else, since all models answer
// after the same ones; a judge comes after all models.
const (
	// StagePerturbations asks for contexts to put before questions, and for paraphrases.
	StagePerturbations Stage = "perturbations"
	// StageConsistency asks for samples with and without them.
	StageConsistency Stage = "consistency"
	// StageEquivalence asks which answers are the same.
	StageEquivalence Stage = "equivalence"
	// StageTopics asks which domain perturbations belong to.
	StageTopics Stage = "topics"
)

// consistent is what a run collects for consistency.
type consistent struct {
	// By data set, and for perturbations by source.
	perturbed   map[string][][]collect.Perturbed
	paraphrased map[string][]collect.Paraphrased
	topics      map[string][]topicsOf
	trials      map[record.Setting][]collect.Trials
	stated      map[record.Setting]map[string]record.Number
	equated     map[record.Setting][]collect.Equated
	thresholds  []threshold
	// embed gives vectors while perturbations are sought; nil where the filter is off.
	embed collect.Asker
	costs []PerturbationCost

	survey *consistency.Survey
	scored []consistency.Scored
}

// topicsOf says, for the distinct perturbations of a source, which domain each was found in.
type topicsOf struct {
	texts   []string
	domains []int
	why     []record.Missing
}

// PerturbationCost is what the perturbations of a source cost in this run. Calls that the ledger knew already
// cost nothing, and leave nothing to state.
type PerturbationCost struct {
	Source   string `json:"source"`
	Dataset  string `json:"dataset"`
	Accepted int    `json:"accepted"`
	// Calls and GeneratedTokens of the model that wrote them; Seconds of the whole search, filter included.
	Calls           int64   `json:"calls_made"`
	GeneratedTokens int64   `json:"generated_tokens"`
	Seconds         float64 `json:"seconds"`
	// PerSecond is Accepted/Seconds; 0 where calls were reused, since it would say nothing.
	PerSecond float64 `json:"accepted_per_second"`
}

// Perturbations is how those of one source for one data set were found, and what they cost in this run.
type Perturbations struct {
	PerturbationCost
	// Of each of Items so many are Wanted, and none has fewer than Fewest. Candidates were looked at, and Refused
	// counts those that are not used by reason.
	Items      int                         `json:"items"`
	Wanted     int                         `json:"wanted"`
	Fewest     int                         `json:"fewest"`
	Candidates int                         `json:"candidates"`
	Refused    map[consistency.Refusal]int `json:"refused"`
}

func newConsistent() consistent {
	return consistent{
		perturbed: map[string][][]collect.Perturbed{}, paraphrased: map[string][]collect.Paraphrased{}, topics: map[string][]topicsOf{},
		trials: map[record.Setting][]collect.Trials{}, stated: map[record.Setting]map[string]record.Number{}, equated: map[record.Setting][]collect.Equated{},
	}
}

// writers are the numbers of the models that write perturbations or paraphrases, in order.
func (f *File) writers() []int {
	if f.Consistency == nil {
		return nil
	}
	var list []int
	for i, m := range f.Models {
		writes := f.Consistency.Paraphrases > 0 && f.Consistency.Paraphraser == m.Name
		for _, p := range f.Consistency.Perturbations {
			writes = writes || p.From == FromModel && p.By == m.Name
		}
		if writes {
			list = append(list, i)
		}
	}
	return list
}

// crosses reports whether a stage is one of consistency.
func (s Stage) crosses() bool {
	return slices.Contains([]Stage{StagePerturbations, StageConsistency, StageEquivalence, StageTopics}, s)
}

// crossPasses are what consistency asks, in order: the last model that answered is open, and goes first.
func (f *File) crossPasses() []pass {
	if f.Consistency == nil {
		return nil
	}
	var list []pass
	for _, i := range f.writers() {
		list = append(list, pass{StagePerturbations, i})
	}
	for i := len(f.Models) - 1; i >= 0; i-- {
		list = append(list, pass{StageConsistency, i})
	}
	for i, m := range f.Models {
		if m.Name == f.Consistency.Judge {
			list = append(list, pass{StageEquivalence, i})
		}
		if m.Name == f.Consistency.TopicJudge {
			list = append(list, pass{StageTopics, i})
		}
	}
	return list
}

// askCross asks one setting in one stage of consistency; the plan runs the same code.
func (r *runner) askCross(ctx context.Context, m *model, ask collect.Asker, d dataset.Dataset, stage Stage, after func(done, lacking int)) error {
	pace := collect.Pace{Open: openItems, Done: func(done int) { after(done, 0) }}
	pace.Done(0)
	switch stage {
	case StagePerturbations:
		return r.askPerturbations(ctx, m, ask, d, pace)
	case StageEquivalence:
		return r.askEquivalence(ctx, m, ask, d, pace)
	case StageTopics:
		return r.askTopics(ctx, m, ask, d, pace)
	}
	return r.askConsistency(ctx, m, ask, d, pace)
}

// readyForConsistency refuses, before anything is asked, what would end consistency after all answers: no intervals,
// no calibration, no perturbations to read.
func (r *runner) readyForConsistency() error {
	if r.file.Consistency == nil {
		return nil
	}
	if *r.file.Analysis.Resamples == 0 {
		return r.file.at.errorf("$.analysis.resamples", "use 1000 or more", "the survey of consistency needs intervals, and resamples is 0")
	}
	for _, p := range r.file.Consistency.Perturbations {
		if p.From == FromModel {
			continue
		}
		for _, d := range r.data {
			if _, err := r.file.snippets(p, d); err != nil {
				return err
			}
		}
	}
	return r.findThresholds()
}

// findThresholds finds the thresholds of all sources.
func (r *runner) findThresholds() error {
	r.consistent.thresholds = nil
	for i := range r.file.Consistency.Perturbations {
		t, ok, err := r.file.thresholdOf(i)
		if err != nil {
			return err
		}
		if !ok {
			return nil
		}
		r.consistent.thresholds = append(r.consistent.thresholds, t)
	}
	return nil
}

// cross asks all that consistency needs, after the answers that it is held against. While perturbations are
// sought the model of embeddings is open beside the one that writes: what is too near to another has to be known
// before more are asked for.
func (r *runner) cross(ctx context.Context, t *turns) (err error) {
	if r.file.Consistency == nil {
		return nil
	}
	done, err := r.openFilter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := r.perturbFromTexts(ctx); err != nil {
		return err
	}
	for _, p := range r.file.crossPasses() {
		if p.stage != StagePerturbations {
			if err := done(); err != nil {
				return err
			}
		}
		if err := r.crossStage(ctx, t, p); err != nil {
			return err
		}
	}
	return nil
}

// openFilter opens the model of embeddings for the diversity filter; done closes it once and keeps what it cost.
func (r *runner) openFilter(ctx context.Context) (done func() error, err error) {
	if r.consistent.thresholds == nil {
		return func() error { return nil }, nil
	}
	engine, err := r.openEmbeddings(ctx)
	if err != nil {
		return nil, err
	}
	ask := r.ledger.Through(r.meter.around(engine, r.file.Embeddings.Price))
	r.consistent.embed = ask
	return func() error {
		if r.consistent.embed == nil {
			return nil
		}
		r.consistent.embed = nil
		r.sources = append(r.sources, ranSource{name: record.Setting{Model: "diversity", Dataset: r.file.Embeddings.String()}, identity: ask.Identity(), counts: ask.Counts()})
		return ask.Close()
	}, nil
}

// crossStage asks one model in one stage of consistency. All but its own answers are of the items of all
// models, whatever its own limit.
func (r *runner) crossStage(ctx context.Context, t *turns, p pass) error {
	m, ask, err := t.to(ctx, p.model)
	if err != nil {
		return err
	}
	for _, d := range r.crossData(p) {
		after := func(done, _ int) {
			r.tell(Progress{Setting: settingOf(m, d), Stage: p.stage, Done: done, Total: len(d.Items), Counts: ask.Counts(), Retries: m.retries()})
		}
		if err := r.askSetting(ctx, m, ask, d, p.stage, after); err != nil {
			return fmt.Errorf("%s on %s: %w", m.Name, d.Name, err)
		}
	}
	return nil
}

func (r *runner) crossData(p pass) []dataset.Dataset {
	if p.stage == StageConsistency {
		return r.dataOf(r.file.Models[p.model])
	}
	return r.dataOf(Model{Limit: r.file.largestLimit()})
}

// largestLimit is how many items of a data set some model is asked of; 0 is all.
func (f *File) largestLimit() int {
	most := 0
	for _, m := range f.Models {
		if m.Limit == 0 {
			return 0
		}
		most = max(most, m.Limit)
	}
	return most
}

// askPerturbations lets a model write the perturbations and paraphrases of one data set that are its to write;
// the plan runs the same code.
func (r *runner) askPerturbations(ctx context.Context, m *model, ask collect.Asker, d dataset.Dataset, pace collect.Pace) error {
	c := r.file.Consistency
	for i, p := range c.Perturbations {
		if p.From != FromModel || p.By != m.Name {
			continue
		}
		sampler := &collect.ModelSampler{
			Ask: ask, Prompts: r.prompts, Form: m.form, Number: p.Batch, Seed: r.file.Seed,
			Decoding: writing(listTokens(p.Batch, c.MaxCharacters), r.file.Sampling.Temperature),
		}
		before, from := countsOf(ask), time.Now()
		if err := r.seek(ctx, i, sampler, d, pace); err != nil {
			return err
		}
		r.costs(i, d, countsOf(ask).minus(before), time.Since(from))
	}
	if c.Paraphrases == 0 || c.Paraphraser != m.Name {
		return nil
	}
	p := &collect.Paraphrasing{
		Ask: ask, Prompts: r.prompts, Form: m.form, Wanted: c.Paraphrases, Number: min(DefaultBatch, c.Paraphrases), Batches: DefaultBatches, Seed: r.file.Seed,
		Decoding: writing(paraphraseTokens, r.file.Sampling.Temperature),
	}
	var err error
	r.consistent.paraphrased[d.Name], err = p.All(ctx, d.Items, pace)
	return err
}

// writingTopP cuts off the tail of the vocabulary when contexts and paraphrases are written: at temperature 1 a small
// model otherwise breaks off into other languages. Answers are sampled without it.
const writingTopP = .9

func writing(maxTokens int, temperature float64) llm.Decoding {
	return llm.Decoding{MaxTokens: maxTokens, Temperature: temperature, TopP: writingTopP}
}

// paraphraseTokens bounds a reply with paraphrases.
const paraphraseTokens = 512

// listTokens bounds a reply with n entries of so many characters: half of what they could have, since few
// are as long as they may be.
func listTokens(n, characters int) int { return max(64, min(4096, n*(characters/8+8))) }

// seek finds the perturbations of one source for one data set.
func (r *runner) seek(ctx context.Context, source int, sampler collect.Sampler, d dataset.Dataset, pace collect.Pace) error {
	c := r.file.Consistency
	p := &collect.Perturbing{
		Sampler: sampler, Wanted: c.Perturbed, AtLeast: c.AtLeast, Batches: c.Perturbations[source].Batches, MaxCharacters: c.MaxCharacters,
		Gives: func(item record.Item, text string) bool { return judge.NamesInRange(item.References, text) },
	}
	if r.consistent.thresholds != nil {
		p.Embed, p.K = r.consistent.embed, r.consistent.thresholds[source].k
	}
	found, err := p.All(ctx, d.Items, pace)
	var few *collect.TooFewError
	if errors.As(err, &few) {
		return r.file.at.errorf(fmt.Sprintf("$.consistency.perturbations[%d]", source),
			"raise batches or diversity, lower perturbed or at_least, or take another source", "the source %q gives too few perturbations for %s: %v", c.Perturbations[source].Name, d.Name, few)
	}
	if err != nil {
		return err
	}
	if r.consistent.perturbed[d.Name] == nil {
		r.consistent.perturbed[d.Name] = make([][]collect.Perturbed, len(c.Perturbations))
	}
	r.consistent.perturbed[d.Name][source] = found
	return nil
}

// perturbFromTexts finds the perturbations of the sources that no model writes.
func (r *runner) perturbFromTexts(ctx context.Context) error {
	for i, p := range r.file.Consistency.Perturbations {
		if p.From == FromModel {
			continue
		}
		for _, d := range r.dataOf(Model{Limit: r.file.largestLimit()}) {
			sampler, err := r.file.snippets(p, d)
			if err != nil {
				return err
			}
			from := time.Now()
			if err := r.seek(ctx, i, sampler, d, collect.Pace{Open: openItems}); err != nil {
				return err
			}
			r.costs(i, d, wrote{}, time.Since(from))
		}
	}
	return nil
}

// snippets are the texts of a source for one data set.
func (f *File) snippets(p PerturbationSource, d dataset.Dataset) (*collect.Snippets, error) {
	s := &collect.Snippets{Number: p.Batch, Seed: f.Seed}
	switch {
	case p.From == FromCorpus && p.File == "":
		s.All = collect.BuiltinCorpus()
		return s, nil
	case p.From == FromFile:
		return s, f.readPerturbations(s, p.File, d)
	}
	file, err := os.Open(p.File)
	if err != nil {
		return nil, &InputError{Path: p.File, What: "cannot be read: " + cause(err), Hint: "name a text file of the corpus", Err: err}
	}
	defer func() { _ = file.Close() }()
	if s.All, err = collect.ReadSnippets(file, p.Words); err != nil {
		return nil, &InputError{Path: p.File, What: err.Error(), Err: err}
	}
	if len(s.All) == 0 {
		return nil, &InputError{Path: p.File, What: fmt.Sprintf("holds no snippet of about %d words", p.Words), Hint: "name a text with sentences, or change words"}
	}
	return s, nil
}

// readPerturbations reads a table with a column perturbation, and perhaps dataset and item; a row without item is
// for all items of its data set, one without data set for all.
func (f *File) readPerturbations(s *collect.Snippets, path string, d dataset.Dataset) error {
	r, err := table.Open(path, table.Options{Strict: true})
	if err != nil {
		return err
	}
	defer r.Close()
	text, err := r.Lookup("perturbation")
	if err != nil {
		return err
	}
	optional := func(name string) int {
		at, err := r.Lookup(name)
		if err != nil {
			return -1
		}
		return at
	}
	of, item := optional("dataset"), optional("item")
	cell := func(row *table.Row, at int) string {
		if at < 0 {
			return ""
		}
		return strings.TrimSpace(string(row.Cell(at).Bytes()))
	}
	s.ByItem = map[string][]string{}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if name := cell(row, of); name != "" && name != d.Name {
			continue
		}
		perturbation := cell(row, text)
		if perturbation == "" {
			return row.Errorf(text, "write one, or remove the row", "no perturbation")
		}
		if id := cell(row, item); id != "" {
			s.ByItem[id] = append(s.ByItem[id], perturbation)
		} else {
			s.All = append(s.All, perturbation)
		}
	}
	if f.limited(d.Name) || f.largestLimit() > 0 {
		return nil // an item may be one of those left out
	}
	return knownItems(s, path, d)
}

func (f *File) limited(name string) bool {
	return slices.ContainsFunc(f.Datasets, func(d Data) bool { return d.Name == name && d.Limit > 0 })
}

// knownItems refuses a perturbation for an item that is not there: a typing error would pass for a short file.
func knownItems(s *collect.Snippets, path string, d dataset.Dataset) error {
	known := map[string]bool{}
	for _, item := range d.Items {
		known[item.ID] = true
	}
	ids := make([]string, 0, len(s.ByItem))
	for id := range s.ByItem {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if !known[id] {
			return &InputError{Path: path, What: fmt.Sprintf("has a perturbation for the item %q, which %s does not have", id, d.Name), Hint: "write the id of an item, or the column dataset beside it"}
		}
	}
	return nil
}

// wrote is what a model did for a source.
type wrote struct{ made, reused, tokens int64 }

func (a wrote) minus(b wrote) wrote {
	return wrote{a.made - b.made, a.reused - b.reused, a.tokens - b.tokens}
}

// countsOf are the counts of an asker that counts; those of a plan are not looked at.
func countsOf(ask collect.Asker) wrote {
	if a, ok := ask.(*ledger.Asker); ok {
		n := a.Counts()
		return wrote{n.Made, n.Reused, n.GeneratedTokens}
	}
	return wrote{}
}

func (r *runner) costs(source int, d dataset.Dataset, a wrote, took time.Duration) {
	cost := PerturbationCost{Source: r.file.Consistency.Perturbations[source].Name, Dataset: d.Name, Calls: a.made, GeneratedTokens: a.tokens, Seconds: took.Seconds()}
	for _, p := range r.consistent.perturbed[d.Name][source] {
		cost.Accepted += len(p.Kept)
	}
	if a.reused == 0 && took > 0 {
		cost.PerSecond = float64(cost.Accepted) / took.Seconds()
	}
	r.consistent.costs = append(r.consistent.costs, cost)
	if r.options.Perturbed != nil {
		f := r.factsOf(source, r.file.Consistency.Perturbations[source], d)
		r.options.Perturbed(Perturbations{cost, f.Items, f.Wanted, f.Fewest, f.Candidates, f.Refused})
	}
}

// askConsistency asks one setting for its samples.
func (r *runner) askConsistency(ctx context.Context, m *model, ask collect.Asker, d dataset.Dataset, pace collect.Pace) error {
	c, setting := r.file.Consistency, settingOf(m, d)
	spec := &collect.Consistency{
		Setting: setting, Prompts: r.prompts, Form: m.form, Samples: c.Samples, Seed: r.file.Seed, OptionSeed: r.file.Seed,
		Sampling: llm.Decoding{MaxTokens: r.file.answerTokens(d.Name), Temperature: r.file.Sampling.Temperature},
	}
	if err := r.file.reading(spec, d.Name); err != nil {
		return err
	}
	for i, p := range c.Perturbations {
		of := collect.Contexts{Source: p.Name, ByItem: map[string][]string{}}
		for _, found := range r.consistent.perturbed[d.Name][i] {
			of.ByItem[found.Item] = found.Kept
		}
		spec.Contexts = append(spec.Contexts, of)
	}
	if c.Paraphrases > 0 {
		spec.Paraphrases = map[string][]string{}
		for i, found := range r.consistent.paraphrased[d.Name] {
			if i < len(d.Items) { // a model may be asked of the first items only
				spec.Paraphrases[d.Items[i].ID] = found.Kept
			}
		}
	}
	var err error
	if r.consistent.trials[setting], err = spec.All(ctx, ask, d.Items, pace); err != nil {
		return err
	}
	return r.askLetterConfidence(ctx, m, ask, d, pace)
}

// askLetterConfidence asks for a letter with its probability where the answers are letters: elsewhere the study's
// main prompt has asked already.
func (r *runner) askLetterConfidence(ctx context.Context, m *model, ask collect.Asker, d dataset.Dataset, pace collect.Pace) error {
	if !*r.file.Consistency.SelfReport || r.file.taskOf(d.Name) != TaskLetter {
		return nil
	}
	parser, err := prompt.NewParser(r.file.Protocol.Parser, prompt.Unit)
	if err != nil {
		return err
	}
	setting := settingOf(m, d)
	spec := &collect.Spec{Setting: setting, Prompts: r.prompts, Form: m.form, OptionSeed: r.file.Seed, Elicitations: []collect.Elicitation{{
		Prompt: prompt.LetterConfidence, Parser: parser, Lettered: true, Decoding: m.decoding(letterTokens),
	}}}
	records, err := spec.All(ctx, ask, d.Items, pace)
	r.consistent.stated[setting] = statedBy(records.Stated, prompt.LetterConfidence)
	return err
}

// statedBy are the stated probabilities under a prompt, by item.
func statedBy(list []record.Reading, name prompt.Name) map[string]record.Number {
	found := map[string]record.Number{}
	for _, s := range list {
		if s.Protocol.Elicitation == string(name) && s.Answer.Origin == (record.Origin{Source: record.Generated, Prompt: string(name)}) {
			found[s.Answer.Item] = s.Value
		}
	}
	return found
}

// answerTokens is the most tokens of an answer of consistency.
func (f *File) answerTokens(name string) int {
	switch {
	case f.Consistency.MaxTokens > 0:
		return f.Consistency.MaxTokens
	case f.taskOf(name) == TaskCode:
		return defaultCodeTokens
	}
	return f.Protocol.MaxTokens
}

// reading says how the answers of a data set are asked for and read.
func (f *File) reading(spec *collect.Consistency, name string) error {
	parser, err := prompt.NewParser(f.Protocol.Parser, prompt.Unit)
	if err != nil {
		return err
	}
	spec.Prompt, spec.Label = prompt.AnswerOnly, string(prompt.AnswerOnly)
	switch f.taskOf(name) {
	case TaskNumber:
		spec.Label += "/" + TaskNumber
		spec.Read = func(reply string, _ bool, _ int) (string, record.Missing) {
			text, why := prompt.WithoutThinking(reply)
			if why != record.Present {
				return "", why
			}
			return judge.NumberIn(text)
		}
	case TaskLetter:
		spec.Prompt, spec.Label, spec.Lettered = prompt.Letter, string(prompt.Letter), true
		spec.Read = func(reply string, _ bool, options int) (string, record.Missing) {
			return prompt.ParseLetter(reply, options)
		}
	case TaskCode:
		spec.Prompt, spec.Label = prompt.Code, string(prompt.Code)
		spec.Read = func(reply string, _ bool, _ int) (string, record.Missing) { return prompt.ParseCode(reply) }
	default:
		spec.Read = func(reply string, _ bool, _ int) (string, record.Missing) { return parser.ParseAnswer(reply) }
	}
	return nil
}

// askEquivalence asks a model which answers of all models to one data set are the same.
func (r *runner) askEquivalence(ctx context.Context, m *model, ask collect.Asker, d dataset.Dataset, pace collect.Pace) error {
	_, clusters := r.file.Consistency.judged()
	equating := &collect.Equating{Ask: ask, Prompts: r.prompts, Form: m.form, Clusters: clusters}
	questions := map[string]string{}
	for _, item := range d.Items {
		questions[item.ID] = item.Question
	}
	var list []collect.Answers
	var of []record.Setting
	for _, answering := range r.file.Models {
		setting := record.Setting{Model: answering.Name, Dataset: d.Name}
		for _, t := range r.consistent.trials[setting] {
			one := collect.Answers{Item: t.Item, Question: questions[t.Item]}
			for _, perturbed := range t.Perturbed {
				one.Groups = append(one.Groups, collect.Texts(t.Original, perturbed))
			}
			one.Groups = append(one.Groups, collect.Texts(t.Paraphrased))
			list, of = append(list, one), append(of, setting)
		}
	}
	found, err := equating.All(ctx, list, pace)
	for i, e := range found {
		r.consistent.equated[of[i]] = append(r.consistent.equated[of[i]], e)
	}
	return err
}

// askTopics asks a model which domain the perturbations for one data set belong to, each different one once.
func (r *runner) askTopics(ctx context.Context, m *model, ask collect.Asker, d dataset.Dataset, pace collect.Pace) error {
	topics := &collect.Topics{Ask: ask, Prompts: r.prompts, Form: m.form}
	for _, domain := range consistency.Domains() {
		topics.Domains = append(topics.Domains, string(domain))
	}
	for _, found := range r.consistent.perturbed[d.Name] {
		var texts []string
		for _, p := range found {
			texts = append(texts, p.Kept...)
		}
		slices.Sort(texts)
		of := topicsOf{texts: slices.Compact(texts)}
		var err error
		if of.domains, of.why, err = topics.All(ctx, of.texts, pace); err != nil {
			return err
		}
		r.consistent.topics[d.Name] = append(r.consistent.topics[d.Name], of)
	}
	return nil
}

// planCross plans what consistency asks of models. How often a sampler is asked is a guess: as often as one that
// never repeats itself.
func (r *runner) planCross(ctx context.Context, plan *Plan, known *ledger.Ledger, planner Planner) error {
	if r.file.Consistency == nil {
		return nil
	}
	r.consistent.embed = strangers{}
	if err := r.perturbFromTexts(ctx); err != nil {
		return err
	}
	for _, p := range r.file.crossPasses() {
		m := r.file.Models[p.model]
		if p.stage != StageConsistency {
			m.Limit = r.file.largestLimit()
		}
		if err := r.planModel(ctx, plan, known, planner, m, p.stage); err != nil {
			return fmt.Errorf("model %s: %w", m.Name, err)
		}
	}
	return nil
}

// strangers stands for the model of embeddings in a plan: no two texts are near.
type strangers struct{}

// strangerDimensions is enough for the cosines of hundreds of random directions to stay small.
const strangerDimensions = 256

func (strangers) Do(_ context.Context, reqs []llm.Request) []llm.Result {
	results := make([]llm.Result, len(reqs))
	for i, r := range reqs {
		h := fnv.New64a()
		_, _ = h.Write([]byte(r.Prompt.Text))
		random := rand.New(rand.NewPCG(h.Sum64(), 0))
		v := make([]float32, strangerDimensions)
		for k := range v {
			v[k] = float32(random.NormFloat64())
		}
		results[i].Reply = llm.Reply{Embedding: v}
	}
	return results
}
