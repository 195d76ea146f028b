package openai

import (
	"context"
	"fmt"
	"strings"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/internal/wire"
	"github.com/credence-lab/credence/record"
)

// vllm reads an answer's log-probabilities off the prompt: context and answer are sent as one prompt of
// ids, and the server tells each prompt token's value, raw whatever the sampling. It makes one token more,
// which is dropped.
type vllm struct{ completions }

func (v *vllm) meet(ctx context.Context) (facts, error) {
	var f facts
	var version struct {
		Version string `json:"version"`
	}
	if err := v.client.Get(ctx, "/version", wire.Into(&version)); err != nil {
		return f, err
	}
	list, err := models(ctx, v.client)
	if err != nil {
		return f, err
	}
	m, err := choose(list, v.client.c.Model)
	if err != nil {
		return f, err
	}
	v.model = m.ID
	f = facts{model: m.ID, version: version.Version, context: m.MaxLen, settings: map[string]string{}}
	if m.Root != "" && m.Root != m.ID {
		f.settings["weights"] = wire.Line(m.Root)
	}
	if f.chat, err = hasChat(v.prompt(ctx, llm.Chat("Hello?", ""))); err != nil {
		return f, err
	}
	f.alternatives, err = v.most(ctx)
	return f, err
}

// most makes a token to see how many alternatives the server may be asked for (--max-logprobs).
func (v *vllm) most(ctx context.Context) (*int, error) {
	ids, err := v.prompt(ctx, llm.Prompt{Text: "a b"})
	if err != nil {
		return nil, err
	}
	return mostOf(mostTop, func(n int) (found int, err error) {
		body := v.greedy(ids)
		body.LogProbs = &n
		var a completionAnswer
		err = v.client.Post(ctx, completionsPath, len(ids)+1, body, wire.Checked(&a, func(a *completionAnswer) error {
			if err := a.single(); err != nil {
				return err
			}
			if told := a.Choices[0].LogProbs; told != nil && len(told.Top) > 0 {
				found = n
			}
			return nil
		}))
		return found, err
	})
}

// hasChat reads a trial of a chat template: a server that refuses has none.
func hasChat(_ []int32, err error) (bool, error) {
	if err == nil {
		return true, nil
	}
	if failed, ok := wire.AsError(err); ok && failed.Kind == Refused {
		return false, nil
	}
	return false, err
}

// tokenised is what /tokenize answers.
type tokenised struct {
	Tokens []int32  `json:"tokens"`
	Texts  []string `json:"token_strs"`
	Count  *int     `json:"count"`
}

func (t *tokenised) counted() error {
	if t.Tokens == nil {
		return wire.Malformedf("the answer has no %q", "tokens")
	}
	if t.Count != nil && *t.Count != len(t.Tokens) {
		return wire.Malformedf("%d tokens, said to be %d", len(t.Tokens), *t.Count)
	}
	return nil
}

func (v *vllm) prompt(ctx context.Context, p llm.Prompt) ([]int32, error) {
	return tokenisePrompt(ctx, v.client, v.model, p)
}

// tokenisePrompt renders and tokenises on vLLM and SGLang, whose routes are alike. The opening is
// tokenised apart: the chat before it ends in a special token or a line break.
func tokenisePrompt(ctx context.Context, c *client, model string, p llm.Prompt) ([]int32, error) {
	if p.Text != "" {
		return tokenise(ctx, c, map[string]any{"model": model, "prompt": p.Text, "add_special_tokens": !p.NoBOS})
	}
	body := map[string]any{"model": model, "messages": p.Messages, "add_generation_prompt": true, "add_special_tokens": false}
	if c.c.Thinking == ThinkingOff {
		body["chat_template_kwargs"] = map[string]any{"enable_thinking": false}
	}
	ids, err := tokenise(ctx, c, body)
	if err != nil || p.Opening == "" {
		return ids, err
	}
	more, err := tokenise(ctx, c, map[string]any{"model": model, "prompt": p.Opening, "add_special_tokens": false})
	return append(ids, more...), err
}

func tokenise(ctx context.Context, c *client, body map[string]any) ([]int32, error) {
	t, err := tokeniseWith(ctx, c, body)
	return t.Tokens, err
}

