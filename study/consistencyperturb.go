package study

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/dataset"
	"github.com/credence-lab/credence/judge"
	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// PerturbationCost is what the perturbations of a source cost in this run. Calls that the ledger knew already
// cost nothing, and leave nothing to state.
type PerturbationCost struct {
	Source   string `json:"source"`
	Dataset  string `json:"dataset"`
	Accepted int    `json:"accepted"`
	// Calls and GeneratedTokens of the model that wrote them; Seconds of the whole search, filter included.
	Calls           int64   `json:"calls_made"`
	GeneratedTokens int64   `json:"generated_tokens"`
	Seconds         float64 `json:"seconds"`
	// PerSecond is Accepted/Seconds; 0 where calls were reused, since it would say nothing.
	PerSecond float64 `json:"accepted_per_second"`
}

// Perturbations is how those of one source for one data set were found, and what they cost in this run.
type Perturbations struct {
	PerturbationCost
	// Of each of Items so many are Wanted, and none has fewer than Fewest. Candidates were looked at, and Refused
	// counts those that are not used by reason.
	Items      int                         `json:"items"`
	Wanted     int                         `json:"wanted"`
	Fewest     int                         `json:"fewest"`
	Candidates int                         `json:"candidates"`
	Refused    map[consistency.Refusal]int `json:"refused"`
}

// writers are the numbers of the models that write perturbations or paraphrases, in order.
func (f *File) writers() []int {
	if f.Consistency == nil {
		return nil
	}
	var list []int
	for i, m := range f.Models {
		writes := f.Consistency.Paraphrases > 0 && f.Consistency.Paraphraser == m.Name
		for _, p := range f.Consistency.Perturbations {
			writes = writes || p.From == FromModel && p.By == m.Name
		}
		if writes {
			list = append(list, i)
		}
	}
	return list
}

// openFilter opens the model of embeddings for the diversity filter; done closes it once and keeps what it cost.
func (r *runner) openFilter(ctx context.Context) (done func() error, err error) {
	if r.consistent.thresholds == nil {
		return func() error { return nil }, nil
	}
	engine, err := r.openEmbeddings(ctx)
	if err != nil {
		return nil, err
	}
	ask := r.ledger.Through(r.meter.around(engine, r.file.Embeddings.Price))
	r.consistent.embed = ask
	return func() error {
		if r.consistent.embed == nil {
			return nil
		}
		r.consistent.embed = nil
		r.sources = append(r.sources, ranSource{name: record.Setting{Model: "diversity", Dataset: r.file.Embeddings.String()}, identity: ask.Identity(), counts: ask.Counts()})
		return ask.Close()
	}, nil
}

// askPerturbations lets a model write the perturbations and paraphrases of one data set that are its to write;
// the plan runs the same code.
func (r *runner) askPerturbations(ctx context.Context, m *model, ask collect.Asker, d dataset.Dataset, pace collect.Pace) error {
	c := r.file.Consistency
	for i, p := range c.Perturbations {
		if p.From != FromModel || p.By != m.Name {
			continue
		}
		sampler := &collect.ModelSampler{
			Ask: ask, Prompts: r.prompts, Form: m.form, Number: p.Batch, Seed: r.file.Seed,
			Decoding: writing(listTokens(p.Batch, c.MaxCharacters), r.file.Sampling.Temperature),
		}
		before, from := countsOf(ask), time.Now()
		if err := r.seek(ctx, i, sampler, d, pace); err != nil {
			return err
		}
		r.costs(i, d, countsOf(ask).minus(before), time.Since(from))
	}
	if c.Paraphrases == 0 || c.Paraphraser != m.Name {
		return nil
	}
	p := &collect.Paraphrasing{
		Ask: ask, Prompts: r.prompts, Form: m.form, Wanted: c.Paraphrases, Number: min(DefaultBatch, c.Paraphrases), Batches: DefaultBatches, Seed: r.file.Seed,
		Decoding: writing(paraphraseTokens, r.file.Sampling.Temperature),
	}
	var err error
	r.consistent.paraphrased[d.Name], err = p.All(ctx, d.Items, pace)
	return err
}

