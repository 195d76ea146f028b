package study

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// A study asks in stages. First every model answers, and its answers are scored; while it is there, it is
// asked what its uncertainty is quantified from. Then every model is asked how probable given answers are,
// among them the wrong answers of the other models, which must be there by then; and models that judge are
// asked whether answers are correct, and what follows from what. At last come the sources of entailment and
// embeddings that are no models of the study. What follows is a pure function of the records.

// Stage names a pass over all settings.
type Stage string

const (
	// StageAnswers asks for answers and scores them.
	StageAnswers Stage = "answers"
	// StageUncertainty asks for samples, and questions about the answer.
	StageUncertainty Stage = "uncertainty"
	// StageEntailment asks what follows from what among answer and samples.
	StageEntailment Stage = "entailment"
	// StageEmbeddings asks for the vectors of texts.
	StageEmbeddings Stage = "embeddings"
	// StageSupplied asks for the probability of given answers.
	StageSupplied Stage = "supplied answers"
	// StageVerdicts asks whether answers are correct.
	StageVerdicts Stage = "verdicts"
	// StageRecall asks nothing: it reads from the ledger what earlier runs have finished.
	StageRecall Stage = "read from the ledger"
)

// pass is one model's part in a stage.
type pass struct {
	stage Stage
	model int
}

// passes are what a study asks, in order. The models are gone through backwards where they were forwards
// before, so that the one that is open stays.
func (f *File) passes() []pass {
	var list []pass
	for i := range f.Models {
		list = append(list, pass{StageAnswers, i})
		if len(f.Quantifiers) > 0 {
			list = append(list, pass{StageUncertainty, i})
		}
		if f.entails() && f.Entailment.By == OwnEntailment {
			list = append(list, pass{StageEntailment, i})
		}
	}
	if f.Protocol.Has(PartSupplied) || f.Protocol.Has(PartAnswerOnly) {
		for i := len(f.Models) - 1; i >= 0; i-- {
			list = append(list, pass{StageSupplied, i})
		}
	}
	for i, m := range f.Models {
		if f.judgingOf(m.Name) != (judgingRole{}) {
			list = append(list, pass{StageVerdicts, i})
		}
		if f.entails() && f.Entailment.By == m.Name && m.Name != OwnEntailment {
			list = append(list, pass{StageEntailment, i})
		}
	}
	return list
}

// dataOf are the data sets as far as a model is asked of them.
func (r *runner) dataOf(m Model) []dataset.Dataset {
	list := slices.Clone(r.data)
	for i := range list {
		if d := &list[i]; m.Limit > 0 && m.Limit < len(d.Items) {
			d.Items = d.Items[:m.Limit]
		}
	}
	return list
}

// turns keeps one model open at a time: asking for another closes the one before.
type turns struct {
	r     *runner
	at    int
	ready *model
	ask   *ledger.Asker
}

// to returns model number i, opened if it is not the one that is open.
func (t *turns) to(ctx context.Context, i int) (*model, *ledger.Asker, error) {
	if t.ready != nil && t.at == i {
		return t.ready, t.ask, nil
	}
	if err := t.end(); err != nil {
		return nil, nil, err
	}
	m := t.r.file.Models[i]
	ready, err := openModel(ctx, t.r.options.Open, m, t.r.file.Protocol.MaxTokens, t.r.file.mustAsk()...)
	if err != nil {
		return nil, nil, err
	}
	if err := t.r.calibratedWeights(m.Name, ready.opened.Engine.Identity()); err != nil {
		return nil, nil, closing(ready.opened.Engine, err)
	}
	t.r.noteUnsupported(ready)
	if ready.verified, err = t.verify(ctx, i, ready); err != nil {
		return nil, nil, closing(ready.opened.Engine, err)
	}
	t.at, t.ready, t.ask = i, ready, t.r.ledger.Through(t.r.meter.around(ready.opened.Engine, m.Price))
	return t.ready, t.ask, nil
}

