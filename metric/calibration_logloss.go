package metric

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/credence-lab/credence/measure"
)

// LogLoss is the mean of −log of the probability that the confidence gave to what happened, in nats:
// −q log c − (1−q) log(1−c) for quality q. A probability below clip is taken as clip, and a warning
// "clipped" says of how many items. With clip 0 nothing is clipped, and the loss is undefined with
// reason Infinite where a confidence of 1 was wrong or one of 0 right. At least 0; lower is better. It
// panics if clip is not in [0, .5).
func LogLoss(clip float64) Statistic {
	if !(clip >= 0 && clip < .5) {
		panic(fmt.Sprintf("metric: clip %v of the log loss is not in [0, .5)", clip))
	}
	id, how := "log-loss.unclipped", "Nothing is clipped."
	if clip > 0 {
		id, how = fmt.Sprintf("log-loss.clip-%g", clip), fmt.Sprintf("A probability below %g is taken as that.", clip)
	}
	return Statistic{
		ID: id, Definition: "Mean of −q log c − (1−q) log(1−c) for confidence c and quality q, in nats. " + how,
		Source: "Good 1952, section 8", Better: Lower, Needs: Probability, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator {
			mean := meanOfAtoms(p.logLosses(clip))
			return func(counts []uint32) (float64, measure.Reason) {
				x, why := mean(counts)
				// A count of 0 times an infinite loss is NaN, yet the item is not in the sample.
				if math.IsInf(x, 0) || math.IsNaN(x) {
					return finiteLoss(p, counts)
				}
				return x, why
			}
		},
		Remark: func(p *Prepared, v measure.Value) measure.Value {
			if n := p.clipped(clip); n > 0 {
				return v.Warn("clipped", "the probability of what happened is below %g for %d of %d items", clip, n, p.n)
			}
			return v
		},
	}
}

// logLosses gives the loss of each atom. Where the clip changes none, they are those without one.
func (p *Prepared) logLosses(clip float64) []float64 {
	if p.clipped(clip) == 0 {
		clip = 0
	}
	return remember(p, logLossKey(clip), func() []float64 {
		losses := make([]float64, len(p.confidence))
		for a, c := range p.confidence {
			q := p.quality[a]
			losses[a] = surprise(c, q, clip) + surprise(1-c, 1-q, clip)
		}
		return losses
	})
}

// logLossKey is the clip.
type logLossKey float64

// surprise is −q log max(c, clip), and 0 for what did not happen, however unlikely.
func surprise(c, q, clip float64) float64 {
	if q == 0 {
		return 0
	}
	return -q * math.Log(max(c, clip))
}

// finiteLoss is the unclipped loss of a sample, some atoms of which may be infinitely surprising.
func finiteLoss(p *Prepared, counts []uint32) (float64, measure.Reason) {
	sum := 0.
	for a, m := range counts {
		if m > 0 {
			c, q := p.confidence[a], p.quality[a]
			sum += float64(m) * (surprise(c, q, 0) + surprise(1-c, 1-q, 0))
		}
	}
	if math.IsInf(sum, 0) {
		return 0, measure.Infinite
	}
	return sum / float64(total(counts)), ""
}

// clipped counts the items whose loss the clip changes: they have the highest and the lowest confidences.
func (p *Prepared) clipped(clip float64) int {
	n := 0
	for a, c := range p.confidence {
		if 1-c >= clip {
			break
		}
		if p.quality[a] < 1 {
			n += int(p.counts[a])
		}
	}
	for a := len(p.confidence) - 1; a >= 0 && p.confidence[a] < clip; a-- {
		if p.quality[a] > 0 {
			n += int(p.counts[a])
		}
	}
	return n
}

func logLossFamily() Family {
	return Family{
		Prefix: "log-loss", Parameters: "unclipped|clip-{probability}", Usual: []string{"clip-1e-15", "unclipped"},
		New: func(parameters string) (Statistic, error) {
			if parameters == "unclipped" {
				return LogLoss(0), nil
			}
			digits, ok := strings.CutPrefix(parameters, "clip-")
			clip, err := strconv.ParseFloat(digits, 64)
			if !ok || err != nil || !(clip > 0 && clip < .5) {
				return Statistic{}, fmt.Errorf("%q is no clip; write unclipped, or clip- and a probability in (0, .5) such as clip-1e-15", parameters)
			}
			return LogLoss(clip), nil
		},
	}
}
