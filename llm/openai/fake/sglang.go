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
	Top      int  `json:"top_logprobs_num"`
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
		list, top := []any{[]any{nil, prompt[body.Start], nil}}, []any{nil} // the first never has a value
		values, failed := s.values(prompt[:body.Start+1], prompt[body.Start+1:], 0)
		if failed != nil {
			return nil, failed
		}
		for i, x := range values {
			id := prompt[body.Start+1+i]
			list = append(list, []any{s.lp(x), id, decoded(id)})
			top = append(top, s.triples(s.candidates(id, decoded(id), x, body.Top), 0))
		}
		if s.lies.CutLogProbs {
			list = list[:len(list)-1]
		}
		meta["input_token_logprobs"] = list
		if body.Top > 0 && !s.lies.NoCandidates {
			meta["input_top_logprobs"] = top
		}
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
			var list, top []any
			for i := range g.values {
				list = append(list, []any{heated(g.values[i], body.Sampling.Temperature), g.ids[i], g.texts[i]})
				top = append(top, s.triples(s.candidates(g.ids[i], g.texts[i], g.raw[i], body.Top), body.Sampling.Temperature))
			}
			meta["output_token_logprobs"] = list
			if body.Top > 0 && !s.lies.NoCandidates {
				meta["output_top_logprobs"] = top
			}
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
	match := g.match
	if g.finish == "stop" && match == nil {
		match = llmtest.EndOfTurnID
	}
	one := object{"index": 0, "text": g.text, "finish_reason": g.finish, "matched_stop": match}
	if body.ReturnIDs {
		one["token_ids"], one["prompt_token_ids"] = g.ids, prompt
	}
	if body.LogProbs != nil && *body.LogProbs > 0 && !s.lies.NoLogProbs {
		told, failed := s.sglangTold(g, prompt, body)
		if failed != nil {
			return nil, failed
		}
		one["logprobs"] = told
	}
	return object{"id": "1", "model": ModelName, "choices": []object{one}, "usage": usage(prompt, g.ids)}, nil
}

// sglangTold has the lists of the older route: the prompt's, where it is echoed, before those of what was generated.
func (s *Server) sglangTold(g generated, prompt []int32, body completionsBody) (object, *failure) {
	var texts []string
	var values, top []any
	if body.Echo && !s.lies.IgnoreEcho {
		told := prompt
		if s.lies.CutLogProbs {
			told = prompt[:len(prompt)-1]
		}
		for i, id := range told {
			texts = append(texts, decoded(id))
			if i == 0 {
				values, top = append(values, nil), append(top, nil)
				continue
			}
			x := -1. // within the template's turns there is nothing scripted
			if _, err := llmtest.PromptOf(prompt[:i]); err == nil {
				list, failed := s.values(prompt[:i], prompt[i:i+1], 0)
				if failed != nil {
					return nil, failed
				}
				x = list[0]
			}
			values, top = append(values, s.lp(x)), append(top, s.byText(s.candidates(id, decoded(id), x, *body.LogProbs), 0))
		}
	}
	for i := range g.values {
		texts, values = append(texts, g.texts[i]), append(values, heated(g.values[i], body.Temperature))
		top = append(top, s.byText(s.candidates(g.ids[i], g.texts[i], g.raw[i], *body.LogProbs), body.Temperature))
	}
	told := object{"tokens": texts, "token_logprobs": values}
	if !s.lies.NoCandidates {
		told["top_logprobs"] = top
	}
	return told, nil
}
