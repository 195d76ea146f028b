package recalibrate

import (
	"fmt"
	"math"
)

// Temperature divides the log-odds of a confidence by a temperature T fitted by maximum likelihood,
// p = sigmoid(logit(score)/T) (Guo et al. 2017, section 4.2, for two classes). It moves confidences
// towards or away from 1/2 and never past it.
//
// Scores are confidences in [0,1]. One nearer than Clip to 0 or 1 is taken as Clip or 1-Clip, since
// log-odds at the ends are infinite; how many were is a warning. T stays in [.01, 100] and a warning
// says when it sits on an end, as it does with one class, with an order that is the wrong way round,
// or with classes parted by 1/2. If all scores are 1/2, T is 1, with a warning.
type Temperature struct {
	// Clip in (0, .5) is part of the id.
	Clip float64
}

// DefaultClip is a clip for stated confidences: "100 %" counts as one error in a million.
const DefaultClip = 1e-6

const lowestT, highestT = .01, 100

// ID implements [Method].
func (m Temperature) ID() string { return fmt.Sprintf("temperature.clip-%g", m.Clip) }

// Fit implements [Method]; the map is a [*TemperatureMap].
func (m Temperature) Fit(p Points) (Map, error) {
	if !(m.Clip > 0 && m.Clip < .5) {
		return nil, fmt.Errorf("recalibrate: clip %v of temperature scaling: give a number in (0, .5), such as DefaultClip", m.Clip)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	list := p.groups()
	f := &TemperatureMap{fitted: fit(list), clip: m.Clip}
	if f.low < 0 || f.high > 1 {
		return nil, fmt.Errorf("recalibrate: scores range from %v to %v: temperature scaling needs confidences in [0,1]", f.low, f.high)
	}
	clipped := 0
	odds, informative := make([]float64, len(list)), false
	for i, g := range list {
		odds[i] = f.logOdds(g.score)
		informative = informative || odds[i] != 0
		if g.score < m.Clip || g.score > 1-m.Clip {
			clipped += g.n
		}
	}
	if clipped > 0 {
		f.warn("clipped", "%d of %d scores lie within %g of 0 or 1 and were moved there", clipped, len(p.Scores), m.Clip)
	}
	if !informative {
		f.t = 1
		f.warn("constant-score", "all scores are 1/2, which every temperature leaves alone: T = 1 is taken")
		return f, nil
	}
	f.t = 1 / coldness(list, odds)
	if f.t <= lowestT || f.t >= highestT {
		f.warn("temperature-at-limit", "the likelihood still grows at T = %g, the end of the range", f.t)
	}
	return f, nil
}

// TemperatureMap is a fitted temperature.
type TemperatureMap struct {
	fitted
	t, clip float64
}

// T is the fitted temperature; above 1 it moves confidences towards 1/2.
func (m *TemperatureMap) T() float64 { return m.t }

// At implements [Map].
func (m *TemperatureMap) At(score float64) Prediction {
	return m.predict(score, sigmoid(m.logOdds(score)/m.t))
}

func (m *TemperatureMap) logOdds(score float64) float64 {
	return logit(math.Min(1-m.clip, math.Max(m.clip, score)))
}

// coldness is 1/T of least log loss. The loss is convex in it, so that its slope has one sign change,
// which halving finds to the last digit.
func coldness(list []group, odds []float64) float64 {
	slope := func(k float64) float64 {
		var sum float64
		for i, g := range list {
			sum += g.weight * odds[i] * (sigmoid(k*odds[i]) - g.mean)
		}
		return sum
	}
	low, high := 1/float64(highestT), 1/float64(lowestT)
	if slope(low) >= 0 {
		return low
	}
	if slope(high) <= 0 {
		return high
	}
	for {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			return middle
		}
		if slope(middle) < 0 {
			low = middle
		} else {
			high = middle
		}
	}
}
