package fake

import (
	"context"
	"fmt"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
)

// tokeniseBody is a request of /tokenize on vLLM and SGLang.
type tokeniseBody struct {
	Prompt   *string       `json:"prompt"`
	Messages []llm.Message `json:"messages"`
	Special  *bool         `json:"add_special_tokens"`
	Texts    bool          `json:"return_token_strs"`
}

func (s *Server) serveTokenise() {
	handle(s, "/tokenize", func(_ context.Context, body tokeniseBody) (any, *failure) {
		var list []int32
		switch {
		case body.Messages != nil && !s.model.Capabilities().Chat:
			return nil, refuse("the tokenizer has no chat template")
		case body.Messages != nil:
			list = s.chatIDs(llm.Prompt{Messages: body.Messages})
		case body.Prompt != nil:
			list = llmtest.IDs(*body.Prompt)
			if body.Special == nil || *body.Special {
				list = append([]int32{llmtest.BeginID}, list...)
			}
		default:
			return nil, refuse("neither prompt nor messages")
		}
		out := object{"tokens": list, "count": len(list), "max_model_len": s.context()}
		if body.Texts {
			texts := make([]string, len(list))
			for i, id := range list {
				texts[i] = decoded(id)
			}
			out["token_strs"] = texts
		}
		return out, nil
	})
	handle(s, "/detokenize", func(_ context.Context, body struct{ Tokens []int32 }) (any, *failure) {
		return object{"prompt": llmtest.Spell(body.Tokens), "text": llmtest.Spell(body.Tokens)}, nil
	})
}

func (s *Server) chatIDs(p llm.Prompt) []int32 {
	list := llmtest.Render(p)
	if s.lies.DoubleBOS {
		list = append([]int32{llmtest.BeginID, llmtest.BeginID}, list...)
	}
	return list
}

func (s *Server) serveModels(owner string) {
	handle(s, "/v1/models", func(context.Context, object) (any, *failure) {
		one := object{"id": ModelName, "object": "model", "owned_by": owner}
		if n := s.context(); n > 0 {
			one["max_model_len"] = n
		}
		return object{"object": "list", "data": []object{one}}, nil
	})
}

// completionsBody is a request of /v1/completions with a prompt in ids.
type completionsBody struct {
	Prompt            []int32  `json:"prompt"`
	MaxTokens         int      `json:"max_tokens"`
	Temperature       float64  `json:"temperature"`
	TopP              float64  `json:"top_p"`
	TopK              int      `json:"top_k"`
	MinP              float64  `json:"min_p"`
	RepetitionPenalty float64  `json:"repetition_penalty"`
	Seed              *int64   `json:"seed"`
	Stop              []string `json:"stop"`
	Echo              bool     `json:"echo"`
	LogProbs          *int     `json:"logprobs"`
	PromptLogProbs    *int     `json:"prompt_logprobs"`
	ReturnIDs         bool     `json:"return_token_ids"`
}

func (b completionsBody) decoding() llm.Decoding {
	return llm.Decoding{MaxTokens: b.MaxTokens, Temperature: b.Temperature, TopP: b.TopP, TopK: max(b.TopK, 0), MinP: b.MinP, RepetitionPenalty: b.RepetitionPenalty, Stop: b.Stop}
}

// generated is a reply with the token that ends a turn, as these servers give it.
type generated struct {
	ids    []int32
	texts  []string
	values []any
	raw    []float64 // the values before they are written
	text   string
	finish string
	match  any
}