func tokeniseWith(ctx context.Context, c *client, body map[string]any) (tokenised, error) {
	var t tokenised
	err := c.Post(ctx, "/tokenize", 0, body, wire.Checked(&t, (*tokenised).counted))
	return t, err
}

// anchor is a text that every vocabulary has a token for, which an answer is put after where the
// vocabulary would put a blank before an answer that stands alone.
const anchor = "\n"

func (v *vllm) answer(ctx context.Context, text string) ([]record.Token, error) {
	alone := func(s string) (tokenised, error) {
		return tokeniseWith(ctx, v.client, map[string]any{"model": v.model, "prompt": s, "add_special_tokens": false, "return_token_strs": true})
	}
	t, err := alone(text)
	if err != nil {
		return nil, err
	}
	ids := t.Tokens
	if len(t.Texts) > 0 && strings.HasPrefix(t.Texts[0], "▁") && !strings.HasPrefix(text, " ") {
		before, err := alone(anchor)
		if err != nil {
			return nil, err
		}
		after, err := alone(anchor + text)
		if err != nil {
			return nil, err
		}
		n := len(before.Tokens)
		if len(after.Tokens) <= n || sameIDs(before.Tokens, after.Tokens[:n]) != nil {
			return nil, fmt.Errorf("answer %q: %w: the vocabulary puts a blank before it", wire.Line(text), llm.ErrNotSupported)
		}
		ids = after.Tokens[n:]
	}
	return unspelt(ids), nil
}

func unspelt(ids []int32) []record.Token {
	tokens := make([]record.Token, len(ids))
	for i, id := range ids {
		tokens[i].ID = id
	}
	return tokens
}

func idsOf(tokens []record.Token) []int32 {
	ids := make([]int32, len(tokens))
	for i, t := range tokens {
		ids[i] = t.ID
	}
	return ids
}

func (v *vllm) force(ctx context.Context, prompt []int32, g gaps) ([]string, error) {
	ids := append(prompt[:len(prompt):len(prompt)], idsOf(g.tokens)...)
	body := v.greedy(ids)
	body.PromptLogProbs = &g.k
	var a completionAnswer
	texts := make([]string, len(g.tokens))
	err := v.client.Post(ctx, completionsPath, len(ids)+1, body, wire.Checked(&a, func(a *completionAnswer) error {
		if err := a.single(); err != nil {
			return err
		}
		c := a.Choices[0]
		if c.PromptIDs != nil {
			if err := sameIDs(ids, c.PromptIDs); err != nil {
				return err
			}
		}
		if len(c.PromptLogProbs) != len(ids) {
			return wire.Malformedf("%d prompt log-probabilities for %d tokens", len(c.PromptLogProbs), len(ids))
		}
		for i, t := range g.tokens {
			at := c.PromptLogProbs[len(prompt)+i]
			one, ok := at[t.ID]
			if !ok {
				return wire.Malformedf("no log-probability of token %d of the answer", i+1)
			}
			x, err := logProb(one.LogProb)
			if err != nil {
				return atToken(err, i, len(g.tokens))
			}
			texts[i] = one.Text
			g.fill(i, x, at.top())
		}
		return nil
	}))
	return texts, err
}

// atToken says of which token an error is. That of a value that a server cannot write is final.
func atToken(err error, i, n int) *Error {
	if failed, ok := wire.AsError(err); ok {
		failed.What = fmt.Sprintf("token %d of %d: %s", i+1, n, failed.What)
		return failed
	}
	return &Error{Kind: Refused, What: fmt.Sprintf("token %d of %d: %v", i+1, n, err), Cause: llm.ErrNoLogProb}
}

func (v *vllm) complete(ctx context.Context, prompt []int32, r llm.Request) (completion, error) {
	body := v.request(prompt, r)
	body.IncludeStop = len(r.Decoding.Stop) > 0
	var a completionAnswer
	var out completion
	err := v.client.Post(ctx, completionsPath, len(prompt)+r.Decoding.MaxTokens, body, wire.Checked(&a, func(a *completionAnswer) (err error) {
		if err = a.single(); err != nil {
			return err
		}
		if ids := a.Choices[0].PromptIDs; ids != nil {
			if err := sameIDs(prompt, ids); err != nil {
				return err
			}
		}
		out, err = a.completion(reading{raw: true, top: r.Details.Alternatives, besides: true})
		return err
	}))
	return out, err
}
