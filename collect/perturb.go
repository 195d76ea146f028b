package collect

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// Sampler gives candidates for the contexts that are put before a question.
type Sampler interface {
	// Batch returns the candidates of batch i, from 0, for an item, and whether there may be more batches.
	// The same batch is the same candidates.
	Batch(ctx context.Context, item record.Item, i int) (candidates []string, more bool, err error)
}

// ModelSampler asks a language model for candidates. It is shown the question and nothing else of the item.
type ModelSampler struct {
	Ask     Asker
	Prompts *prompt.Set
	Form    prompt.Form
	// Number of candidates asked for at once.
	Number   int
	Decoding llm.Decoding
	Seed     uint64
}

// Batch asks once. A reply without a list gives no candidates.
func (m *ModelSampler) Batch(ctx context.Context, item record.Item, i int) ([]string, bool, error) {
	p, err := m.Prompts.AskPerturbations(m.Form, item.Question, m.Number)
	if err != nil {
		return nil, false, err
	}
	list, err := askList(ctx, m.Ask, llm.Request{
		Kind: llm.Generate, Prompt: p, Decoding: m.Decoding, Seed: m.Seed, Sample: i, Usual: usualList(i, m.Number),
	}, m.Form)
	return list, true, err
}

// askList asks for a list and reads it. What belongs to the request, such as a question that does not fit,
// gives an empty list.
func askList(ctx context.Context, ask Asker, r llm.Request, f prompt.Form) ([]string, error) {
	result := ask.Do(ctx, []llm.Request{r})[0]
	if result.Err != nil {
		_, err := missing(result.Err)
		return nil, err
	}
	text := result.Reply.Text
	if f == prompt.Plain {
		text = prompt.ListMarker + " " + strings.TrimLeft(text, " ")
	}
	list, _ := prompt.ParseList(text, result.Reply.Finish == llm.FinishLength)
	return list, nil
}

// usualList is what a plan takes for batch i of n entries: all differ, as those of a good sampler do.
func usualList(i, n int) string {
	var b strings.Builder
	for k := range n {
		fmt.Fprintf(&b, "%d. An ordinary remark of the usual length, the one numbered %d here.\n", k+1, i*n+k)
	}
	return b.String()
}

// Snippets draws candidates from texts that are there: those of the item where it has some of its own, else
// those for all, without replacement, by a generator that seed and item fix.
type Snippets struct {
	ByItem map[string][]string
	All    []string
	// Number of candidates in a batch.
	Number int
	Seed   uint64
}

// Batch draws; the batches of an item part one order of its texts.
func (s *Snippets) Batch(_ context.Context, item record.Item, i int) ([]string, bool, error) {
	texts := s.ByItem[item.ID]
	if len(texts) == 0 {
		texts = s.All
	}
	from, to := min(i*s.Number, len(texts)), min((i+1)*s.Number, len(texts))
	h := fnv.New64a()
	_, _ = h.Write([]byte(item.ID))
	var batch []string
	for _, k := range order(len(texts), to, rand.New(rand.NewPCG(s.Seed, h.Sum64())))[from:] {
		batch = append(batch, texts[k])
	}
	return batch, to < len(texts), nil
}

// order is the beginning, of length k, of a random order of n numbers: a shuffle that keeps only what moved.
func order(n, k int, random *rand.Rand) []int {
	moved := map[int]int{}
	at := func(i int) int {
		if v, ok := moved[i]; ok {
			return v
		}
		return i
	}
	list := make([]int, k)
	for i := range k {
		j := i + random.IntN(n-i)
		list[i], moved[j] = at(j), at(i)
	}
	return list
}

// Perturbing finds the contexts that are put before questions: candidates go through the guards and the
// filter of package consistency until there are enough.
type Perturbing struct {
	Sampler Sampler
	// Wanted is how many contexts an item should have, AtLeast how few will do. Batches bounds how often the
	// sampler is asked for an item.
	Wanted, AtLeast, Batches int
	MaxCharacters            int
	// Gives says whether a text holds an accepted answer of the item in another way than in the words of a reference;
	// nil looks at words alone.
	Gives func(item record.Item, text string) bool
	// Embed gives vectors, by which candidates as near to each other or to the question as K are refused. Nil
	// compares words alone.
	Embed Asker
	K     float64
}

