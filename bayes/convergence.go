package bayes

import (
	"fmt"

	"github.com/credence-lab/credence/measure"
)

// A Verdict says whether draws may stand for the posterior.
type Verdict string

const (
	// Converged: no diagnostic objects.
	Converged Verdict = "converged"
	// Doubtful: a diagnostic objects; values are given, each with the warning.
	Doubtful Verdict = "doubtful"
	// Refused: a chain stands still, so that the draws say nothing; no value is given.
	Refused Verdict = "refused"
)

// Limits beyond which a fit is doubtful: R-hat and ESS by Vehtari et al. 2021, E-BFMI by Betancourt 2016.
const (
	// MaxRHat is the largest R-hat of a quantity.
	MaxRHat = 1.01
	// MinESS is the smallest number of effective draws of a quantity, over all chains.
	MinESS = 400
	// MinEBFMI is the smallest E-BFMI of a chain.
	MinEBFMI = .3
	// maxDeepShare of the transitions may be cut off, which costs time and no truth.
	maxDeepShare = .01
)

// Codes of warnings.
const (
	codeRHat      = "r-hat"
	codeESS       = "low-ess"
	codeDiverged  = "divergences"
	codeDeep      = "max-depth"
	codeEBFMI     = "low-e-bfmi"
	codeFrozen    = "frozen-chain"
	codeUndefined = "no-diagnostics"
)

// Convergence is the judgement of a fit.
type Convergence struct {
	Verdict Verdict `json:"verdict"`
	// RHat is the largest, BulkESS and TailESS are the smallest over all quantities of the fit.
	RHat    measure.Value `json:"r_hat"`
	BulkESS measure.Value `json:"bulk_ess"`
	TailESS measure.Value `json:"tail_ess"`
	// Chains has a report for each chain of the no-U-turn sampler; nil for another sampler.
	Chains []ChainReport `json:"chains,omitempty"`
	// Warnings say what a diagnostic objects to. Their codes: "r-hat", "low-ess", "divergences",
	// "max-depth", "low-e-bfmi", "frozen-chain", "no-diagnostics".
	Warnings []measure.Warning `json:"warnings,omitempty"`
}

// Assess judges a fit by its chains and the estimates of all its quantities, and gives every
// estimate the warnings of the fit. If the fit is refused, the estimates lose their values.
func Assess(chains []ChainReport, draws int, estimates []*Estimate) Convergence {
	c := Convergence{Verdict: Converged, Chains: chains}
	c.collect(estimates)
	c.judgeChains(draws)
	if len(c.Warnings) > 0 && c.Verdict == Converged {
		c.Verdict = Doubtful
	}
	for _, e := range estimates {
		e.carry(c)
	}
	return c
}

func (c *Convergence) warn(code, format string, args ...any) {
	c.Warnings = append(c.Warnings, measure.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
}

// collect finds the worst diagnostics and judges them.
func (c *Convergence) collect(estimates []*Estimate) {
	var frozen, undefined, high, low int
	for _, e := range estimates {
		r, ok := e.RHat.Get()
		switch {
		case e.RHat.Reason() == Frozen:
			frozen++
		case !ok:
			undefined++
		case r > MaxRHat:
			high++
		}
		c.RHat = worse(c.RHat, e.RHat, func(a, b float64) bool { return a > b })
		c.BulkESS = worse(c.BulkESS, e.BulkESS, func(a, b float64) bool { return a < b })
		c.TailESS = worse(c.TailESS, e.TailESS, func(a, b float64) bool { return a < b })
		for _, v := range []measure.Value{e.BulkESS, e.TailESS} {
			if x, ok := v.Get(); ok && x < MinESS {
				low++
				break
			}
		}
	}
	all := len(estimates)
	if frozen > 0 {
		c.Verdict = Refused
		c.warn(codeFrozen, "%d of %d quantities stand still in a chain: the draws do not describe the posterior, and no value is given", frozen, all)
	}
	if undefined > 0 {
		c.warn(codeUndefined, "%d of %d quantities have no R-hat: convergence is not known", undefined, all)
	}
	if high > 0 {
		x, _ := c.RHat.Get()
		c.warn(codeRHat, "%d of %d quantities have an R-hat above %v (largest %.4g): the chains have not converged; ask for a longer warm-up", high, all, MaxRHat, x)
	}
	if low > 0 {
		bulk, _ := c.BulkESS.Get()
		tail, _ := c.TailESS.Get()
		c.warn(codeESS, "%d of %d quantities have fewer than %d effective draws (bulk %.0f, tail %.0f at least): ask for more draws", low, all, MinESS, bulk, tail)
	}
}

// worse keeps the worst defined value; without any, the first.
func worse(have, v measure.Value, than func(a, b float64) bool) measure.Value {
	x, ok := v.Get()
	y, had := have.Get()
	if have.Method == "" || ok && (!had || than(x, y)) {
		return v
	}
	return have
}

// judgeChains judges the reports of the chains of draws transitions each.
func (c *Convergence) judgeChains(draws int) {
	var divergences, deep int
	least, low := 0.0, 0
	for _, r := range c.Chains {
		divergences += r.Divergences
		deep += r.Deepest
		if x, ok := r.EBFMI.Get(); ok && x < MinEBFMI {
			if low == 0 || x < least {
				least = x
			}
			low++
		}
	}
	total := draws * len(c.Chains)
	if divergences > 0 {
		c.warn(codeDiverged, "%d of %d transitions diverged: the posterior is not explored where they did; raise the target acceptance", divergences, total)
	}
	if float64(deep) > maxDeepShare*float64(total) {
		c.warn(codeDeep, "%d of %d trajectories were cut off at the maximal depth: draws are less independent than they could be", deep, total)
	}
	if low > 0 {
		c.warn(codeEBFMI, "%d of %d chains have an E-BFMI below %v (least %.2g): they move too slowly between energies, and tails may be missing", low, len(c.Chains), MinEBFMI, least)
	}
}

// carry gives the estimate the warnings of its fit, and takes its values if the fit is refused.
func (e *Estimate) carry(c Convergence) {
	values := []*measure.Value{&e.Mean, &e.Median, &e.SD, &e.MCSE}
	for _, v := range values {
		if c.Verdict == Refused {
			*v = measure.Undefined(v.Method, Frozen, v.N)
		}
		for _, w := range c.Warnings {
			*v = v.Warn(w.Code, "%s", w.Text)
		}
	}
	if c.Verdict == Refused {
		e.Half = nil
	}
}