// writingTopP cuts off the tail of the vocabulary when contexts and paraphrases are written: at temperature 1 a small
// model otherwise breaks off into other languages. Answers are sampled without it.
const writingTopP = .9

func writing(maxTokens int, temperature float64) llm.Decoding {
	return llm.Decoding{MaxTokens: maxTokens, Temperature: temperature, TopP: writingTopP}
}

// paraphraseTokens bounds a reply with paraphrases.
const paraphraseTokens = 512

// listTokens bounds a reply with n entries of so many characters: half of what they could have, since few
// are as long as they may be.
func listTokens(n, characters int) int { return max(64, min(4096, n*(characters/8+8))) }

// perturbFromTexts finds the perturbations of the sources that no model writes.
func (r *runner) perturbFromTexts(ctx context.Context) error {
	for i, p := range r.file.Consistency.Perturbations {
		if p.From == FromModel {
			continue
		}
		for _, d := range r.dataOf(Model{Limit: r.file.largestLimit()}) {
			sampler, err := r.snippets(p, d)
			if err != nil {
				return err
			}
			from := time.Now()
			if err := r.seek(ctx, i, sampler, d, collect.Pace{Open: openItems}); err != nil {
				return err
			}
			r.costs(i, d, wrote{}, time.Since(from))
		}
	}
	return nil
}

// seek finds the perturbations of one source for one data set.
func (r *runner) seek(ctx context.Context, source int, sampler collect.Sampler, d dataset.Dataset, pace collect.Pace) error {
	c := r.file.Consistency
	p := &collect.Perturbing{
		Sampler: sampler, Wanted: c.Perturbed, AtLeast: c.AtLeast, Batches: c.Perturbations[source].Batches, MaxCharacters: c.MaxCharacters,
		Gives: func(item record.Item, text string) bool { return judge.NamesInRange(item.References, text) },
	}
	if r.consistent.thresholds != nil {
		p.Embed, p.K = r.consistent.embed, r.consistent.thresholds[source].k
	}
	found, err := p.All(ctx, d.Items, pace)
	var few *collect.TooFewError
	if errors.As(err, &few) {
		return r.file.at.errorf(fmt.Sprintf("$.consistency.perturbations[%d]", source),
			"raise batches or diversity, lower perturbed or at_least, or take another source", "the source %q gives too few perturbations for %s: %v", c.Perturbations[source].Name, d.Name, few)
	}
	if err != nil {
		return err
	}
	if r.consistent.perturbed[d.Name] == nil {
		r.consistent.perturbed[d.Name] = make([][]collect.Perturbed, len(c.Perturbations))
	}
	r.consistent.perturbed[d.Name][source] = found
	return nil
}

// wrote is what a model did for a source.
type wrote struct{ made, reused, tokens int64 }

func (a wrote) minus(b wrote) wrote {
	return wrote{a.made - b.made, a.reused - b.reused, a.tokens - b.tokens}
}

// countsOf are the counts of an asker that counts; those of a plan are not looked at.
func countsOf(ask collect.Asker) wrote {
	if a, ok := ask.(*ledger.Asker); ok {
		n := a.Counts()
		return wrote{n.Made, n.Reused, n.GeneratedTokens}
	}
	return wrote{}
}

func (r *runner) costs(source int, d dataset.Dataset, a wrote, took time.Duration) {
	cost := PerturbationCost{Source: r.file.Consistency.Perturbations[source].Name, Dataset: d.Name, Calls: a.made, GeneratedTokens: a.tokens, Seconds: took.Seconds()}
	for _, p := range r.consistent.perturbed[d.Name][source] {
		cost.Accepted += len(p.Kept)
	}
	if a.reused == 0 && took > 0 {
		cost.PerSecond = float64(cost.Accepted) / took.Seconds()
	}
	r.consistent.costs = append(r.consistent.costs, cost)
	if r.options.Perturbed != nil {
		f := r.factsOf(source, r.file.Consistency.Perturbations[source], d)
		r.options.Perturbed(Perturbations{cost, f.Items, f.Wanted, f.Fewest, f.Candidates, f.Refused})
	}
}
