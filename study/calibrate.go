package study

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// The paper's calibration of the diversity threshold: 30 premises, 50 paraphrases each, the 5th percentile of
// their cosines (Wu, Jiang and Aragam 2026, appendix A.2). The bins of the histogram are ours.
const (
	CalibrationPremises    = 30
	CalibrationParaphrases = 50
	CalibrationQuantile    = .05
	calibrationBins        = 100
	calibrationSchema      = "1"
	calibrationFile        = "calibration.json"
)

// CalibrateOptions of calibrating the diversity threshold.
type CalibrateOptions struct {
	// Folder keeps the calls, so that the same command goes on where it stopped, and gets the result.
	Folder string
	Open   Opener
	// Sampler writes the paraphrases, Embeddings names the weights of the model that compares them.
	Sampler    Model
	Embeddings string
	// Premises are how many of the built-in statements are paraphrased, Paraphrases how many ways each.
	Premises, Paraphrases int
	Seed                  uint64
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
// to the folder. Premises of which there are too few paraphrases are counted, not left out.
func CalibrateDiversity(ctx context.Context, o CalibrateOptions) (_ *consistency.Calibration, err error) {
	opener, ok := o.Open.(Sources)
	if !ok {
		return nil, &InputError{Path: "embeddings", What: "this engine cannot embed", Hint: "use the embedded engine"}
	}
	if o.Premises < 1 || o.Premises > len(collect.Premises()) || o.Paraphrases < 2 || o.Paraphrases > mostTrials {
		return nil, &InputError{Path: "calibration", What: fmt.Sprintf("%d premises with %d paraphrases", o.Premises, o.Paraphrases), Hint: fmt.Sprintf("take 1 to %d premises and 2 to %d paraphrases", len(collect.Premises()), mostTrials)}
	}
	folder, err := openFolder(o.Folder)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.close()) }()
	l, err := ledger.Open(folder.join(ledgerFile))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	c := &consistency.Calibration{
		Schema: calibrationSchema, Sampler: (&File{Models: []Model{o.Sampler}}).samplerOf(o.Sampler.Name), Embeddings: o.Embeddings,
		Premises: o.Premises, Paraphrases: o.Paraphrases, Temperature: DefaultTemperature, TopP: writingTopP, Seed: o.Seed,
	}
	groups, err := paraphraseGroups(ctx, o, l, c)
	if err != nil {
		return nil, err
	}
	vectors, err := embedGroups(ctx, opener, l, c, groups)
	if err != nil {
		return nil, err
	}
	if c.DiversityCalibration, err = consistency.CalibrateDiversity(vectors, CalibrationQuantile, calibrationBins); err != nil {
		return nil, err
	}
	return c, folder.writeJSON(calibrationFile, c)
}

// paraphraseGroups asks the sampler for the paraphrases of every premise.
func paraphraseGroups(ctx context.Context, o CalibrateOptions, l *ledger.Ledger, c *consistency.Calibration) (_ [][]string, err error) {
	m, err := openModel(ctx, o.Open, o.Sampler, calibrationTokens, llm.Generate)
	if err != nil {
		return nil, err
	}
	ask := l.Through(m.opened.Engine)
	defer func() { err = errors.Join(err, ask.Close()) }()
	c.SamplerSHA256 = ask.Identity().Weights
	prompts := prompt.Default()
	for _, t := range prompts.FormTexts() {
		if t.Name == prompt.Paraphrases {
			c.Prompt = t.Text
		}
	}
	p := &collect.Paraphrasing{
		Ask: ask, Prompts: prompts, Form: m.form, Wanted: o.Paraphrases, Number: calibrationBatch, Batches: calibrationBatches,
		Decoding: writing(calibrationTokens, c.Temperature), Seed: o.Seed,
	}
	var items []record.Item
	for i, premise := range collect.Premises()[:o.Premises] {
		items = append(items, record.Item{ID: fmt.Sprint(i + 1), Question: premise})
	}
	pace := collect.Pace{Open: openItems}
	if o.Progress != nil {
		pace.Done = func(done int) { o.Progress(done, len(items)) }
	}
	found, err := p.All(ctx, items, pace)
	if err != nil {
		return nil, err
	}
	groups := make([][]string, len(found))
	for i, f := range found {
		groups[i] = f.Kept
		c.Found += len(f.Kept)
		if len(f.Kept) < o.Paraphrases {
			c.Short++
		}
	}
	return groups, nil
}

