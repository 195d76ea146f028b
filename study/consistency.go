package study

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-lab/credence/consistency"
)

// Consistency says how cross-contextual consistency is measured ("Is This Your Final Answer?", Wu, Jiang and
// Aragam 2026). Each list has its default first.
type Consistency struct {
	// Samples of the original prompt, and Perturbed samples, each after a perturbation of its own; 30 each.
	Samples   int `yaml:"samples,omitempty"`
	Perturbed int `yaml:"perturbed,omitempty"`
	// Perturbations are the sources of contexts. The first makes C3, the others are compared with it.
	Perturbations []PerturbationSource `yaml:"perturbations,omitempty"`
	// AtLeast so many perturbations an item must have; an item with fewer ends the study. Absent is Perturbed.
	AtLeast int `yaml:"at_least,omitempty"`
	// MaxCharacters is the greatest length of a perturbation.
	MaxCharacters int `yaml:"max_characters,omitempty"`
	// Diversity is the cosine from which two perturbations are too alike: "calibrated", a number, or "off".
	Diversity string `yaml:"diversity,omitempty"`
	// Calibration is a file that "credence calibrate-diversity" wrote, relative to the study file.
	Calibration string `yaml:"calibration,omitempty"`
	// Kernels compare answers, Estimators the two sets; the first of each makes C3.
	Kernels    []string `yaml:"kernels,omitempty"`
	Estimators []string `yaml:"estimators,omitempty"`
	// CosineFloor is the mean cosine up to which answers count as agreeing in nothing.
	CosineFloor float64 `yaml:"cosine_floor,omitempty"`
	// Judge is the model of the study that says whether two answers are the same.
	Judge string `yaml:"judge,omitempty"`
	// Paraphrases of each question for paraphrasing consistency, by Paraphraser, a model of the study; 0 is none.
	Paraphrases int    `yaml:"paraphrases,omitempty"`
	Paraphraser string `yaml:"paraphraser,omitempty"`
	// SelfReport takes the confidence that the study's main prompt asks for as a baseline.
	SelfReport *bool `yaml:"self_report,omitempty"`
	// TopicJudge is the model of the study that says which domain a perturbation belongs to; none by default.
	TopicJudge string `yaml:"topic_judge,omitempty"`
	// Tasks say how the answers of a data set are read, Domains which domain its perturbations should be of.
	Tasks   map[string]string `yaml:"tasks,omitempty"`
	Domains map[string]string `yaml:"domains,omitempty"`
	// MaxTokens of an answer; absent is the protocol's, and 512 for code.
	MaxTokens int `yaml:"max_answer_tokens,omitempty"`
	// Trials after which convergence is read, and the mean change that counts as stable.
	Trials    []int   `yaml:"trials,omitempty"`
	Tolerance float64 `yaml:"tolerance,omitempty"`
	// Alpha is the significance for perturbations that leak, Bins the number of the calibration error.
	Alpha float64 `yaml:"alpha,omitempty"`
	Bins  int     `yaml:"bins,omitempty"`
	// ItemResamples of the answers of an item, for its interval and permutation test.
	ItemResamples int `yaml:"item_resamples,omitempty"`
}

// PerturbationSource is where contexts come from.
type PerturbationSource struct {
	// Name of the source in tables; absent is From.
	Name string `yaml:"name,omitempty"`
	// From is "model", "corpus" or "file".
	From string `yaml:"from"`
	// By is the model of the study that writes them; absent is the first.
	By string `yaml:"by,omitempty"`
	// File is a text that snippets are cut from, or a table with a column "perturbation" and perhaps "dataset"
	// and "item", relative to the study file. A corpus without one is the built-in one.
	File string `yaml:"file,omitempty"`
	// Words of a snippet, about.
	Words int `yaml:"words,omitempty"`
	// Batch is how many are asked for at once, Batches how often for one item at most.
	Batch   int `yaml:"batch,omitempty"`
	Batches int `yaml:"batches,omitempty"`
}

// Sources of perturbations.
const (
	FromModel  = "model"
	FromCorpus = "corpus"
	FromFile   = "file"
)

