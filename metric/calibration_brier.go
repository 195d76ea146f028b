package metric

import (
	"fmt"
	"strings"

	"github.com/credence-lab/credence/measure"
)

// Brier is the Brier score, the mean of (confidence − quality)², in [0,1]. Lower is better. Source:
// Brier 1950.
func Brier() Statistic {
	return Statistic{
		ID: "brier", Definition: "Mean of (confidence − quality)².", Source: "Brier 1950",
		Better: Lower, Needs: Probability, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator {
			squares := make([]float64, len(p.confidence))
			for a, gap := range p.excess() {
				squares[a] = gap * gap
			}
			return meanOfAtoms(squares)
		},
	}
}

// meanOfAtoms evaluates the mean over items of what each atom has.
func meanOfAtoms(of []float64) Evaluator {
	return func(counts []uint32) (float64, measure.Reason) {
		n, sum := sumBin(counts, of)
		return sum / float64(n), ""
	}
}

// Murphy is the Brier score parted by bins of confidence. Each part is a mean over items.
//
//	brier = Reliability − Resolution + Uncertainty + WithinVariance − WithinCovariance
//
// holds exactly (Murphy 1973; the two terms within bins are those of Stephenson, Coelho and Jolliffe
// 2008). Where every distinct confidence is a bin, the terms within bins are 0.
type Murphy struct {
	// Reliability is (mean confidence − mean quality)² of a bin; 0 is best.
	Reliability measure.Value
	// Resolution is (mean quality of a bin − mean quality)²; high is good.
	Resolution measure.Value
	// Uncertainty is the variance of the qualities, which no score can change.
	Uncertainty measure.Value
	// WithinVariance is the variance of the confidences of a bin.
	WithinVariance measure.Value
	// WithinCovariance is twice the covariance of confidence and quality in a bin.
	WithinCovariance measure.Value
}

// MurphyExact parts the Brier score by distinct confidence.
func MurphyExact(p *Prepared) Murphy { return murphyOf(p, "") }

// MurphyBinned parts the Brier score by bins of equal width. It panics if bins is not in 1..2^20.
func MurphyBinned(p *Prepared, bins int, edges Edges) Murphy {
	return murphyOf(p, fmt.Sprintf("equal-width.%d.%s", bins, edges))
}

func murphyOf(p *Prepared, parameters string) Murphy {
	part := func(by murphyPart) measure.Value { return must(by.statistic(parameters)).On(p) }
	return Murphy{part(reliability), part(resolution), part(uncertainty), part(withinVariance), part(withinCovariance)}
}

// binMoments are n items of a bin, or of the sample, and sums over them, taken about the middle of
// [0,1] so that differences lose no digits to speak of.
type binMoments struct {
	n, c, q, cc, cq, qq float64
}

// murphyTerms are the terms of the Brier score: n times what a bin contributes to them, or their sums.
type murphyTerms struct {
	reliability, resolution, uncertainty, withinVariance, withinCovariance float64
}

// terms are those of a bin of the sample.
func (b *binMoments) terms(sample *binMoments) murphyTerms {
	gap, mean := b.c-b.q, sample.q/sample.n
	above := b.q/b.n - mean
	return murphyTerms{
		reliability:      gap * gap / b.n,
		resolution:       b.n * above * above,
		uncertainty:      b.qq - 2*mean*b.q + mean*mean*b.n,
		withinVariance:   max(0, b.cc-b.c*b.c/b.n),
		withinCovariance: 2 * (b.cq - b.c*b.q/b.n),
	}
}

func (t *murphyTerms) add(o murphyTerms) {
	t.reliability += o.reliability
	t.resolution += o.resolution
	t.uncertainty += o.uncertainty
	t.withinVariance += o.withinVariance
	t.withinCovariance += o.withinCovariance
}

// murphyPart is one term as a statistic.
type murphyPart struct {
	name       string
	definition string
	better     Direction
	of         func(murphyTerms) float64
}

