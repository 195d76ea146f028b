package metric

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/credence-lab/credence/measure"
	"gonum.org/v1/gonum/dsp/fourier"
)

// SmoothECE is the smooth calibration error smECE at its own bandwidth, in [0,1]: the σ at which
//
//	smECE_σ = ∫ over [0,1] of |1/n Σ_i (quality_i − confidence_i) K_σ(t, confidence_i)| dt = σ,
//
// K_σ the Gaussian reflected at 0 and 1 as often as it takes. Value and bandwidth are one number.
// Lower is better. Source: Błasiok and Nakkiran 2024, section 3.
//
// The reflected Gaussian solves the heat equation on an insulated rod. So the integrand is a series
// of cosines whose coefficients do not depend on σ but for a factor, summed until they vanish, and
// the integral is exact between its zeros. A resample costs about a hundred operations a distinct
// confidence. A fixed point below 2^-12 is given as smECE at 2^-12, which is at most 2^-12 lower.
func SmoothECE() Statistic {
	return smoothECE("smece", "The σ at which smECE_σ = σ.", func(s *cosineSeries) float64 { return s.fixedPoint() })
}

// SmoothECEAt is smECE_σ at a given bandwidth, of [SmoothECE]. It panics unless sigma is in [.001, 1].
func SmoothECEAt(sigma float64) Statistic {
	if err := checkBandwidth(sigma); err != nil {
		panic("metric: " + err.Error())
	}
	return smoothECE(fmt.Sprintf("smece.sigma-%g", sigma), fmt.Sprintf("smECE_σ at σ = %g.", sigma), func(s *cosineSeries) float64 {
		s.prepare(sigma)
		return s.smECE(sigma)
	})
}

func smoothECE(id, which string, of func(*cosineSeries) float64) Statistic {
	return Statistic{
		ID: id, Definition: which + " smECE_σ is ∫ over [0,1] of |mean of (quality − confidence) K_σ(t, confidence)|, K_σ the reflected Gaussian.",
		Source: "Błasiok and Nakkiran 2024, section 3", Better: Lower, Needs: Probability, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator {
			fill := massesOf(p)
			s := &cosineSeries{gatherings: map[int]*gathering{}}
			return func(counts []uint32) (float64, measure.Reason) {
				s.m = fill(counts)
				return of(s), ""
			}
		},
	}
}

// smallestSigma is the smallest bandwidth that a fixed point is sought at.
const smallestSigma = 1. / (1 << 12)

// cosineSeries is the gaps of a sample as a series of cosines. It holds scratch.
type cosineSeries struct {
	m          masses
	gatherings map[int]*gathering
	// moments[k] is the mean of gap · cos(kπ·confidence).
	moments []float64
	cosines []float64 // as many
	// At one σ: the coefficients of the smoothed gap, and its samples.
	coefficients, t, ft []float64
	transform           *fourier.DCT
}

// modes is how many cosines a bandwidth leaves above 1e-17 of their height.
func modes(sigma float64) int { return int(8.9/(math.Pi*sigma)) + 2 }

// fixedPoint finds σ = smECE_σ. smECE_σ falls with σ, from the mean absolute gap of distinct
// confidences to the absolute mean gap, so that the fixed point is unique and between these.
func (s *cosineSeries) fixedPoint() float64 {
	n, sum, absolute := s.m.items(), 0., 0.
	for _, g := range s.m.gap {
		sum, absolute = sum+g, absolute+math.Abs(g)
	}
	low, high := math.Abs(sum)/n, absolute/n
	if high-low <= 1e-15*high {
		return high // All gaps are to one side: smECE_σ is the same at every σ.
	}
	// From wide to narrow, since cosines are needed up to the inverse of σ.
	for sigma := 1. / 32; ; sigma = max(sigma/4, smallestSigma) {
		from := max(sigma, low)
		if from > high && sigma > smallestSigma {
			continue
		}
		s.prepare(from)
		switch at := s.smECE(from); {
		case at > from:
			return s.solve(from, high, at)
		case from == low:
			return low
		case sigma == smallestSigma:
			return at
		}
	}
}

// solve finds the fixed point in [low, high] by false position (the Illinois rule), given smECE at low.
func (s *cosineSeries) solve(low, high, atLow float64) float64 {
	off := func(sigma float64) float64 { return s.smECE(sigma) - sigma }
	return signChange(low, high, atLow-low, min(off(high), -math.SmallestNonzeroFloat64), off)
}

