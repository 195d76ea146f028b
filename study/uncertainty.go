package study

import (
	"context"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
)

// Sampling says how samples are drawn for quantifiers.
type Sampling struct {
	// Samples of each item; 10 by default.
	Samples int `yaml:"samples,omitempty"`
	// Temperature above 0; 1 by default.
	Temperature float64 `yaml:"temperature,omitempty"`
	// Alternatives is how many of the most probable tokens are told at each position, for the quantifiers that
	// read them; 15 by default, as uqlm has it.
	Alternatives int `yaml:"alternatives,omitempty"`
}

// Defaults of sampling, those of "A Tale of Two Error Categories", section 4.
const (
	DefaultSamples     = 10
	DefaultTemperature = 1
	// DefaultAlternatives is that of uqlm's negentropy.
	DefaultAlternatives = 15
)

// embeddingJudge needs more than texts: vectors. The judges of BERTScore need those of tokens.
const (
	embeddingJudge = "embedding"
	bertScore      = "bert-score"
	bertPrecision  = "bert-score.precision"
	bertRecall     = "bert-score.recall"
)

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
	can := m.capabilities().Details
	u.Details, u.SampleDetails = f.details(needs.Answer, can), f.details(needs.Sample, can)
	for _, q := range needs.Questions {
		u.Questions = append(u.Questions, r.asked(m, q))
	}
	return u, nil
}

// details are what is asked for of tokens so that these parts of them are known, as far as an engine can tell it.
func (f *File) details(parts quantify.Parts, can llm.Details) llm.Details {
	var d llm.Details
	if parts&quantify.TopAlternatives != 0 && can.Alternatives >= 2 {
		d.Alternatives = min(f.Sampling.Alternatives, can.Alternatives)
	}
	d.Entropy = parts&quantify.FullEntropy != 0 && can.Entropy
	d.End = parts&quantify.EndOfTurn != 0 && can.End
	return d
}

// evidence is what was collected of an item in the form that quantifiers with these needs read.
func (r *runner) evidence(u collect.Uncertain, needs quantify.Needs) *quantify.Evidence {
	e := &quantify.Evidence{Answer: textOf(u.Answer), Reproducible: u.Answer.Reproducible}
	if r.vectors != nil {
		e.Embeddings = append(e.Embeddings, r.vectors[u.Answer.Text].Values)
		for _, s := range u.Samples {
			e.Embeddings = append(e.Embeddings, r.vectors[s.Text].Values)
		}
	}
	for _, s := range u.Samples {
		e.Samples = append(e.Samples, textOf(s))
		e.Reproducible = e.Reproducible && s.Reproducible
	}
	e.Entailment = r.relate(u, "", needs.Entailment)
	e.EntailmentWithQuestion = r.relate(u, u.Question, needs.EntailmentWithQuestion)
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
	r.readElicited(e, u)
	return e
}

func textOf(s collect.Sampled) quantify.Text {
	t := quantify.Text{Text: s.Text, Tokens: s.Tokens, NoTokens: s.NoTokens, Truncated: s.Truncated, Missing: s.Missing}
	if s.Told == nil {
		return t
	}
	t.Alternatives, t.Entropies = s.Told.Alternatives, s.Told.Entropies
	if end := s.Told.End; end != nil {
		t.End = quantify.End{LogProb: record.Known(end.LogProb), Alternatives: end.Alternatives}
	}
	return t
}

// uncertaintyWork asks a setting for what its uncertainty is quantified from.
func (r *runner) uncertaintyWork(m *model, setting record.Setting, d dataset.Dataset) (*work[collect.Uncertain], error) {
	u, err := r.uncertainty(m, setting)
	if err != nil {
		return nil, err
	}
	answered := func(got collect.Uncertain) bool { return got.Answer.Missing == record.Present }
	return &work[collect.Uncertain]{items: d.Items, complete: answered, item: func(ctx context.Context, ask collect.Asker, i int) (collect.Uncertain, error) {
		return u.Item(ctx, ask, d.Items[i])
	}}, nil
}
