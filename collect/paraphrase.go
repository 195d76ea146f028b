package collect

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/credence-lab/credence/consistency"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/record"
)

// Paraphrasing asks a language model for other ways to say a text.
type Paraphrasing struct {
	Ask     Asker
	Prompts *prompt.Set
	Form    prompt.Form
	// Wanted is how many ways a text should have; Number are asked for at once, at most Batches times.
	Wanted, Number, Batches int
	Decoding                llm.Decoding
	Seed                    uint64
}

// Paraphrased is what one text was given.
type Paraphrased struct {
	Kept    []string
	Refused map[consistency.Refusal]int
	Batches int
}

// All paraphrases the question of every item, in the order of items. Fewer than wanted are no error: they
// are counted where they are used.
func (p *Paraphrasing) All(ctx context.Context, items []record.Item, pace Pace) ([]Paraphrased, error) {
	list := make([]Paraphrased, len(items))
	err := eachAt(ctx, len(items), pace, func(ctx context.Context, i int) (err error) {
		list[i], err = p.Text(ctx, items[i].Question, items[i].References)
		if err != nil {
			err = fmt.Errorf("item %s, paraphrases: %w", items[i].ID, err)
		}
		return err
	})
	return list, err
}

// Text paraphrases one text. Refused are what repeats the text or another way, what is empty or far longer than
// the text, and what holds an accepted answer that the text does not hold.
func (p *Paraphrasing) Text(ctx context.Context, text string, references []string) (Paraphrased, error) {
	out := Paraphrased{Refused: map[consistency.Refusal]int{}}
	guard := consistency.Guard{Question: text, MaxCharacters: longest(text)}
	for _, r := range references {
		if !consistency.Occurs(r, text) {
			guard.References = append(guard.References, r)
		}
	}
	ask, err := p.Prompts.AskParaphrases(p.Form, text, p.Number)
	if err != nil {
		return out, err
	}
	for ; len(out.Kept) < p.Wanted && out.Batches < p.Batches; out.Batches++ {
		list, err := askList(ctx, p.Ask, llm.Request{
			Kind: llm.Generate, Prompt: ask, Decoding: p.Decoding, Seed: p.Seed, Sample: out.Batches, Usual: usualList(out.Batches, p.Number),
		}, p.Form)
		if err != nil {
			return out, err
		}
		for _, way := range list {
			refusal, err := guard.Refuses(way, nil)
			switch {
			case err != nil:
				return out, err
			case refusal == "" && slices.ContainsFunc(out.Kept, func(kept string) bool { return consistency.SameWords(kept, way) }):
				refusal = consistency.RefusedRepeat
			}
			switch {
			case refusal != "":
				out.Refused[refusal]++
			case len(out.Kept) < p.Wanted:
				out.Kept = append(out.Kept, way)
			}
		}
	}
	return out, nil
}

// longest is how many characters a paraphrase may have: three times those of the text, and some.
func longest(text string) int { return 3*utf8.RuneCountInString(text) + 100 }