// Candidate is a text that a sampler gave, and what became of it.
type Candidate struct {
	Text  string
	Batch int
	// Refusal is why it is not used; empty if it is.
	Refusal consistency.Refusal
	// Cosine is that with the nearest context that was kept before; absent where it was not compared.
	Cosine record.Number
}

// Reasons of this package.
const (
	// RefusedNoVector: the model of embeddings gives none for the text.
	RefusedNoVector consistency.Refusal = "no embedding"
	// RefusedSurplus: the item has as many contexts as were wanted.
	RefusedSurplus consistency.Refusal = "not needed"
	// NotCompared: there was nothing to compare with, or another reason came first.
	NotCompared record.Missing = "not compared"
)

// Perturbed is what one item was given.
type Perturbed struct {
	Item string
	// Kept are the contexts to use, in the order in which they were found.
	Kept []string
	// Candidates are all texts that were looked at, in order.
	Candidates []Candidate
	// Batches is how often the sampler was asked.
	Batches int
}

// Refusals counts the candidates by why they were refused.
func (p Perturbed) Refusals() map[consistency.Refusal]int {
	counts := map[consistency.Refusal]int{}
	for _, c := range p.Candidates {
		if c.Refusal != "" {
			counts[c.Refusal]++
		}
	}
	return counts
}

// TooFewError is a sampler that did not give enough contexts that differ.
type TooFewError struct {
	Got             Perturbed
	Wanted, AtLeast int
}

func (e *TooFewError) Error() string {
	var why []string
	refusals := e.Got.Refusals()
	for _, r := range slices.Sorted(maps.Keys(refusals)) {
		why = append(why, fmt.Sprintf("%d %s", refusals[r], r))
	}
	words := fmt.Sprintf("item %s: %d of %d perturbations after %d batches", e.Got.Item, len(e.Got.Kept), e.Wanted, e.Got.Batches)
	if e.AtLeast < e.Wanted {
		words += fmt.Sprintf(" (%d would do)", e.AtLeast)
	}
	if len(e.Got.Candidates) == 0 {
		return words + "; there was no candidate"
	}
	words += fmt.Sprintf("; of %d candidates", len(e.Got.Candidates))
	if len(why) == 0 {
		return words + " all were used"
	}
	return words + " were refused: " + strings.Join(why, ", ")
}

// All finds contexts for every item, in the order of items. Error: a [TooFewError], or asking failed.
func (p *Perturbing) All(ctx context.Context, items []record.Item, pace Pace) ([]Perturbed, error) {
	list := make([]Perturbed, len(items))
	err := eachAt(ctx, len(items), pace, func(ctx context.Context, i int) (err error) {
		list[i], err = p.Item(ctx, items[i])
		return err
	})
	return list, err
}

// eachAt does one thing for the numbers from 0 to n-1.
func eachAt(ctx context.Context, n int, pace Pace, do func(ctx context.Context, i int) error) error {
	at := make([]int, n)
	for i := range at {
		at[i] = i
	}
	_, err := Each(ctx, at, pace.Open, func(ctx context.Context, i int) (struct{}, error) { return struct{}{}, do(ctx, i) }, count[struct{}](pace))
	return err
}

// Item finds the contexts of one item.
func (p *Perturbing) Item(ctx context.Context, item record.Item) (Perturbed, error) {
	s := search{Perturbing: p, item: item, out: Perturbed{Item: item.ID}, guard: consistency.Guard{
		Question: item.Question, References: item.References, Choices: append(slices.Clone(item.Choices), item.Incorrect...),
		MaxCharacters: p.MaxCharacters, StatementsOnly: true,
	}}
	if err := s.run(ctx, item); err != nil {
		return Perturbed{}, fmt.Errorf("item %s, perturbations: %w", item.ID, err)
	}
	if len(s.out.Kept) < min(p.AtLeast, p.Wanted) {
		return Perturbed{}, &TooFewError{s.out, p.Wanted, p.AtLeast}
	}
	return s.out, nil
}

