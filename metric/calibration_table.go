package metric

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
)

// ReliabilityRow is a bin of a reliability table that has items.
type ReliabilityRow struct {
	// From and To are the edges of a bin of equal width; of other bins the lowest and the highest
	// confidence in it.
	From, To float64
	// N is the number of items, at least 1.
	N int
	// Confidence is their mean confidence.
	Confidence float64
	// Quality is their mean quality. Where every quality is 0 or 1 it has Wilson's interval.
	Quality measure.Value
}

// ReliabilityEqualWidth is the reliability table of bins of equal width, ascending, without empty
// bins; level in (0,1) is that of the intervals. It is an error if p is no confidence in [0,1], if
// bins is not in 1..2^20, or if the edge rule is unknown.
func ReliabilityEqualWidth(p *Prepared, bins int, edges Edges, level float64) ([]ReliabilityRow, error) {
	rule, known := edges.rule()
	if !known {
		return nil, fmt.Errorf("metric: the edge rule is %q; there are %s", edges, edgeNames())
	}
	return p.table(bins, level, func() partition { return equalWidth(p, bins, rule) }, func(r *ReliabilityRow) {
		k := rule.bin(r.From, bins)
		r.From, r.To = min(1, edge(k, bins)), min(1, edge(k+1, bins))
	})
}

// ReliabilityEqualMass is the reliability table of bins of equal mass, which never split equal
// confidences, ascending; otherwise it is like [ReliabilityEqualWidth].
func ReliabilityEqualMass(p *Prepared, bins int, level float64) ([]ReliabilityRow, error) {
	return p.table(bins, level, func() partition { return equalMass(p, bins) }, func(*ReliabilityRow) {})
}

// AtomTable has a row for every distinct confidence, ascending; otherwise it is like
// [ReliabilityEqualWidth]. It is the table to read where confidences were stated in words or round
// numbers: no choice of bins is in it.
func AtomTable(p *Prepared, level float64) ([]ReliabilityRow, error) {
	return p.table(1, level, func() partition { return distinct(p) }, func(*ReliabilityRow) {})
}

func (p *Prepared) table(bins int, level float64, cut func() partition, edges func(*ReliabilityRow)) ([]ReliabilityRow, error) {
	if err := checkBins(bins); err != nil {
		return nil, fmt.Errorf("metric: the number of bins: %w", err)
	}
	if !(level > 0 && level < 1) {
		return nil, fmt.Errorf("metric: level %v of an interval: give a number in (0,1)", level)
	}
	if p.n == 0 {
		return nil, nil
	}
	if why := Brier().refuses(p); why != "" {
		return nil, fmt.Errorf("metric: %s is no confidence in [0,1] (%s), so it has no reliability table", p.name, why)
	}
	spans := cut()(p.counts)
	rows := make([]ReliabilityRow, 0, len(spans))
	for _, s := range spans {
		if row := p.row(s, level); row.N > 0 {
			edges(&row)
			rows = append(rows, row)
		}
	}
	if len(rows) > 1 && rows[0].Confidence > rows[1].Confidence {
		slices.Reverse(rows) // bins of equal width come highest first
	}
	return rows, nil
}

func (p *Prepared) row(s span, level float64) ReliabilityRow {
	row := ReliabilityRow{From: p.confidence[s.to-1], To: p.confidence[s.from]}
	labels := true
	var confidence, quality float64
	for a := s.from; a < s.to; a++ {
		n := float64(p.counts[a])
		row.N += int(p.counts[a])
		confidence, quality = confidence+n*p.confidence[a], quality+n*p.quality[a]
		labels = labels && (p.quality[a] == 0 || p.quality[a] == 1)
	}
	row.Confidence = confidence / float64(row.N)
	row.Quality = measure.Of("quality.mean", quality/float64(row.N), row.N)
	if labels {
		row.Quality = row.Quality.With(Wilson(int(math.Round(quality)), row.N, level))
	}
	return row
}
