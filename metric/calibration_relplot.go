package metric

import (
	"fmt"
	"math"

	"github.com/credence-lab/credence/measure"
)

// SmoothECERelplot is what relplot 1.0.3 (Apple, smECE) prints as the smooth calibration error, for
// comparison with values published with it; [SmoothECE] is the definition. It differs in four ways:
// the kernel is cut off at ±1/2; gaps are divided by a smoothed density that does not double the
// items at 0 and 1, so that mixed data with mass there come out too low; the integral is a mean over
// a grid; and the bandwidth is the upper end of ten halvings of [0,1].
//
// It is computed as that program does, on its grids, at a cost of tens of milliseconds: too slow for
// many resamples. So [All] leaves it out; ask for it by id.
func SmoothECERelplot() Statistic {
	return relplot("smece.relplot-1.0.3", "bandwidth by ten halvings of [0,1]", relplotBandwidth)
}

// SmoothECERelplotAt is [SmoothECERelplot] at a given bandwidth. It panics unless sigma is in [.001,
// 1].
func SmoothECERelplotAt(sigma float64) Statistic {
	if err := checkBandwidth(sigma); err != nil {
		panic("metric: " + err.Error())
	}
	id, which := fmt.Sprintf("smece.relplot-1.0.3.sigma-%g", sigma), fmt.Sprintf("bandwidth %g", sigma)
	return relplot(id, which, func(masses) float64 { return sigma })
}

func relplot(id, which string, bandwidth func(masses) float64) Statistic {
	return Statistic{
		ID:         id,
		Definition: "The smooth calibration error as relplot 1.0.3 prints it: a cut-off kernel on a grid, divided by a smoothed density, " + which + ".",
		Source:     "Błasiok and Nakkiran 2024; relplot 1.0.3",
		Better:     Lower, Needs: Probability, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator {
			fill := massesOf(p)
			return func(counts []uint32) (float64, measure.Reason) {
				m := fill(counts)
				return relplotAt(m, bandwidth(m)), ""
			}
		},
	}
}

// relplotBandwidth is the upper end of the last bracket.
func relplotBandwidth(m masses) float64 {
	below := func(sigma float64) bool { return sigma < .001 || sigma < relplotAt(m, sigma) }
	if below(1) {
		return 1
	}
	high, low := 1., 0.
	for range 10 {
		if middle := (high + low) / 2; below(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// relplotAt is the mean of |smoothed gap| over a grid, divided by the mean of the smoothed density
// with its constant of 1e-4.
func relplotAt(m masses, sigma float64) float64 {
	points := max(int(math.RoundToEven(10/sigma)), 200)
	size := max(2000, int(math.RoundToEven(20/sigma)))/2 + 1
	gap, n := onGrid(m, size)
	sum, density := 0., 0.
	kernel := relplotKernel(size, sigma)
	smoothedGap, smoothedN := convolved(gap, kernel), convolved(n, kernel)
	for j := range points {
		t := float64(j) / float64(points-1)
		k := min(int(t*float64(size-1)), size-2)
		part := t*float64(size-1) - float64(k)
		sum += math.Abs(smoothedGap(k)*(1-part) + smoothedGap(k+1)*part)
		density += smoothedN(k)*(1-part) + smoothedN(k+1)*part + 1e-4
	}
	return sum / density
}

// onGrid splits every mass between its two neighbours on a grid of [0,1], in proportion.
func onGrid(m masses, size int) (gap, n []float64) {
	gap, n = make([]float64, size), make([]float64, size)
	for i, c := range m.at {
		x := c * float64(size-1)
		k := min(int(x), size-2)
		part := x - float64(k)
		gap[k], gap[k+1] = gap[k]+(1-part)*m.gap[i], gap[k+1]+part*m.gap[i]
		n[k], n[k+1] = n[k]+(1-part)*m.n[i], n[k+1]+part*m.n[i]
	}
	return gap, n
}

// relplotKernel samples the Gaussian on [−1/2, 1/2], at as many points as the grid has on [0,1].
func relplotKernel(size int, sigma float64) []float64 {
	kernel := make([]float64, size)
	for i := range kernel {
		x := float64(i)/float64(size-1) - .5
		kernel[i] = math.Exp(-x*x/(2*sigma*sigma)) / (math.Sqrt(2*math.Pi) * sigma)
	}
	return kernel
}

// convolved gives the convolution at grid point k with the masses reflected at both ends once, the end
// points themselves not doubled.
func convolved(values, kernel []float64) func(k int) float64 {
	size := len(values)
	// With an even number of points the middle of the kernel falls between two.
	first := size/2 - (size - 1)
	var places []int
	for i, v := range values {
		if v != 0 {
			places = append(places, i)
		}
	}
	return func(k int) float64 {
		sum := 0.
		add := func(place int, v float64) {
			// kernel[i] meets the mass at place if place = k + first + size − 1 − i.
			if i := k + first + size - 1 - place; i >= 0 && i < size {
				sum += v * kernel[i]
			}
		}
		for _, i := range places {
			add(i, values[i])
			if i > 0 {
				add(-i, values[i])
			}
			if i < size-1 {
				add(2*(size-1)-i, values[i])
			}
		}
		return sum
	}
}

func relplotFamily() Family {
	return Family{
		Prefix: "smece.relplot-1.0.3", Parameters: "[sigma-{bandwidth}]",
		New: func(parameters string) (Statistic, error) {
			if parameters == "" {
				return SmoothECERelplot(), nil
			}
			h, err := sigmaOf(parameters)
			if err != nil {
				return Statistic{}, err
			}
			return SmoothECERelplotAt(h), nil
		},
	}
}
