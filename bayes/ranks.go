package bayes

import (
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// normalScores are the quantiles of the normal distribution that ranks 1..n are mapped to.
func normalScores(n int) []float64 {
	z := make([]float64, n)
	for i := range z {
		z[i] = normalScore(float64(i+1), n)
	}
	return z
}

func normalScore(rank float64, n int) float64 {
	return mathext.NormalQuantile((rank - 3./8) / (float64(n) + 1./4))
}

// placed is a draw with its place among the draws of all chains, one chain after the other.
type placed struct {
	x  float64
	at int
}

// order sorts the draws of all chains.
func (s Series) order() []placed {
	all := make([]placed, 0, s.Len())
	for _, chain := range s {
		for _, x := range chain {
			all = append(all, placed{x, len(all)})
		}
	}
	slices.SortFunc(all, func(a, b placed) int {
		switch {
		case a.x < b.x:
			return -1
		case a.x > b.x:
			return 1
		}
		return 0
	})
	return all
}

func values(sorted []placed) []float64 {
	x := make([]float64, len(sorted))
	for i, p := range sorted {
		x[i] = p.x
	}
	return x
}

// withoutMiddles gives the draws their places among the halves of the chains, which have no room for
// the middle draw of an odd number.
func withoutMiddles(sorted []placed, length int) []placed {
	if length%2 == 0 {
		return sorted
	}
	var out []placed
	for _, p := range sorted {
		c, t := p.at/length, p.at%length
		if t == length/2 {
			continue
		}
		if t > length/2 {
			t--
		}
		out = append(out, placed{p.x, c*(length-1) + t})
	}
	return out
}

// fold sorts the draws by their distance from the median: below it they are sorted already, from the
// last to the first, and above it from the first to the last.
func fold(sorted []placed) []placed {
	middle := quantile(values(sorted), .5)
	up := 0
	for up < len(sorted) && sorted[up].x < middle {
		up++
	}
	down := up - 1
	out := make([]placed, 0, len(sorted))
	for down >= 0 || up < len(sorted) {
		if up == len(sorted) || down >= 0 && middle-sorted[down].x <= sorted[up].x-middle {
			out = append(out, placed{middle - sorted[down].x, sorted[down].at})
			down--
		} else {
			out = append(out, placed{sorted[up].x - middle, sorted[up].at})
			up++
		}
	}
	return out
}

// ranks gives each place the normal score of its rank; equal draws share the mean of their ranks. The
// result has the shape of s.
func ranks(sorted []placed, s Series, scores []float64) Series {
	flat := make([]float64, len(sorted))
	for i := 0; i < len(sorted); {
		j := i + 1
		for j < len(sorted) && sorted[j].x == sorted[i].x {
			j++
		}
		z := scores[i]
		if j > i+1 {
			z = normalScore(float64(i+1+j)/2, len(sorted))
		}
		for ; i < j; i++ {
			flat[sorted[i].at] = z
		}
	}
	out := make(Series, len(s))
	for c := range s {
		out[c] = flat[c*len(s[0]) : (c+1)*len(s[0])]
	}
	return out
}
