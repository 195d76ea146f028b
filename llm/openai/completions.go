package openai

import (
	"errors"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/internal/wire"
	"github.com/credence-lab/credence/record"
)

// completions is OpenAI's older route in the form that vLLM and SGLang give it: prompts and replies in
// token ids.
type completions struct {
	client *client
	model  string
}

const completionsPath = "/v1/completions"

// completionRequest has the fields that both servers know. Those that are left out have a server's default,
// which may come from the model's files: what matters for a distribution is always sent.
type completionRequest struct {
	Model             string   `json:"model"`
	Prompt            []int32  `json:"prompt"`
	MaxTokens         int      `json:"max_tokens"`
	Temperature       float64  `json:"temperature"`
	TopP              float64  `json:"top_p"`
	TopK              int      `json:"top_k"`
	MinP              float64  `json:"min_p"`
	RepetitionPenalty float64  `json:"repetition_penalty"`
	Seed              *int64   `json:"seed,omitempty"`
	Stop              []string `json:"stop,omitempty"`
	IncludeStop       bool     `json:"include_stop_str_in_output,omitempty"`
	NoStopTrim        bool     `json:"no_stop_trim,omitempty"`
	LogProbs          *int     `json:"logprobs,omitempty"`
	PromptLogProbs    *int     `json:"prompt_logprobs,omitempty"`
	Echo              bool     `json:"echo,omitempty"`
	ReturnIDs         bool     `json:"return_token_ids"`
}

type completionAnswer struct {
	Choices []struct {
		Text     *string `json:"text"`
		Finish   string  `json:"finish_reason"`
		Stop     any     `json:"stop_reason"`
		Matched  any     `json:"matched_stop"`
		LogProbs *struct {
			Tokens []string   `json:"tokens"`
			Values []*float64 `json:"token_logprobs"`
			Top    []byText   `json:"top_logprobs"`
		} `json:"logprobs"`
		IDs            []int32        `json:"token_ids"`
		PromptIDs      []int32        `json:"prompt_token_ids"`
		PromptLogProbs []alternatives `json:"prompt_logprobs"`
	} `json:"choices"`
	Fingerprint string `json:"system_fingerprint"`
	Model       string `json:"model"`
}

func (a *completionAnswer) single() error {
	if len(a.Choices) != 1 {
		return wire.Malformedf("%d choices, one was asked for", len(a.Choices))
	}
	return nil
}

// request makes the request of a generation, all decoding stated.
func (c *completions) request(prompt []int32, r llm.Request) completionRequest {
	d := r.Decoding
	told := max(1, r.Details.Alternatives)
	out := completionRequest{
		Model: c.model, Prompt: prompt, MaxTokens: d.MaxTokens, Temperature: d.Temperature, Stop: d.Stop,
		TopP: orOne(d.TopP), TopK: orAll(d.TopK), MinP: d.MinP, RepetitionPenalty: orOne(d.RepetitionPenalty),
		LogProbs: &told, ReturnIDs: true,
	}
	if d.Temperature > 0 {
		seed := seedOf(r)
		out.Seed = &seed
	}
	return out
}

// greedy makes the smallest request about a prompt.
func (c *completions) greedy(prompt []int32) completionRequest {
	return completionRequest{Model: c.model, Prompt: prompt, MaxTokens: 1, TopP: 1, TopK: -1, RepetitionPenalty: 1, ReturnIDs: true}
}

func orOne(x float64) float64 {
	if x == 0 {
		return 1
	}
	return x
}

// orAll is top-k as servers of this family write it: -1 keeps all.
func orAll(k int) int {
	if k == 0 {
		return -1
	}
	return k
}

// reading is how the values of a generated answer are taken.
type reading struct {
	// raw says that they are those of the model; others are left untold.
	raw bool
	// top is how many of the most probable tokens were asked for at each position, 0 if none. besides is as of
	// [byText.whole].
	top     int
	besides bool
}

// completion reads a generated answer.
func (a *completionAnswer) completion(how reading) (completion, error) {
	c := &a.Choices[0]
	if c.Text == nil {
		return completion{}, wire.Malformedf("a choice without a text")
	}
	out := completion{text: *c.Text, observed: observed(a.Fingerprint)}
	var stopped any = c.Stop
	if stopped == nil {
		stopped = c.Matched
	}
	_, byWord := stopped.(string)
	switch c.Finish {
	case "length":
		out.finish = llm.FinishLength
	case "stop":
		out.finish = llm.FinishEnd
		if byWord {
			out.finish = llm.FinishStop
		}
	default:
		return out, wire.Malformedf("finish reason %q", c.Finish)
	}
	if c.LogProbs == nil || len(c.LogProbs.Tokens) != len(c.IDs) || len(c.LogProbs.Values) != len(c.IDs) {
		out.why = "the server gives no log-probability for each token"
		return out, nil
	}
	told := make([]told, len(c.IDs))
	for i := range told {
		told[i].id, told[i].text, told[i].value = c.IDs[i], c.LogProbs.Tokens[i], c.LogProbs.Values[i]
		if how.top > 0 && len(c.LogProbs.Top) == len(told) {
			told[i].top = c.LogProbs.Top[i].whole(how.top, told[i].value, how.besides)
		}
	}
	err := out.takeTold(told, how.raw, out.finish == llm.FinishEnd)
	return out, err
}

// told is a generated token with what a server tells of it.
type told struct {
	id    int32
	text  string
	value *float64
	top   []float64 // as in [completion]
}

// takeTold gives a completion its tokens. If it ended with it, the last is the token that ended the turn, which is no
// part of the reply. Values that are not raw are left untold.
func (c *completion) takeTold(list []told, raw, ended bool) (err error) {
	if n := len(list); ended && n > 0 {
		last := list[n-1]
		list = list[:n-1]
		c.end, c.endID = &llm.EndOfTurn{LogProb: untold}, last.id
		if raw {
			c.end.Alternatives = last.top
			if c.end.LogProb, err = logProb(last.value); err != nil {
				c.end = nil // the reply is good without it
			}
		}
	}
	texts, ids, values := make([]string, len(list)), make([]int32, len(list)), make([]*float64, len(list))
	c.top = make([][]float64, len(list))
	for i, t := range list {
		texts[i], ids[i], values[i] = t.text, t.id, t.value
		if raw {
			c.top[i] = t.top
		}
	}
	c.tokens, c.why, err = tokensOf(c.text, texts, ids, values, raw)
	return err
}

// tokensOf joins texts, ids and values to tokens. Values that cannot be used, and tokens that are not those
// of the text, leave none, and why.
func tokensOf(text string, texts []string, ids []int32, values []*float64, raw bool) (tokens []record.Token, why string, err error) {
	pieces, ok := align(text, texts)
	if !ok {
		return nil, "the tokens are not those of the text", nil
	}
	tokens = make([]record.Token, len(ids))
	for i := range tokens {
		tokens[i] = record.Token{ID: ids[i], Piece: pieces[i], LogProb: untold}
		if !raw {
			continue
		}
		x, err := logProb(values[i])
		if errors.Is(err, llm.ErrNoLogProb) {
			return nil, err.Error(), nil
		}
		if err != nil {
			return nil, "", err
		}
		tokens[i].LogProb = x
	}
	return tokens, "", nil
}

// observed is what a server says of itself with a reply; nil if nothing.
func observed(fingerprint string) map[string]string {
	if fingerprint == "" {
		return nil
	}
	return map[string]string{"system_fingerprint": wire.Line(fingerprint)}
}
