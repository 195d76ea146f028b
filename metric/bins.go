package metric

import (
	"sort"
	"strings"
)

// Edges says which bin of equal width a confidence on an edge belongs to. A confidence given in
// decimals falls into the bin that its decimals say: .3 of ten bins lies on the edge 3/10, although
// neither is a binary fraction. The rules named after tools are theirs, rounding included, for
// comparison with what they print.
type Edges string

const (
	// LeftClosed bins are [k/M,(k+1)/M), with 1 in the last.
	LeftClosed Edges = "left-closed"
	// RightClosed bins are (k/M,(k+1)/M], with 0 in the first.
	RightClosed Edges = "right-closed"
	// Phantom is LeftClosed but for a bin M+1 that holds only 1.
	Phantom Edges = "phantom"
	// Netcal is LeftClosed on edges of numpy.linspace, so that .3, .6 and .7 of ten bins fall too low.
	Netcal Edges = "netcal"
	// Polygraph is RightClosed on edges of numpy.linspace, as lm-polygraph has it, and scikit-learn in
	// its calibration_curve.
	Polygraph Edges = "lm-polygraph"
	// Torchmetrics is Phantom on edges of torch.linspace, so that .3 of ten bins falls too low.
	Torchmetrics Edges = "torchmetrics"
	// Relplot is Phantom with the bin ⌊c/width⌋, divided in floating point.
	Relplot Edges = "relplot"
)

// edgeRule is what the rules differ in.
type edgeRule struct {
	name Edges
	// above reports whether c belongs to bin k of m or a later one, for 0 < k.
	above    func(c float64, k, m int) bool
	phantom  bool
	describe string
}

// Dividing the whole numbers k and m rounds k/m once, exactly as the decimals of c were rounded once.
// Equal fractions are therefore equal floats, and comparing the floats compares the fractions.
func edge(k, m int) float64 { return float64(k) / float64(m) }

func linspace(k, m int) float64 {
	if k == m {
		return 1
	}
	return float64(k) * (1 / float64(m))
}

// mirrored is torch.linspace(0, 1, m+1), which counts from both ends to the middle.
func mirrored(k, m int) float64 {
	step := 1 / float64(m)
	if k < (m+1)/2 {
		return step * float64(k)
	}
	return 1 - float64(step*float64(m-k)) // rounded twice, never fused
}

var edgeRules = []edgeRule{
	{LeftClosed, func(c float64, k, m int) bool { return c >= edge(k, m) }, false, "[k/M,(k+1)/M), 1 in the last"},
	{RightClosed, func(c float64, k, m int) bool { return c > edge(k, m) }, false, "(k/M,(k+1)/M], 0 in the first"},
	{Phantom, func(c float64, k, m int) bool { return c >= edge(k, m) }, true, "[k/M,(k+1)/M), 1 in a bin of its own"},
	{Netcal, func(c float64, k, m int) bool { return c >= linspace(k, m) }, false, "[k/M,(k+1)/M), edges rounded as netcal has them"},
	{Polygraph, func(c float64, k, m int) bool { return c > linspace(k, m) }, false, "(k/M,(k+1)/M], edges rounded as lm-polygraph has them"},
	{Torchmetrics, func(c float64, k, m int) bool { return c >= mirrored(k, m) }, true, "[k/M,(k+1)/M), 1 in a bin of its own, edges rounded as torchmetrics has them"},
	{Relplot, func(c float64, k, m int) bool { return c/(1/float64(m)) >= float64(k) }, true, "⌊c/width⌋ as relplot rounds it, 1 in a bin of its own"},
}

func (e Edges) rule() (edgeRule, bool) {
	for _, r := range edgeRules {
		if r.name == e {
			return r, true
		}
	}
	return edgeRule{}, false
}

func edgeNames() string {
	var names []string
	for _, r := range edgeRules {
		names = append(names, string(r.name))
	}
	return strings.Join(names, "|")
}

// maxBins keeps k/M exact enough that decimals never meet an edge that is not theirs.
const maxBins = 1 << 20

// bin gives the number of the bin, from 0, that c in [0,1] falls into, out of m.
func (r edgeRule) bin(c float64, m int) int {
	last := m - 1
	if r.phantom {
		last = m
	}
	k := min(int(c*float64(m)), last)
	for k < last && r.above(c, k+1, m) {
		k++
	}
	for k > 0 && !r.above(c, k, m) {
		k--
	}
	return k
}

// span is a bin: the atoms from..to-1.
type span struct{ from, to int32 }

// partition cuts the sample of the given counts into bins, each a span of atoms. Nobody may change the
// slice, and the next call may reuse it.
type partition func(counts []uint32) []span

// equalWidth bins do not depend on the sample.
func equalWidth(p *Prepared, m int, r edgeRule) partition {
	var spans []span
	for from := 0; from < len(p.confidence); {
		k := r.bin(p.confidence[from], m)
		to := from + firstOf(p.confidence[from:], func(c float64) bool { return r.bin(c, m) != k })
		spans, from = append(spans, span{int32(from), int32(to)}), to
	}
	return func([]uint32) []span { return spans }
}

// firstOf finds the first value for which is holds, given that it holds for all after it, or returns
// len(values). It doubles its steps, so that values near the beginning are found at once.
func firstOf(values []float64, is func(float64) bool) int {
	low, high := 0, 1
	for high < len(values) && !is(values[high-1]) {
		low, high = high, 2*high
	}
	high = min(high, len(values))
	return low + sort.Search(high-low, func(i int) bool { return is(values[low+i]) })
}

// equalMass cuts after position floor(n·k/m) in ascending order, moved up to the end of the group of
// equal confidences that it would split. Bins that this empties vanish.
func equalMass(p *Prepared, m int) partition {
	return cutByPosition(p, massKey(m), func(n int64) (cuts int64, at func(k int64) int64) {
		return int64(m), func(k int64) int64 { return n * k / int64(m) }
	})
}

// fixedSize makes bins of size items in ascending order, moved like those of equalMass. The items
// that fill no further bin join the last.
func fixedSize(p *Prepared, size int) partition {
	return cutByPosition(p, sizeKey(size), func(n int64) (cuts int64, at func(k int64) int64) {
		return max(1, n/int64(size)), func(k int64) int64 { return k * int64(size) }
	})
}

type (
	massKey int // bins of equal mass
	sizeKey int // items in a bin
)

// cutByPosition makes bins whose number and nominal ends depend on the number of items. The key stands
// for the plan.
func cutByPosition[K comparable](p *Prepared, key K, plan func(n int64) (bins int64, end func(k int64) int64)) partition {
	cut := func(spans []span, counts []uint32) []span {
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
	var spans []span
	return func(counts []uint32) []span {
		if p.asPrepared(counts) {
			return remember(p, key, func() []span { return cut(nil, counts) })
		}
		spans = cut(spans[:0], counts)
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
