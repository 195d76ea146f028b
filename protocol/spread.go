package protocol

import (
	"math"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/resample"
)

// Spread is how far apart the gaps of one setting lie over the protocols that cross contexts with
// aggregations ("Same Answer, Different Confidence", section 4.4 and appendix H). Points only: the
// largest of several noisy values has no simple interval.
type Spread struct {
	Metric string `json:"metric"`
	// Protocols is the number crossed.
	Protocols int `json:"protocols"`
	// Range is the largest g minus the smallest; Lowest and Highest name their protocols.
	Range   measure.Value `json:"range"`
	Lowest  string        `json:"lowest,omitempty"`
	Highest string        `json:"highest,omitempty"`
	// Base is |g| of the first protocol: the base context under the default aggregation.
	Base measure.Value `json:"base"`
}

// crossed are the contexts that the paper crosses with aggregations.
func crossed() []string { return []string{"bare", "answer-slot", "guess-slot"} }

// spreads of one setting, by metric; all holds its comparisons, the default first.
func spreads(all []*compared) []Spread {
	first := all[0]
	var list []Spread
	for m, stat := range ranked() {
		s := Spread{Metric: stat.ID, Range: measure.Undefined("range."+stat.ID, measure.NoItems, first.Used)}
		lowest, highest := math.Inf(1), math.Inf(-1)
		for _, c := range all {
			if c.Choice.Judge != first.Choice.Judge {
				continue
			}
			for k, context := range c.Contexts {
				g, ok := context.Gaps[m].Gap.Get()
				if !ok || indexOf(crossed(), context.Name) < 0 && k > 0 {
					continue
				}
				s.Protocols++
				name := context.Name + "+" + c.Choice.Aggregation
				if g < lowest {
					lowest, s.Lowest = g, name
				}
				if g > highest {
					highest, s.Highest = g, name
				}
			}
		}
		if s.Protocols > 0 {
			s.Range = measure.Of("range."+stat.ID, highest-lowest, first.Used)
		}
		s.Base = resample.Point(first.Contexts[0].Gaps[m].Gap).Abs().Value("abs-gap."+stat.ID, .95)
		list = append(list, s)
	}
	return list
}

// SpreadSummary is the mean range over the settings of a group, beside the mean size of the base gap.
type SpreadSummary struct {
	Group    string        `json:"group"`
	Metric   string        `json:"metric"`
	Settings int           `json:"settings"`
	Range    measure.Value `json:"range"`
	Base     measure.Value `json:"base"`
}

type spreadKey struct {
	metric string
	base   bool
}

type spreadMeans struct {
	group string
	level float64
	means means[spreadKey]
}

func (s *spreadMeans) add(list []Spread) error {
	a := adder[spreadKey]{means: &s.means}
	for _, one := range list {
		a.add(spreadKey{one.Metric, false}, resample.Point(one.Range))
		a.add(spreadKey{one.Metric, true}, resample.Point(one.Base))
	}
	return a.err
}

func (s *spreadMeans) result() []SpreadSummary {
	var list []SpreadSummary
	for _, stat := range ranked() {
		key := spreadKey{stat.ID, false}
		if s.means.settings(key) == 0 {
			continue
		}
		list = append(list, SpreadSummary{
			s.group, stat.ID, s.means.settings(key),
			s.means.value(key, "mean.range."+stat.ID, s.level),
			s.means.value(spreadKey{stat.ID, true}, "mean.abs-gap."+stat.ID, s.level),
		})
	}
	return list
}
