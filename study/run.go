package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/openai"
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
	// Perturbed is told of the perturbations of each source for each data set once they are found; may be nil.
	Perturbed func(Perturbations)
	// Note is told, before anything is asked of it, what a user should know of how a data set was read and of
	// what a model cannot be asked for; may be nil. For people.
	Note func(about, note string)
	// Grace is how long a run that is to stop waits for the calls that are under way; 0 is [DefaultGrace].
	Grace time.Duration
	// Now is the clock of run.json; nil takes time.Now.
	Now func() time.Time
}

// Progress is how far one setting is.
type Progress struct {
	Setting record.Setting
	// Stage is the pass over all settings that is under way.
	Stage       Stage
	Done, Total int
	// Counts of the model so far.
	Counts ledger.Counts
	// Retries is how often the model's engine asked again so far; see [Retrier].
	Retries int64
	// NotScored is how many of the items done lack a value that the study asks for.
	NotScored int
}

// Retrier is an engine that asks again by itself where transport failed, and counts how often.
type Retrier interface{ Retries() int64 }

// Run runs a study, or goes on with it: what the folder's ledger knows is not asked again. It writes
// every file of the folder and returns the results.
func Run(ctx context.Context, f *File, o Options) (_ *Results, _ *RunInfo, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	ctx = openai.SharingEndpoints(ctx)
	r := newRunner(f)
	r.options, r.started = o, o.Now()
	if r.prompts, err = f.promptSet(); err != nil {
		return nil, nil, err
	}
	if r.data, err = loadData(ctx, f.Datasets); err != nil {
		return nil, nil, err
	}
	if err := r.readyForConsistency(); err != nil {
		return nil, nil, err
	}
	if err := r.readImports(ctx); err != nil {
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
	r.meter = newMeter(f, o.Grace)
	if err := r.meter.recall(ctx, r.ledger); err != nil {
		return nil, nil, err
	}
	if err := r.preview(ctx); err != nil {
		return nil, nil, err
	}
	if err := r.collect(ctx); err != nil {
		return nil, nil, r.planned(ctx, err)
	}
	if err := r.analyse(ctx); err != nil {
		return nil, nil, err
	}
	results, info := r.results(), r.info()
	return results, info, r.write(results, info)
}

// runner holds a run's state. Models take turns: in each stage one does all its work and is closed before
// the next is opened, so that one at a time is in memory.
type runner struct {
	file    *File
	options Options
	prompts *prompt.Set
	data    []dataset.Dataset
	folder  *folder
	ledger  *ledger.Ledger
	meter   *meter
	started time.Time

	models []ranModel
	// What is asked, item by item.
	works *works
	// What was collected, by setting.
	collected map[record.Setting]*collect.Records
	// What was collected for quantifiers, by setting, and what models said as judges.
	uncertain map[record.Setting][]collect.Uncertain
	verdicts  map[verdictKey][]modelVerdict
	// Vectors of texts, nil without embeddings, and relations of pairs by who judged them; see entailmentJudge.
	vectors   map[string]collect.Vector
	matrices  map[string]collect.Matrix // of the tokens of texts
	relations map[string]relations
	// What gave them, where it was no model of the study.
	sources []ranSource
	// Files with judgements made elsewhere, by name.
	imports map[string]*imported
	// What a plan has asked of each model.
	plans map[string]*planned
	// The models of whom was said what they do not support.
	noted map[string]bool

	// What was collected for consistency, and what came of it.
	consistent consistent

	readings   []record.Reading
	judgements []record.Judgement
	settings   []*protocol.SettingResult
	summaries  *protocol.Summaries
	outcomes   []protocol.Outcome
	near       []nearMiss
	quantities []*UncertaintyResult
	sections   []*report.Section
}

func newRunner(f *File) *runner {
	return &runner{
		file: f, collected: map[record.Setting]*collect.Records{}, works: newWorks(),
		uncertain: map[record.Setting][]collect.Uncertain{}, verdicts: map[verdictKey][]modelVerdict{},
		relations: map[string]relations{}, noted: map[string]bool{}, plans: map[string]*planned{}, consistent: newConsistent(),
	}
}

// ranModel is what remains of a model after its engine is closed.
type ranModel struct {
	*model
	identity llm.Identity
	counts   ledger.Counts
	retries  int64
}

// preview opens and closes each of several models before the first is asked, so that a download, a setting or
// a bound on memory that ends the study ends it now and not after hours of the models before.
func (r *runner) preview(ctx context.Context) error {
	for _, stage := range r.file.sourceStages() {
		engine, err := r.openSource(ctx, stage)
		if err != nil {
			return err
		}
		if err := engine.Close(); err != nil {
			return fmt.Errorf("%s: %w", r.file.sourceName(stage), err)
		}
	}
	if r.consistent.thresholds != nil && !r.file.embeds() {
		engine, err := r.openEmbeddings(ctx)
		if err != nil {
			return err
		}
		if err := engine.Close(); err != nil {
			return fmt.Errorf("embeddings %s: %w", r.file.Embeddings, err)
		}
	}
	if len(r.file.Models) < 2 {
		return nil // its turn comes at once
	}
	for _, m := range r.file.Models {
		ready, err := openModel(ctx, r.options.Open, m, r.file.Protocol.MaxTokens, r.file.mustAsk()...)
		if err != nil {
			return err
		}
		if err := r.calibratedWeights(m.Name, ready.opened.Engine.Identity()); err != nil {
			return closing(ready.opened.Engine, err)
		}
		r.meter.know(ready.opened.Engine.Identity(), m.Price)
		r.noteUnsupported(ready)
		if err := ready.opened.Engine.Close(); err != nil {
			return fmt.Errorf("model %s: %w", m.Name, err)
		}
	}
	return nil
}

// noteUnsupported says once which quantifiers a model does not support.
func (r *runner) noteUnsupported(m *model) {
	if r.noted[m.Name] {
		return
	}
	r.noted[m.Name] = true
	if r.options.Note == nil {
		return
	}
	for _, u := range r.file.unsupported(m.capabilities()) {
		r.options.Note("model "+m.Name, "no value of "+u.String())
	}
	if why := r.file.fewerAlternatives(m.capabilities().Details); why != "" {
		r.options.Note("model "+m.Name, why)
	}
}

// planned gives the error of a budget that is spent what the study has spent now that all calls are settled, and
// what is left to do.
func (r *runner) planned(ctx context.Context, err error) error {
	var spent *BudgetError
	if !errors.As(err, &spent) {
		return err
	}
	out := *spent
	out.Spent = r.meter.total()
	if planner, ok := r.options.Open.(Planner); ok {
		if out.Left, err = MakePlan(ctx, r.file, r.folder.path, planner); err != nil {
			out.Left = nil // "credence plan" says why
		}
	}
	return &out
}

// openItems is how many items are asked at the same time: enough that an engine's batches fill, with the
// sequences that the embedded engine has.
const openItems = 16

// openItems is how many items of a model are asked at the same time: four times as many as its server may have
// requests in flight, since at times an item has but one, and its reply is written down before it has the next.
func (m Model) openItems() int {
	if !m.OnServer() {
		return openItems
	}
	return max(openItems, 4*cmp.Or(m.Concurrency, openai.DefaultConcurrency))
}
