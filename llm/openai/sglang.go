package openai

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/internal/wire"
	"github.com/credence-lab/credence/record"
)

// sglang is asked by its own route. The log-probabilities of given tokens are those of the model; those of
// sampled ones are of the distribution that was sampled from, so what was sampled is scored again.
type sglang struct {
	client *client
	model  string
}

func (s *sglang) meet(ctx context.Context) (facts, error) {
	m, f, err := meetSGLang(ctx, s.client)
	if err != nil {
		return f, err
	}
	s.model = m
	f.chat, err = hasChat(s.prompt(ctx, llm.Chat("Hello?", "")))
	return f, err
}

// meetSGLang reads the model and its length, and the version where the server tells it.
func meetSGLang(ctx context.Context, c *client) (string, facts, error) {
	list, err := models(ctx, c)
	if err != nil {
		return "", facts{}, err
	}
	m, err := choose(list, c.c.Model)
	if err != nil {
		return "", facts{}, err
	}
	f := facts{model: m.ID, context: m.MaxLen, settings: map[string]string{}}
	var info struct {
		Version string `json:"version"`
	}
	for _, path := range []string{"/server_info", "/get_server_info"} { // the second is the older name
		err := c.Get(ctx, path, wire.Into(&info))
		if err == nil {
			f.version = info.Version
			break
		}
		if failed, ok := wire.AsError(err); !ok || failed.Kind != Refused {
			return "", facts{}, err
		}
	}
	if m.Root != "" && m.Root != m.ID {
		f.settings["weights"] = wire.Line(m.Root)
	}
	return m.ID, f, nil
}

func (s *sglang) prompt(ctx context.Context, p llm.Prompt) ([]int32, error) {
	return tokenisePrompt(ctx, s.client, s.model, p)
}

func (s *sglang) answer(ctx context.Context, text string) ([]record.Token, error) {
	ids, err := tokenise(ctx, s.client, map[string]any{"model": s.model, "prompt": text, "add_special_tokens": false})
	return unspelt(ids), err
}

type sglangRequest struct {
	IDs      []int32        `json:"input_ids"`
	Sampling map[string]any `json:"sampling_params"`
	LogProbs bool           `json:"return_logprob"`
	Start    int            `json:"logprob_start_len"`
	Top      int            `json:"top_logprobs_num,omitempty"`
	Texts    bool           `json:"return_text_in_logprobs"`
}

type sglangAnswer struct {
	Text *string `json:"text"`
	Meta struct {
		Finish *struct {
			Type    string `json:"type"`
			Matched any    `json:"matched"`
		} `json:"finish_reason"`
		Prompt    *int      `json:"prompt_tokens"`
		Input     []triple  `json:"input_token_logprobs"`
		Output    []triple  `json:"output_token_logprobs"`
		InputTop  []triples `json:"input_top_logprobs"`
		OutputTop []triples `json:"output_top_logprobs"`
	} `json:"meta_info"`
}

// triple is a token as SGLang writes it: value, id, text; value and text may be null.
type triple struct {
	value *float64
	id    int32
	text  string
}

// UnmarshalJSON reads a list of two or three.
func (t *triple) UnmarshalJSON(raw []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || len(list) < 2 || len(list) > 3 {
		return fmt.Errorf("a token is no list of value, id and text")
	}
	if err := json.Unmarshal(list[0], &t.value); err != nil {
		return err
	}
	if err := json.Unmarshal(list[1], &t.id); err != nil {
		return err
	}
	if len(list) == 3 && string(list[2]) != "null" {
		return json.Unmarshal(list[2], &t.text)
	}
	return nil
}

// triples are the most probable tokens at a position.
type triples []triple

// top are their values, as of [descending]; nil also where a token is told twice.
func (list triples) top() []float64 {
	values, seen := make([]*float64, len(list)), map[int32]bool{}
	for i, t := range list {
		if seen[t.id] {
			return nil
		}
		values[i], seen[t.id] = t.value, true
	}
	return descending(values)
}

