package consistency

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/measure"
)

// Pool keeps perturbations that differ from each other: the greedy filter of Wu, Jiang and Aragam 2026,
// appendix A.2. Make it with [NewPool]. It serves one goroutine at a time.
type Pool struct {
	k       float64
	kept    vectors[float32]
	offered int
}

// NewPool makes an empty pool that keeps a vector if its cosine with every kept one is below k, in (-1,1].
func NewPool(k float64) (*Pool, error) {
	if !(k > -1 && k <= 1) {
		return nil, fmt.Errorf("consistency: diversity threshold %v; a cosine above -1 and at most 1 is meant", k)
	}
	return &Pool{k: k}, nil
}

// Offer is what came of an offered vector.
type Offer struct {
	// Kept says whether it is in the pool now.
	Kept bool
	// Nearest is the kept vector with the greatest cosine, by its number in the order of keeping, and Cosine
	// that cosine in [-1,1]. Nearest is -1 where the pool was empty.
	Nearest int
	Cosine  float64
}

// Offer keeps v if it is different enough. It is kept, not copied. An error means that v cannot be compared:
// another number of dimensions, no finite numbers, or no length.
func (p *Pool) Offer(v []float32) (Offer, error) {
	inverse, err := inverseLength(v)
	switch {
	case err != nil:
		return Offer{}, fmt.Errorf("consistency: embedding of a perturbation: %w", err)
	case inverse == 0:
		return Offer{}, fmt.Errorf("consistency: embedding of a perturbation has no length")
	case len(p.kept.rows) > 0 && len(p.kept.rows[0]) != len(v):
		return Offer{}, fmt.Errorf("consistency: embedding of a perturbation has %d dimensions, others have %d", len(v), len(p.kept.rows[0]))
	}
	p.offered++
	o := Offer{Nearest: -1}
	for i, row := range p.kept.rows {
		if cos := max(-1, min(1, dot(row, v)*p.kept.inverse[i]*inverse)); o.Nearest < 0 || cos > o.Cosine {
			o.Nearest, o.Cosine = i, cos
		}
	}
	if o.Kept = o.Nearest < 0 || o.Cosine < p.k; o.Kept {
		p.kept.rows, p.kept.inverse = append(p.kept.rows, v), append(p.kept.inverse, inverse)
	}
	return o, nil
}

// Len is the number of vectors kept.
func (p *Pool) Len() int { return len(p.kept.rows) }

// Acceptance is the share of offered vectors that were kept, in [0,1]; undefined before the first.
func (p *Pool) Acceptance() measure.Value {
	if p.offered == 0 {
		return measure.Undefined("diversity.acceptance", measure.NoItems, 0)
	}
	return measure.Of("diversity.acceptance", float64(p.Len())/float64(p.offered), p.offered)
}

// DiversityCalibration is a threshold with the distribution that it was read from.
type DiversityCalibration struct {
	// K is the quantile Q of the pairwise cosines within groups; N counts pairs, its interval draws groups.
	K measure.Value `json:"k"`
	Q float64       `json:"q"`
	// Histogram counts cosines in bins of equal width over [-1,1], the last closed at 1.
	Histogram []int `json:"histogram"`
}

// CalibrateDiversity finds how alike paraphrases by one sampler are under one embedding: groups[g] has the
// vectors of paraphrases of one premise, the paper 30 groups of 50. K is the quantile q in [0,1] of the
// cosines of all pairs within a group, the paper's .05; so at most a share q of paraphrases would pass for
// something new. It holds for this sampler and embedding only.
//
// The interval of K draws premises anew, whole groups, since the pairs of one premise are alike; with fewer than
// two groups that have pairs there is none.
//
// It is an error if no group has two vectors, if vectors cannot be compared, or if q, bins or r make no sense.
func CalibrateDiversity(groups [][][]float32, q float64, bins int, r Resampling) (DiversityCalibration, error) {
	if !(q >= 0 && q <= 1) || bins < 1 {
		return DiversityCalibration{}, fmt.Errorf("consistency: calibration at quantile %v with %d bins; say a quantile in [0,1] and at least one bin", q, bins)
	}
	if err := r.check(); err != nil {
		return DiversityCalibration{}, err
	}
	var pairs []grouped
	compared := 0
	for g, group := range groups {
		cosines, err := cosinesWithin(g, group)
		if err != nil {
			return DiversityCalibration{}, err
		}
		for _, cos := range cosines {
			pairs = append(pairs, grouped{cos, compared})
		}
		if len(cosines) > 0 {
			compared++
		}
	}
	if len(pairs) == 0 {
		return DiversityCalibration{}, fmt.Errorf("consistency: no premise has two paraphrases to compare")
	}
	c := DiversityCalibration{Q: q, Histogram: make([]int, bins)}
	for _, p := range pairs {
		c.Histogram[Bin(p.cosine, bins)]++
	}
	slices.SortFunc(pairs, func(a, b grouped) int { return cmp.Compare(a.cosine, b.cosine) })
	c.K = measure.Of("diversity.k", quantileOf(pairs, nil, len(pairs), q), len(pairs))
	if compared < 2 {
		c.K = c.K.Warn("no-interval", "the pairs are of one premise, and an interval draws premises")
		return c, nil
	}
	c.K = percentile(c.K, drawnQuantiles(pairs, compared, q, r), 0, r)
	return c, nil
}

// grouped is a cosine with the number of its group.
type grouped struct {
	cosine float64
	group  int
}

// cosinesWithin are those of all pairs of a group.
func cosinesWithin(g int, group [][]float32) ([]float64, error) {
	var v vectors[float32]
	var cosines []float64
	for i, row := range group {
		if err := v.add(row); err != nil {
			return nil, fmt.Errorf("consistency: paraphrase %d of premise %d: %w", i, g, err)
		}
		if v.inverse[i] == 0 {
			return nil, fmt.Errorf("consistency: paraphrase %d of premise %d: its embedding has no length", i, g)
		}
		for j := range i {
			cosines = append(cosines, max(-1, min(1, dot(row, v.rows[j])*v.inverse[i]*v.inverse[j])))
		}
	}
	return cosines, nil
}

// drawnQuantiles are the quantiles of r.N draws of as many groups as there are, with replacement.
func drawnQuantiles(sorted []grouped, groups int, q float64, r Resampling) []float64 {
	sizes := make([]int, groups)
	for _, p := range sorted {
		sizes[p.group]++
	}
	random, times := r.random(streamItems), make([]float64, groups)
	values := make([]float64, r.N)
	for i := range values {
		drawInto(times, random)
		n := 0
		for g, t := range times {
			n += int(t) * sizes[g]
		}
		values[i] = quantileOf(sorted, times, n, q)
	}
	return values
}

// quantileOf is [resample.Quantile] of n values, among which each of the sorted ones stands as often as times says
// of its group; nil says once.
func quantileOf(sorted []grouped, times []float64, n int, q float64) float64 {
	position := q * float64(n-1)
	below := min(int(position), n-1)
	seen, low := 0, math.NaN()
	for _, p := range sorted {
		count := 1
		if times != nil {
			count = int(times[p.group])
		}
		if seen += count; seen <= below {
			continue
		}
		if math.IsNaN(low) {
			low = p.cosine
		}
		if seen > below+1 || below == n-1 {
			return low + (position-float64(below))*(p.cosine-low)
		}
	}
	return low
}
