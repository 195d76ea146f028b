package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llamacpp"
)

// with loads an engine that holds so many texts, for as long as f works.
func (b *bench) with(ctx context.Context, sequences int, f func(llm.Engine) error) (err error) {
	c := b.config
	c.Sequences = sequences
	e, err := llamacpp.New(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := warm(ctx, e); err != nil {
		return err
	}
	return f(e)
}

// warm loads the weights.
func warm(ctx context.Context, e llm.Engine) error {
	_, err := ask(ctx, e, score("Warm.", " up"))
	return err
}

func score(text, answer string) llm.Request {
	return llm.Request{Kind: llm.Score, Prompt: llm.Prompt{Text: text}, Answer: answer}
}

// ask asks for all and returns how long it took; the first error counts.
func ask(ctx context.Context, e llm.Engine, reqs ...llm.Request) (asked, error) {
	start := time.Now()
	results := e.Do(ctx, reqs)
	a := asked{took: time.Since(start).Seconds()}
	for _, r := range results {
		if r.Err != nil {
			return a, r.Err
		}
		a.prompt += len(r.Reply.PromptIDs)
		a.tokens += len(r.Reply.Tokens)
	}
	return a, nil
}

// asked is what was asked at once: prompt tokens, tokens of answers, seconds.
type asked struct {
	prompt, tokens int
	took           float64
}

// best repeats a measurement and returns the highest rate: what else a machine does only slows it down.
func (b *bench) best(f func(round int) (float64, error)) (float64, error) {
	best := 0.
	for round := range b.rounds {
		rate, err := f(round)
		if err != nil {
			return 0, err
		}
		best = max(best, rate)
	}
	return best, nil
}

var words = strings.Fields("river stone under light seven after green market slow table north letter against morning paper window cold bridge never silver")

// prose is n words that no other k begins with; about a token each.
func prose(k, n int) string {
	var s strings.Builder
	fmt.Fprintf(&s, "Note %d:", k)
	for i := range n {
		s.WriteByte(' ')
		s.WriteString(words[(k*7+i*i+i*(k%13))%len(words)])
	}
	return s.String()
}

// promptRate is tokens a second of prompts of some 512 tokens, one at a time.
func (b *bench) promptRate(ctx context.Context) (rate float64, err error) {
	err = b.with(ctx, 2, func(e llm.Engine) error {
		rate, err = b.best(func(round int) (float64, error) {
			a, err := ask(ctx, e, score(prose(round, 505), " end"))
			return float64(a.prompt) / a.took, err
		})
		return err
	})
	return rate, err
}

// generationRate is tokens a second of n texts that go on at once, without their prompts: what the tokens
// after the first few take.
func (b *bench) generationRate(ctx context.Context, n int) (rate float64, err error) {
	err = b.with(ctx, n, func(e llm.Engine) error {
		rate, err = b.best(func(round int) (float64, error) {
			text := prose(1000+round, 60)
			short, err := ask(ctx, e, samples(text, n, 4)...)
			if err != nil {
				return 0, err
			}
			long, err := ask(ctx, e, samples(text, n, 28)...) // the prompt is in the cells by now
			if err != nil {
				return 0, err
			}
			again, err := ask(ctx, e, samples(text, n, 4)...)
			if err != nil {
				return 0, err
			}
			return float64(long.tokens-short.tokens) / (long.took - min(short.took, again.took)), nil
		})
		return err
	})
	return rate, err
}

func samples(text string, n, tokens int) []llm.Request {
	var reqs []llm.Request
	for i := range n {
		reqs = append(reqs, llm.Request{
			Kind: llm.Generate, Prompt: llm.Prompt{Text: text}, Sample: i, Seed: 1,
			Decoding: llm.Decoding{MaxTokens: tokens, Temperature: 1},
		})
	}
	return reqs
}

// sharing holds ten answers in one context against ten contexts with one answer each.
func (b *bench) sharing(ctx context.Context) error {
	fmt.Println("Ten 5-token answers after 100 tokens")
	const n = 10
	return b.with(ctx, 16, func(e llm.Engine) error {
		var rates [2]float64
		for i, contexts := range []int{n, 1} {
			var err error
			rates[i], err = b.best(func(round int) (float64, error) {
				var reqs []llm.Request
				for k := range n {
					place := 2000*(i+1) + round*n + k%contexts
					reqs = append(reqs, score(prose(place, 95), " "+words[k]+" two three four five"))
				}
				a, err := ask(ctx, e, reqs...)
				return n / a.took, err
			})
			if err != nil {
				return err
			}
		}
		told("each in a context of its own", rates[0], "answers/s")
		told("all in one context", rates[1], "answers/s")
		ratio := rates[1] / rates[0]
		wanted("ratio", ratio, "", ratio >= 5, ">= 5")
		fmt.Println()
		return nil
	})
}

// samples holds thirty samples of one prompt, prompt and all, against the rate of generation in batches.
func (b *bench) samples(ctx context.Context) error {
	fmt.Println("Thirty samples of 24 tokens at temperature 1, after 60 tokens")
	const n, tokens = 30, 24
	steady, err := b.generationRate(ctx, n)
	if err != nil {
		return err
	}
	return b.with(ctx, n, func(e llm.Engine) error {
		rate, err := b.best(func(round int) (float64, error) {
			a, err := ask(ctx, e, samples(prose(5000+round, 55), n, tokens)...)
			return float64(a.tokens) / a.took, err
		})
		if err != nil {
			return err
		}
		told("generation rate of 30 texts at once", steady, "tokens/s")
		told("samples with their prompt", rate, "tokens/s")
		wanted("share of the rate", rate/steady, "", rate >= .8*steady, ">= 0.8")
		fmt.Println()
		return nil
	})
}
