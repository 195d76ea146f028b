package study

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/llm"
)

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
		path = filepath.Join(path, CalibrationFile)
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
	known, holder := ShippedCalibrations(), "the program carries"
	if c.Calibration != "" {
		own, err := readCalibration(c.Calibration)
		if err != nil {
			return threshold{}, false, err
		}
		known, holder = []consistency.Calibration{*own}, c.Calibration+" has"
	}
	sampler := f.writerOf(source)
	for _, one := range known {
		if one.Embeddings == f.Embeddings.name() && (sampler == "" || one.Sampler == f.samplerOf(sampler)) {
			k, _ := one.K.Get()
			return threshold{k, fmt.Sprintf("calibrated: %s under %s", one.Sampler, one.Embeddings), &one}, true, nil
		}
	}
	return threshold{}, false, f.uncalibrated(source, holder, known)
}

// writerOf is the model that writes the perturbations of a source; empty where no model does.
func (f *File) writerOf(source int) string {
	if p := f.Consistency.Perturbations[source]; p.From == FromModel {
		return p.By
	}
	return ""
}

// uncalibrated refuses a source without a calibration, and says what there is and how to make one.
func (f *File) uncalibrated(source int, holder string, known []consistency.Calibration) error {
	node, who, flag := "$.consistency.diversity", "any sampler", ""
	if f.Consistency.Calibration != "" {
		node = "$.consistency.calibration"
	}
	if sampler := f.writerOf(source); sampler != "" {
		who, flag = "the sampler "+f.samplerOf(sampler), " --sampler "+sampler
	}
	var have []string
	for _, one := range known {
		have = append(have, fmt.Sprintf("that of %s under %s", one.Sampler, one.Embeddings))
	}
	if have == nil {
		have = []string{"none"}
	}
	return f.at.errorf(node, fmt.Sprintf("run \"credence calibrate-diversity --study %s%s\" and name its folder under calibration, or write a cosine such as diversity: 0.8", f.at.path, flag),
		"the source %q needs a calibration of %s under %s, and %s %s", f.Consistency.Perturbations[source].Name, who, f.Embeddings.name(), holder, strings.Join(have, ", "))
}

// calibratedWeights refuses a calibration that was made with other weights than those of a model that writes, though
// they have one name.
func (r *runner) calibratedWeights(model string, id llm.Identity) error {
	for source, t := range r.consistent.thresholds {
		if t.calibration != nil && r.file.writerOf(source) == model {
			if err := r.file.sameWeights(t.calibration.Sampler, t.calibration.SamplerSHA256, id.Weights); err != nil {
				return err
			}
		}
	}
	return nil
}

// calibratedVectors does the same for the model of embeddings.
func (r *runner) calibratedVectors(id llm.Identity) error {
	for _, t := range r.consistent.thresholds {
		if t.calibration != nil {
			if err := r.file.sameWeights(t.calibration.Embeddings, t.calibration.EmbeddingsSHA256, id.Weights); err != nil {
				return err
			}
		}
	}
	return nil
}

// sameWeights holds two checksums against each other where both are known.
func (f *File) sameWeights(name, calibrated, opened string) error {
	if calibrated == "" || opened == "" || calibrated == opened {
		return nil
	}
	const shown = 12
	return f.at.errorf("$.consistency.diversity", fmt.Sprintf("calibrate anew with \"credence calibrate-diversity --study %s\"", f.at.path),
		"the calibration is of other weights of the name %s than the study opens: their checksums begin with %.*s and %.*s", name, shown, calibrated, shown, opened)
}

// Calibrates says of which model and embeddings a calibration serves the study: of the named model, or without a
// name of the first that writes perturbations, or else of the first model.
func (f *File) Calibrates(name string) (Model, Embeddings, error) {
	if name == "" && f.Consistency != nil {
		for source := range f.Consistency.Perturbations {
			name = cmp.Or(name, f.writerOf(source))
		}
	}
	name = cmp.Or(name, f.Models[0].Name)
	if err := f.checkModelNamed("$.models", name, "be the sampler"); err != nil {
		return Model{}, Embeddings{}, err
	}
	e := f.Embeddings
	setDefault(&e, Embeddings{Weights: DefaultEmbeddings})
	return f.Models[slices.Index(f.modelNames(), name)], e, nil
}
