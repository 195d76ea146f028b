package metric

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
)

// Score is one score of each item.
type Score struct {
	// Name is used in reasons and messages, such as "verbalised". Empty means "score".
	Name string
	// Values holds one value an item; NaN means missing, ±Inf is a legal rank.
	Values []float64
	// Orientation says which end of Values is the good one.
	Orientation measure.Orientation
	// Why is nil, or has the reason for each NaN in Values. An empty reason reads "no NAME".
	Why []string
}

// Quality is how good each item's answer is.
type Quality struct {
	// Values holds one value in [0,1] an item, 0 for incorrect and 1 for correct; NaN means missing.
	Values []float64
	// Why is nil, or has the reason for each NaN in Values. An empty reason reads "no label".
	Why []string
}

// Prepared is a score and its labels in the form that every statistic reads: sorted most confident
// first, with items of equal score and equal quality collapsed into one atom. It never changes and is
// safe for use by several goroutines.
type Prepared struct {
	name        string
	orientation measure.Orientation
	n           int
	rows        []int32        // input row of each item
	leftOut     map[string]int // input rows not used, by reason

	// Atoms are ordered by confidence, high first, and within one confidence by quality, high first.
	confidence []float64 // of each atom; minus the score where the score is an uncertainty
	quality    []float64 // of each atom, in [0,1]
	counts     []uint32  // items in each atom
	order      []int32   // items by atom
	starts     []int32   // items of atom a are order[starts[a]:starts[a+1]]

	groups    []int32 // groups of equal confidence: group g ends before atom groups[g]
	runs      []run
	stretches []stretch
	graded    bool // some quality is neither 0 nor 1

	levels  []float64 // distinct qualities, high first
	levelOf []int32   // level of each atom

	outside int // items whose confidence is not in [0,1]
	ties    float64

	shared shared
}

// run is a stretch of atoms that a linear pass can treat alike. If tied, the atoms form one group of
// equal confidence; if not, each of them is a group of its own. Continuous scores are a few long
// runs, verbalised ones a short run per stated value.
type run struct {
	from, to int32
	tied     bool
}

// stretch is a stretch of atoms of one item each, or of several items each.
type stretch struct {
	from, to int32
	single   bool
}

// Prepare prepares one score. quality[i] in [0,1] belongs to score[i]; a pair with a NaN in either
// is left out and counted.
//
// It is an error if the lengths differ, if a quality lies outside [0,1], or if o is no orientation.
func Prepare(score, quality []float64, o measure.Orientation) (*Prepared, error) {
	ps, err := PrepareJointly(Quality{Values: quality}, Score{Values: score, Orientation: o})
	if err != nil {
		return nil, err
	}
	return ps[0], nil
}

// PrepareJointly prepares several scores of the same items, so that they can be compared and
// resampled in pairs. It keeps the complete cases, the items that have a label and every score, in
// input order; the others are counted once each, a missing label before a missing score and an
// earlier score before a later one. Item i is the same item in every result.
//
// It is an error if there is no score, if lengths differ, if a quality lies outside [0,1], or if an
// orientation is not set.
func PrepareJointly(q Quality, scores ...Score) ([]*Prepared, error) {
	if err := check(q, scores); err != nil {
		return nil, err
	}
	rows, leftOut := completeCases(q, scores)
	levels, levelOf := rankLevels(pick(q.Values, rows))
	prepared := make([]*Prepared, len(scores))
	for s, score := range scores {
		prepared[s] = arrange(score, pick(score.Values, rows), levels, levelOf)
		prepared[s].rows, prepared[s].leftOut = rows, leftOut
	}
	return prepared, nil
}

// maxItems keeps item numbers and counts within 32 bits.
const maxItems = math.MaxInt32

