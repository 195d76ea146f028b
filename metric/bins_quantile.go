package metric

import "github.com/credence-lab/credence/measure"

// EdgesCoincide is the reason of bins between quantiles two of which are equal.
const EdgesCoincide measure.Reason = "bin edges coincide"

// quantileEdges makes the bins that netcal has for equal numbers of items: [e_k,e_k+1) between the
// quantiles e_k of order k/m of the sample, the outermost edges being 0 and 1. Equal confidences share
// a bin, the one above their edge. There are no bins where two edges coincide, which netcal refuses.
func quantileEdges(p *Prepared, m int) partition {
	confidence := make([]float64, len(p.confidence))
	for a, c := range p.confidence {
		// Clipped as netcal does it: a quantile of 0 or 1 is then no outermost edge.
		const epsilon = 1. / (1 << 52)
		confidence[a] = clamp(c, epsilon, 1-epsilon)
	}
	edges := make([]float64, m+1)
	edges[m] = 1
	var spans []span
	return func(counts []uint32) []span {
		spans = spans[:0]
		quantiles(edges[1:m], confidence, counts)
		for k, e := range edges[1:] {
			if e == edges[k] {
				return nil
			}
		}
		k := m // the lower edge of the bin at hand; above 1-epsilon there is none
		for a, c := range confidence {
			if c < edges[k] {
				for c < edges[k] {
					k--
				}
				spans = append(spans, span{from: int32(a)})
			}
			spans[len(spans)-1].to = int32(a + 1)
		}
		return spans
	}
}

// quantiles fills dst with those of order 1/m, ..., (m-1)/m for m = len(dst)+1, interpolated and rounded
// as numpy has it; values descend.
func quantiles(dst, values []float64, counts []uint32) {
	last, m := float64(total(counts)-1), len(dst)+1
	low, high := newCursor(values, counts), newCursor(values, counts)
	for k := range dst {
		at := linspace(k+1, m) * last
		rank := int64(at)
		a, b, t := low.at(rank), high.at(min(rank+1, int64(last))), at-float64(rank)
		if t < .5 {
			dst[k] = a + float64((b-a)*t)
		} else {
			dst[k] = b - float64((b-a)*(1-t))
		}
	}
}

// cursor finds order statistics of growing rank, from 0 for the lowest, in descending values.
type cursor struct {
	values []float64
	counts []uint32
	atom   int
	seen   int64 // items of this atom and of lower ones
}

func newCursor(values []float64, counts []uint32) cursor {
	return cursor{values: values, counts: counts, atom: len(values)}
}

func (c *cursor) at(rank int64) float64 {
	for c.seen <= rank {
		c.atom--
		c.seen += int64(c.counts[c.atom])
	}
	return c.values[c.atom]
}
