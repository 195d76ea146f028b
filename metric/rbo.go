package metric

import (
	"fmt"
	"math"

	"github.com/credence-lab/credence/measure"
)

// RBO is the rank-biased overlap of two rankings, extrapolated, in [0,1]: 1 if they agree as far as
// they go. Rankings are lists of items, best first, and may differ in length and content. See
// [RBOTied], which this is without ties.
func RBO[T comparable](s, t []T, p float64) (measure.Value, error) {
	return RBOTied(alone(s), alone(t), p)
}

// RBOTied is the rank-biased overlap of two rankings with ties, extrapolated. Each element of a
// ranking is a group of items that share their ranks, best group first. The value is the expectation
// over independent random orders of the ties, variant a of the source on ties; its method is
// "rbo.extrapolated.PERSISTENCE" and its n the number of distinct items.
//
// p in (0,1) is the persistence: the closer to 1, the deeper the rankings count (see
// [RBOWeight]). It is an error if p is out of range or an item occurs twice in a ranking. Undefined
// if a ranking is empty.
//
// Sources: Webber, Moffat and Zobel 2010, equation 32; on ties Corsi and Urbano 2024.
func RBOTied[T comparable](s, t [][]T, p float64) (measure.Value, error) {
	return rbo("extrapolated", s, t, p, extrapolate)
}

// RBOTruncated is the rank-biased overlap of two rankings as far as the shorter one goes, nothing
// assumed beyond, in [0,1]: identical rankings of length k have 1 − p^k, not 1. It is not to be read as
// a similarity; it is here to compare with numbers computed so. Its method is
// "rbo.truncated.PERSISTENCE"; otherwise it is like [RBO].
//
// Source: Webber, Moffat and Zobel 2010, equation 4, cut off.
func RBOTruncated[T comparable](s, t []T, p float64) (measure.Value, error) {
	return rbo("truncated", alone(s), alone(t), p, truncate)
}

func rbo[T comparable](variant string, s, t [][]T, p float64, of func(overlap []float64, short int, p float64) float64) (measure.Value, error) {
	if !(p > 0 && p < 1) {
		return measure.Value{}, fmt.Errorf("metric: the persistence of RBO is %v; it lies in (0,1)", p)
	}
	inS, lengthS, err := places(s)
	if err != nil {
		return measure.Value{}, err
	}
	inT, lengthT, err := places(t)
	if err != nil {
		return measure.Value{}, err
	}
	distinct := len(inS)
	var common []pair
	for _, group := range s {
		for _, item := range group {
			if other, both := inT[item]; both {
				common = append(common, pair{inS[item], other})
			}
		}
	}
	distinct += len(inT) - len(common)
	id := "rbo." + variant + "." + decimals(p)
	if lengthS == 0 || lengthT == 0 {
		return measure.Undefined(id, measure.NoItems, distinct), nil
	}
	overlap := overlaps(common, max(lengthS, lengthT))
	return measure.Of(id, of(overlap, min(lengthS, lengthT), p), distinct), nil
}

// RBOWeight is the share of the weight that the first depth ranks have in [RBO] with persistence p in
// (0,1); depth is at least 1. Source: Webber, Moffat and Zobel 2010, equation 21.
func RBOWeight(p float64, depth int) float64 {
	d, powers := float64(depth), 0.
	for i := 1; i < depth; i++ {
		powers += math.Pow(p, float64(i)) / float64(i)
	}
	return 1 - math.Pow(p, d-1) + (1-p)/p*d*(-math.Log1p(-p)-powers)
}

func alone[T any](items []T) [][]T {
	groups := make([][]T, len(items))
	for i := range items {
		groups[i] = items[i : i+1]
	}
	return groups
}

// place is the stretch of ranks, from 1, that an item shares with those tied with it.
type place struct{ top, bottom int }

type pair struct{ s, t place }

func places[T comparable](ranking [][]T) (map[T]place, int, error) {
	at, length := map[T]place{}, 0
	for _, group := range ranking {
		where := place{length + 1, length + len(group)}
		for _, item := range group {
			if _, twice := at[item]; twice {
				return nil, 0, fmt.Errorf("metric: %v occurs twice in a ranking", item)
			}
			at[item] = where
		}
		length += len(group)
	}
	return at, length, nil
}

// within is the chance that the item is among the first d.
func (x place) within(d int) float64 {
	switch {
	case d < x.top:
		return 0
	case d >= x.bottom:
		return 1
	}
	return float64(d-x.top+1) / float64(x.bottom-x.top+1)
}

// overlaps gives the expected number of items among the first d of both, for d = 0..depth.
func overlaps(common []pair, depth int) []float64 {
	overlap := make([]float64, depth+1)
	certain := make([]float64, depth+2) // items that are in both for sure from this depth on
	for _, item := range common {
		sure := max(item.s.bottom, item.t.bottom)
		for d := max(item.s.top, item.t.top); d < sure; d++ {
			overlap[d] += item.s.within(d) * item.t.within(d)
		}
		certain[sure]++
	}
	for d, sure := 1, 0.; d <= depth; d++ {
		sure += certain[d]
		overlap[d] += sure
	}
	return overlap
}

// extrapolate is equation 32: agreement is carried on beyond the shorter ranking as it was at its end,
// and beyond the longer one as it was there.
func extrapolate(overlap []float64, short int, p float64) float64 {
	long, s := len(overlap)-1, float64(short)
	atShort, sum, power := overlap[short], 0., 1.
	for d := 1; d <= long; d++ {
		power *= p
		sum += overlap[d] / float64(d) * power
		if d > short {
			sum += atShort * float64(d-short) / (s * float64(d)) * power
		}
	}
	tail := (overlap[long]-atShort)/float64(long) + atShort/s
	return clamp((1-p)/p*sum+tail*power, 0, 1)
}

// truncate is (1−p) Σ_d p^(d−1) of the agreement at depth d, down to the end of the shorter ranking.
func truncate(overlap []float64, short int, p float64) float64 {
	sum, power := 0., 1-p
	for d := 1; d <= short; d++ {
		sum += overlap[d] / float64(d) * power
		power *= p
	}
	return clamp(sum, 0, 1)
}