func check(q Quality, scores []Score) error {
	if len(scores) == 0 {
		return fmt.Errorf("metric: no score given to prepare")
	}
	n := len(q.Values)
	if n > maxItems {
		return fmt.Errorf("metric: %d items are more than the %d supported", n, maxItems)
	}
	if q.Why != nil && len(q.Why) != n {
		return fmt.Errorf("metric: %d labels but %d reasons for missing ones", n, len(q.Why))
	}
	for i, v := range q.Values {
		if v < 0 || v > 1 {
			return fmt.Errorf("metric: label %d is %v; labels are qualities in [0,1], NaN if missing", i, v)
		}
	}
	for _, s := range scores {
		switch {
		case len(s.Values) != n:
			return fmt.Errorf("metric: %d values of %s but %d labels", len(s.Values), s.name(), n)
		case s.Why != nil && len(s.Why) != n:
			return fmt.Errorf("metric: %d values of %s but %d reasons for missing ones", n, s.name(), len(s.Why))
		case s.Orientation != measure.Confidence && s.Orientation != measure.Uncertainty:
			return fmt.Errorf("metric: %s has no orientation; say measure.Confidence or measure.Uncertainty", s.name())
		}
	}
	return nil
}

func (s Score) name() string {
	if s.Name == "" {
		return "score"
	}
	return s.Name
}

func completeCases(q Quality, scores []Score) (rows []int32, leftOut map[string]int) {
	rows, leftOut = make([]int32, 0, len(q.Values)), map[string]int{}
rows:
	for i, v := range q.Values {
		if math.IsNaN(v) {
			leftOut[reason(q.Why, i, "label")]++
			continue
		}
		for _, s := range scores {
			if math.IsNaN(s.Values[i]) {
				leftOut[reason(s.Why, i, s.name())]++
				continue rows
			}
		}
		rows = append(rows, int32(i))
	}
	return rows, leftOut
}

func reason(why []string, i int, what string) string {
	if why == nil || why[i] == "" {
		return "no " + what
	}
	return why[i]
}

// pick returns the values in the given ascending rows, which may be the values themselves.
func pick(values []float64, rows []int32) []float64 {
	if len(rows) == len(values) {
		return values
	}
	picked := make([]float64, len(rows))
	for i, row := range rows {
		picked[i] = values[row]
	}
	return picked
}

// rankLevels gives the distinct qualities, high first, and the number of each item's among them.
func rankLevels(quality []float64) (levels []float64, of []int32) {
	of = make([]int32, len(quality))
	if !slices.ContainsFunc(quality, func(q float64) bool { return q != 0 && q != 1 }) {
		// Nothing to sort, which a million items would take long for.
		for _, q := range []float64{1, 0} {
			if slices.Contains(quality, q) {
				levels = append(levels, q)
			}
		}
		for i, q := range quality {
			of[i] = int32(levels[0] - q)
		}
		return levels, of
	}
	levels = slices.Clone(quality)
	for i := range levels {
		levels[i] += 0 // so that -0 is 0
	}
	slices.SortFunc(levels, func(a, b float64) int { return cmp.Compare(b, a) })
	levels = fitted(slices.Compact(levels))
	for i, q := range quality {
		level, _ := slices.BinarySearchFunc(levels, q, func(l, q float64) int { return cmp.Compare(q, l) })
		of[i] = int32(level)
	}
	return levels, of
}

// arrange sorts the items and collapses them. No value is NaN.
func arrange(s Score, values, levels []float64, levelOf []int32) *Prepared {
	p := &Prepared{name: s.name(), orientation: s.Orientation, n: len(values), levels: levels}
	p.graded = slices.ContainsFunc(levels, func(q float64) bool { return q != 0 && q != 1 })
	items := make([]keyed, len(values))
	for i, v := range values {
		if v < 0 || v > 1 {
			p.outside++
		}
		if s.Orientation == measure.Uncertainty {
			v = -v
		}
		items[i] = keyed{descending(v + 0), int32(i), levelOf[i]} // -0 is 0
	}
	bestFirst(items)
	p.collapse(items)
	p.findRuns()
	p.findStretches()
	p.ties = p.tiedPairs()
	return p
}