// Words for the diversity filter that are no number.
const (
	diversityCalibrated = "calibrated"
	diversityOff        = "off"
)

// Defaults of consistency. Trials and temperature are the paper's (sections 4 and appendix B); the rest is ours.
const (
	DefaultTrials          = 30
	DefaultMaxCharacters   = 200
	DefaultSnippetWords    = 14
	DefaultBatch           = 10
	DefaultBatches         = 20
	DefaultTolerance       = .02
	DefaultAlpha           = .05
	DefaultBins            = 10
	DefaultItemResamples   = 1000
	DefaultEmbeddings      = "all-minilm-l6-v2"
	defaultCodeTokens      = 512
	mostTrials             = 1000
	mostItemResamples      = 100_000
	mostPerturbationLength = 10_000
)

// fillConsistency writes the defaults of consistency into f.
func (f *File) fillConsistency() {
	c := f.Consistency
	if c == nil {
		return
	}
	number := func(key string, into *int, value int) {
		if !f.at.has("$.consistency." + key) {
			*into = value
		}
	}
	number("samples", &c.Samples, DefaultTrials)
	number("perturbed", &c.Perturbed, c.Samples)
	number("at_least", &c.AtLeast, c.Perturbed)
	number("max_characters", &c.MaxCharacters, DefaultMaxCharacters)
	number("bins", &c.Bins, DefaultBins)
	number("item_resamples", &c.ItemResamples, DefaultItemResamples)
	if !f.at.has("$.consistency.tolerance") {
		c.Tolerance = DefaultTolerance
	}
	if !f.at.has("$.consistency.alpha") {
		c.Alpha = DefaultAlpha
	}
	setDefault(&c.Diversity, diversityCalibrated)
	if c.SelfReport == nil {
		yes := true
		c.SelfReport = &yes
	}
	if len(c.Kernels) == 0 {
		c.Kernels = []string{string(consistency.Indicator)}
	}
	if len(c.Estimators) == 0 {
		c.Estimators = []string{string(consistency.UnbiasedMMD)}
	}
	if len(c.Perturbations) == 0 {
		c.Perturbations = []PerturbationSource{{From: FromModel}}
	}
	if len(c.Trials) == 0 {
		c.Trials = trialsUpTo(min(c.Samples, c.Perturbed))
	}
	if len(f.Models) > 0 && c.Paraphrases > 0 {
		setDefault(&c.Paraphraser, f.Models[0].Name)
	}
	for i := range c.Perturbations {
		c.Perturbations[i].fill(f)
	}
	if f.Sampling.Temperature == 0 && !f.at.has("$.sampling.temperature") {
		f.Sampling.Temperature = DefaultTemperature
	}
	if c.needsEmbeddings() {
		setDefault(&f.Embeddings, Embeddings{Weights: DefaultEmbeddings})
	}
}

func (p *PerturbationSource) fill(f *File) {
	setDefault(&p.Name, p.From)
	setDefault(&p.Batch, DefaultBatch)
	setDefault(&p.Batches, DefaultBatches)
	switch p.From {
	case FromModel:
		if len(f.Models) > 0 {
			setDefault(&p.By, f.Models[0].Name)
		}
	case FromCorpus:
		if p.File != "" {
			setDefault(&p.Words, DefaultSnippetWords)
		}
	}
}

// trialsUpTo are the numbers of trials at which convergence is read: steps of 5, or of 2 where there are few.
func trialsUpTo(n int) []int {
	step := 5
	if n < 20 {
		step = 2
	}
	var list []int
	for t := step; t <= n; t += step {
		list = append(list, t)
	}
	if len(list) == 0 || list[len(list)-1] != n {
		list = append(list, n)
	}
	return list
}

// needsEmbeddings reports whether vectors are compared: of perturbations by the filter, of answers by a kernel.
func (c *Consistency) needsEmbeddings() bool {
	return c.Diversity != diversityOff || slices.Contains(c.Kernels, string(consistency.Cosine))
}