// prepare computes the moments for bandwidths of sigma and more.
func (s *cosineSeries) prepare(sigma float64) {
	m := s.m
	n := m.items()
	if cells := cellsFor(sigma); len(m.at) > cells*nodes {
		if s.gatherings[cells] == nil {
			s.gatherings[cells] = newGathering(cells)
		}
		m = s.gatherings[cells].gather(m)
	}
	s.moments = resized(s.moments, modes(sigma))
	s.cosines = resized(s.cosines, len(s.moments))
	for i, c := range m.at {
		if g := m.gap[i] / n; g != 0 {
			setCosines(s.cosines, c)
			for k, cos := range s.cosines {
				s.moments[k] += g * cos
			}
		}
	}
}

// setCosines sets dst[k] to cos(kπt). It turns from one k to the next, and starts afresh every 64 so
// that rounding does not add up.
func setCosines(dst []float64, t float64) {
	sin1, cos1 := math.Sincos(math.Pi * t)
	for from := 0; from < len(dst); from += 64 {
		sin, cos := math.Sincos(math.Pi * t * float64(from))
		for k := from; k < min(from+64, len(dst)); k++ {
			dst[k] = cos
			sin, cos = sin*cos1+cos*sin1, cos*cos1-sin*sin1
		}
	}
}

// smECE is the integral at a bandwidth that is no less than the prepared one.
func (s *cosineSeries) smECE(sigma float64) float64 {
	k := min(len(s.moments), modes(sigma))
	s.coefficients = resized(s.coefficients, k)
	for i := range k {
		a := float64(i) * math.Pi * sigma
		s.coefficients[i] = 2 * s.moments[i] * math.Exp(-a*a/2)
	}
	s.coefficients[0] /= 2
	s.sample(1 << max(4, 4-math.Ilogb(sigma)))
	return absIntegral(s.t, s.ft, s.at, s.antiderivative)
}

// sample evaluates the series at 0, 1/steps, ..., 1, by a cosine transform. What is rounding is 0, lest
// its signs be taken for those of the series.
func (s *cosineSeries) sample(steps int) {
	if len(s.t) != steps+1 {
		s.t, s.transform = resized(s.t, steps+1), fourier.NewDCT(steps+1)
		for j := range s.t {
			s.t[j] = float64(j) / float64(steps)
		}
	}
	s.ft = resized(s.ft, steps+1)
	height := 0.
	for k, a := range s.coefficients {
		s.ft[k] = a / 2 // the transform doubles all but the ends
		height += math.Abs(a)
	}
	s.ft[0] *= 2
	s.transform.Transform(s.ft, s.ft)
	for j, f := range s.ft {
		if math.Abs(f) < 1e-14*height {
			s.ft[j] = 0
		}
	}
}

func (s *cosineSeries) at(t float64) float64 {
	setCosines(s.cosines[:len(s.coefficients)], t)
	sum := 0.
	for k, a := range s.coefficients {
		sum += a * s.cosines[k]
	}
	return sum
}

func (s *cosineSeries) antiderivative(t float64) float64 {
	sum := s.coefficients[0] * t
	for k, a := range s.coefficients[1:] {
		w := float64(k+1) * math.Pi
		sum += a * math.Sin(w*t) / w
	}
	return sum
}

// resized returns n zeros, in the given slice if it has room.
func resized(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	x = x[:n]
	clear(x)
	return x
}

func smoothECEFamily() Family {
	return Family{
		Prefix: "smece", Parameters: "[sigma-{bandwidth}]", Usual: []string{""},
		New: func(parameters string) (Statistic, error) {
			if parameters == "" {
				return SmoothECE(), nil
			}
			h, err := sigmaOf(parameters)
			if err != nil {
				return Statistic{}, err
			}
			return SmoothECEAt(h), nil
		},
	}
}

// sigmaOf reads the bandwidth from sigma-{bandwidth}.
func sigmaOf(parameters string) (float64, error) {
	digits, ok := strings.CutPrefix(parameters, "sigma-")
	if !ok {
		return 0, fmt.Errorf("%q is no bandwidth; write sigma- and a number such as %s", parameters, strconv.Quote("sigma-0.05"))
	}
	return bandwidthOf(digits)
}
