package collect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// Equating asks a language model whether answers to a question say the same, at temperature 0.
type Equating struct {
	Ask     Asker
	Prompts *prompt.Set
	Form    prompt.Form
	// Clusters asks only what clusters need: each new answer is compared with the first of each cluster, and
	// what is the same as the same is the same. Otherwise every pair of different answers is asked about.
	Clusters bool
}

// Equated is what a judge said of the answers to one item.
type Equated struct {
	Item string
	// Verdicts on pairs of texts. With clusters they are closed, and cover every pair unless Unclear is not 0.
	Verdicts *consistency.Verdicts
	// Pairs is the number of pairs of answers that were to be compared, Distinct that of pairs of different
	// texts among them, and Asked how many the judge was asked about.
	Pairs, Distinct, Asked int
	// Unclear counts replies without a clear verdict; their pairs have none.
	Unclear int
}

// Answers are the answers to one question that are compared with each other; every pair within a group.
type Answers struct {
	Item, Question string
	Groups         [][]string
}

// All compares the answers of every list, in order. Error: asking failed.
func (e *Equating) All(ctx context.Context, list []Answers, pace Pace) ([]Equated, error) {
	out := make([]Equated, len(list))
	err := eachAt(ctx, len(list), pace, func(ctx context.Context, i int) (err error) {
		if out[i], err = e.Item(ctx, list[i]); err != nil {
			err = fmt.Errorf("item %s, equivalence: %w", list[i].Item, err)
		}
		return err
	})
	return out, err
}

// Item compares the answers to one question. A pair of texts is asked about once, the lesser text first, and
// counts for both orders.
func (e *Equating) Item(ctx context.Context, of Answers) (Equated, error) {
	out := Equated{Item: of.Item, Verdicts: &consistency.Verdicts{}}
	wanted, seen := []consistency.Pair(nil), map[consistency.Pair]bool{}
	var all []string
	for _, texts := range of.Groups {
		out.Pairs += len(texts) * (len(texts) - 1) / 2
		all = append(all, texts...)
		for _, pair := range out.Verdicts.Unasked(texts) {
			if !seen[pair] {
				seen[pair], wanted = true, append(wanted, pair)
			}
		}
	}
	out.Distinct = len(wanted)
	if e.Clusters {
		return e.clustered(ctx, of, all, out)
	}
	verdicts, err := e.ask(ctx, of.Question, wanted)
	if err != nil {
		return Equated{}, err
	}
	out.Asked = len(wanted)
	for i, v := range verdicts {
		if v == record.NotJudged {
			out.Unclear++
			continue
		}
		out.Verdicts.Set(wanted[i].A, wanted[i].B, v == record.Correct)
	}
	return out, nil
}

// errUnclear ends the clustering of an item.
var errUnclear = errors.New("no clear verdict")

// clustered asks by clusters. A reply without a clear verdict leaves the item without verdicts: a cluster
// could not be told from two.
func (e *Equating) clustered(ctx context.Context, of Answers, all []string, out Equated) (Equated, error) {
	closed, calls, err := consistency.Cluster(all, func(p consistency.Pair) (bool, error) {
		verdicts, err := e.ask(ctx, of.Question, []consistency.Pair{p})
		if err != nil {
			return false, err
		}
		if verdicts[0] == record.NotJudged {
			return false, errUnclear
		}
		return verdicts[0] == record.Correct, nil
	})
	out.Asked = calls
	switch {
	case errors.Is(err, errUnclear):
		out.Unclear++
		return out, nil
	case err != nil:
		return Equated{}, err
	}
	out.Verdicts = closed
	return out, nil
}

func (e *Equating) ask(ctx context.Context, question string, pairs []consistency.Pair) ([]record.Verdict, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	requests := make([]llm.Request, len(pairs))
	for i, pair := range pairs {
		p, err := e.Prompts.AskEquivalence(e.Form, question, pair.A, pair.B)
		if err != nil {
			return nil, err
		}
		requests[i] = llm.Request{Kind: llm.Generate, Prompt: p, Decoding: llm.Decoding{MaxTokens: prompt.VerdictTokens}, Usual: "True"}
	}
	verdicts := make([]record.Verdict, len(pairs))
	for i, result := range e.Ask.Do(ctx, requests) {
		if result.Err != nil {
			if _, err := missing(result.Err); err != nil {
				return nil, err
			}
			continue
		}
		verdicts[i] = prompt.ParseVerdict(result.Reply.Text).Verdict
	}
	return verdicts, nil
}

// Topics asks a language model, which sees each text alone, to which domain it belongs; at temperature 0.
type Topics struct {
	Ask     Asker
	Prompts *prompt.Set
	Form    prompt.Form
	Domains []string
}

// topicTokens is enough for a letter with some words around it.
const topicTokens = 16

// All returns the domain of every text as a number from 0, or why there is none (-1).
func (t *Topics) All(ctx context.Context, texts []string, pace Pace) ([]int, []record.Missing, error) {
	domains, why := make([]int, len(texts)), make([]record.Missing, len(texts))
	err := eachAt(ctx, len(texts), pace, func(ctx context.Context, i int) error {
		domains[i] = -1
		p, err := t.Prompts.AskTopic(t.Form, texts[i], t.Domains)
		if err != nil {
			return fmt.Errorf("topic of %q: %w", texts[i], err)
		}
		result := t.Ask.Do(ctx, []llm.Request{{Kind: llm.Generate, Prompt: p, Decoding: llm.Decoding{MaxTokens: topicTokens}, Usual: "A"}})[0]
		if result.Err != nil {
			why[i], err = missing(result.Err)
			return err
		}
		letter, missing := prompt.ParseLetter(result.Reply.Text, len(t.Domains))
		if why[i] = missing; missing == record.Present {
			domains[i] = strings.Index(prompt.Letters, letter)
		}
		return nil
	})
	return domains, why, err
}