// judged reports whether a kernel needs a judge, and whether clusters alone would do.
func (c *Consistency) judged() (judged, clusters bool) {
	pairs := slices.Contains(c.Kernels, string(consistency.Equivalent))
	clustered := slices.Contains(c.Kernels, string(consistency.Clustered))
	return pairs || clustered, clustered && !pairs
}

// Tasks: how an answer is read from a reply and compared.
const (
	TaskShort  = "short"
	TaskNumber = "number"
	TaskLetter = "letter"
	TaskCode   = "code"
)

func taskNames() []string { return []string{TaskShort, TaskNumber, TaskLetter, TaskCode} }

// taskOf is the task of a data set: what the study says, else what its format is made of.
func (f *File) taskOf(name string) string {
	if task := f.Consistency.Tasks[name]; task != "" {
		return task
	}
	switch f.formatOf(name) {
	case "svamp", "gsm8k":
		return TaskNumber
	case "mmlu", "commonsenseqa":
		return TaskLetter
	}
	return TaskShort
}

func (f *File) formatOf(name string) string {
	for _, d := range f.Datasets {
		if d.Name == name {
			return d.Format
		}
	}
	return ""
}

// domainOf is the domain that perturbations for a data set should be of.
func (f *File) domainOf(name string) consistency.Domain {
	if d := f.Consistency.Domains[name]; d != "" {
		return consistency.Domain(d)
	}
	switch {
	case f.formatOf(name) == "svamp" || f.formatOf(name) == "gsm8k":
		return consistency.Arithmetic
	case f.formatOf(name) == "mmlu":
		return consistency.Statistical
	case f.formatOf(name) == "commonsenseqa":
		return consistency.Commonsense
	case f.taskOf(name) == TaskCode:
		return consistency.Code
	}
	return consistency.ShortFact
}

func (f *File) checkConsistency() error {
	if f.Consistency == nil {
		return nil
	}
	for _, step := range []func() error{f.checkTrials, f.checkDiversity, f.checkPerturbations, f.checkKernels, f.checkTasks} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) checkTrials() error {
	c, at := f.Consistency, "$.consistency."
	for _, n := range []struct {
		key         string
		n, from, to int
		hint        string
	}{
		{"samples", c.Samples, 2, mostTrials, "the paper's is 30"},
		{"perturbed", c.Perturbed, 2, mostTrials, "the paper's is 30"},
		{"at_least", c.AtLeast, 2, c.Perturbed, "an item needs two perturbed samples, and cannot have more than are wanted"},
		{"max_characters", c.MaxCharacters, 1, mostPerturbationLength, "leave it out for 200"},
		{"paraphrases", c.Paraphrases, 0, mostTrials, "0 is none"},
		{"bins", c.Bins, 1, 1000, "the usual number is 10"},
		{"item_resamples", c.ItemResamples, 1, mostItemResamples, "leave it out for 1000"},
		{"max_answer_tokens", c.MaxTokens, 0, maxCount, "leave it out for the protocol's"},
	} {
		if n.n < n.from || n.n > n.to {
			return f.at.errorf(at+n.key, n.hint, "%s is %d, and lies between %d and %d", n.key, n.n, n.from, n.to)
		}
	}
	switch {
	case c.Paraphrases == 1:
		return f.at.errorf(at+"paraphrases", "ask for two or more, or 0", "of one paraphrase there is no consistency")
	case !(c.Alpha > 0 && c.Alpha < 1):
		return f.at.errorf(at+"alpha", "the usual one is 0.05", "alpha %g is not between 0 and 1", c.Alpha)
	case !(c.Tolerance >= 0 && c.Tolerance <= 2):
		return f.at.errorf(at+"tolerance", "leave it out for 0.02", "tolerance %g is no change of a C3", c.Tolerance)
	case !(c.CosineFloor >= -1 && c.CosineFloor <= 1):
		return f.at.errorf(at+"cosine_floor", "0 is the default", "cosine_floor %g is no cosine", c.CosineFloor)
	case !(f.Sampling.Temperature > 0 && f.Sampling.Temperature <= 100):
		return f.at.errorf("$.sampling.temperature", "the paper's is 1", "temperature %g draws no samples", f.Sampling.Temperature)
	}
	for i, t := range c.Trials {
		if t < 2 || t > min(c.Samples, c.Perturbed) {
			return f.at.errorf(fmt.Sprintf("%strials[%d]", at, i), "leave trials out for steps up to all of them", "a C3 cannot be read after %d of %d trials", t, min(c.Samples, c.Perturbed))
		}
	}
	return nil
}

