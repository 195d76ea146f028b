package consistency

import (
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/metric"
	"github.com/credence-lab/credence/record"
)

// Domain is a broad kind of task that a perturbation may belong to.
type Domain string

// The six domains of Wu, Jiang and Aragam 2026, appendix A.4.
const (
	Arithmetic  Domain = "arithmetic reasoning"
	Statistical Domain = "statistical reasoning"
	Commonsense Domain = "commonsense reasoning"
	ShortFact   Domain = "short factual recall"
	LongFact    Domain = "long factual or biographical"
	Code        Domain = "code"
)

// Domains lists them.
func Domains() []Domain {
	return []Domain{Arithmetic, Statistical, Commonsense, ShortFact, LongFact, Code}
}

// Classified is what a judge other than the generator says of a perturbation that it saw alone.
type Classified struct {
	Intended, Judged Domain
	// Missing says why there is no Judged.
	Missing record.Missing
}

// Topics is the share of perturbations in their intended domain.
type Topics struct {
	All measure.Value `json:"all"`
	// PerDomain is in the order of [Domains], with those only that were intended.
	PerDomain []DomainShare `json:"per_domain"`
}

// DomainShare is the share of perturbations intended for a domain that were found in it.
type DomainShare struct {
	Domain  Domain        `json:"domain"`
	Aligned measure.Value `json:"aligned"`
}

// TopicAlignment counts the perturbations that were classified as intended: shares in [0,1] with exact
// intervals of the given level; higher is better aligned. Those without a classification are left out and
// counted. It panics if the level is not in (0,1).
func TopicAlignment(perturbations []Classified, level float64) Topics {
	type count struct {
		hits, n int
		leftOut map[string]int
	}
	all, each := &count{leftOut: map[string]int{}}, map[Domain]*count{}
	for _, p := range perturbations {
		if each[p.Intended] == nil {
			each[p.Intended] = &count{leftOut: map[string]int{}}
		}
		for _, c := range []*count{all, each[p.Intended]} {
			switch {
			case p.Missing != record.Present:
				c.leftOut[string(p.Missing)]++
			default:
				c.n++
				if p.Judged == p.Intended {
					c.hits++
				}
			}
		}
	}
	topics := Topics{All: metric.Proportion(all.hits, all.n, level).Leaving(all.leftOut)}
	for _, d := range Domains() {
		if c := each[d]; c != nil {
			topics.PerDomain = append(topics.PerDomain, DomainShare{d, metric.Proportion(c.hits, c.n, level).Leaving(c.leftOut)})
		}
	}
	return topics
}