// collapse makes atoms and groups of the sorted items.
func (p *Prepared) collapse(items []keyed) {
	n := len(items)
	p.confidence, p.quality, p.levelOf = make([]float64, 0, n), make([]float64, 0, n), make([]int32, 0, n)
	p.counts, p.starts, p.groups = make([]uint32, 0, n), make([]int32, 0, n+1), make([]int32, 0, n)
	p.order = make([]int32, n)
	for k, x := range items {
		p.order[k] = x.item
		newGroup := k == 0 || x.key != items[k-1].key
		if newGroup && k > 0 {
			p.groups = append(p.groups, int32(len(p.counts)))
		}
		if newGroup || x.level != items[k-1].level {
			p.confidence = append(p.confidence, ascending(x.key))
			p.quality, p.levelOf = append(p.quality, p.levels[x.level]), append(p.levelOf, x.level)
			p.counts, p.starts = append(p.counts, 0), append(p.starts, int32(k))
		}
		p.counts[len(p.counts)-1]++
	}
	if n > 0 {
		p.groups = append(p.groups, int32(len(p.counts)))
	}
	p.starts = append(p.starts, int32(n))
	p.confidence, p.quality, p.levelOf = fitted(p.confidence), fitted(p.quality), fitted(p.levelOf)
	p.counts, p.starts, p.groups = fitted(p.counts), fitted(p.starts), fitted(p.groups)
}

// fitted is s in an array without much room that s does not need.
func fitted[T any](s []T) []T {
	if cap(s)-len(s) > len(s)/4 {
		return slices.Clone(s)
	}
	return s
}

func (p *Prepared) findRuns() {
	var from int32
	for _, to := range p.groups {
		tied := to-from > 1
		if last := len(p.runs) - 1; !tied && last >= 0 && !p.runs[last].tied {
			p.runs[last].to = to
		} else {
			p.runs = append(p.runs, run{from, to, tied})
		}
		from = to
	}
}

func (p *Prepared) findStretches() {
	for a, m := range p.counts {
		single := m == 1
		if last := len(p.stretches) - 1; last >= 0 && p.stretches[last].single == single {
			p.stretches[last].to++
		} else {
			p.stretches = append(p.stretches, stretch{int32(a), int32(a + 1), single})
		}
	}
}

// N is the number of items used.
func (p *Prepared) N() int { return p.n }

// Name is the name of the score.
func (p *Prepared) Name() string { return p.name }

// Rows gives the input row of each item, ascending. The caller must not change it.
func (p *Prepared) Rows() []int32 { return p.rows }

// LeftOut counts the input rows that are not used, by reason.
func (p *Prepared) LeftOut() map[string]int { return maps.Clone(p.leftOut) }

// Graded reports whether some quality is neither 0 nor 1.
func (p *Prepared) Graded() bool { return p.graded }

// Distinct is the number of distinct scores.
func (p *Prepared) Distinct() int { return len(p.groups) }

// Ties is the share of pairs of items with equal scores, in [0,1]; 0 for fewer than two items.
func (p *Prepared) Ties() float64 { return p.ties }

// tiedPairs is what Ties returns. It is computed once, since it stands beside every value.
func (p *Prepared) tiedPairs() float64 {
	if p.n < 2 {
		return 0
	}
	var pairs, from int64
	for _, end := range p.groups {
		to := int64(p.starts[end])
		pairs += (to - from) * (to - from - 1) / 2
		from = to
	}
	return float64(pairs) / (float64(p.n) * float64(p.n-1) / 2)
}

// Atoms is the number of distinct pairs of score and quality: the length of the counts that an
// [Evaluator] takes.
func (p *Prepared) Atoms() int { return len(p.counts) }

// Counts gives the number of items in each atom. The caller must not change it.
func (p *Prepared) Counts() []uint32 { return p.counts }

// AtomOf is the atom of an item, 0 <= item < N.
func (p *Prepared) AtomOf(item int) int {
	return int(remember(p, atomOfKey{}, func() []int32 {
		atomOf := make([]int32, p.n)
		for a := range p.counts {
			for _, item := range p.order[p.starts[a]:p.starts[a+1]] {
				atomOf[item] = int32(a)
			}
		}
		return atomOf
	})[item])
}

type atomOfKey struct{}

// Collapse turns the multiplicity of every item into that of every atom: len(perItem) = N,
// len(dst) = Atoms.
func (p *Prepared) Collapse(dst, perItem []uint32) {
	for _, s := range p.stretches {
		order := p.order[p.starts[s.from]:p.starts[s.to]]
		atoms := dst[s.from:s.to]
		if s.single {
			atoms = atoms[:len(order)]
			for i, item := range order {
				atoms[i] = perItem[item]
			}
			continue
		}
		for i, m := range p.counts[s.from:s.to] {
			var sum uint32
			for _, item := range order[:m] {
				sum += perItem[item]
			}
			atoms[i], order = sum, order[m:]
		}
	}
}
