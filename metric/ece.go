package metric

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/credence-lab/credence/measure"
)

// ECE is the expected calibration error over bins of equal width: Σ_b n_b/n |quality_b − confidence_b|,
// means within bin b, in [0,1]. Source: Naeini, Cooper and Hauskrecht 2015. Ten left-closed bins are
// the rule of "Same Answer, Different Confidence", Appendix A. It panics if bins is not in 1..2^20.
func ECE(bins int, edges Edges) Statistic { return must(equalWidthFamily(ece).make(bins, edges)) }

// norm reduces what is known of the bins to one number: the items n[b] > 0 of a bin, and excess[b], the
// sum of confidence minus quality over them.
type norm struct {
	prefix     string
	definition string
	source     string
	better     Direction
	reduce     func(n, excess []float64) (float64, measure.Reason)
}

var ece = norm{
	prefix:     "ece",
	definition: "Σ_b n_b/n |quality_b − confidence_b|: the gap between mean confidence and mean quality of a bin, averaged over items.",
	source:     "Naeini, Cooper and Hauskrecht 2015",
	better:     Lower,
	reduce: func(n, excess []float64) (float64, measure.Reason) {
		items, sum := 0., 0.
		for b, x := range excess {
			items, sum = items+n[b], sum+math.Abs(x)
		}
		return sum / items, ""
	},
}

var rmsce = norm{
	prefix:     "rmsce",
	definition: "√ Σ_b n_b/n (quality_b − confidence_b)²: the root mean square of the gaps of the bins.",
	source:     "Hendrycks, Mazeika and Dietterich 2019, section 4",
	better:     Lower,
	reduce: func(n, excess []float64) (float64, measure.Reason) {
		items, sum := 0., 0.
		for b, x := range excess {
			items, sum = items+n[b], sum+x*x/n[b]
		}
		return math.Sqrt(sum / items), ""
	},
}

var ace = norm{
	prefix:     "ace",
	definition: "Mean over non-empty bins of |quality_b − confidence_b|, every bin weighing the same.",
	source:     "Nixon et al. 2019 with bins of equal mass; Neumann, Zisserman and Vedaldi 2018 with bins of equal width",
	better:     Lower,
	reduce: func(n, excess []float64) (float64, measure.Reason) {
		sum := 0.
		for b, x := range excess {
			sum += math.Abs(x) / n[b]
		}
		return sum / float64(len(n)), ""
	},
}

var over = norm{
	prefix:     "overconfidence",
	definition: "Σ_b n_b/n max(confidence_b − quality_b, 0): the part of ECE that comes from bins with too much confidence.",
	source:     "after Naeini, Cooper and Hauskrecht 2015",
	better:     Lower,
	reduce:     oneSided(1),
}

var under = norm{
	prefix:     "underconfidence",
	definition: "Σ_b n_b/n max(quality_b − confidence_b, 0): the part of ECE that comes from bins with too little confidence.",
	source:     "after Naeini, Cooper and Hauskrecht 2015",
	better:     Lower,
	reduce:     oneSided(-1),
}

func oneSided(sign float64) func(n, excess []float64) (float64, measure.Reason) {
	return func(n, excess []float64) (float64, measure.Reason) {
		items, sum := 0., 0.
		for b, x := range excess {
			items, sum = items+n[b], sum+max(sign*x, 0)
		}
		return sum / items, ""
	}
}

// mce looks only at bins of at least atLeast items.
func mce(atLeast int) norm {
	return norm{
		prefix:     "mce",
		definition: fmt.Sprintf("Largest |quality_b − confidence_b| of a bin of at least %d items.", atLeast),
		source:     "Naeini, Cooper and Hauskrecht 2015",
		better:     Lower,
		reduce: func(n, excess []float64) (float64, measure.Reason) {
			largest, why := 0., measure.TooFew
			for b, x := range excess {
				if n[b] >= float64(atLeast) {
					largest, why = max(largest, math.Abs(x)/n[b]), ""
				}
			}
			return largest, why
		},
	}
}

// binned is the statistic that reduces the bins of a partition by a norm.
func binned(id, how string, by norm, cut func(*Prepared) partition) Statistic {
	return Statistic{
		ID: id, Definition: by.definition + " " + how, Source: by.source,
		Better: by.better, Needs: Probability, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator {
			excessOf := make([]float64, len(p.confidence))
			for a, c := range p.confidence {
				excessOf[a] = c - p.quality[a]
			}
			cuts := cut(p)
			var n, excess []float64
			return func(counts []uint32) (float64, measure.Reason) {
				n, excess = n[:0], excess[:0]
				for _, bin := range cuts(counts) {
					items, sum := sumBin(counts[bin.from:bin.to], excessOf[bin.from:bin.to])
					if items > 0 {
						n, excess = append(n, float64(items)), append(excess, sum)
					}
				}
				return by.reduce(n, excess)
			}
		},
	}
}

func sumBin(counts []uint32, excess []float64) (items int64, sum float64) {
	excess = excess[:len(counts)]
	for i, m := range counts {
		items += int64(m)
		sum += float64(m) * excess[i]
	}
	return items, sum
}

// widthFamily are the norms over bins of equal width.
type widthFamily struct{ by norm }

func equalWidthFamily(by norm) widthFamily { return widthFamily{by} }

func (f widthFamily) make(bins int, e Edges) (Statistic, error) {
	if bins < 1 || bins > maxBins {
		return Statistic{}, fmt.Errorf("%d bins are not in 1..%d", bins, maxBins)
	}
	how := map[Edges]string{
		LeftClosed:  "Bin k of %d is [k/M,(k+1)/M), 1 in the last.",
		RightClosed: "Bin k of %d is (k/M,(k+1)/M], 0 in the first.",
		Phantom:     "Bin k of %d is [k/M,(k+1)/M), 1 in a bin of its own.",
		Linspace:    "Bin k of %d is [k·step,(k+1)·step) with edges rounded as numpy.linspace does.",
	}[e]
	if how == "" {
		return Statistic{}, fmt.Errorf("unknown edge rule %q", e)
	}
	id := fmt.Sprintf("%s.equal-width.%d.%s", f.by.prefix, bins, e)
	return binned(id, fmt.Sprintf(how, bins), f.by, func(p *Prepared) partition { return equalWidth(p, bins, e) }), nil
}

func (f widthFamily) family(usual ...string) Family {
	return Family{
		Prefix: f.by.prefix + ".equal-width", Parameters: "{bins}.{left-closed|right-closed|phantom|linspace}", Usual: usual,
		New: func(parameters string) (Statistic, error) {
			bins, edges, _ := strings.Cut(parameters, ".")
			m, err := strconv.Atoi(bins)
			if err != nil {
				return Statistic{}, fmt.Errorf("the number of bins is %q; write for example %s.equal-width.10.left-closed", bins, f.by.prefix)
			}
			return f.make(m, Edges(edges))
		},
	}
}

func must(s Statistic, err error) Statistic {
	if err != nil {
		panic("metric: " + err.Error())
	}
	return s
}