func (s *Server) generate(ctx context.Context, prompt []int32, d llm.Decoding, seed *int64) (generated, *failure) {
	if n := len(prompt); n > 1 && prompt[n-1] == llmtest.EndOfTurnID { // what comes after a turn that is over matters to nobody
		prompt = prompt[:n-1]
	}
	p, err := llmtest.PromptOf(prompt)
	if err != nil {
		return generated{}, refuse("%v", err)
	}
	said, failed := s.speak(ctx, p, prompt, d, seed)
	if failed != nil {
		return generated{}, failed
	}
	g := generated{text: said.Text, finish: "stop"}
	for i, t := range said.Tokens {
		g.ids, g.texts, g.raw = append(g.ids, t.ID), append(g.texts, decoded(t.ID)), append(g.raw, said.values[i])
	}
	switch said.Finish {
	case llm.FinishLength:
		g.finish = "length"
	case llm.FinishStop:
		for _, stop := range d.Stop {
			g.match = stop
		}
		g.text = llmtest.Spell(g.ids) // the stop string is asked to be left in
	default:
		g.ids, g.texts, g.raw = append(g.ids, llmtest.EndOfTurnID), append(g.texts, ""), append(g.raw, llmtest.EndLogProb)
	}
	for _, x := range g.raw {
		g.values = append(g.values, s.lp(x))
	}
	if s.lies.CutLogProbs {
		g.texts, g.values = g.texts[:1], g.values[:1]
	}
	return g, nil
}

func (s *Server) serveVLLM() {
	handle(s, "/version", func(context.Context, object) (any, *failure) { return object{"version": "0.11.0"}, nil })
	s.serveModels("vllm")
	s.serveTokenise()
	handle(s, "/v1/completions", func(ctx context.Context, body completionsBody) (any, *failure) {
		prompt := s.received(body.Prompt)
		if failed := s.fits(len(prompt) + body.MaxTokens - 1); failed != nil {
			return nil, failed
		}
		for _, k := range []*int{body.LogProbs, body.PromptLogProbs} {
			if most := s.most(20); k != nil && *k > most {
				return nil, refuse("Requested sample logprobs of %d, which is greater than max allowed: %d", *k, most)
			}
		}
		g, failed := s.generate(ctx, prompt, body.decoding(), body.Seed)
		if failed != nil {
			return nil, failed
		}
		one := object{"index": 0, "text": g.text, "finish_reason": g.finish, "stop_reason": g.match}
		if body.ReturnIDs {
			one["token_ids"], one["prompt_token_ids"] = g.ids, prompt
		}
		if body.LogProbs != nil && !s.lies.NoLogProbs {
			told := object{"tokens": g.texts, "token_logprobs": g.values}
			if *body.LogProbs > 0 && !s.lies.NoCandidates {
				var top []object
				for i := range g.values {
					top = append(top, s.besides(g.ids[i], g.texts[i], g.raw[i], *body.LogProbs))
				}
				told["top_logprobs"] = top
			}
			one["logprobs"] = told
		}
		if body.PromptLogProbs != nil && !s.lies.NoLogProbs {
			list, failed := s.promptValues(prompt, *body.PromptLogProbs)
			if failed != nil {
				return nil, failed
			}
			one["prompt_logprobs"] = list
		}
		return object{"id": "cmpl-1", "model": ModelName, "choices": []object{one}, "usage": usage(prompt, g.ids)}, nil
	})
}

// usage is what a server charges for.
func usage(prompt, generated []int32) object {
	return object{"prompt_tokens": len(prompt), "completion_tokens": len(generated), "total_tokens": len(prompt) + len(generated)}
}

// promptValues is a map for each prompt token but the first, which has none: the token, and so many of the likeliest.
func (s *Server) promptValues(prompt []int32, top int) ([]any, *failure) {
	list := []any{nil}
	for i := 1; i < len(prompt); i++ {
		id, x := prompt[i], -1. // within the template's turns there is nothing scripted
		if _, err := llmtest.PromptOf(prompt[:i]); err == nil {
			values, failed := s.values(prompt[:i], prompt[i:i+1], 0)
			if failed != nil {
				return nil, failed
			}
			x = values[0]
		}
		at := object{}
		for rank, c := range append(s.candidates(id, decoded(id), x, top), candidate{id, decoded(id), x}) {
			at[fmt.Sprint(c.id)] = object{"logprob": s.lp(c.x), "rank": rank + 1, "decoded_token": c.text}
		}
		list = append(list, at)
	}
	if s.lies.CutLogProbs {
		list = list[:len(list)-1]
	}
	return list, nil
}
