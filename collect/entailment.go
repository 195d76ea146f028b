package collect

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// Pair is two texts in order, with the question that both answer where that is to be known.
type Pair struct{ Question, Premise, Hypothesis string }

// Relation is what a pair's premise says of its hypothesis, or the reason why that is not known.
type Relation struct {
	llm.Entailment
	Missing record.Missing
}

// Entailment says how it is found out what follows from what.
type Entailment struct {
	// Served is an engine made for it, which is asked with [llm.Entail]: a question is put before both texts.
	// Otherwise a language model is asked in Form, by forced choice of two words.
	Served bool
	Form   prompt.Form
}

// batchTexts is how many pairs or texts are asked for together: servers take some dozens in a request.
const batchTexts = 32

// All asks for the relation of every pair once, however often it comes, and returns them by pair.
func (e Entailment) All(ctx context.Context, ask Asker, pairs []Pair, p Pace) (map[Pair]Relation, error) {
	once := unique(pairs)
	found, err := inBatches(ctx, once, p, func(ctx context.Context, batch []Pair) ([]Relation, error) {
		return e.each(ctx, ask, batch)
	})
	return byPair(once, found), wrapped(err)
}

// Of is [Entailment.All] for the pairs of one item. Some are asked for at a time, so that a run that is stopped has
// not asked in vain for all of them.
func (e Entailment) Of(ctx context.Context, ask Asker, pairs []Pair) (map[Pair]Relation, error) {
	return e.All(ctx, ask, pairs, Pace{Open: 1})
}

func wrapped(err error) error {
	if err != nil {
		return fmt.Errorf("entailment: %w", err)
	}
	return nil
}

// byPair is nil where nothing was found.
func byPair(pairs []Pair, found []Relation) map[Pair]Relation {
	if found == nil {
		return nil
	}
	all := make(map[Pair]Relation, len(pairs))
	for i, pair := range pairs {
		all[pair] = found[i]
	}
	return all
}

func (e Entailment) each(ctx context.Context, ask Asker, pairs []Pair) ([]Relation, error) {
	found := make([]Relation, len(pairs))
	how := e.forced
	if e.Served {
		how = e.served
	}
	return found, how(ctx, ask, pairs, found)
}

// served asks an engine that judges pairs.
func (e Entailment) served(ctx context.Context, ask Asker, pairs []Pair, into []Relation) error {
	requests := make([]llm.Request, len(pairs))
	for i, p := range pairs {
		requests[i] = llm.Request{Kind: llm.Entail, Prompt: llm.Prompt{Text: p.after(p.Premise)}, Answer: p.after(p.Hypothesis)}
	}
	for i, result := range ask.Do(ctx, requests) {
		err := result.Err
		if err == nil {
			into[i].Entailment, err = llm.EntailmentOf(result.Reply)
		}
		if err == nil {
			continue
		}
		if into[i].Missing, err = missing(err); err != nil {
			return err
		}
		if into[i].Missing == Refused {
			into[i].Missing = EntailmentRefused
		}
	}
	return nil
}

// EntailmentRefused: the model was asked for an entailment and gave none.
const EntailmentRefused record.Missing = "entailment refused"

// after puts the question before a text, as Kuhn et al. 2023 do.
func (p Pair) after(text string) string {
	if p.Question == "" {
		return text
	}
	return p.Question + " " + text
}

// forced asks a language model to choose.
func (e Entailment) forced(ctx context.Context, ask Asker, pairs []Pair, into []Relation) error {
	var requests []llm.Request
	var places []*Forced
	scores := make([]Forced, len(pairs))
	for i, pair := range pairs {
		p, err := prompt.Entailment(e.Form, pair.Question, pair.Premise, pair.Hypothesis)
		if err != nil {
			if into[i].Missing, err = missing(err); err != nil {
				return err
			}
			continue
		}
		for _, verdict := range []string{prompt.TrueByText, prompt.FalseByText} {
			requests, places = append(requests, llm.Request{Kind: llm.Score, Prompt: p, Answer: verdict}), append(places, &scores[i])
		}
	}
	if err := fill(ctx, ask, requests, places); err != nil {
		return err
	}
	for i := range into {
		if into[i].Missing == record.Present {
			into[i] = scores[i].relation()
		}
	}
	return nil
}

// NoRelation: neither of the verdicts on a pair has a probability above 0.
const NoRelation record.Missing = "entailment out of range"

// relation makes three probabilities of one, p(True) / (p(True) + p(False)) of the statement according to the text:
// those of two verdicts drawn from the model being both True, one of each, and both False. So a pair entails where
// p is above 2/3, contradicts where it is below 1/3, and does neither between, where the model does not agree
// with itself. It has no constant that was fitted to anything.
func (f Forced) relation() Relation {
	if f.Missing != record.Present {
		return Relation{Missing: f.Missing}
	}
	top := max(f.LogProbs[0], f.LogProbs[1])
	if math.IsInf(top, -1) {
		return Relation{Missing: NoRelation}
	}
	yes, no := math.Exp(f.LogProbs[0]-top), math.Exp(f.LogProbs[1]-top)
	p, q := yes/(yes+no), no/(yes+no)
	return Relation{Entailment: llm.Entailment{Entails: p * p, Neither: 2 * p * q, Contradicts: q * q}}
}

// unique are the elements of list in order, each once.
func unique[T comparable](list []T) []T {
	seen := make(map[T]bool, len(list))
	var once []T
	for _, x := range list {
		if !seen[x] {
			seen[x] = true
			once = append(once, x)
		}
	}
	return once
}

// inBatches does something for every element of list, some dozens at a time, as many batches beside each other
// as p allows, and returns what they gave in order; p is told of elements.
func inBatches[T, R any](ctx context.Context, list []T, p Pace, do func(ctx context.Context, batch []T) ([]R, error)) ([]R, error) {
	done := 0
	parts, err := Each(ctx, slices.Collect(slices.Chunk(list, batchTexts)), p.Open, do, func(_ int, gave []R) {
		done += len(gave)
		if p.Done != nil {
			p.Done(done)
		}
	})
	return slices.Concat(parts...), err
}
