package metric

import (
	"math"

	"github.com/credence-lab/credence/measure"
)

// Spearman is the correlation of the ranks of confidence and quality, tied items sharing their mean
// rank; in [-1,1]. Higher is better. Undefined where either is constant. Source: Spearman 1904.
func Spearman() Statistic {
	return Statistic{
		ID:         "spearman",
		Definition: "Pearson correlation of the mid-ranks of confidence and quality.",
		Source:     "Spearman 1904",
		Better:     Higher, Needs: AnyScore, Labels: Qualities, Chance: func(*Prepared) float64 { return 0 },
		Bind: func(p *Prepared) Evaluator {
			sizes, ranks := make([]int64, len(p.levels)), make([]float64, len(p.levels))
			return func(counts []uint32) (float64, measure.Reason) {
				clear(sizes)
				for a, m := range counts {
					sizes[p.levelOf[a]] += int64(m)
				}
				var m moments
				m.yy = midRanks(ranks, sizes)
				p.eachGroupRank(counts, func(group, end int32, rank float64) {
					for a := group; a < end; a++ {
						m.add(float64(counts[a]), rank, ranks[p.levelOf[a]])
					}
				})
				return m.correlation()
			}
		},
	}
}

// moments are sums of squares and products around known means.
type moments struct{ xx, xy, yy float64 }

func (m *moments) add(weight, x, y float64) {
	m.xx += weight * x * x
	m.xy += weight * x * y
}

func (m moments) correlation() (float64, measure.Reason) {
	if m.xx == 0 || m.yy == 0 {
		return 0, measure.Constant
	}
	return clamp(m.xy/(math.Sqrt(m.xx)*math.Sqrt(m.yy)), -1, 1), ""
}

// clamp undoes what rounding adds beyond the range of a statistic.
func clamp(x, low, high float64) float64 { return max(low, min(high, x)) }

// midRanks fills the rank of each class of tied items, as a distance from the mean rank, best class
// highest, and returns the sum of squares.
func midRanks(ranks []float64, sizes []int64) float64 {
	var n, before int64
	for _, m := range sizes {
		n += m
	}
	squares := 0.
	for i, m := range sizes {
		ranks[i] = float64(n-2*before-m) / 2
		squares += float64(m) * ranks[i] * ranks[i]
		before += m
	}
	return squares
}

// eachGroupRank visits the groups of equal confidence with their mid-ranks as midRanks has them.
func (p *Prepared) eachGroupRank(counts []uint32, visit func(from, end int32, rank float64)) {
	n, before := total(counts), int64(0)
	for g, end := range p.groups {
		from := p.groupStart(g)
		m := total(counts[from:end])
		visit(from, end, float64(n-2*before-m)/2)
		before += m
	}
}

// Pearson is the linear correlation of confidence and quality, in [-1,1]. Higher is better. Undefined
// where either is constant or a score is infinite. Source: Pearson 1895.
func Pearson() Statistic {
	return Statistic{
		ID:         "pearson",
		Definition: "Covariance of confidence and quality over the product of their standard deviations.",
		Source:     "Pearson 1895",
		Better:     Higher, Needs: AnyScore, Labels: Qualities, Chance: func(*Prepared) float64 { return 0 },
		Bind: bindPearson,
	}
}

func bindPearson(p *Prepared) Evaluator {
	xs, ok := p.scaled()
	if !ok {
		return func([]uint32) (float64, measure.Reason) { return 0, measure.Infinite }
	}
	return func(counts []uint32) (float64, measure.Reason) {
		if p.oneLevel(counts) || p.oneGroup(counts) {
			return 0, measure.Constant
		}
		n, sumX := sumBin(counts, xs)
		_, sumY := sumBin(counts, p.quality)
		meanX, meanY := sumX/float64(n), sumY/float64(n)
		var m moments
		for a, count := range counts {
			x, y := xs[a]-meanX, p.quality[a]-meanY
			m.add(float64(count), x, y)
			m.yy += float64(count) * y * y
		}
		return m.correlation()
	}
}

// scaled are the confidences brought to [-1,1], so that squares neither overflow nor vanish. Dividing
// by a power of two changes no digit.
func (p *Prepared) scaled() (xs []float64, ok bool) {
	largest := 0.
	for _, c := range p.confidence {
		largest = max(largest, math.Abs(c))
	}
	if math.IsInf(largest, 0) {
		return nil, false
	}
	if largest > .001 && largest <= 1 {
		return p.confidence, true
	}
	_, exponent := math.Frexp(largest)
	xs = make([]float64, len(p.confidence))
	for a, c := range p.confidence {
		xs[a] = math.Ldexp(c, -exponent)
	}
	return xs, true
}

// oneGroup reports whether all items of the sample have the same confidence.
func (p *Prepared) oneGroup(counts []uint32) bool {
	groups := 0
	for g, end := range p.groups {
		if total(counts[p.groupStart(g):end]) > 0 {
			groups++
		}
	}
	return groups < 2
}