// search is the work on one item.
type search struct {
	*Perturbing
	item     record.Item
	guard    consistency.Guard
	pool     *consistency.Pool
	question []float32
	out      Perturbed
}

func (s *search) run(ctx context.Context, item record.Item) (err error) {
	if s.Embed != nil {
		if s.pool, err = consistency.NewPool(s.K); err != nil {
			return err
		}
		vectors, err := vectorsOf(ctx, s.Embed, []string{item.Question})
		if err != nil {
			return err
		}
		s.question = vectors[0]
	}
	for more := true; more && len(s.out.Kept) < s.Wanted && s.out.Batches < s.Batches; s.out.Batches++ {
		var candidates []string
		if candidates, more, err = s.Sampler.Batch(ctx, item, s.out.Batches); err != nil {
			return err
		}
		if err := s.take(ctx, candidates); err != nil {
			return err
		}
	}
	return nil
}

// take looks at the candidates of a batch: at their words first, so that only what could be used is embedded.
func (s *search) take(ctx context.Context, candidates []string) error {
	from := len(s.out.Candidates)
	var texts []string
	for _, text := range candidates {
		text = prompt.OneLine(text)
		refusal, err := s.guard.Refuses(text, nil)
		if err != nil {
			return err
		}
		if refusal == "" && s.Gives != nil && s.Gives(s.item, text) {
			refusal = consistency.RefusedReference
		}
		s.out.Candidates = append(s.out.Candidates, Candidate{Text: text, Batch: s.out.Batches, Refusal: refusal, Cosine: record.Absent(NotCompared)})
		if refusal == "" {
			texts = append(texts, text)
		}
	}
	vectors := make([][]float32, len(texts))
	if s.Embed != nil {
		var err error
		if vectors, err = vectorsOf(ctx, s.Embed, texts); err != nil {
			return err
		}
	}
	for i := from; i < len(s.out.Candidates); i++ {
		c := &s.out.Candidates[i]
		if c.Refusal != "" {
			continue
		}
		if err := s.offer(c, vectors[0]); err != nil {
			return err
		}
		vectors = vectors[1:]
		if c.Refusal == "" {
			s.out.Kept = append(s.out.Kept, c.Text)
		}
	}
	return nil
}

// offer compares a candidate with the question and with what was kept.
func (s *search) offer(c *Candidate, vector []float32) error {
	switch {
	case len(s.out.Kept) == s.Wanted:
		c.Refusal = RefusedSurplus
		return nil
	case slices.ContainsFunc(s.out.Kept, func(kept string) bool { return consistency.SameWords(kept, c.Text) }):
		c.Refusal = consistency.RefusedRepeat
		return nil
	case s.Embed == nil:
		return nil
	case vector == nil:
		c.Refusal = RefusedNoVector
		return nil
	}
	if s.question != nil {
		guard := s.guard
		guard.QuestionVector, guard.K = s.question, s.K
		var err error
		if c.Refusal, err = guard.Refuses(c.Text, vector); err != nil || c.Refusal != "" {
			return err
		}
	}
	offer, err := s.pool.Offer(vector)
	if err != nil {
		return err
	}
	if offer.Nearest >= 0 {
		c.Cosine = record.Known(offer.Cosine)
	}
	if !offer.Kept {
		c.Refusal = consistency.RefusedAlike
	}
	return nil
}

// vectorsOf asks for the vectors of texts; nil for one that the model gives none for.
func vectorsOf(ctx context.Context, ask Asker, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	requests := make([]llm.Request, len(texts))
	for i, text := range texts {
		requests[i] = llm.Request{Kind: llm.Embed, Prompt: llm.Prompt{Text: text}}
	}
	vectors := make([][]float32, len(texts))
	for i, result := range ask.Do(ctx, requests) {
		if result.Err != nil {
			if _, err := missing(result.Err); err != nil {
				return nil, err
			}
			continue
		}
		vectors[i] = result.Reply.Embedding
	}
	return vectors, nil
}