// verify finds out whether what a model says can be relied on, the first time that it is opened.
func (t *turns) verify(ctx context.Context, i int, ready *model) (Verified, error) {
	if ran := t.r.models[i].model; ran != nil {
		return ran.verified, nil
	}
	if ready.opened.Verify == nil {
		return Verified{}, nil
	}
	v, err := ready.opened.Verify(ctx)
	if err != nil {
		return v, fmt.Errorf("model %s: checking it before the first call: %w", ready.Name, err)
	}
	return v, nil
}

// end closes the model that is open and keeps what it cost.
func (t *turns) end() error {
	if t.ready == nil {
		return nil
	}
	ran := &t.r.models[t.at]
	ran.model, ran.identity, ran.counts = t.ready, t.ask.Identity(), ran.counts.Add(t.ask.Counts())
	ran.retries += t.ready.retries()
	t.ready = nil
	if err := t.ask.Close(); err != nil {
		return fmt.Errorf("model %s: %w", ran.Name, err)
	}
	return nil
}

// collect asks all models everything, first of all what is not done yet, and then takes together what they gave.
func (r *runner) collect(ctx context.Context) (err error) {
	r.models = make([]ranModel, len(r.file.Models))
	t := &turns{r: r}
	defer func() { err = errors.Join(err, t.end()) }()
	for {
		if err = r.ask(ctx, t); err == nil {
			err = r.recall(ctx)
		}
		// Each time the marks of another setting are not believed any more, so that this comes to an end.
		if !errors.Is(err, errWrongMark) {
			break
		}
	}
	if err != nil {
		return err
	}
	r.gather()
	if err := r.cross(ctx, t); err != nil {
		return err
	}
	for _, stage := range r.file.sourceStages() {
		if err := t.end(); err != nil {
			return err
		}
		if err := r.fromSource(ctx, stage); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) ask(ctx context.Context, t *turns) error {
	for _, p := range r.file.passes() {
		if err := r.stage(ctx, t, p.model, p.stage); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) stage(ctx context.Context, t *turns, i int, stage Stage) error {
	m, ask, err := t.to(ctx, i)
	if err != nil {
		return err
	}
	for _, d := range r.dataOf(m.Model) {
		after := func(done, lacking int) {
			r.tell(Progress{
				Setting: settingOf(m, d), Stage: stage, Done: done, Total: len(d.Items),
				Counts: ask.Counts(), Retries: m.retries(), NotScored: lacking,
			})
		}
		if err := r.askSetting(ctx, m, ask, d, stage, after); err != nil {
			return fmt.Errorf("%s on %s: %w", m.Name, d.Name, err)
		}
	}
	return nil
}

func (r *runner) tell(p Progress) {
	if r.options.Progress != nil {
		r.options.Progress(p)
	}
}

// askSetting asks one setting in one stage; the plan runs the same code.
func (r *runner) askSetting(ctx context.Context, m *model, ask *ledger.Asker, d dataset.Dataset, stage Stage, after func(done, lacking int)) error {
	if stage.crosses() {
		return r.askCross(ctx, m, ask, d, stage, after)
	}
	w, err := r.workOf(stage, m, d)
	if err != nil {
		return err
	}
	if r.ledger != nil {
		if err := r.begin(ctx, w, stage, m, ask, d); err != nil {
			return err
		}
	}
	return w.ask(ctx, ask, m.openItems(), after)
}

// retries is how often the engine asked again by itself; one that never does has no count.
func (m *model) retries() int64 { return retriesOf(m.opened.Engine) }

func retriesOf(engine llm.Engine) int64 {
	if e, ok := engine.(Retrier); ok {
		return e.Retries()
	}
	return 0
}

func settingOf(m *model, d dataset.Dataset) record.Setting {
	return record.Setting{Model: m.Name, Dataset: d.Name}
}

// Most new tokens of a letter with its probability, and of the probability of a supplied answer
// ("Same Answer, Different Confidence", appendices F and I).
const (
	letterTokens   = 20
	suppliedTokens = 12
)

// spec is what is asked of every item of a setting.
func (r *runner) spec(m *model, setting record.Setting) (*collect.Spec, error) {
	p := r.file.Protocol
	parser, err := prompt.NewParser(p.Parser, prompt.Unit)
	if err != nil {
		return nil, err
	}
	contexts, err := contextsNamed(r.file.mainContexts())
	if err != nil {
		return nil, err
	}
	s := &collect.Spec{Setting: setting, Prompts: r.prompts, Form: m.form, OptionSeed: r.file.Seed}
	s.Elicitations = append(s.Elicitations, collect.Elicitation{
		Prompt: prompt.Confidence, Parser: parser, Decoding: m.decoding(p.MaxTokens), Contexts: contexts,
	})
	if p.Has(PartAnswerOnly) {
		contexts, err := contextsNamed(r.file.answerOnlyContexts())
		if err != nil {
			return nil, err
		}
		s.Elicitations = append(s.Elicitations, collect.Elicitation{
			Prompt: prompt.AnswerOnly, Parser: parser, AnswerAlone: true, Decoding: m.decoding(p.MaxTokens), Contexts: contexts,
		})
	}
	if p.Has(PartPercent) {
		percent := parser
		percent.Scale = prompt.Percent
		s.Elicitations = append(s.Elicitations, collect.Elicitation{
			Prompt: prompt.ConfidencePercent, Parser: percent, Decoding: m.decoding(p.MaxTokens), Contexts: percentContexts(),
		})
	}
	if p.Has(PartLetters) {
		s.Elicitations = append(s.Elicitations, collect.Elicitation{
			Prompt: prompt.LetterConfidence, Parser: parser, Lettered: true, Decoding: m.decoding(letterTokens), Contexts: prompt.LetterContexts(),
		})
	}
	if p.Has(PartReference) {
		s.ReferenceContexts = contexts
	}
	s.Supply = collect.Supply{Prompt: prompt.Confidence, Parser: parser, Decoding: m.decoding(suppliedTokens)}
	return s, nil
}

func contextsNamed(names []string) ([]prompt.Context, error) {
	var list []prompt.Context
	for _, name := range names {
		c, err := prompt.ContextNamed(name)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// mainContexts are those of the study; the ablation adds the cells that it does not name.
func (f *File) mainContexts() []string {
	return f.withCells(f.Protocol.Contexts)
}

// answerOnlyContexts are those in which answers to the answer-only instruction are scored: the three of
// the transfer check, and those in which they are compared with the main answers.
func (f *File) answerOnlyContexts() []string {
	list := []string{prompt.BareContext.Name, prompt.AnswerOnlyGenerating.Name, prompt.GuessSlot.Name}
	return f.withCells(append(list, prompt.AnswerOnlyContext.Name))
}

// allContexts are those in which any answer of the study is scored, the main ones first.
func (f *File) allContexts() []string {
	list := f.mainContexts()
	add := func(names ...string) {
		for _, name := range names {
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	p := f.Protocol
	if p.Has(PartAnswerOnly) {
		add(f.answerOnlyContexts()...)
	}
	if p.Has(PartPercent) {
		add(namesOf(percentContexts())...)
	}
	if p.Has(PartLetters) {
		add(namesOf(prompt.LetterContexts())...)
	}
	return list
}

func percentContexts() []prompt.Context {
	return []prompt.Context{prompt.BareContext, prompt.PercentGuessSlot}
}

func (f *File) withCells(names []string) []string {
	list := append([]string(nil), names...)
	if !f.Protocol.Has(PartAblation) {
		return list
	}
	for _, c := range append([]prompt.Context{prompt.BareContext}, prompt.Cells()...) {
		if !slices.Contains(list, c.Name) {
			list = append(list, c.Name)
		}
	}
	return list
}