// force asks for values from the prompt's last token on: the list then begins with that token, without a
// value, and the prompt before it may come from the server's cache.
func (s *sglang) force(ctx context.Context, prompt []int32, g gaps) ([]string, error) {
	ids := append(prompt[:len(prompt):len(prompt)], idsOf(g.tokens)...)
	body := sglangRequest{
		IDs: ids, LogProbs: true, Texts: true, Start: len(prompt) - 1, Top: g.k,
		Sampling: map[string]any{"max_new_tokens": 0, "temperature": 0},
	}
	var a sglangAnswer
	texts := make([]string, len(g.tokens))
	err := s.client.Post(ctx, "/generate", len(ids), body, wire.Checked(&a, func(a *sglangAnswer) error {
		if n := a.Meta.Prompt; n != nil && *n != len(ids) {
			return &Error{Kind: Malformed, Final: true, What: fmt.Sprintf("%d token ids were sent, the answer is about %d", len(ids), *n)}
		}
		if len(a.Meta.Input) != len(g.tokens)+1 {
			return wire.Malformedf("%d values for %d tokens of the answer", len(a.Meta.Input)-1, len(g.tokens))
		}
		top := make([]triples, len(a.Meta.Input)) // none where the server tells none
		if len(a.Meta.InputTop) == len(top) {
			top = a.Meta.InputTop
		}
		return g.fillTriples(a.Meta.Input[1:], top[1:], texts)
	}))
	return texts, err
}

// fillTriples takes values and texts of tokens, whose ids must be the same.
func (g gaps) fillTriples(list []triple, top []triples, texts []string) error {
	for i, t := range list {
		if t.id != g.tokens[i].ID {
			return wire.Malformedf("token %d of the answer is %d, the value is of %d", i+1, g.tokens[i].ID, t.id)
		}
		x, err := logProb(t.value)
		if err != nil {
			return atToken(err, i, len(g.tokens))
		}
		texts[i] = t.text
		g.fill(i, x, top[i].top())
	}
	return nil
}

func (s *sglang) complete(ctx context.Context, prompt []int32, r llm.Request) (completion, error) {
	d := r.Decoding
	sampling := map[string]any{
		"max_new_tokens": d.MaxTokens, "temperature": d.Temperature, "top_p": orOne(d.TopP), "top_k": orAll(d.TopK),
		"min_p": d.MinP, "repetition_penalty": orOne(d.RepetitionPenalty), "no_stop_trim": true,
	}
	if len(d.Stop) > 0 {
		sampling["stop"] = d.Stop
	}
	if d.Temperature > 0 {
		sampling["sampling_seed"] = seedOf(r)
	}
	body := sglangRequest{IDs: prompt, Sampling: sampling, LogProbs: true, Texts: true, Start: -1, Top: r.Details.Alternatives}
	var a sglangAnswer
	var out completion
	err := s.client.Post(ctx, "/generate", len(prompt)+d.MaxTokens, body, wire.Checked(&a, func(a *sglangAnswer) (err error) {
		if n := a.Meta.Prompt; n != nil && *n != len(prompt) {
			return &Error{Kind: Malformed, Final: true, What: fmt.Sprintf("%d token ids were sent, the answer is about %d", len(prompt), *n)}
		}
		out, err = a.completion(plainDecoding(d))
		return err
	}))
	return out, err
}

// plainDecoding reports whether what SGLang tells of generated tokens are the model's own values: greedy,
// and nothing changed before the choice.
func plainDecoding(d llm.Decoding) bool {
	return d.Temperature == 0 && orOne(d.RepetitionPenalty) == 1
}

