package metric

import (
	"math"

	"github.com/credence-lab/credence/measure"
)

// Statistics that compare every pair of items: is the better answer the more confident one?

func rankingFamilies() []Family {
	return []Family{
		single(AUROC()),
		single(AveragePrecision(Correct)), single(AveragePrecision(Incorrect)),
		single(TrapezoidPR(Correct)), single(TrapezoidPR(Incorrect)),
		single(Spearman()), single(Kendall()), single(Pearson()),
		single(CIndex()), single(ReversedPairs()), single(reversedPairsOfAll()),
	}
}

// pairs counts the pairs of a sample.
type pairs struct {
	all        int64
	concordant int64 // better answer, more confidence
	discordant int64 // better answer, less confidence
	tiedScore  int64 // equal confidence, whatever the quality
	tiedLevel  int64 // equal quality, whatever the confidence
	tiedBoth   int64
}

// unequal is the number of pairs whose answers differ in quality.
func (c pairs) unequal() int64 { return c.all - c.tiedLevel }

// undecided is the number of those that have equal confidence.
func (c pairs) undecided() int64 { return c.tiedScore - c.tiedBoth }

// pairCounter counts pairs in one pass from the most confident down. What has been passed is kept by
// quality level in a Fenwick tree, so that an atom costs the logarithm of the number of levels.
type pairCounter struct {
	p      *Prepared
	tree   []int64
	levels []int64
}

// pairsOf evaluates the pairs of a sample.
func pairsOf(p *Prepared) func(counts []uint32) pairs {
	c := pairCounter{p: p, tree: make([]int64, len(p.levels)+1), levels: make([]int64, len(p.levels))}
	return sharing(p, pairsKey{}, c.count)
}

type pairsKey struct{}

func (c *pairCounter) count(counts []uint32) pairs {
	clear(c.tree)
	clear(c.levels)
	var found pairs
	var seen int64
	for g, end := range c.p.groups {
		from := c.p.groupStart(g)
		var size int64
		for a := from; a < end; a++ {
			m, level := int64(counts[a]), int(c.p.levelOf[a])
			if m == 0 {
				continue
			}
			better := c.passed(level)
			worse := seen - better - c.levels[level]
			found.concordant += m * better
			found.discordant += m * worse
			found.tiedBoth += m * (m - 1) / 2
			size += m
		}
		for a := from; a < end; a++ {
			c.pass(int(c.p.levelOf[a]), int64(counts[a]))
		}
		found.tiedScore += size * (size - 1) / 2
		seen += size
	}
	for _, m := range c.levels {
		found.tiedLevel += m * (m - 1) / 2
	}
	found.all = seen * (seen - 1) / 2
	return found
}

// passed is the number of items passed with a level before the given one, which is a better one.
func (c *pairCounter) passed(level int) int64 {
	var n int64
	for i := level; i > 0; i &= i - 1 {
		n += c.tree[i]
	}
	return n
}

func (c *pairCounter) pass(level int, m int64) {
	if m == 0 {
		return
	}
	c.levels[level] += m
	for i := level + 1; i < len(c.tree); i += i & -i {
		c.tree[i] += m
	}
}

func onPairs(of func(c pairs) (float64, measure.Reason)) func(p *Prepared) Evaluator {
	return func(p *Prepared) Evaluator {
		count := pairsOf(p)
		return func(counts []uint32) (float64, measure.Reason) { return of(count(counts)) }
	}
}

// Kendall is Kendall's tau-b of confidence and quality: concordant minus discordant pairs over the
// geometric mean of the numbers of pairs not tied in either; in [-1,1]. Higher is better. Undefined
// where either is constant. Source: Kendall 1945.
func Kendall() Statistic {
	return Statistic{
		ID:         "kendall.tau-b",
		Definition: "(concordant − discordant)/√((pairs − pairs tied in score)(pairs − pairs tied in quality)).",
		Source:     "Kendall 1945",
		Better:     Higher, Needs: AnyScore, Labels: Qualities, Chance: func(*Prepared) float64 { return 0 },
		Bind: onPairs(func(c pairs) (float64, measure.Reason) {
			inScore, inQuality := float64(c.all-c.tiedScore), float64(c.unequal())
			if inScore == 0 || inQuality == 0 {
				return 0, measure.Constant
			}
			return float64(c.concordant-c.discordant) / (math.Sqrt(inScore) * math.Sqrt(inQuality)), ""
		}),
	}
}

// CIndex is the probability that, of two answers of different quality, the better one has more
// confidence, a tie counting one half; in [0,1]. It is the AUROC of graded labels. Higher is better.
// Undefined where all qualities agree. Source: Harrell et al. 1982.
func CIndex() Statistic {
	return Statistic{
		ID:         "c-index",
		Definition: "(concordant + ½ tied in score)/pairs, over pairs of different quality.",
		Source:     "Harrell et al. 1982",
		Better:     Higher, Needs: AnyScore, Labels: Qualities, Chance: func(*Prepared) float64 { return .5 },
		Bind: onPairs(func(c pairs) (float64, measure.Reason) {
			if c.unequal() == 0 {
				return 0, measure.Constant
			}
			return (float64(c.concordant) + float64(c.undecided())/2) / float64(c.unequal()), ""
		}),
	}
}

// ReversedPairs is the share of all pairs of items that the score has in the wrong order, a tie in
// confidence of different qualities counting one half; in [0,1]. Lower is better. Undefined on one
// item. Source: Vashurin et al. 2025.
func ReversedPairs() Statistic {
	return reversed("reversed-pairs", "(discordant + ½ tied in score, of different quality)/(n(n−1)/2).",
		func(c pairs, _ float64) float64 { return float64(c.all) })
}

func reversedPairsOfAll() Statistic {
	return reversed("reversed-pairs.lm-polygraph", "As reversed-pairs, over n² as lm-polygraph counts.",
		func(_ pairs, n float64) float64 { return n * n })
}

func reversed(id, definition string, base func(c pairs, n float64) float64) Statistic {
	return Statistic{
		ID: id, Definition: definition, Source: "Vashurin et al. 2025",
		Better: Lower, Needs: AnyScore, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator {
			count := pairsOf(p)
			return func(counts []uint32) (float64, measure.Reason) {
				c := count(counts)
				if c.all == 0 {
					return 0, measure.TooFew
				}
				return (float64(c.discordant) + float64(c.undecided())/2) / base(c, float64(total(counts))), ""
			}
		},
	}
}
