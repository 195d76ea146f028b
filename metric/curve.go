package metric

import (
	"math"
	"sort"

	"github.com/credence-lab/credence/measure"
)

// CurvePoint is a point of a curve over all thresholds of a score: of [ROC] or of [RiskCoverage], which
// say what the axes are. X and Y lie in [0,1].
type CurvePoint struct{ X, Y float64 }

// ROC is the receiver operating characteristic: from (0,0) to (1,1), a corner for each distinct
// confidence, with X the share of incorrect and Y the share of correct answers at least as confident.
// The straight lines between corners are the expectation over the order of ties, so the area below
// equals [AUROC]. Without both classes there is no curve, and the reason says so. Source: Fawcett 2006.
func ROC(p *Prepared) ([]CurvePoint, measure.Reason) {
	correct := p.correctMask()
	hits, misses := split(p.counts, correct)
	switch {
	case p.n == 0:
		return nil, measure.NoItems
	case hits == 0 || misses == 0:
		return nil, measure.OneClass
	}
	points := append(make([]CurvePoint, 0, len(p.groups)+1), CurvePoint{})
	var above, below uint64
	var from int32
	for _, to := range p.groups {
		h, m := split(p.counts[from:to], correct[from:to])
		above, below, from = above+h, below+m, to
		points = append(points, CurvePoint{float64(below) / float64(misses), float64(above) / float64(hits)})
	}
	return points, ""
}

// RiskCoverage is the risk–coverage curve: a point for each k from 1 to n, with X = k/n and Y the
// expected mean loss of the k most confident over the order of ties. The mean of Y equals [AURC].
// Source: Geifman and El-Yaniv 2017.
func RiskCoverage(p *Prepared) ([]CurvePoint, measure.Reason) {
	if p.n == 0 {
		return nil, measure.NoItems
	}
	points := make([]CurvePoint, 0, p.n)
	lost := 0.0 // by the items before this group
	var from int32
	for _, to := range p.groups {
		items, loss := 0, 0.0
		for a := from; a < to; a++ {
			items += int(p.counts[a])
			loss += float64(p.counts[a]) * (1 - p.quality[a])
		}
		for i := 1; i <= items; i++ {
			k := len(points) + 1
			sum := lost + loss*float64(i)/float64(items)
			points = append(points, CurvePoint{float64(k) / float64(p.n), sum / float64(k)})
		}
		lost, from = lost+loss, to
	}
	return points, ""
}

// HistogramBin counts the items of one bin of a score by label, cut at .5 where labels are graded.
type HistogramBin struct {
	From, To           float64
	Correct, Incorrect int
}

// Histogram counts items in bins of equal width, left-closed, the last one closed: over [0,1] where
// every score lies in it, else from the lowest to the highest finite score. Infinite scores count in
// the outer bins. It is nil for bins < 1, no items, or no finite score.
func Histogram(p *Prepared, bins int) []HistogramBin {
	from, to, ok := p.span()
	if bins < 1 || !ok {
		return nil
	}
	if math.IsInf(to-from, 0) {
		return nil
	}
	// k/bins, not k·(1/bins): so that the edges of tenths are the decimals that people write.
	edge := func(k int) float64 { return from + (to-from)*(float64(k)/float64(bins)) }
	list := make([]HistogramBin, bins)
	for k := range list {
		list[k].From, list[k].To = edge(k), edge(k+1)
	}
	for a, m := range p.counts {
		k := sort.Search(bins-1, func(k int) bool { return p.score(a) < list[k].To })
		if p.quality[a] >= threshold {
			list[k].Correct += int(m)
		} else {
			list[k].Incorrect += int(m)
		}
	}
	return list
}

// score is the score of atom a as it was given.
func (p *Prepared) score(a int) float64 {
	if p.orientation == measure.Uncertainty {
		return -p.confidence[a]
	}
	return p.confidence[a]
}

// span is the range that a histogram covers.
func (p *Prepared) span() (from, to float64, ok bool) {
	from, to = math.Inf(1), math.Inf(-1)
	for a := range p.confidence {
		if x := p.score(a); !math.IsInf(x, 0) {
			from, to = min(from, x), max(to, x)
		}
	}
	switch {
	case from > to:
		return 0, 0, false
	case from >= 0 && to <= 1:
		return 0, 1, true
	case from == to:
		return from - .5, to + .5, true
	}
	return from, to, true
}
