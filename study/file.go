// Package study joins the parts: it reads a study file, plans it, runs it, and writes the run's
// folder. Collecting goes through the ledger; everything after it is a pure function of records.
package study

import (
	"slices"

	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/quantify"
)

// File is a study file with its defaults filled in: the effective configuration that a run keeps.
// Unknown keys are errors. Precedence: flag, then environment, then file, then default.
type File struct {
	// Name is the name of the study and of its folder under runs/.
	Name string `yaml:"name"`
	// Purpose is what the scores are to be used for, in a sentence; it stands on the card and changes nothing.
	Purpose string `yaml:"purpose,omitempty"`
	// Models to ask, each under its own name.
	Models []Model `yaml:"models"`
	// Datasets to ask them; every model meets every data set.
	Datasets []Data `yaml:"datasets"`
	// Protocol holds the choices of how confidence is measured.
	Protocol Protocol `yaml:"protocol"`
	// Quantifiers of uncertainty that are computed of every item, by id; "default" stands for the seven of "A
	// Tale of Two Error Categories". Empty measures none.
	Quantifiers []string `yaml:"quantifiers,omitempty"`
	// Judges of the answers whose uncertainty is quantified, by id; "llm:NAME" is a model of the study.
	Judges []string `yaml:"judges,omitempty"`
	// Imported are files with judgements made elsewhere, by the name under which the judge "imported:NAME" reads them,
	// relative to the study file.
	Imported map[string]string `yaml:"imported,omitempty"`
	// Judging says what is asked of models that judge, besides their verdicts.
	Judging Judging `yaml:"judging,omitempty"`
	// Embeddings says where the vectors come from that some quantifiers and judges compare. Empty is none.
	Embeddings Embeddings `yaml:"embeddings,omitempty"`
	// Entailment says who judges what follows from what, for quantifiers of meaning.
	Entailment Entailment `yaml:"entailment,omitempty"`
	// Ensemble lists quantifiers of the study that are weighed together, by weights that are tuned on each judge's
	// verdicts by cross-fitting; empty makes none.
	Ensemble []string `yaml:"ensemble,omitempty"`
	// Sampling says how samples are drawn for quantifiers.
	Sampling Sampling `yaml:"sampling,omitempty"`
	// Consistency says how cross-contextual consistency is measured; absent measures none.
	Consistency *Consistency `yaml:"consistency,omitempty"`
	// Prompts replaces built-in prompts by name; the text must hold {{.Question}}.
	Prompts map[string]string `yaml:"prompts,omitempty"`
	// Analysis holds the choices of how intervals are made.
	Analysis Analysis `yaml:"analysis"`
	// Budget is the most that the study may cost.
	Budget Budget `yaml:"budget,omitempty"`
	// Seed fixes every generator of the study.
	Seed uint64 `yaml:"seed"`

	// at finds the line of a key for error messages.
	at positions
}

// Model is one model of a study.
type Model struct {
	Name string `yaml:"name"`
	// Engine that runs it: "llamacpp", or the kind of a server ("vllm", "llama-server" and others).
	Engine string `yaml:"engine"`
	// Server says which server, if one runs it.
	Server `yaml:",inline"`
	// Price of its tokens, for plans and for a budget of money; nil where it costs nothing.
	Price *Price `yaml:"price,omitempty"`
	// Weights is a name that "credence models" lists, or the path of a GGUF file.
	Weights string `yaml:"weights,omitempty"`
	// Format is "chat", or "base" for a model without chat template; "auto" asks the weights.
	Format string `yaml:"format"`
	// RepetitionPenalty of generated answers; absent takes the release's own generation settings.
	RepetitionPenalty *float64 `yaml:"repetition_penalty,omitempty"`
	// Mode is "exact" (values to the last bit, whatever is computed beside them) or "fast".
	Mode string `yaml:"mode,omitempty"`
	// CPU names the CPU variant of the engine's library, or is "portable"; empty takes the best that the
	// machine can run. Values differ between variants.
	CPU string `yaml:"cpu,omitempty"`
	// Threads to compute with; 0 takes one per core.
	Threads int `yaml:"threads,omitempty"`
	// ContextTokens is the longest prompt and answer together.
	ContextTokens int `yaml:"context_tokens,omitempty"`
	// Group is the group of models in which summaries over settings count this one: "instruct", "base",
	// "larger", or any other plain name. Empty takes "base" for a model asked in plain text, else
	// "instruct".
	Group string `yaml:"group,omitempty"`
	// Limit takes the first items of each data set for this model; 0 takes all. A slow model can so have its
	// part in a study of many items.
	Limit int `yaml:"limit,omitempty"`
	// Parameters in thousands of millions and Released, a month such as "2025-04", order models in trends of
	// consistency; absent leaves the model out of them.
	Parameters float64 `yaml:"parameters,omitempty"`
	Released   string  `yaml:"released,omitempty"`
	// Memory bounds what the loaded model takes, as a size such as "2GB"; empty is no bound.
	Memory string `yaml:"memory,omitempty"`
	// GPULayers is how many layers a GPU computes, which takes a library that can; 0 is none. Values then
	// are not those of the CPU.
	GPULayers int `yaml:"gpu_layers,omitempty"`
}

// Data is one data set of a study: a built-in one by name, or a file.
type Data struct {
	Name string `yaml:"name"`
	// File is a CSV, TSV, JSONL or Parquet file, relative to the study file.
	File string `yaml:"file,omitempty"`
	// Format is the layout of a published benchmark file, such as "triviaqa"; empty for a table with
	// columns.
	Format string `yaml:"format,omitempty"`
	// Columns says which column of the file is what.
	Columns dataset.Mapping `yaml:"columns,omitempty"`
	// Limit takes the first items only; 0 takes all.
	Limit int `yaml:"limit,omitempty"`
}

