package consistency

import (
	"fmt"
	"math"

	"github.com/credence-lab/credence/measure"
)

// Estimator is the id of a way to compare the two sets of answers. All give a C3 that is higher where the
// answers shift less.
type Estimator string

const (
	// UnbiasedMMD: C3 = 1 − MMD²/2 with the unbiased estimate
	//
	//	MMD² = mean k within the original + mean k within the perturbed − 2 · mean k across,
	//
	// pairs of a sample with itself left out (Gretton et al. 2012, lemma 6; Wu, Jiang and Aragam 2026,
	// appendix H). Its expectation is 0 where the distributions are equal, so that it may be negative and C3
	// above 1: by at most cross agreement. Under a cosine C3 may fall to −1.
	UnbiasedMMD Estimator = "mmd2.unbiased"
	// BiasedMMD: the same with the pairs of a sample with itself, the distance of the empirical distributions.
	// Never negative, but above 0 on average even where the distributions are equal. C3 in [0,1] if k >= 0.
	BiasedMMD Estimator = "mmd2.biased"
	// CrossComparison: the mean k across, no MMD (appendix G). It is low also where the model is unsure under
	// either prompt. In [0,1] if k >= 0.
	CrossComparison Estimator = "cross"
	// Energy: C3 = 1 − E/2 with the energy distance (Székely and Rizzo 2013) of d = √(1 − k),
	//
	//	E = 2 · mean d across − mean d within the original − mean d within the perturbed,
	//
	// without pairs of a sample with itself. It is UnbiasedMMD under the kernel 1 − d, and so equal to it where
	// answers are alike or not.
	Energy Estimator = "energy.unbiased"
)

// Estimators lists them, the one of the paper first.
func Estimators() []Estimator { return []Estimator{UnbiasedMMD, BiasedMMD, CrossComparison, Energy} }

// State says what a C3 is worth.
type State string

const (
	// Determined: some answers agree, so that the number says how much they shift.
	Determined State = "determined"
	// Undetermined: answers agree neither within a set nor across. C3 is then 1 by its formula, and no
	// evidence of anything.
	Undetermined State = "undetermined"
	// Missing: there is no number.
	Missing State = "missing"
)

// Options are the choices of a C3.
type Options struct {
	// Estimator is one of [Estimators]; empty means [UnbiasedMMD].
	Estimator Estimator
	// Floor is the mean similarity up to which answers count as agreeing in nothing. 0 is right for kernels
	// of alike or not; cosines of unrelated texts may need more.
	Floor float64
}

func (o Options) estimator() (Estimator, error) {
	if o.Estimator == "" {
		return UnbiasedMMD, nil
	}
	for _, e := range Estimators() {
		if e == o.Estimator {
			return e, nil
		}
	}
	return "", fmt.Errorf("consistency: unknown estimator %q; there are %v", o.Estimator, Estimators())
}

// Result is the C3 of one item with what it rests on.
type Result struct {
	State State `json:"state"`
	// C3 is as the estimator gives it, outside [0,1] at times. Higher means more stable.
	C3 measure.Value `json:"c3"`
	// Clipped is C3 brought to [0,1], for display and for calibration errors.
	Clipped measure.Value `json:"c3_clipped"`
	// Original and Perturbed are the mean similarities within each set, pairs of a sample with itself left
	// out; Cross is that across. In [0,1], or [-1,1] under a cosine. Original is self-consistency.
	Original  measure.Value `json:"within_original"`
	Perturbed measure.Value `json:"within_perturbed"`
	Cross     measure.Value `json:"cross"`
	// Samples and PerturbedSamples are how many were used of each.
	Samples          int `json:"samples"`
	PerturbedSamples int `json:"perturbed_samples"`
}

// C3 is the cross-contextual consistency of the item; its method is "c3.ESTIMATOR.KERNEL", its N counts
// samples of both sets. With fewer than two samples in either set it is missing, reason
// [measure.TooFew]; where the judge left a gap, [NotJudged]. Warnings:
//
//	undetermined       the state is [Undetermined]
//	no-agreement       answers agree within neither set, though some do across: C3 cannot be below 1
//	outside-unit       the value lies outside [0,1]
//
// An unknown estimator is an error.
func (c *Comparison) C3(o Options) (Result, error) {
	e, err := o.estimator()
	if err != nil {
		return Result{}, err
	}
	s := c.form.sums(c.ones())
	r := Result{
		State:    Missing,
		Original: c.agreement("agreement.within-original", Original, s), Perturbed: c.agreement("agreement.within-perturbed", Perturbed, s),
		Cross: c.agreement("agreement.cross", bothSides, s), Samples: c.n, PerturbedSamples: c.m,
	}
	id := c.method(e)
	if why := c.undefined(); why != "" {
		r.C3 = measure.Undefined(id, why, c.n+c.m).Leaving(c.leftOut)
		r.Clipped = measure.Undefined(id+".clipped", why, c.n+c.m).Leaving(c.leftOut)
		return r, nil
	}
	if e == Energy {
		s = c.formOf(e).sums(c.ones())
	}
	x := e.c3(s)
	r.C3, r.Clipped = measure.Of(id, x, c.n+c.m).Leaving(c.leftOut), measure.Of(id+".clipped", clip(x), c.n+c.m).Leaving(c.leftOut)
	r.judge(o.Floor)
	return r, nil
}

// judge finds the state and the warnings.
func (r *Result) judge(floor float64) {
	r.State = Determined
	original, _ := r.Original.Get()
	perturbed, _ := r.Perturbed.Get()
	cross, _ := r.Cross.Get()
	if original <= floor && perturbed <= floor {
		if cross <= floor {
			r.State = Undetermined
			r.warn("undetermined", "answers agree neither within a set nor across: nothing can shift, and the value is no evidence of stability")
		} else {
			r.warn("no-agreement", "answers agree within neither set, so that the value cannot fall below 1")
		}
	}
	if x, _ := r.C3.Get(); x < 0 || x > 1 {
		r.C3 = r.C3.Warn("outside-unit", "%v lies outside [0,1], which this estimate allows", x)
	}
}

func (r *Result) warn(code, text string) {
	r.C3, r.Clipped = r.C3.Warn(code, "%s", text), r.Clipped.Warn(code, "%s", text)
}

func (c *Comparison) method(e Estimator) string { return "c3." + string(e) + "." + string(c.kernel) }

func (c *Comparison) undefined() measure.Reason {
	switch {
	case c.n < 2 || c.m < 2:
		return measure.TooFew
	default:
		return c.why
	}
}

// formOf is the form that the estimator's sums are taken from.
func (c *Comparison) formOf(e Estimator) form {
	if e == Energy {
		return c.form.dense().mapped(func(k float64) float64 { return 1 - math.Sqrt(max(0, 1-k)) })
	}
	return c.form
}

// c3 turns sums into the consistency.
func (e Estimator) c3(s sums) float64 {
	switch e {
	case CrossComparison:
		return s.cross()
	case BiasedMMD:
		return 1 - (s.xx/(s.x*s.x)+s.yy/(s.y*s.y)-2*s.cross())/2
	}
	return 1 - (s.withinX()+s.withinY()-2*s.cross())/2
}

func clip(x float64) float64 { return max(0, min(1, x)) }
