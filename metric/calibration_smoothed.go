package metric

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/credence-lab/credence/measure"
)

// Silverman is a rule of thumb for the bandwidth of a Gaussian kernel on n items with standard
// deviation sd (divisor n − 1); Silverman 1986, section 3.4.2.
type Silverman string

const (
	// Robust is .9 min(sd, IQR/1.34) n^(-1/5), or .9 sd n^(-1/5) where the interquartile range is 0.
	Robust Silverman = "silverman-0.9"
	// Plain is 1.06 sd n^(-1/5).
	Plain Silverman = "silverman-1.06"
)

// Smoothed is the smoothed calibration error of "Same Answer, Different Confidence", Appendix A: ∫
// |m(t) − t| f(t) dt over [0,1], m the kernel regression of quality on confidence and f the density of
// confidences, both with a plain Gaussian kernel of Silverman's bandwidth. It is at most 1, and less
// than the kernel would give on the whole line where mass is smoothed out of [0,1]. Lower is better.
//
// The paper does not say which of Silverman's rules it takes, nor the range: hence two ids, and two
// more of [SmoothedWholeLine]. [SmoothedMass] says how much the range matters. It is
// undefined on one item, and with reason Constant where all confidences are equal. The integral is
// exact, between the zeros of the integrand. A resample has its own bandwidth, and costs some hundred
// operations a distinct confidence: it is slower than binned estimators by as much.
//
// It panics if rule is neither Robust nor Plain.
func Smoothed(rule Silverman) Statistic {
	return smoothed("ece.smoothed."+string(rule), "[0,1]", rule, 0, 1)
}

// SmoothedWholeLine is [Smoothed] integrated over all t, no mass lost. Where the kernel reaches beyond
// [0,1] it counts the distance of the curve from the diagonal there too; it is at least 0 and can
// exceed 1 by the bandwidth.
func SmoothedWholeLine(rule Silverman) Statistic {
	return smoothed("ece.smoothed."+string(rule)+wholeLine, "the whole line", rule, math.Inf(-1), math.Inf(1))
}

// wholeLine ends the ids of integrals over all t.
const wholeLine = ".whole-line"

func smoothed(id, where string, rule Silverman, from, to float64) Statistic {
	if rule != Robust && rule != Plain {
		panic(fmt.Sprintf("metric: %q is no rule of Silverman's", rule))
	}
	return Statistic{
		ID:         id,
		Definition: fmt.Sprintf("∫ over %s of |m(t) − t| f(t), m the kernel regression of quality and f the kernel density of confidence, Gaussian, bandwidth by %s.", where, rule),
		Source:     `"Same Answer, Different Confidence", Appendix A, after Błasiok and Nakkiran 2024; Silverman 1986, section 3.4.2`,
		Better:     Lower, Needs: Probability, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator {
			fill, s := massesOf(p), smoother{from: from, to: to, gatherings: map[int]*gathering{}}
			return func(counts []uint32) (float64, measure.Reason) {
				m := fill(counts)
				h, why := m.bandwidth(rule)
				if why != "" {
					return 0, why
				}
				return s.integral(m, h) / m.items(), ""
			}
		},
	}
}

// SmoothedMass is the share of the kernel density of [Smoothed] that lies in [0,1], in (0,1]: what is
// missing from 1 was smoothed out of the range of the integral. Its method is "smoothed-mass." and the
// rule. It is undefined where Smoothed is.
func SmoothedMass(p *Prepared, rule Silverman) measure.Value {
	s := Smoothed(rule)
	s.ID = "smoothed-mass." + string(rule)
	s.Bind = func(p *Prepared) Evaluator {
		fill := massesOf(p)
		return func(counts []uint32) (float64, measure.Reason) {
			m := fill(counts)
			h, why := m.bandwidth(rule)
			if why != "" {
				return 0, why
			}
			inside := 0.
			for i, c := range m.at {
				inside += m.n[i] * (normalDistribution((1-c)/h) - normalDistribution(-c/h))
			}
			return inside / m.items(), ""
		}
	}
	return s.On(p)
}

// bandwidth applies a rule of Silverman's.
func (m masses) bandwidth(rule Silverman) (float64, measure.Reason) {
	n, sum, square := m.items(), 0., 0.
	if n < 2 {
		return 0, measure.TooFew
	}
	for i, k := range m.n {
		sum += k * m.at[i]
	}
	// Of equal confidences the mean may be off by rounding, but the range is not.
	if m.order(0) == m.order(n-1) {
		return 0, measure.Constant
	}
	for i, k := range m.n {
		d := m.at[i] - sum/n
		square += k * d * d
	}
	if square == 0 {
		return 0, measure.Constant
	}
	spread, factor := math.Sqrt(square/(n-1)), 1.06
	if rule == Robust {
		factor = .9
		if iqr := m.quantile(.75) - m.quantile(.25); iqr > 0 {
			spread = min(spread, iqr/1.34)
		}
	}
	return factor * spread * math.Pow(n, -.2), ""
}

// quantile interpolates between the order statistics of the items, like [percentile].
func (m masses) quantile(p float64) float64 {
	at := p * (m.items() - 1)
	rank := math.Floor(at)
	below, above := m.order(rank), m.order(math.Ceil(at))
	return below + (at-rank)*(above-below)
}

