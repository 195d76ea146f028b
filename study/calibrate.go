package study

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/openai"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// The paper's calibration of the diversity threshold: 30 premises, 50 paraphrases each, the 5th percentile of
// their cosines (Wu, Jiang and Aragam 2026, appendix A.2). The bins of the histogram and the interval are ours.
const (
	CalibrationPremises    = 30
	CalibrationParaphrases = 50
	CalibrationQuantile    = .05
	calibrationBins        = 100
	calibrationSchema      = "1"
	// CalibrationFile is the result's name in the folder.
	CalibrationFile = "calibration.json"
)

// CalibrateOptions of calibrating the diversity threshold.
type CalibrateOptions struct {
	// Folder keeps the calls, so that the same command goes on where it stopped, and gets the result.
	Folder string
	Open   Opener
	// Sampler writes the paraphrases, Embeddings compares them.
	Sampler    Model
	Embeddings Embeddings
	// Premises are how many of the built-in statements are paraphrased, Paraphrases how many ways each.
	Premises, Paraphrases int
	Seed                  uint64
	// Budget is the most that the calibration may cost, over all runs in the folder.
	Budget Budget
	// Grace is how long a run that is to stop waits for the calls that are under way; 0 is [DefaultGrace].
	Grace time.Duration
	// Progress is called with the number of premises done; may be nil.
	Progress func(done, total int)
}

// calibrationTokens bounds one reply; so many ways are asked for at once, so often at most.
const (
	calibrationTokens  = 512
	calibrationBatch   = 10
	calibrationBatches = 40
)

// CalibrateDiversity finds how alike the paraphrases of a sampler are under an embedding and writes the result
// to the folder. Premises of which there are too few paraphrases are counted, not left out. A [*BudgetError] says
// that the budget is spent; what was asked is kept.
func CalibrateDiversity(ctx context.Context, o CalibrateOptions) (_ *consistency.Calibration, err error) {
	if o.Premises < 1 || o.Premises > len(collect.Premises()) || o.Paraphrases < 2 || o.Paraphrases > mostTrials {
		return nil, &InputError{Path: "calibration", What: fmt.Sprintf("%d premises with %d paraphrases", o.Premises, o.Paraphrases), Hint: fmt.Sprintf("take 1 to %d premises and 2 to %d paraphrases", len(collect.Premises()), mostTrials)}
	}
	c := &calibrating{CalibrateOptions: o, file: &File{Models: []Model{o.Sampler}, Embeddings: o.Embeddings, Budget: o.Budget, at: positions{path: "calibration"}}}
	if err := c.file.CheckBudget(); err != nil {
		return nil, err
	}
	ctx = openai.SharingEndpoints(ctx)
	// What cannot be opened ends it now, and not after all paraphrases were written.
	if err := c.tryEmbeddings(ctx); err != nil {
		return nil, err
	}
	folder, err := openFolder(o.Folder)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.close()) }()
	if c.ledger, err = ledger.Open(folder.join(ledgerFile)); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.ledger.Close()) }()
	c.meter = newMeter(c.file, o.Grace)
	if err := c.meter.recall(ctx, c.ledger); err != nil {
		return nil, err
	}
	if err := c.calibrate(ctx); err != nil {
		return nil, c.spent(err)
	}
	return &c.out, folder.writeJSON(CalibrationFile, &c.out)
}

// calibrating is the work on one calibration.
type calibrating struct {
	CalibrateOptions
	// file is the study that has the sampler and the embeddings and nothing else.
	file   *File
	ledger *ledger.Ledger
	meter  *meter
	out    consistency.Calibration
}

