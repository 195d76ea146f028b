package metric

import (
	"fmt"
	"math"
	"strconv"

	"github.com/credence-lab/credence/measure"
)

// KDE is the kernel calibration error of "Same Answer, Different Confidence", Appendix A: the mean
// over items of |m(c) − c|, where m(c) is the mean quality weighted by a Gaussian of the distance from
// c, the item itself included (Nadaraya and Watson); in [0,1]. The paper's bandwidth is .05. Lower is
// better. It panics unless bandwidth is in [.001, 1].
//
// A resample costs as many operations as there are distinct confidences, squared; more than a few
// hundred are gathered onto nodes first, after which the cost is linear in them.
func KDE(bandwidth float64) Statistic {
	if err := checkBandwidth(bandwidth); err != nil {
		panic("metric: " + err.Error())
	}
	return Statistic{
		ID:         fmt.Sprintf("ece.kde.gaussian.%g", bandwidth),
		Definition: fmt.Sprintf("Mean of |m(confidence) − confidence|, m the Gaussian kernel regression of quality on confidence with bandwidth %g.", bandwidth),
		Source:     `"Same Answer, Different Confidence", Appendix A, in the spirit of Zhang, Kailkhura and Han 2020`,
		Better:     Lower, Needs: Probability, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator { return kdeEvaluator(p, bandwidth) },
	}
}

func checkBandwidth(h float64) error {
	if !(h >= .001 && h <= 1) {
		return fmt.Errorf("the bandwidth is %v; give one in [.001, 1]", h)
	}
	return nil
}

func kdeEvaluator(p *Prepared, bandwidth float64) Evaluator {
	fill := massesOf(p)
	// Confidences beyond what a Gaussian of this width can tell apart are gathered.
	var onto *gathering
	if cells := cellsFor(bandwidth); len(p.groups) > cells*nodes {
		onto = newGathering(cells)
	}
	var weight, distance [][]float64
	var density, gap, densitySeries, gapSeries []float64
	return func(counts []uint32) (float64, measure.Reason) {
		all := fill(counts)
		m := all
		if onto != nil {
			m = onto.gather(all)
		}
		if weight == nil {
			weight, distance = kernelMatrix(m.at, bandwidth)
			density, gap = make([]float64, len(m.at)), make([]float64, len(m.at))
			densitySeries, gapSeries = make([]float64, len(m.at)), make([]float64, len(m.at))
		}
		for i := range m.at {
			density[i], gap[i] = kernelSums(m, weight[i], distance[i])
		}
		off := func(i int) float64 { return math.Abs(gap[i] / density[i]) }
		if onto != nil {
			onto.series(densitySeries, density)
			onto.series(gapSeries, gap)
			off = func(i int) float64 {
				gap, density := onto.values(gapSeries, densitySeries, all.at[i])
				return math.Abs(gap / density)
			}
		}
		n, sum := 0., 0.
		for i, items := range all.n {
			if items > 0 {
				n, sum = n+items, sum+items*off(i)
			}
		}
		return sum / n, ""
	}
}

// kernelMatrix gives the kernel between places, up to a factor, and its product with their distance.
func kernelMatrix(at []float64, bandwidth float64) (weight, distance [][]float64) {
	weight, distance = make([][]float64, len(at)), make([][]float64, len(at))
	for i, t := range at {
		weight[i], distance[i] = make([]float64, len(at)), make([]float64, len(at))
		for j, c := range at {
			u := (t - c) / bandwidth
			weight[i][j] = math.Exp(-u * u / 2)
			distance[i][j] = weight[i][j] * (c - t)
		}
	}
	return weight, distance
}

// kernelSums gives the smoothed number of items at a place, and their smoothed quality − place.
func kernelSums(m masses, weight, distance []float64) (density, gap float64) {
	for j, w := range weight {
		density += w * m.n[j]
		gap += w*m.gap[j] + distance[j]*m.n[j]
	}
	return density, gap
}

func kdeFamily() Family {
	return Family{
		Prefix: "ece.kde.gaussian", Parameters: "{bandwidth}", Usual: []string{"0.05"},
		New: func(parameters string) (Statistic, error) {
			h, err := bandwidthOf(parameters)
			if err != nil {
				return Statistic{}, err
			}
			return KDE(h), nil
		},
	}
}

func bandwidthOf(digits string) (float64, error) {
	h, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0, fmt.Errorf("the bandwidth is %q; write a number such as 0.05", digits)
	}
	return h, checkBandwidth(h)
}