// diversity is the threshold that the study gives as a number; ok is false where it is a word.
func (c *Consistency) diversity() (k float64, ok bool) {
	k, err := strconv.ParseFloat(c.Diversity, 64)
	return k, err == nil
}

func (f *File) checkDiversity() error {
	c := f.Consistency
	const node = "$.consistency.diversity"
	if k, ok := c.diversity(); ok {
		if !(k > -1 && k <= 1) {
			return f.at.errorf(node, "paraphrases usually have more than 0.6", "diversity %s is no cosine above -1 and at most 1", c.Diversity)
		}
		return nil
	}
	if c.Diversity != diversityCalibrated && c.Diversity != diversityOff {
		return f.at.errorf(node, "write calibrated, off, or a cosine such as 0.8", "diversity %q is unknown", c.Diversity)
	}
	return nil
}

func (f *File) checkModelNamed(node, name, what string) error {
	if !slices.Contains(f.modelNames(), name) {
		return f.at.errorf(node, "the models of the study are "+strings.Join(f.modelNames(), ", "), "there is no model %q to %s", name, what)
	}
	return nil
}

func (f *File) checkPerturbations() error {
	c := f.Consistency
	seen := map[string]bool{}
	for i, p := range c.Perturbations {
		node := fmt.Sprintf("$.consistency.perturbations[%d]", i)
		switch {
		case !slices.Contains([]string{FromModel, FromCorpus, FromFile}, p.From):
			return f.at.errorf(node+".from", "use model, corpus or file", "perturbations cannot come from %q", p.From)
		case !plainName(p.Name):
			return f.at.errorf(node+".name", "use letters, digits, dots, dashes and underscores", "the source name %q cannot be used", p.Name)
		case seen[p.Name]:
			return f.at.errorf(node, "give each a \"name:\" of its own", "two sources of perturbations are called %q", p.Name)
		case p.From == FromFile && p.File == "":
			return f.at.errorf(node, "add \"file:\" with a table that has a column \"perturbation\"", "the source %q has no file", p.Name)
		case p.From == FromModel && p.File != "":
			return f.at.errorf(node+".file", "remove it, or write from: file", "a model writes the perturbations of %q itself", p.Name)
		case p.From != FromModel && p.By != "":
			return f.at.errorf(node+".by", "remove it, or write from: model", "nobody writes the perturbations of %q", p.Name)
		case p.Words != 0 && (p.From != FromCorpus || p.File == ""):
			return f.at.errorf(node+".words", "remove it", "only snippets of a corpus of yours have a length in words")
		case p.Words < 0 || p.Words > 1000:
			return f.at.errorf(node+".words", "leave it out for 14", "snippets of %d words", p.Words)
		case p.Batch < 1 || p.Batch > 100:
			return f.at.errorf(node+".batch", "use 1 to 100", "batch is %d", p.Batch)
		case p.Batches < 1 || p.Batches > 1000:
			return f.at.errorf(node+".batches", "use 1 to 1000", "batches is %d", p.Batches)
		}
		if p.From == FromModel {
			if err := f.checkModelNamed(node+".by", p.By, "write perturbations"); err != nil {
				return err
			}
			if p.By == c.TopicJudge {
				return f.at.errorf("$.consistency.topic_judge", "name another model of the study", "the model %q would judge its own perturbations", p.By)
			}
		}
		seen[p.Name] = true
	}
	return nil
}