func (a *sglangAnswer) completion(raw bool) (completion, error) {
	if a.Text == nil {
		return completion{}, wire.Malformedf("an answer without a text")
	}
	out := completion{text: *a.Text}
	if a.Meta.Finish == nil {
		return out, wire.Malformedf("no finish reason")
	}
	switch a.Meta.Finish.Type {
	case "length":
		out.finish = llm.FinishLength
	case "stop":
		out.finish = llm.FinishEnd
		if _, byWord := a.Meta.Finish.Matched.(string); byWord {
			out.finish = llm.FinishStop
		}
	default:
		return out, wire.Malformedf("finish reason %q", wire.Line(a.Meta.Finish.Type))
	}
	if a.Meta.Output == nil {
		out.why = "the server gives no log-probability for each token"
		return out, nil
	}
	list := make([]told, len(a.Meta.Output))
	for i, t := range a.Meta.Output {
		list[i] = told{id: t.id, text: t.text, value: t.value}
		if len(a.Meta.OutputTop) == len(list) {
			list[i].top = a.Meta.OutputTop[i].top()
		}
	}
	err := out.takeTold(list, raw, out.finish == llm.FinishEnd)
	return out, err
}

// sglangOpenAI is SGLang by its OpenAI-compatible routes, for servers behind a gateway that passes no
// others but tokenisation. The prompt's values come with its echo.
type sglangOpenAI struct {
	completions
}

func (s *sglangOpenAI) meet(ctx context.Context) (facts, error) {
	m, f, err := meetSGLang(ctx, s.client)
	if err != nil {
		return f, err
	}
	s.model = m
	f.chat, err = hasChat(s.prompt(ctx, llm.Chat("Hello?", "")))
	return f, err
}

func (s *sglangOpenAI) prompt(ctx context.Context, p llm.Prompt) ([]int32, error) {
	return tokenisePrompt(ctx, s.client, s.model, p)
}

func (s *sglangOpenAI) answer(ctx context.Context, text string) ([]record.Token, error) {
	ids, err := tokenise(ctx, s.client, map[string]any{"model": s.model, "prompt": text, "add_special_tokens": false})
	return unspelt(ids), err
}

func (s *sglangOpenAI) force(ctx context.Context, prompt []int32, g gaps) ([]string, error) {
	ids := append(prompt[:len(prompt):len(prompt)], idsOf(g.tokens)...)
	body := s.greedy(ids)
	told := max(1, g.k)
	body.Echo, body.LogProbs = true, &told
	var a completionAnswer
	texts := make([]string, len(g.tokens))
	err := s.client.Post(ctx, completionsPath, len(ids)+1, body, wire.Checked(&a, func(a *completionAnswer) error {
		if err := a.single(); err != nil {
			return err
		}
		c := a.Choices[0]
		if c.PromptIDs != nil {
			if err := sameIDs(ids, c.PromptIDs); err != nil {
				return err
			}
		}
		if c.LogProbs == nil || len(c.LogProbs.Values) != len(c.LogProbs.Tokens) || len(c.LogProbs.Values) != len(ids)+1 {
			n := 0
			if c.LogProbs != nil {
				n = len(c.LogProbs.Values)
			}
			return wire.Malformedf("%d values for a prompt of %d tokens and one more; does the server ignore echo?", n, len(ids))
		}
		for i := range g.tokens {
			at := len(prompt) + i
			x, err := logProb(c.LogProbs.Values[at])
			if err != nil {
				return atToken(err, i, len(g.tokens))
			}
			texts[i] = c.LogProbs.Tokens[at]
			var top []float64
			if len(c.LogProbs.Top) == len(ids)+1 {
				top = c.LogProbs.Top[at].whole(g.k, nil, false)
			}
			g.fill(i, x, top)
		}
		return nil
	}))
	return texts, err
}

func (s *sglangOpenAI) complete(ctx context.Context, prompt []int32, r llm.Request) (completion, error) {
	body := s.request(prompt, r)
	body.NoStopTrim = len(r.Decoding.Stop) > 0
	var a completionAnswer
	var out completion
	err := s.client.Post(ctx, completionsPath, len(prompt)+r.Decoding.MaxTokens, body, wire.Checked(&a, func(a *completionAnswer) (err error) {
		if err = a.single(); err != nil {
			return err
		}
		out, err = a.completion(reading{raw: plainDecoding(r.Decoding), top: r.Details.Alternatives})
		return err
	}))
	return out, err
}
