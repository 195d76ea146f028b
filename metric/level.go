package metric

import "github.com/credence-lab/credence/measure"

// MeanConfidence is the mean score, in [0,1]. Beside [Accuracy] it is the plainest sign of over- or
// underconfidence. Source: "Same Answer, Different Confidence", section 4.1.
func MeanConfidence() Statistic {
	return Statistic{
		ID:         "mean-confidence",
		Definition: "The mean confidence.",
		Source:     "\"Same Answer, Different Confidence\", section 4.1",
		Better:     Neither, Needs: Probability, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator { return weightedMean(p.confidence) },
	}
}

// Accuracy is the mean quality, in [0,1]: the share of correct answers where labels are 0 and 1. It is
// the same for every score of the items. Higher is better. Source: "Same Answer, Different
// Confidence", section 3.3.
func Accuracy() Statistic {
	return Statistic{
		ID:         "accuracy",
		Definition: "The mean quality: the share of correct answers where labels are 0 and 1.",
		Source:     "\"Same Answer, Different Confidence\", section 3.3",
		Better:     Higher, Needs: AnyScore, Labels: Qualities,
		Bind: func(p *Prepared) Evaluator { return weightedMean(p.quality) },
	}
}

func weightedMean(values []float64) Evaluator {
	return func(counts []uint32) (float64, measure.Reason) {
		items, sum := 0., 0.
		for a, m := range counts {
			items, sum = items+float64(m), sum+float64(m)*values[a]
		}
		return sum / items, ""
	}
}

func levelFamilies() []Family {
	return []Family{single(Accuracy()), single(MeanConfidence())}
}