func embedGroups(ctx context.Context, opener Sources, l *ledger.Ledger, c *consistency.Calibration, groups [][]string) (_ [][][]float32, err error) {
	engine, err := opener.OpenEmbeddings(ctx, Embeddings{Weights: c.Embeddings})
	if err != nil {
		return nil, fmt.Errorf("embeddings %s: %w", c.Embeddings, err)
	}
	ask := l.Through(engine)
	defer func() { err = errors.Join(err, ask.Close()) }()
	c.EmbeddingsSHA256 = ask.Identity().Weights
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

// The calibrations that the program carries.
//
//go:embed calibrations
var shipped embed.FS

// ShippedCalibrations are the thresholds of diversity that the program carries.
func ShippedCalibrations() []consistency.Calibration {
	var list []consistency.Calibration
	err := fs.WalkDir(shipped, "calibrations", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".json") {
			return err
		}
		data, err := shipped.ReadFile(path)
		if err != nil {
			return err
		}
		var c consistency.Calibration
		if err := json.Unmarshal(data, &c); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, c)
		return nil
	})
	if err != nil {
		panic("study: a shipped calibration is broken: " + err.Error())
	}
	return list
}

// maxCalibration bounds the file of a calibration, in bytes.
const maxCalibration = 1 << 20

// readCalibration reads the file of a calibration, or the folder that one was written to.
func readCalibration(path string) (*consistency.Calibration, error) {
	const hint = "name a file that \"credence calibrate-diversity\" wrote"
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, calibrationFile)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, &InputError{Path: path, What: "cannot be read: " + cause(err), Hint: hint, Err: err}
	}
	if info.Size() > maxCalibration {
		return nil, &InputError{Path: path, What: fmt.Sprintf("has more than %d bytes", maxCalibration), Hint: hint}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &InputError{Path: path, What: "cannot be read: " + cause(err), Hint: hint, Err: err}
	}
	var c consistency.Calibration
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, &InputError{Path: path, What: "is no calibration: " + err.Error(), Hint: hint, Err: err}
	}
	if k, ok := c.K.Get(); !ok || !(k > -1 && k <= 1) || c.Sampler == "" || c.Embeddings == "" || c.Schema != calibrationSchema {
		return nil, &InputError{Path: path, What: "is no calibration: it lacks a threshold, a sampler, an embedding or the schema " + calibrationSchema, Hint: hint}
	}
	return &c, nil
}

// threshold is how alike two perturbations of a source may be.
type threshold struct {
	k    float64
	from string
	// calibration is what k is from; nil where the study gives k.
	calibration *consistency.Calibration
}

// thresholdOf is the threshold for a source; ok is false where the filter is off. Texts that no model writes take
// a calibration of the study's embedding by any sampler, since it is the embedding that tells texts apart.
func (f *File) thresholdOf(source int) (t threshold, ok bool, err error) {
	c := f.Consistency
	if c.Diversity == diversityOff {
		return threshold{}, false, nil
	}
	if k, given := c.diversity(); given {
		return threshold{k: k, from: "the study file"}, true, nil
	}
	p := c.Perturbations[source]
	known := ShippedCalibrations()
	if c.Calibration != "" {
		own, err := readCalibration(c.Calibration)
		if err != nil {
			return threshold{}, false, err
		}
		known = []consistency.Calibration{*own}
	}
	sampler := ""
	if p.From == FromModel {
		sampler = f.samplerOf(p.By)
	}
	for _, one := range known {
		if one.Embeddings == f.Embeddings.name() && (sampler == "" || one.Sampler == sampler) {
			k, _ := one.K.Get()
			return threshold{k, fmt.Sprintf("calibrated: %s under %s", one.Sampler, one.Embeddings), &one}, true, nil
		}
	}
	who := "texts"
	if sampler != "" {
		who = "the sampler " + sampler
	}
	return threshold{}, false, f.at.errorf("$.consistency.diversity", "run \"credence calibrate-diversity\" for it and name its folder under calibration, or write a cosine such as 0.8",
		"there is no calibration of %s under %s", who, f.Embeddings.name())
}
