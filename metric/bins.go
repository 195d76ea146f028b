package metric

import "math"

// Edges says which bin of equal width a confidence on an edge belongs to. A confidence given in
// decimals falls into the bin that its decimals say: .3 of ten bins lies on the edge 3/10, although
// neither is a binary fraction.
type Edges string

const (
	// LeftClosed bins are [k/M,(k+1)/M), with 1 in the last.
	LeftClosed Edges = "left-closed"
	// RightClosed bins are (k/M,(k+1)/M], with 0 in the first.
	RightClosed Edges = "right-closed"
	// Phantom is LeftClosed but for a bin M+1 that holds only 1, as torchmetrics and relplot have it.
	Phantom Edges = "phantom"
	// Linspace is LeftClosed on the edges k·(1/M) in floating point, as numpy.linspace has them, so
	// that .3, .6 and .7 of ten bins fall one bin too low. For comparison with tools that do so.
	Linspace Edges = "linspace"
)

// maxBins keeps k/M exact enough that decimals never meet an edge that is not theirs.
const maxBins = 1 << 20

// bin gives the number of the bin, from 0, that c in [0,1] falls into, out of m.
//
// Dividing the whole numbers k and m rounds k/m once, exactly as the decimals of c were rounded once.
// Equal fractions are therefore equal floats, and comparing the floats compares the fractions.
func (e Edges) bin(c float64, m int) int {
	width := float64(m)
	edge := func(k int) float64 { return float64(k) / width }
	if e == Linspace {
		step := 1 / width
		edge = func(k int) float64 { return float64(k) * step }
	}
	above := func(k int) bool { return c >= edge(k) }
	last := m - 1
	switch e {
	case RightClosed:
		above = func(k int) bool { return c > edge(k) }
	case Phantom:
		last = m
	}
	k := min(int(c*width), last)
	for k < last && above(k+1) {
		k++
	}
	for k > 0 && !above(k) {
		k--
	}
	return k
}

// span is a bin: the atoms from..to-1.
type span struct{ from, to int32 }

// partition cuts the sample of the given counts into bins, each a span of atoms; the slice may be
// reused by the next call.
type partition func(counts []uint32) []span

// equalWidth bins do not depend on the sample.
func equalWidth(p *Prepared, m int, e Edges) partition {
	var spans []span
	last := math.MinInt
	for a, c := range p.confidence {
		if k := e.bin(c, m); k != last {
			spans, last = append(spans, span{from: int32(a)}), k
		}
		spans[len(spans)-1].to = int32(a + 1)
	}
	return func([]uint32) []span { return spans }
}

// equalMass cuts after position floor(n·k/m) in ascending order, moved up to the end of the group of
// equal confidences that it would split. Bins that this empties vanish.
func equalMass(p *Prepared, m int) partition {
	return cutByPosition(p, func(n int64) (cuts int64, at func(k int64) int64) {
		return int64(m), func(k int64) int64 { return n * k / int64(m) }
	})
}

// fixedSize makes bins of size items in ascending order, moved like those of equalMass. The items
// that fill no further bin join the last.
func fixedSize(p *Prepared, size int) partition {
	return cutByPosition(p, func(n int64) (cuts int64, at func(k int64) int64) {
		return max(1, n/int64(size)), func(k int64) int64 { return k * int64(size) }
	})
}

// cutByPosition makes bins whose number and nominal ends depend on the number of items.
func cutByPosition(p *Prepared, plan func(n int64) (bins int64, end func(k int64) int64)) partition {
	var spans []span
	return func(counts []uint32) []span {
		spans = spans[:0]
		bins, end := plan(total(counts))
		var seen int64
		k, to := int64(1), int32(len(counts))
		for g := len(p.groups) - 1; g >= 0; g-- {
			from := p.groupStart(g)
			for _, m := range counts[from:p.groups[g]] {
				seen += int64(m)
			}
			closes := false
			for k < bins && end(k) <= seen {
				closes = closes || end(k) > 0
				k++
			}
			if closes || g == 0 {
				spans = append(spans, span{from, to})
				to = from
			}
		}
		return spans
	}
}

func (p *Prepared) groupStart(g int) int32 {
	if g == 0 {
		return 0
	}
	return p.groups[g-1]
}

func total(counts []uint32) int64 {
	var n int64
	for _, m := range counts {
		n += int64(m)
	}
	return n
}
