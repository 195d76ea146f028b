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
	atomOf     []int32   // atom of each item
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
	quality := pick(q.Values, rows)
	for i := range quality {
		quality[i] += 0 // so that -0 is 0
	}
	prepared := make([]*Prepared, len(scores))
	for s, score := range scores {
		prepared[s] = arrange(score, pick(score.Values, rows), quality)
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

func pick(values []float64, rows []int32) []float64 {
	picked := make([]float64, len(rows))
	for i, row := range rows {
		picked[i] = values[row]
	}
	return picked
}

// arrange sorts the items and collapses them. Neither slice has a NaN.
func arrange(s Score, values, quality []float64) *Prepared {
	p := &Prepared{name: s.name(), orientation: s.Orientation, n: len(values)}
	confidence := make([]float64, len(values))
	for i, v := range values {
		if v < 0 || v > 1 {
			p.outside++
		}
		if s.Orientation == measure.Uncertainty {
			v = -v
		}
		confidence[i] = v + 0 // so that -0 is 0
	}
	p.order = bestFirst(confidence, quality)
	p.collapse(confidence, quality)
	p.findRuns()
	p.findStretches()
	p.rankQualities()
	p.ties = p.tiedPairs()
	return p
}

// collapse makes atoms and groups of the sorted items.
func (p *Prepared) collapse(confidence, quality []float64) {
	confidence, quality = pick(confidence, p.order), pick(quality, p.order)
	opens := func(k int) (atom, group bool) { // whether the item at place k is the first of its atom, group
		if k == 0 {
			return true, true
		}
		group = confidence[k] != confidence[k-1]
		return group || quality[k] != quality[k-1], group
	}
	atoms := 0
	for k := range p.order {
		if atom, _ := opens(k); atom {
			atoms++
		}
	}
	p.confidence, p.quality = make([]float64, 0, atoms), make([]float64, 0, atoms)
	p.counts, p.starts = make([]uint32, atoms), make([]int32, 0, atoms+1)
	p.atomOf = make([]int32, p.n)
	for k, item := range p.order {
		atom, group := opens(k)
		if group && k > 0 {
			p.groups = append(p.groups, int32(len(p.starts)))
		}
		if atom {
			p.confidence, p.quality = append(p.confidence, confidence[k]), append(p.quality, quality[k])
			p.starts = append(p.starts, int32(k))
		}
		last := len(p.starts) - 1
		p.counts[last]++
		p.atomOf[item] = int32(last)
		p.graded = p.graded || quality[k] != 0 && quality[k] != 1
	}
	p.starts = append(p.starts, int32(p.n))
	if p.n > 0 {
		p.groups = append(p.groups, int32(atoms))
	}
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

// rankQualities numbers the distinct qualities, high first.
func (p *Prepared) rankQualities() {
	if p.graded {
		p.levels = slices.Clone(p.quality)
		slices.SortFunc(p.levels, func(a, b float64) int { return cmp.Compare(b, a) })
		p.levels = slices.Clone(slices.Compact(p.levels)) // lets go of the rest
	} else {
		for _, q := range []float64{1, 0} { // nothing to sort, which a million items would take long for
			if slices.Contains(p.quality, q) {
				p.levels = append(p.levels, q)
			}
		}
	}
	p.levelOf = make([]int32, len(p.quality))
	for a, q := range p.quality {
		if q == p.levels[0] {
			continue
		}
		level, _ := slices.BinarySearchFunc(p.levels, q, func(l, q float64) int { return cmp.Compare(q, l) })
		p.levelOf[a] = int32(level)
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
func (p *Prepared) AtomOf(item int) int { return int(p.atomOf[item]) }

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