var (
	reliability = murphyPart{
		"reliability", "Mean over items of (mean confidence − mean quality of the bin)².", Lower,
		func(t murphyTerms) float64 { return t.reliability },
	}
	resolution = murphyPart{
		"resolution", "Mean over items of (mean quality of the bin − mean quality)².", Higher,
		func(t murphyTerms) float64 { return t.resolution },
	}
	uncertainty = murphyPart{
		"uncertainty", "Variance of the qualities; of labels with mean a it is a(1 − a).", Neither,
		func(t murphyTerms) float64 { return t.uncertainty },
	}
	withinVariance = murphyPart{
		"within-variance", "Mean over items of the variance of the confidences of the bin.", Lower,
		func(t murphyTerms) float64 { return t.withinVariance },
	}
	withinCovariance = murphyPart{
		"within-covariance", "Mean over items of twice the covariance of confidence and quality in the bin.", Neither,
		func(t murphyTerms) float64 { return t.withinCovariance },
	}
)

func (by murphyPart) statistic(parameters string) (Statistic, error) {
	cut, how, err := murphyBins(parameters)
	if err != nil {
		return Statistic{}, err
	}
	return Statistic{
		ID: idOf("brier", by.name, parameters), Definition: "A term of the Brier score. " + by.definition + " " + how,
		Source: "Murphy 1973; Stephenson, Coelho and Jolliffe 2008",
		Better: by.better, Needs: Probability, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator {
			cuts := cut(p)
			terms := sharing(p, murphyKey(parameters), func(counts []uint32) murphyTerms { return p.murphy(counts, cuts(counts)) })
			return func(counts []uint32) (float64, measure.Reason) {
				return by.of(terms(counts)) / float64(total(counts)), ""
			}
		},
	}, nil
}

// murphyKey is the parameters of the bins.
type murphyKey string

// murphy sums the terms over bins that have all items between them.
func (p *Prepared) murphy(counts []uint32, bins []span) murphyTerms {
	var sums murphyTerms
	sample := p.moments(counts, span{0, int32(len(counts))})
	for _, s := range bins {
		if bin := p.moments(counts, s); bin.n > 0 {
			sums.add(bin.terms(&sample))
		}
	}
	return sums
}

func (p *Prepared) moments(counts []uint32, s span) binMoments {
	var n, c, q, cc, cq, qq float64
	counts, confidence, quality := counts[s.from:s.to], p.confidence[s.from:s.to], p.quality[s.from:s.to]
	for a, m := range counts {
		k, x, y := float64(m), confidence[a]-.5, quality[a]-.5
		n, c, q = n+k, c+k*x, q+k*y
		cc, cq, qq = cc+k*x*x, cq+k*x*y, qq+k*y*y
	}
	return binMoments{n, c, q, cc, cq, qq}
}

// murphyBins reads "" (every distinct confidence) or "equal-width.{bins}.{edges}".
func murphyBins(parameters string) (cut func(*Prepared) partition, how string, err error) {
	if parameters == "" {
		return distinct, "Every distinct confidence is a bin.", nil
	}
	kind, rest, _ := strings.Cut(parameters, ".")
	bins, edges, _ := strings.Cut(rest, ".")
	m, err := number(bins, "bins")
	if err != nil {
		return nil, "", err
	}
	rule, known := Edges(edges).rule()
	if kind != "equal-width" || !known {
		return nil, "", fmt.Errorf("%q are no bins; write equal-width.{bins}.{%s}", parameters, edgeNames())
	}
	how = fmt.Sprintf("Bin k of %d is %s.", m, rule.describe)
	return func(p *Prepared) partition { return equalWidth(p, m, rule) }, how, checkBins(m)
}

// distinct makes a bin of every distinct confidence.
func distinct(p *Prepared) partition {
	var spans []span // made when they are asked for
	return func([]uint32) []span {
		if spans == nil {
			spans = make([]span, len(p.groups))
			for g, end := range p.groups {
				spans[g] = span{p.groupStart(g), end}
			}
		}
		return spans
	}
}

func (by murphyPart) family() Family {
	return Family{
		Prefix: "brier." + by.name, Parameters: "[equal-width.{bins}.{" + edgeNames() + "}]", Usual: []string{""},
		New: by.statistic,
	}
}

// inBins is a part that is 0 unless confidences differ within a bin.
func (by murphyPart) inBins() Family {
	f := by.family()
	f.Usual = []string{"equal-width.10.left-closed"}
	return f
}
