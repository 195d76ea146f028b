package bayes

import (
	"math/rand/v2"
	"slices"

	"github.com/credence-lab/credence/measure"
)

// A Check is a statistic of judgements, computed of what judges said and of what the fitted model
// would have them say.
type Check string

const (
	// CheckAccepted is the share of a judge's judgements that are positive.
	CheckAccepted Check = "accepted"
	// CheckPeople is the share of a judge's judgements that are those of the majority of people; items
	// without a majority are left out.
	CheckPeople Check = "agreement with people"
	// CheckOthers is the mean agreement of a judge with the other judges on the same item. Judges that
	// are thresholds of one score agree more than the model, which holds them to be independent, can
	// explain.
	CheckOthers Check = "agreement with other judges"
	// CheckReconstructed is the share of a judge's judgements that the model reproduces. It has no
	// observed value: that would be 1.
	CheckReconstructed Check = "label reconstruction"
)

var checks = []Check{CheckAccepted, CheckPeople, CheckOthers, CheckReconstructed}

// PredictiveCheck is a posterior predictive check of one judge.
type PredictiveCheck struct {
	Judge string `json:"judge"`
	Check Check  `json:"check"`
	// Observed is the statistic of the data; undefined for [CheckReconstructed].
	Observed measure.Value `json:"observed"`
	// Predicted is its mean over replicas, with the central interval of 95 %. It warns
	// "predictive-misfit" if fewer than 1 of 200 replicas lie as far out as the data.
	Predicted measure.Value `json:"predicted"`
	// Tail is the share of replicas above the data, plus half of those that equal it; near 0 or 1 the
	// model does not explain the data.
	Tail measure.Value `json:"tail"`
}

// maxReplicas over all chains are plenty for an interval of 95 %.
const maxReplicas = 1000

// replicas are data drawn from the fitted model, and the statistics of each.
type replicas struct {
	data    JudgeData
	random  *rand.Rand
	every   int
	replica []Judge
	// stats has of each judge and check the statistic of each replica that has one.
	stats [][][]float64
}

func newReplicas(d JudgeData, o Options, random *rand.Rand) *replicas {
	r := &replicas{data: d, random: random, every: max(1, o.Chains*o.Draws/maxReplicas)}
	for _, j := range d.Judges {
		r.replica = append(r.replica, Judge{Counts: make([]Count, len(j.Counts))})
		r.stats = append(r.stats, make([][]float64, len(checks)))
	}
	return r
}

// see draws a replica from now and then a draw.
func (r *replicas) see(draw int, theta []float64, sens, spec []unit) {
	if draw%r.every != 0 {
		return
	}
	for j, judge := range r.data.Judges {
		for i, c := range judge.Counts {
			yes := theta[i]*sens[j].p + (1-theta[i])*spec[j].rest
			count := Count{}
			for range c.total() {
				if r.random.Float64() < yes {
					count.Correct++
				}
			}
			count.Incorrect = c.total() - count.Correct
			r.replica[j].Counts[i] = count
		}
	}
	for k, check := range checks {
		for j, share := range statistics(check, r.data, r.replica) {
			if share.n > 0 {
				r.stats[j][k] = append(r.stats[j][k], share.of/share.n)
			}
		}
	}
}

// share is a ratio of counts.
type share struct{ of, n float64 }

// statistics computes a check of all judges, of the judgements in judges.
func statistics(check Check, d JudgeData, judges []Judge) []share {
	shares := make([]share, len(judges))
	switch check {
	case CheckOthers:
		agreement(judges, shares)
		return shares
	}
	for j := range judges {
		for i, c := range judges[j].Counts {
			shares[j].add(check, d.People[i], d.Judges[j].Counts[i], c)
		}
	}
	return shares
}

// add counts the judgements c of one item; observed are those in the data.
func (s *share) add(check Check, people Votes, observed, c Count) {
	switch check {
	case CheckAccepted:
		s.of += float64(c.Correct)
	case CheckPeople:
		switch {
		case people.Correct > people.Incorrect:
			s.of += float64(c.Correct)
		case people.Correct < people.Incorrect:
			s.of += float64(c.Incorrect)
		default:
			return
		}
	case CheckReconstructed:
		// The order of several judgements of one item means nothing.
		s.of += float64(min(c.Correct, observed.Correct) + min(c.Incorrect, observed.Incorrect))
	}
	s.n += float64(c.total())
}

// agreement counts the pairs of judgements of different judges on one item, and those that agree.
func agreement(judges []Judge, shares []share) {
	for i := range judges[0].Counts {
		var all Count
		for _, j := range judges {
			all.Correct += j.Counts[i].Correct
			all.Incorrect += j.Counts[i].Incorrect
		}
		for j := range judges {
			c := judges[j].Counts[i]
			shares[j].of += float64(c.Correct*(all.Correct-c.Correct) + c.Incorrect*(all.Incorrect-c.Incorrect))
			shares[j].n += float64(c.total() * (all.total() - c.total()))
		}
	}
}

func predictiveChecks(d JudgeData, tallies []*tally, warnings []measure.Warning) []PredictiveCheck {
	observed := make([][]share, len(checks))
	for k, check := range checks {
		observed[k] = statistics(check, d, d.Judges)
	}
	var out []PredictiveCheck
	for j, judge := range d.Judges {
		for k, check := range checks {
			var replicated []float64
			for _, t := range tallies {
				replicated = append(replicated, t.replicas.stats[j][k]...)
			}
			c := PredictiveCheck{Judge: judge.Name, Check: check}
			c.compare(observed[k][j], replicated)
			for _, w := range warnings {
				c.Predicted, c.Tail = c.Predicted.Warn(w.Code, "%s", w.Text), c.Tail.Warn(w.Code, "%s", w.Text)
			}
			out = append(out, c)
		}
	}
	return out
}

// compare sets the values of a check.
func (c *PredictiveCheck) compare(observed share, replicated []float64) {
	const observedID, predictedID, tailID = "predictive.observed", "predictive.mean", "predictive.tail"
	n := int(observed.n)
	if len(replicated) == 0 {
		c.Observed = measure.Undefined(observedID, measure.NoItems, 0)
		c.Predicted = measure.Undefined(predictedID, measure.NoItems, 0)
		c.Tail = measure.Undefined(tailID, measure.NoItems, 0)
		return
	}
	slices.Sort(replicated)
	mean, _ := meanSD(replicated)
	c.Predicted = measure.Of(predictedID, mean, n).With(measure.Interval{
		Lower: quantile(replicated, .025), Upper: quantile(replicated, .975),
		Level: .95, Method: "posterior.central", Resamples: len(replicated),
	})
	if c.Check == CheckReconstructed {
		c.Observed = measure.Undefined(observedID, "1 by definition", n)
		c.Tail = measure.Undefined(tailID, "1 by definition", n)
		return
	}
	x := observed.of / observed.n
	above := 0.0
	for _, r := range replicated {
		switch {
		case r > x:
			above++
		case r == x:
			above += .5
		}
	}
	tail := above / float64(len(replicated))
	c.Observed, c.Tail = measure.Of(observedID, x, n), measure.Of(tailID, tail, n)
	if tail < .005 || tail > .995 {
		c.Predicted = c.Predicted.Warn("predictive-misfit", "the data show %.3f, and %.1f %% of replicas lie above: the model does not explain this judge's %s", x, 100*tail, c.Check)
	}
}