// order is the place of the item of a rank from 0.
func (m masses) order(rank float64) float64 {
	last, seen := 0., 0.
	for i, k := range m.n {
		if k > 0 {
			last, seen = m.at[i], seen+k
		}
		if seen > rank {
			break
		}
	}
	return last
}

const (
	// reach is how many bandwidths a Gaussian is followed; beyond, it is below 1e-17 of its height.
	reach = 9
	// stepsPerBandwidth samples what is smooth on the scale of a bandwidth.
	stepsPerBandwidth = 8
)

// smoother integrates smoothed gaps. It holds scratch.
type smoother struct {
	from, to   float64 // the range of the integral
	gatherings map[int]*gathering
	t, ft      []float64
}

// integral is ∫ |Σ_i K_h(t − c_i)(q_i − t)| dt over the range for the items i of m.
func (s *smoother) integral(m masses, h float64) float64 {
	// A power of two of cells, so that the bandwidths of resamples share theirs.
	if cells := 1 << min(30, max(0, 1-math.Ilogb(h))); len(m.at) > cells*nodes {
		if s.gatherings[cells] == nil {
			s.gatherings[cells] = newGathering(cells)
		}
		m = s.gatherings[cells].gather(m)
	}
	sum, from := 0., 0
	for i := range m.at {
		if i+1 == len(m.at) || m.at[i+1]-m.at[i] > 2*reach*h {
			sum += s.stretch(m.slice(from, i+1), h)
			from = i + 1
		}
	}
	return sum
}

// pieceOf is how many bandwidths are sampled at once, which bounds the scratch.
const pieceOf = 512

// stretch integrates where masses without a wide space between them reach.
func (s *smoother) stretch(m masses, h float64) float64 {
	sum, end := 0., min(s.to, m.at[len(m.at)-1]+reach*h)
	for low := max(s.from, m.at[0]-reach*h); low < end; {
		high := min(end, low+pieceOf*h)
		sum += s.piece(m.between(low-reach*h, high+reach*h), low, high, h)
		low = high
	}
	return sum
}

// piece integrates from low to high, m being the masses that reach there.
func (s *smoother) piece(m masses, low, high, h float64) float64 {
	steps := max(2, int(math.Ceil((high-low)/h*stepsPerBandwidth)))
	s.t, s.ft = s.t[:0], s.ft[:0]
	for k := range steps + 1 {
		s.t, s.ft = append(s.t, low+(high-low)*float64(k)/float64(steps)), append(s.ft, 0)
	}
	for i, c := range m.at {
		spread(s.ft, m.n[i], m.gap[i], (low-c)/h, (high-low)/float64(steps)/h, h)
	}
	return absIntegral(s.t, s.ft, func(t float64) float64 { return m.smoothedGap(t, h) }, func(t float64) float64 {
		sum := 0.
		for i, c := range m.at {
			u := (t - c) / h
			sum += m.gap[i]*normalDistribution(u) + m.n[i]*h*normalDensity(u)
		}
		return sum
	})
}

// between is the masses from one place to another.
func (m masses) between(low, high float64) masses {
	from, to := sort.SearchFloat64s(m.at, low), sort.SearchFloat64s(m.at, high)
	return m.slice(from, to)
}

func (m masses) slice(from, to int) masses {
	return masses{at: m.at[from:to], n: m.n[from:to], gap: m.gap[from:to]}
}

// spread adds φ(u)(gap − n h u) at u = first + k·step to ft[k], for |u| up to reach. The exponential
// is carried from point to point by two products; its error of some 1e-12 moves no zero by more.
func spread(ft []float64, n, gap, first, step, h float64) {
	if n == 0 && gap == 0 {
		return
	}
	k := max(0, int(math.Ceil((-reach-first)/step)))
	u := first + float64(k)*step
	value, ratio, change := normalDensity(u), math.Exp(-u*step-step*step/2), math.Exp(-step*step)
	for ; k < len(ft) && u <= reach; k++ {
		ft[k] += value * (gap - n*h*u)
		value, ratio, u = value*ratio, ratio*change, u+step
	}
}

// smoothedGap is Σ_i φ((t − c_i)/h)(q_i − t).
func (m masses) smoothedGap(t, h float64) float64 {
	sum := 0.
	for i, c := range m.at {
		if u := (t - c) / h; u > -reach && u < reach {
			sum += normalDensity(u) * (m.gap[i] - m.n[i]*h*u)
		}
	}
	return sum
}

func smoothedFamily() Family {
	return Family{
		Prefix: "ece.smoothed", Parameters: string(Robust+"|"+Plain) + "[" + wholeLine + "]", Usual: []string{string(Robust), string(Plain)},
		New: func(parameters string) (Statistic, error) {
			name, whole := strings.CutSuffix(parameters, wholeLine)
			rule := Silverman(name)
			switch {
			case rule != Robust && rule != Plain:
				return Statistic{}, fmt.Errorf("the bandwidth rule is %q; there are %s and %s", name, Robust, Plain)
			case whole:
				return SmoothedWholeLine(rule), nil
			}
			return Smoothed(rule), nil
		},
	}
}