// Protocol holds what varies, the default first in each list.
type Protocol struct {
	Contexts     []string `yaml:"contexts"`
	Aggregations []string `yaml:"aggregations"`
	Correctness  []string `yaml:"correctness"`
	Parser       string   `yaml:"parser"`
	// MaxTokens is the most tokens of an answer with its stated probability.
	MaxTokens int `yaml:"max_tokens"`
	// Parts are what a study asks beyond its main comparison; see [Parts].
	Parts []string `yaml:"parts,omitempty"`
	// DropFallback leaves out answers whose probability the parser took by its last resort.
	DropFallback bool `yaml:"drop_fallback,omitempty"`
	// Rulings is a CSV file with a person's decisions on supplied wrong answers that come close to a
	// reference, relative to the study file; a run writes the list to decide on.
	Rulings string `yaml:"rulings,omitempty"`
}

// The parts of "Same Answer, Different Confidence" beyond the comparison of contexts.
const (
	// PartAblation scores the answers in all eight cells of prompts and markers (appendix C).
	PartAblation = "ablation"
	// PartPercent asks again on a scale of 0 to 100 (appendix B.1).
	PartPercent = "percent"
	// PartAnswerOnly asks for the answer alone, scores those answers too, and has their probability by
	// supplying them (section 3.4, appendix D).
	PartAnswerOnly = "answer-only"
	// PartReference scores the reference answers (section 4.2, appendix E).
	PartReference = "reference"
	// PartSupplied asks for the probability of answers from elsewhere (section 3.6, appendix I).
	PartSupplied = "supplied"
	// PartLetters asks the questions that have options as multiple choice (appendix F).
	PartLetters = "multiple-choice"
	// PartMultiverse evaluates the gap under every protocol that the records allow; it asks nothing.
	PartMultiverse = "multiverse"
)

// Parts lists the parts that a study can have.
func Parts() []string {
	return []string{PartAblation, PartPercent, PartAnswerOnly, PartReference, PartSupplied, PartLetters, PartMultiverse}
}

// Has reports whether the study has a part.
func (p Protocol) Has(part string) bool { return slices.Contains(p.Parts, part) }

// Analysis holds the choices of the intervals.
type Analysis struct {
	// Resamples of the paired bootstrap; 0 makes no intervals.
	Resamples *int `yaml:"resamples"`
	// Level of the intervals, in (0,1).
	Level float64 `yaml:"level"`
}

// Defaults of a study file. Contexts, aggregation and length are those of "Same Answer, Different
// Confidence" (sections 3.1 to 3.5 and Appendix A). Parser and normaliser are the strict ones, which
// work in every script; the paper's own are "lenient" and "ascii", and the built-in study names them.
const (
	DefaultWeights   = "qwen2.5-coder-0.5b-instruct"
	DefaultParser    = "strict"
	DefaultMaxTokens = 32
	DefaultResamples = 10_000
	DefaultLevel     = .95
	DefaultSeed      = 1
)

func defaultContexts() []string {
	return []string{"bare", "answer-slot", "guess-slot", "answer-only"}
}
func defaultAggregations() []string { return []string{"geometric-mean"} }
func defaultCorrectness() []string  { return []string{"containment.unicode", "exact.unicode"} }

// fill writes every default into f, so that the kept file states all choices. What the file says
// stands, also where it says 0 or nothing.
func (f *File) fill() {
	p := &f.Protocol
	for node, set := range map[string]func(){
		"$.seed":                  func() { f.Seed = DefaultSeed },
		"$.protocol.contexts":     func() { p.Contexts = defaultContexts() },
		"$.protocol.aggregations": func() { p.Aggregations = defaultAggregations() },
		"$.protocol.correctness":  func() { p.Correctness = defaultCorrectness() },
		"$.protocol.parser":       func() { p.Parser = DefaultParser },
		"$.protocol.max_tokens":   func() { p.MaxTokens = DefaultMaxTokens },
		"$.analysis.level":        func() { f.Analysis.Level = DefaultLevel },
	} {
		if !f.at.has(node) {
			set()
		}
	}
	if f.Analysis.Resamples == nil {
		n := DefaultResamples
		f.Analysis.Resamples = &n
	}
	if len(f.Quantifiers) > 0 {
		setDefault(&f.Sampling.Samples, DefaultSamples)
		if !f.at.has("$.sampling.temperature") {
			f.Sampling.Temperature = DefaultTemperature
		}
		if f.reads(quantify.TopAlternatives) {
			setDefault(&f.Sampling.Alternatives, DefaultAlternatives)
		}
		if !f.at.has("$.entailment") {
			f.Entailment.By = OwnEntailment
		}
		if f.Judging.Repeats > 0 {
			setDefault(&f.Judging.RepeatItems, DefaultRepeatItems)
			if !f.at.has("$.judging.temperature") {
				f.Judging.Temperature = DefaultTemperature
			}
		}
		if !f.at.has("$.judges") {
			f.Judges = []string{"exact-match", "token-f1@0.3", "rouge-l@0.3"}
		}
	}
	for i := range f.Models {
		m := &f.Models[i]
		setDefault(&m.Engine, "llamacpp")
		setDefault(&m.Format, "auto")
		if !m.OnServer() {
			setDefault(&m.Mode, "exact")
		}
		setDefault(&m.Name, m.Weights)
	}
	for i := range f.Datasets {
		setDefault(&f.Datasets[i].Name, baseName(f.Datasets[i].File))
	}
	f.fillConsistency()
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
