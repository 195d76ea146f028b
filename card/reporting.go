package card

import (
	"slices"
	"strings"

	"github.com/credence-lab/credence/measure"
)

// Item is one thing that a report must say, and whether a card says it.
type Item struct {
	// Source is the paper and the place in it that ask for the item.
	Source string `json:"source"`
	Item   string `json:"item"`
	Stated bool   `json:"stated"`
}

// The papers that the items come from.
const (
	sameAnswer = "Same Answer, Different Confidence"
	twoErrors  = "Ilia and Aziz 2026"
)

// reportingItem is an [Item] with the test for it, and what a reader must be told where it fails.
type reportingItem struct {
	paper, place, item string
	stated             func(c *Card) bool
	tell               string
}

// reportingItems are in the order of a report: what was asked, how it was scored, how it was judged.
var reportingItems = []reportingItem{
	{sameAnswer, "4.2", "the prompts in full", func(c *Card) bool {
		return all(c.Prompts, func(p Prompt) bool { return p.Text != "" })
	}, "the prompts in full"},
	{sameAnswer, "3.1", "whose answers are rated", func(c *Card) bool { return c.Answers.ID != "" },
		"whose answers are rated: the model's own, or supplied ones"},
	{sameAnswer, "4.3", "the format of the answers", func(c *Card) bool { return c.Answers.What != "" },
		"whether answers are free text or choices"},
	{sameAnswer, "B.1", "the scale of the stated confidence", func(c *Card) bool { return c.Elicitation.What != "" },
		"on which scale confidence is stated"},
	{sameAnswer, "4.1", "the context in which tokens are scored, and the answer's slot in it", func(c *Card) bool {
		return all(c.Contexts, func(x Context) bool { return x.What != "" })
	}, "where the answer's tokens are scored"},
	{sameAnswer, "4.2", "the context that others are compared with", func(c *Card) bool { return c.Base != "" },
		"the context that others are compared with"},
	{sameAnswer, "4.6", "what the score is for, which decides the context to read it in", func(c *Card) bool { return c.Purpose != "" },
		"what the score is to be used for: no context is neutral, and a threshold holds in the one that it was set in"},
	{sameAnswer, "3.4", "the tokenisation rule", func(c *Card) bool { return c.Tokenisation != "" },
		"how context and answer are tokenised"},
	{sameAnswer, "4.4", "the aggregation of token probabilities", func(c *Card) bool { return len(c.Aggregations) > 0 },
		"how token probabilities become one"},
	{sameAnswer, "A", "how answers are generated", func(c *Card) bool { return len(c.Models) > 0 && len(c.Generation) == len(c.Models) },
		"how answers are generated: temperature, length, repetition penalty"},
	{sameAnswer, "A", "the parser", func(c *Card) bool { return c.Parser.What != "" }, "how replies are parsed"},
	{sameAnswer, "A", "the parse rate", func(c *Card) bool {
		return all(c.Settings, func(s Setting) bool { return s.ParseRate.Defined() })
	}, "the share of replies that could be parsed, in every setting"},
	{sameAnswer, "4.3", "the correctness rule", func(c *Card) bool {
		return all(c.Correctness, func(r Rule) bool { return r.What != "" })
	}, "what counts as correct"},
	{sameAnswer, "4.6", "ECE and AUROC both", func(c *Card) bool { return c.measures("ece") && c.measures("auroc") },
		"both ECE, which depends on accuracy, and AUROC, which does not"},
	{sameAnswer, "4.4", "estimators and their bins", func(c *Card) bool {
		return all(c.Metrics, func(r Rule) bool { return r.What != "" })
	}, "how each metric is estimated, and with which bins"},
	{sameAnswer, "3.5", "intervals, resamples and seed", func(c *Card) bool { return c.Intervals != "" && c.Intervals != NoIntervals },
		"how sure each number is: there are no intervals"},
	{sameAnswer, "Table 6", "each model's identity: weights by checksum, engine and mode", func(c *Card) bool {
		return all(c.Models, func(m Model) bool { return m.Identity.Engine != "" && m.Identity.Weights != "" })
	}, "which weights were run, by checksum, and by which engine"},
	{sameAnswer, "Table 7", "the data, by content", func(c *Card) bool {
		return all(c.Datasets, func(d Dataset) bool { return d.SHA256 != "" })
	}, "which questions were asked, by a hash of their content"},
	{sameAnswer, "Table 8", "items asked, used and left out, with reasons", func(c *Card) bool {
		return all(c.Settings, func(s Setting) bool { return s.Asked-s.Used == count(s.LeftOut) })
	}, "how many items were asked and left out, and why"},
	{twoErrors, "Table 1", "which judges, of which type", func(c *Card) bool {
		return c.eachJudge(func(v Validation) bool { return v.Type != "" })
	}, "what type of judge found the answers correct"},
	{twoErrors, "3.2", "each judge's threshold", func(c *Card) bool {
		return c.eachJudge(func(v Validation) bool { return v.Threshold != "" })
	}, "above which threshold each judge says correct"},
	{twoErrors, "3.1", "against whose labels each judge was validated", func(c *Card) bool {
		return c.eachJudge(func(v Validation) bool { return v.Against != "" && v.HumanLabels > 0 })
	}, "whether the judges agree with people: no answer was labelled by a person"},
	{twoErrors, "3.2", "each judge's agreement with people", func(c *Card) bool {
		return c.eachJudge(func(v Validation) bool { return known(v.WithPeople) })
	}, "how often each judge errs, in both directions: it was not measured"},
	{twoErrors, "3.2", "the agreement of people among themselves", func(c *Card) bool {
		return c.eachJudge(func(v Validation) bool { return known(v.AmongPeople) })
	}, "how far two people agree on these answers: it was not measured"},
	{twoErrors, "4", "what the judges' errors do to the metrics", func(c *Card) bool {
		return c.eachJudge(func(v Validation) bool { return v.Effect != "" })
	}, "what the judges' errors do to ECE, AUROC and the ranking of the scores: it was not measured"},
}

// Check fills Reporting from what the card says, and Missing with what it does not say, followed by
// what else a reader must be told.
func (c *Card) Check(besides ...string) {
	c.Reporting, c.Missing = nil, nil
	for _, r := range reportingItems {
		stated := r.stated(c)
		c.Reporting = append(c.Reporting, Item{r.paper + ", " + r.place, r.item, stated})
		if !stated {
			c.Missing = append(c.Missing, r.tell)
		}
	}
	c.Missing = append(c.Missing, besides...)
}

// NoIntervals is what Intervals says of a study without them.
const NoIntervals = "no intervals were made"

// all reports whether ok holds of every element of a list that is not empty.
func all[T any](list []T, ok func(T) bool) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(x T) bool { return !ok(x) })
}

// eachJudge reports whether ok holds for every judge of the study.
func (c *Card) eachJudge(ok func(Validation) bool) bool {
	return all(c.Correctness, func(r Rule) bool {
		i := slices.IndexFunc(c.Validation, func(v Validation) bool { return v.Judge == r.ID })
		return i >= 0 && ok(c.Validation[i])
	})
}

// measures reports whether a metric of the family is among the card's.
func (c *Card) measures(family string) bool {
	return slices.ContainsFunc(c.Metrics, func(r Rule) bool { return r.ID == family || strings.HasPrefix(r.ID, family+".") })
}

func known(v *measure.Value) bool { return v != nil && v.Defined() }

func count(list []measure.Excluded) int {
	n := 0
	for _, e := range list {
		n += e.N
	}
	return n
}