func (f *File) checkKernels() error {
	c, at := f.Consistency, "$.consistency."
	kernels := []string{string(consistency.Indicator), string(consistency.Cosine), string(consistency.Equivalent), string(consistency.Clustered)}
	var estimators []string
	for _, e := range consistency.Estimators() {
		estimators = append(estimators, string(e))
	}
	for _, list := range []struct {
		key           string
		values, known []string
	}{{"kernels", c.Kernels, kernels}, {"estimators", c.Estimators, estimators}} {
		for i, v := range list.values {
			node := fmt.Sprintf("%s%s[%d]", at, list.key, i)
			if !slices.Contains(list.known, v) {
				return f.at.errorf(node, hintFor(v, list.known), "unknown %s value %q", list.key, v)
			}
			if slices.Contains(list.values[:i], v) {
				return f.at.errorf(node, "list it once", "%s has %q twice", list.key, v)
			}
		}
	}
	judged, _ := c.judged()
	switch {
	case judged && c.Judge == "":
		return f.at.errorf(at+"kernels", "add \"judge:\" with a model of the study", "answers are to be judged, and there is no judge")
	case !judged && c.Judge != "":
		return f.at.errorf(at+"judge", "add the kernel equivalent or clustered, or remove it", "no kernel asks the judge %q", c.Judge)
	}
	for key, name := range map[string]string{"judge": c.Judge, "topic_judge": c.TopicJudge, "paraphraser": c.Paraphraser} {
		if name == "" {
			continue
		}
		if err := f.checkModelNamed(at+key, name, "be the "+key); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) checkTasks() error {
	c := f.Consistency
	var domains []string
	for _, d := range consistency.Domains() {
		domains = append(domains, string(d))
	}
	for _, list := range []struct {
		key   string
		of    map[string]string
		known []string
	}{{"tasks", c.Tasks, taskNames()}, {"domains", c.Domains, domains}} {
		for _, name := range sortedNames(list.of) {
			node := "$.consistency." + list.key
			switch {
			case !slices.ContainsFunc(f.Datasets, func(d Data) bool { return d.Name == name }):
				return f.at.errorf(node, "name a data set of the study", "there is no data set %q", name)
			case !slices.Contains(list.known, list.of[name]):
				return f.at.errorf(node, hintFor(list.of[name], list.known), "unknown %s value %q", list.key, list.of[name])
			}
		}
	}
	for i, m := range f.Models {
		if m.Released != "" {
			if _, err := consistency.Month(m.Released); err != nil {
				return f.at.errorf(fmt.Sprintf("$.models[%d].released", i), "write it as 2025-04", "released %q is no month", m.Released)
			}
		}
		if !(m.Parameters >= 0 && m.Parameters < 1e6) {
			return f.at.errorf(fmt.Sprintf("$.models[%d].parameters", i), "write thousands of millions, such as 0.5", "parameters %g cannot be", m.Parameters)
		}
	}
	return nil
}

func sortedNames(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// rebaseConsistency changes the paths of consistency; the caller's own section stays as it is.
func (f *File) rebaseConsistency(change func(string) string) {
	if f.Consistency == nil {
		return
	}
	c := *f.Consistency
	c.Perturbations = slices.Clone(c.Perturbations)
	for i := range c.Perturbations {
		if p := &c.Perturbations[i]; p.File != "" {
			p.File = change(p.File)
		}
	}
	if c.Calibration != "" {
		c.Calibration = change(c.Calibration)
	}
	f.Consistency = &c
}

// name is what calibrations call a model of embeddings.
func (e Embeddings) name() string {
	if e.OnServer() {
		return e.Served
	}
	return strings.TrimSuffix(filepath.Base(e.Weights), ".gguf")
}

// comparesCosines reports whether a kernel reads embeddings.
func (f *File) comparesCosines() bool {
	return f.Consistency != nil && slices.Contains(f.Consistency.Kernels, string(consistency.Cosine))
}

// samplerOf is the name by which calibrations know the model that writes perturbations.
func (f *File) samplerOf(name string) string {
	for _, m := range f.Models {
		if m.Name == name {
			return m.weightsName()
		}
	}
	return name
}

// weightsName is what calibrations call a model that writes.
func (m Model) weightsName() string {
	if m.OnServer() {
		return m.Served
	}
	return strings.TrimSuffix(filepath.Base(m.Weights), ".gguf")
}
