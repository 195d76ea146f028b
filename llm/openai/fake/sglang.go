package fake

import (
	"context"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
)

// sglangBody is a request of /generate.
type sglangBody struct {
	IDs      []int32 `json:"input_ids"`
	Sampling struct {
		MaxTokens   int      `json:"max_new_tokens"`
		Temperature float64  `json:"temperature"`
		TopP        float64  `json:"top_p"`
		MinP        float64  `json:"min_p"`
		Penalty     float64  `json:"repetition_penalty"`
		Seed        *int64   `json:"sampling_seed"`
		Stop        []string `json:"stop"`
	} `json:"sampling_params"`
	LogProbs bool `json:"return_logprob"`
	Start    int  `json:"logprob_start_len"`
}

func (s *Server) serveSGLang() {
	handle(s, "/get_model_info", func(context.Context, object) (any, *failure) { return object{"model_path": ModelName}, nil })
	handle(s, "/server_info", func(context.Context, object) (any, *failure) { return object{"version": "0.5.9"}, nil })
	s.serveModels("sglang")
	s.serveTokenise()
	handle(s, "/generate", s.sglangGenerate)
	handle(s, "/v1/completions", s.sglangCompletions)
}

func (s *Server) sglangGenerate(ctx context.Context, body sglangBody) (any, *failure) {
	prompt := s.received(body.IDs)
	if failed := s.fits(len(prompt) + body.Sampling.MaxTokens); failed != nil {
		return nil, failed
	}
	meta := object{"prompt_tokens": len(prompt), "finish_reason": object{"type": "length", "length": body.Sampling.MaxTokens}}
	text := ""
	if body.LogProbs && body.Start >= 0 && !s.lies.NoLogProbs {
		list := []any{[]any{nil, prompt[body.Start], nil}} // the first never has a value
		values, failed := s.values(prompt[:body.Start+1], prompt[body.Start+1:], 0)
		if failed != nil {
			return nil, failed
		}
		for i, x := range values {
			id := prompt[body.Start+1+i]
			list = append(list, []any{s.lp(x), id, decoded(id)})
		}
		if s.lies.CutLogProbs {
			list = list[:len(list)-1]
		}
		meta["input_token_logprobs"] = list
	}
	if n := body.Sampling.MaxTokens; n > 0 {
		g, failed := s.generate(ctx, prompt, llm.Decoding{MaxTokens: n, Temperature: body.Sampling.Temperature, TopP: body.Sampling.TopP,
			MinP: body.Sampling.MinP, RepetitionPenalty: body.Sampling.Penalty, Stop: body.Sampling.Stop}, body.Sampling.Seed)
		if failed != nil {
			return nil, failed
		}
		text, meta["completion_tokens"] = g.text, len(g.ids)
		if g.finish == "stop" {
			var match any = llmtest.EndOfTurnID
			if g.match != nil {
				match = g.match
			}
			meta["finish_reason"] = object{"type": "stop", "matched": match}
		}
		if body.LogProbs && !s.lies.NoLogProbs {
			var list []any
			for i := range g.values {
				list = append(list, []any{heated(g.values[i], body.Sampling.Temperature), g.ids[i], g.texts[i]})
			}
			meta["output_token_logprobs"] = list
		}
	}
	return object{"text": text, "meta_info": meta}, nil
}

// heated is what SGLang tells of sampled tokens: the distribution that was sampled from.
func heated(value any, temperature float64) any {
	if x, ok := value.(float64); ok && temperature > 0 {
		return x / temperature
	}
	return value
}

func (s *Server) sglangCompletions(ctx context.Context, body completionsBody) (any, *failure) {
	prompt := s.received(body.Prompt)
	if failed := s.fits(len(prompt) + body.MaxTokens - 1); failed != nil {
		return nil, failed
	}
	g, failed := s.generate(ctx, prompt, body.decoding(), body.Seed)
	if failed != nil {
		return nil, failed
	}
	for i := range g.values {
		g.values[i] = heated(g.values[i], body.Temperature)
	}
	match := g.match
	if g.finish == "stop" && match == nil {
		match = llmtest.EndOfTurnID
	}
	one := object{"index": 0, "text": g.text, "finish_reason": g.finish, "matched_stop": match}
	if body.ReturnIDs {
		one["token_ids"], one["prompt_token_ids"] = g.ids, prompt
	}
	if body.LogProbs != nil && *body.LogProbs > 0 && !s.lies.NoLogProbs {
		texts, values := g.texts, g.values
		if body.Echo && !s.lies.IgnoreEcho {
			texts, values = nil, nil
			list, failed := s.promptValues(prompt)
			if failed != nil {
				return nil, failed
			}
			for i, v := range list {
				texts = append(texts, decoded(prompt[i]))
				if m, ok := v.(object); ok {
					for _, one := range m {
						values = append(values, one.(object)["logprob"])
					}
				} else {
					values = append(values, nil)
				}
			}
			texts, values = append(texts, g.texts[0]), append(values, g.values[0])
		}
		one["logprobs"] = object{"tokens": texts, "token_logprobs": values}
	}
	return object{"id": "1", "model": ModelName, "choices": []object{one}, "usage": usage(prompt, g.ids)}, nil
}