func (c *calibrating) calibrate(ctx context.Context) error {
	c.out = consistency.Calibration{
		Schema: calibrationSchema, Sampler: c.Sampler.weightsName(), Embeddings: c.Embeddings.name(),
		Premises: c.Premises, Paraphrases: c.CalibrateOptions.Paraphrases, Temperature: DefaultTemperature, TopP: writingTopP, Seed: c.Seed,
	}
	groups, err := c.paraphrases(ctx)
	if err != nil {
		return err
	}
	vectors, err := c.embed(ctx, groups)
	if err != nil {
		return err
	}
	r := consistency.Resampling{Level: DefaultLevel, N: DefaultResamples, Seed: c.Seed}
	if c.out.DiversityCalibration, err = consistency.CalibrateDiversity(vectors, CalibrationQuantile, calibrationBins, r); err != nil {
		return fmt.Errorf("%s gave %d paraphrases of %d statements in at most %d replies to each, too few to compare: %w; take another sampler", c.out.Sampler, c.out.Found, c.Premises, calibrationBatches, err)
	}
	return nil
}

// paraphrases asks the sampler for those of every premise.
func (c *calibrating) paraphrases(ctx context.Context) (_ [][]string, err error) {
	m, err := openModel(ctx, c.Open, c.Sampler, calibrationTokens, llm.Generate)
	if err != nil {
		return nil, err
	}
	ask := c.ledger.Through(c.meter.around(m.opened.Engine, c.Sampler.Price))
	defer func() { err = errors.Join(err, ask.Close()) }()
	c.out.SamplerSHA256 = ask.Identity().Weights
	prompts := prompt.Default()
	for _, t := range prompts.FormTexts() {
		if t.Name == prompt.Paraphrases {
			c.out.Prompt = t.Text
		}
	}
	p := &collect.Paraphrasing{
		Ask: ask, Prompts: prompts, Form: m.form, Wanted: c.CalibrateOptions.Paraphrases, Number: calibrationBatch, Batches: calibrationBatches,
		Decoding: writing(calibrationTokens, c.out.Temperature), Seed: c.Seed,
	}
	var items []record.Item
	for i, premise := range collect.Premises()[:c.Premises] {
		items = append(items, record.Item{ID: fmt.Sprint(i + 1), Question: premise})
	}
	pace := collect.Pace{Open: c.Sampler.openItems()}
	if c.Progress != nil {
		pace.Done = func(done int) { c.Progress(done, len(items)) }
	}
	found, err := p.All(ctx, items, pace)
	if err != nil {
		return nil, err
	}
	groups := make([][]string, len(found))
	for i, f := range found {
		groups[i] = f.Kept
		c.out.Found += len(f.Kept)
		if len(f.Kept) < c.CalibrateOptions.Paraphrases {
			c.out.Short++
		}
	}
	return groups, nil
}

// tryEmbeddings opens the source of embeddings and closes it.
func (c *calibrating) tryEmbeddings(ctx context.Context) error {
	engine, err := openVectors(ctx, c.Open, c.Embeddings, "take weights that the engine can embed with")
	if err != nil {
		return err
	}
	return engine.Close()
}

func (c *calibrating) embed(ctx context.Context, groups [][]string) (_ [][][]float32, err error) {
	engine, err := openVectors(ctx, c.Open, c.Embeddings, "")
	if err != nil {
		return nil, err
	}
	ask := c.ledger.Through(c.meter.around(engine, c.Embeddings.Price))
	defer func() { err = errors.Join(err, ask.Close()) }()
	c.out.EmbeddingsSHA256 = ask.Identity().Weights
	var texts []string
	for _, g := range groups {
		texts = append(texts, g...)
	}
	found, err := collect.Embeddings(ctx, ask, texts, collect.Pace{Open: openItems})
	if err != nil {
		return nil, err
	}
	vectors := make([][][]float32, len(groups))
	for i, g := range groups {
		for _, text := range g {
			v := found[text]
			if v.Missing != record.Present {
				continue // a text that cannot be embedded compares with nothing
			}
			row := make([]float32, len(v.Values))
			for k, x := range v.Values {
				row[k] = float32(x)
			}
			vectors[i] = append(vectors[i], row)
		}
	}
	return vectors, nil
}

// spent gives the error of a budget that is spent what was spent now that all calls are settled.
func (c *calibrating) spent(err error) error {
	var spent *BudgetError
	if !errors.As(err, &spent) {
		return err
	}
	out := *spent
	out.Of, out.Spent = "the calibration", c.meter.total()
	return &out
}
