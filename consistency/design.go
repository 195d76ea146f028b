package consistency

import (
	"slices"

	"github.com/credence-lab/credence/resample"
)

// Design says what a survey computes of a study.
type Design struct {
	// Sources of perturbations, Kernels and Estimators: of each the first makes the main C3, and the others are
	// compared with it one at a time.
	Sources    []string    `json:"sources"`
	Kernels    []Kernel    `json:"kernels"`
	Estimators []Estimator `json:"estimators"`
	// CosineFloor is [Options].Floor under the cosine.
	CosineFloor float64 `json:"cosine_floor"`
	// Paraphrased and SelfReport say which baselines there are beside self-consistency.
	Paraphrased bool `json:"paraphrased"`
	SelfReport  bool `json:"self_report"`
	// Bins of the calibration error; Alpha is the significance for leaks; Tolerance that of convergence, read
	// after Trials.
	Bins      int     `json:"bins"`
	Alpha     float64 `json:"alpha"`
	Tolerance float64 `json:"tolerance"`
	Trials    []int   `json:"trials"`
	// Level of all intervals. Resamples of items, and of the samples of an item; 0 makes no intervals of items
	// and no permutation tests.
	Level         float64 `json:"level"`
	Resamples     int     `json:"resamples"`
	ItemResamples int     `json:"item_resamples"`
	Seed          uint64  `json:"-"`
	// Models with what is known of their size and release, for trends.
	Models []ModelFacts `json:"models,omitempty"`
}

// ModelFacts is what trends order models by; what is not known is empty.
type ModelFacts struct {
	Model string `json:"model"`
	// Parameters in thousands of millions.
	Parameters float64 `json:"parameters,omitempty"`
	// Released is a date as [Month] reads it.
	Released string `json:"released,omitempty"`
}

func (d Design) main() variant { return variant{0, d.Kernels[0], d.Estimators[0]} }

func (d Design) options(v variant) Options {
	o := Options{Estimator: v.estimator}
	if v.kernel == Cosine {
		o.Floor = d.CosineFloor
	}
	return o
}

func (d Design) resampling(n int, model, benchmark, purpose string) Resampling {
	return Resampling{Level: d.Level, N: max(1, n), Seed: resample.SettingSeed(d.Seed, model, benchmark, "consistency."+purpose)}
}

// variant is one way to a C3.
type variant struct {
	source    int
	kernel    Kernel
	estimator Estimator
}

// variants are the main C3 and those that differ from it in one choice, each once.
func (d Design) variants() []variant {
	list := []variant{d.main()}
	add := func(v variant) {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	for s := range d.Sources {
		v := d.main()
		v.source = s
		add(v)
	}
	for _, k := range d.Kernels {
		v := d.main()
		v.kernel = k
		add(v)
	}
	for _, e := range d.Estimators {
		v := d.main()
		v.estimator = e
		add(v)
	}
	return list
}
