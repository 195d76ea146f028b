package collect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// Consistency says what is asked of every item so that its cross-contextual consistency can be measured:
// answers to the question as it stands, after contexts that should not matter, and in other words ("Is This
// Your Final Answer?", Wu, Jiang and Aragam 2026, sections 3 and 4, appendix J).
type Consistency struct {
	Setting record.Setting
	Prompts *prompt.Set
	Form    prompt.Form
	// Prompt asks for the answer alone. Lettered says that it shows options and asks for a letter.
	Prompt   prompt.Name
	Lettered bool
	// Label is the prompt's name in the answers' origin; it differs from Prompt where answers are read
	// otherwise than by others who ask with it.
	Label string
	// Read takes the answer from a reply; options is how many the prompt showed. truncated says that the reply
	// ended at its token limit.
	Read func(reply string, truncated bool, options int) (text string, missing record.Missing)
	// Samples of the original prompt are drawn by Sampling, whose temperature is above 0, from generators of
	// Seed and the number of the sample; so are those that follow.
	Samples  int
	Sampling llm.Decoding
	Seed     uint64
	// Contexts are put before the question, each once. Paraphrases take its place, each once.
	Contexts    []Contexts
	Paraphrases map[string][]string
	// OptionSeed fixes the order of shuffled options; see [OptionsOf].
	OptionSeed uint64
}

// Contexts are those of one source, by item.
type Contexts struct {
	Source string
	ByItem map[string][]string
}

// Trial is one answer, with the context that stood before the question or the question's other words; empty
// for the question as it stands.
type Trial struct {
	record.Answer
	Context      string
	Reproducible bool
}

// Trials is what one item gave.
type Trials struct {
	Item     string
	Original []Trial
	// Perturbed is in the order of [Consistency.Contexts].
	Perturbed   [][]Trial
	Paraphrased []Trial
	// Gold is the letter of the accepted option where options were shown.
	Gold string
	// Missing says why the item was not asked at all.
	Missing record.Missing
}

// NoOptions: the item has no options of which exactly one is accepted, and was to be asked for a letter.
const NoOptions record.Missing = "no options"

// All asks of every item and returns what they gave in the order of items; see [Spec.All].
func (c *Consistency) All(ctx context.Context, ask Asker, items []record.Item, p Pace) ([]Trials, error) {
	list := make([]Trials, len(items))
	err := eachAt(ctx, len(items), p, func(ctx context.Context, i int) (err error) {
		list[i], err = c.Item(ctx, ask, items[i])
		return err
	})
	return list, err
}

// Item asks for everything of one item at once. Errors are as for [Spec.Item].
func (c *Consistency) Item(ctx context.Context, ask Asker, item record.Item) (Trials, error) {
	out := Trials{Item: item.ID, Perturbed: make([][]Trial, len(c.Contexts))}
	w := &wording{Consistency: c, item: item}
	if c.Lettered {
		options, ok := OptionsOf(item, c.OptionSeed)
		if !ok {
			out.Missing = NoOptions
			return out, nil
		}
		w.options, out.Gold = options.Texts, options.Gold
	}
	if err := w.all(&out); err != nil {
		return Trials{}, fmt.Errorf("item %s: %w", item.ID, err)
	}
	for i, result := range ask.Do(ctx, w.requests) {
		if err := c.read(w.into[i](), result, len(w.options)); err != nil {
			return Trials{}, fmt.Errorf("item %s: %w", item.ID, err)
		}
	}
	return out, nil
}

// wording makes the requests of one item and a place for each reply.
type wording struct {
	*Consistency
	item     record.Item
	options  []string
	requests []llm.Request
	into     []func() *Trial
}

func (w *wording) all(out *Trials) error {
	for i := range w.Samples {
		if err := w.add(&out.Original, "", w.item.Question, "", i); err != nil {
			return err
		}
	}
	for k, source := range w.Contexts {
		for i, context := range source.ByItem[w.item.ID] {
			if err := w.add(&out.Perturbed[k], PerturbedLabel(source.Source), context+" "+w.item.Question, context, i); err != nil {
				return err
			}
		}
	}
	for i, question := range w.Paraphrases[w.item.ID] {
		if err := w.add(&out.Paraphrased, ParaphrasedLabel, question, question, i); err != nil {
			return err
		}
	}
	return nil
}

// ParaphrasedLabel, behind the prompt's name and a slash, marks answers to paraphrased questions.
const ParaphrasedLabel = "paraphrased"

// PerturbedLabel marks answers to a question after a context of the source.
func PerturbedLabel(source string) string { return "after-" + source }

// add asks one question. Sample numbers begin at 1: number 0 is the greedy answer.
func (w *wording) add(list *[]Trial, label, question, context string, sample int) error {
	text := question
	if w.Lettered {
		var err error
		if text, err = prompt.WithOptions(question, w.options); err != nil {
			return err
		}
	}
	p, err := w.Prompts.Ask(w.Prompt, w.Form, text)
	if err != nil {
		return err
	}
	w.requests = append(w.requests, llm.Request{Kind: llm.Generate, Prompt: p, Decoding: w.Sampling, Seed: w.Seed, Sample: sample, Usual: usualText(sample)})
	origin := record.Origin{Source: record.Generated, Prompt: strings.Trim(w.Label+"/"+label, "/"), Sample: sample + 1}
	*list = append(*list, Trial{Context: context, Answer: record.Answer{ID: record.AnswerID{Setting: w.Setting, Item: w.item.ID, Origin: origin}}})
	at := len(*list) - 1
	w.into = append(w.into, func() *Trial { return &(*list)[at] })
	return nil
}

func (c *Consistency) read(t *Trial, result llm.Result, options int) error {
	if result.Err != nil {
		why, err := missing(result.Err)
		t.Missing = why
		return err
	}
	reply := result.Reply
	t.Reply, t.Truncated, t.Reproducible = reply.Text, reply.Finish == llm.FinishLength, reply.Reproducible
	t.Text, t.Missing = c.Read(reply.Text, t.Truncated, options)
	return nil
}

// Texts are the answers of trials that have one.
func Texts(trials ...[]Trial) []string {
	var texts []string
	for _, t := range slices.Concat(trials...) {
		if t.Missing == record.Present {
			texts = append(texts, t.Text)
		}
	}
	return texts
}
