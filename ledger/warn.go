package ledger

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// Identical says that all samples of one request are equal byte for byte although they were drawn at
// a temperature above 0. A server that ignores seeds does that, and a model that is sure: the texts
// alone cannot tell the two apart, so a count of distinct answers must not be read as confidence
// without saying so.
type Identical struct {
	// At are the positions of the samples among the requests, at least two.
	At []int
	// Temperature they were drawn at.
	Temperature float64
	// Chance is the probability that independent draws agree with the first, from its tokens'
	// log-probabilities. It is absent where those do not say so: they are missing, or the draw was
	// not from the raw distribution (another temperature, truncation, a penalty).
	Chance record.Number
}

// notSampled is why [Identical] has no chance.
const notSampled record.Missing = "log-probabilities are not those that were drawn from"

// IdenticalSamples finds the requests of which all samples came back equal. Samples are requests
// that differ in Sample or Seed only; results are those of [Asker.Do]. Failed ones do not count.
func IdenticalSamples(reqs []llm.Request, results []llm.Result) []Identical {
	groups := make(map[string][]int)
	var order []string
	for i, r := range reqs {
		if r.Kind != llm.Generate || r.Decoding.Temperature == 0 || results[i].Err != nil {
			continue
		}
		r.Sample, r.Seed = 0, 0
		declared, err := declare(Canonical(r))
		if err != nil {
			continue
		}
		if groups[string(declared)] == nil {
			order = append(order, string(declared))
		}
		groups[string(declared)] = append(groups[string(declared)], i)
	}
	var found []Identical
	for _, g := range order {
		at := groups[g]
		first := results[at[0]].Reply
		differs := func(i int) bool { return results[i].Reply.Text != first.Text }
		if len(at) > 1 && !slices.ContainsFunc(at, differs) {
			d := reqs[at[0]].Decoding
			found = append(found, Identical{At: at, Temperature: d.Temperature, Chance: chance(d, first, len(at))})
		}
	}
	return found
}

// chance is p^(n-1) for the probability p of the reply. The end-of-turn token is not among a reply's
// tokens, so the true chance is a little smaller.
func chance(d llm.Decoding, r llm.Reply, n int) record.Number {
	none := func(x, neutral float64) bool { return x == 0 || x == neutral }
	if d.Temperature != 1 || d.TopK != 0 || !none(d.TopP, 1) || d.MinP != 0 || !none(d.RepetitionPenalty, 1) || len(r.Tokens) == 0 {
		return record.Absent(notSampled)
	}
	sum := 0.0
	for _, t := range r.Tokens {
		sum += t.LogProb
	}
	return record.Known(math.Exp(sum * float64(n-1)))
}

// Warnings says, in words, what a reader of a study on this ledger must know: a server that said
// different things of itself while one setting was asked is not one model.
func (s Stats) Warnings() []string {
	var list []string
	for _, g := range s.Groups {
		if len(g.Observed) > 1 {
			said := make([]string, len(g.Observed))
			for i, o := range g.Observed {
				said[i] = string(must(json.Marshal(o)))
			}
			list = append(list, fmt.Sprintf("%s, %s: the server said different things of itself (%s); the calls may be of more than one model",
				g.Model, g.Kind, strings.Join(said, ", ")))
		}
	}
	return list
}
