package study

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/protocol"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/report"
)

// Options of running a study.
type Options struct {
	// Folder is the run's folder; made where needed.
	Folder string
	// Open makes engines.
	Open Opener
	// Version of the program, for run.json.
	Version string
	// Progress is called as items finish; may be nil.
	Progress func(Progress)
	// Note is told, before anything is asked, what a user should know of how a data set was read; may
	// be nil. For people.
	Note func(dataset, note string)
	// Now is the clock of run.json; nil takes time.Now.
	Now func() time.Time
}

// Progress is how far one setting is.
type Progress struct {
	Setting     record.Setting
	Done, Total int
	// Counts of the model so far.
	Counts ledger.Counts
}

// Run runs a study, or goes on with it: what the folder's ledger knows is not asked again. It writes
// every file of the folder and returns the results.
func Run(ctx context.Context, f *File, o Options) (_ *Results, _ *RunInfo, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &runner{file: f, options: o, started: o.Now()}
	if r.prompts, err = f.promptSet(); err != nil {
		return nil, nil, err
	}
	if r.data, err = loadData(ctx, f.Datasets); err != nil {
		return nil, nil, err
	}
	if o.Note != nil {
		for _, d := range r.data {
			for _, note := range d.Notes {
				o.Note(d.Name, note)
			}
		}
	}
	if r.folder, err = openFolder(o.Folder); err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, r.folder.close()) }()
	// A folder with results keeps the study that they are of until there are new ones.
	if !r.folder.has(resultsFile) {
		if err := r.folder.writeStudy(f); err != nil {
			return nil, nil, err
		}
	}
	if r.ledger, err = ledger.Open(r.folder.join(ledgerFile)); err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, r.ledger.Close()) }()
	if err := r.preview(ctx); err != nil {
		return nil, nil, err
	}
	for _, m := range f.Models {
		if err := r.model(ctx, m); err != nil {
			return nil, nil, err
		}
	}
	results, info := r.results(), r.info()
	return results, info, r.write(results, info)
}

// runner holds a run's state. Models take turns, in the order of the file: each does all its work and is
// closed before the next is opened, so that one at a time is in memory.
type runner struct {
	file    *File
	options Options
	prompts *prompt.Set
	data    []dataset.Dataset
	folder  *folder
	ledger  *ledger.Ledger
	started time.Time

	models     []ranModel
	records    collect.Records
	readings   []record.Reading
	judgements []record.Judgement
	settings   []SettingResult
	sections   []*report.Section
}

// ranModel is what remains of a model after its engine is closed.
type ranModel struct {
	*model
	identity llm.Identity
	counts   ledger.Counts
}

// preview opens and closes each of several models before the first is asked, so that a download, a setting or
// a bound on memory that ends the study ends it now and not after hours of the models before.
func (r *runner) preview(ctx context.Context) error {
	if len(r.file.Models) < 2 {
		return nil // its turn comes at once
	}
	for _, m := range r.file.Models {
		ready, err := openModel(ctx, r.options.Open, m, r.file.Protocol.MaxTokens)
		if err != nil {
			return err
		}
		if err := ready.opened.Engine.Close(); err != nil {
			return fmt.Errorf("model %s: %w", m.Name, err)
		}
	}
	return nil
}

// openItems is how many items are asked at the same time: enough that an engine's batches fill.
const openItems = 8

func (r *runner) model(ctx context.Context, m Model) (err error) {
	ready, err := openModel(ctx, r.options.Open, m, r.file.Protocol.MaxTokens)
	if err != nil {
		return err
	}
	ask := r.ledger.Through(ready.opened.Engine)
	defer func() {
		r.models = append(r.models, ranModel{ready, ask.Identity(), ask.Counts()})
		err = errors.Join(err, ask.Close())
	}()
	for _, d := range r.data {
		if err := r.setting(ctx, ready, ask, d); err != nil {
			return fmt.Errorf("%s on %s: %w", m.Name, d.Name, err)
		}
	}
	return nil
}

func (r *runner) setting(ctx context.Context, m *model, ask *ledger.Asker, d dataset.Dataset) error {
	setting := record.Setting{Model: m.Name, Dataset: d.Name}
	spec, err := r.spec(m, setting)
	if err != nil {
		return err
	}
	tell := func(done int) {
		if r.options.Progress != nil {
			r.options.Progress(Progress{setting, done, len(d.Items), ask.Counts()})
		}
	}
	tell(0)
	records, err := spec.All(ctx, ask, d.Items, collect.Pace{Open: openItems, Done: tell})
	if err != nil {
		return err
	}
	return r.analyse(ctx, setting, d, records)
}

func (r *runner) spec(m *model, setting record.Setting) (*collect.Spec, error) {
	p := r.file.Protocol
	parser, err := prompt.NewParser(p.Parser, prompt.ScaleOf(prompt.Confidence))
	if err != nil {
		return nil, err
	}
	main := collect.Elicitation{Prompt: prompt.Confidence, Parser: parser, Decoding: m.decoding(p)}
	for _, name := range p.Contexts {
		c, err := prompt.ContextNamed(name)
		if err != nil {
			return nil, err
		}
		main.Contexts = append(main.Contexts, c)
	}
	return &collect.Spec{
		Setting:      setting,
		Prompts:      r.prompts,
		Form:         m.form,
		Elicitations: []collect.Elicitation{main},
	}, nil
}

// analyse judges and compares; everything from here on is a pure function of the records.
func (r *runner) analyse(ctx context.Context, setting record.Setting, d dataset.Dataset, records collect.Records) error {
	readings := r.file.readings(records)
	judgements, err := r.file.judge(d.Items, records.Answers)
	if err != nil {
		return err
	}
	result := SettingResult{Setting: setting}
	shown := report.Setting{Items: d.Items, Answers: records.Answers, Readings: readings, Scorings: records.Scorings, Judgements: judgements}
	for i, choice := range r.file.choices() {
		aligned, err := protocol.Align(setting, records.Answers, readings, judgements, choice)
		if err != nil {
			return err
		}
		c, err := protocol.Compare(ctx, aligned, protocol.Options{
			Seed:      r.file.Seed,
			Resamples: *r.file.Analysis.Resamples,
			Level:     r.file.Analysis.Level,
		})
		if err != nil {
			return err
		}
		result.Comparisons = append(result.Comparisons, c)
		if i > 0 {
			continue
		}
		if shown.Scores, err = aligned.Scores(); err != nil {
			return err
		}
	}
	shown.Comparisons = result.Comparisons
	section, err := report.NewSection(shown)
	if err != nil {
		return err
	}
	r.sections = append(r.sections, section)
	r.records.Answers = append(r.records.Answers, records.Answers...)
	r.records.Scorings = append(r.records.Scorings, records.Scorings...)
	r.readings = append(r.readings, readings...)
	r.judgements = append(r.judgements, judgements...)
	r.settings = append(r.settings, result)
	return nil
}
