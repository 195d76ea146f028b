package recalibrate

import (
	"fmt"
	"sort"
)

// Histogram gives every score of a bin the mean target of the bin's points (Zadrozny and Elkan 2001).
//
// Bins have equal mass unless EqualWidth. With equal mass bin k of M ends after the sorted point
// n·k/M, moved up to the last point of equal score, and a score belongs to the last bin whose lowest
// point it reaches; bins that emptied vanish. With equal width bins are [k/M,(k+1)/M), with 1 in the
// last, and scores must be confidences in [0,1]; a score in a bin without points gets the mean of all
// targets and is extrapolated.
type Histogram struct {
	// Bins is the number M of bins, at least 1.
	Bins       int
	EqualWidth bool
}

// ID implements [Method].
func (h Histogram) ID() string {
	if h.EqualWidth {
		return fmt.Sprintf("histogram.equal-width.%d", h.Bins)
	}
	return fmt.Sprintf("histogram.equal-mass.%d", h.Bins)
}

// maxBins bounds what a caller can ask to be allocated.
const maxBins = 1 << 20

// Fit implements [Method].
func (h Histogram) Fit(p Points) (Map, error) {
	if h.Bins < 1 || h.Bins > maxBins {
		return nil, fmt.Errorf("recalibrate: %d bins of a histogram: give 1 to %d", h.Bins, maxBins)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	list := p.groups()
	f := &histogramMap{fitted: fit(list)}
	if h.EqualWidth && (f.low < 0 || f.high > 1) {
		return nil, fmt.Errorf("recalibrate: scores range from %v to %v: bins of equal width need confidences in [0,1]; equal mass does not", f.low, f.high)
	}
	f.edges = h.edges(list, len(p.Scores))
	f.bins = make([]group, len(f.edges)+1)
	var all group
	for _, g := range list {
		f.bins[f.bin(g.score)].add(g)
		all.add(g)
	}
	f.overall = all.mean
	return f, nil
}

// edges are the scores at which the second and each further bin begins.
func (h Histogram) edges(list []group, n int) []float64 {
	var edges []float64
	if h.EqualWidth {
		// Dividing whole numbers rounds once, as the decimals of a stated confidence were.
		for k := 1; k < h.Bins; k++ {
			edges = append(edges, float64(k)/float64(h.Bins))
		}
		return edges
	}
	seen, k := 0, 1
	for i, g := range list[:len(list)-1] {
		seen += g.n
		closes := false
		for ; k < h.Bins && n*k/h.Bins <= seen; k++ {
			closes = closes || n*k/h.Bins > 0
		}
		if closes {
			edges = append(edges, list[i+1].score)
		}
	}
	return edges
}

func (g *group) add(other group) {
	g.n += other.n
	g.weight += other.weight
	g.mean += (other.mean - g.mean) * other.weight / g.weight
}

type histogramMap struct {
	fitted
	edges   []float64
	bins    []group
	overall float64
}

func (m *histogramMap) bin(score float64) int {
	return sort.Search(len(m.edges), func(k int) bool { return m.edges[k] > score })
}

func (m *histogramMap) At(score float64) Prediction {
	if b := m.bins[m.bin(score)]; b.n > 0 {
		return m.predict(score, b.mean)
	}
	p := m.predict(score, m.overall)
	p.Extrapolated = true
	return p
}
