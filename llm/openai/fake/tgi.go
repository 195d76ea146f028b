package fake

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
)

// serveTGI takes texts alone and puts a beginning-of-sequence token before each, whatever stands there.
func (s *Server) serveTGI() {
	handle(s, "/info", func(context.Context, object) (any, *failure) {
		return object{"model_id": ModelName, "version": "3.3.7", "max_total_tokens": s.context()}, nil
	})
	handle(s, "/chat_tokenize", func(_ context.Context, body struct{ Messages []llm.Message }) (any, *failure) {
		if !s.model.Capabilities().Chat {
			return nil, refuse("no template")
		}
		var b strings.Builder
		b.WriteString("<|begin|>")
		for _, m := range body.Messages {
			b.WriteString("<|" + string(m.Role) + "|>" + m.Content + llmtest.EndOfTurn)
		}
		return object{"templated_text": b.String() + "<|assistant|>"}, nil
	})
	handle(s, "/tokenize", func(_ context.Context, body struct{ Inputs string }) (any, *failure) {
		var out []object
		for _, id := range begun(body.Inputs) {
			text := decoded(id)
			if id == llmtest.BeginID {
				text = "<|begin|>"
			}
			out = append(out, object{"id": id, "text": text})
		}
		return out, nil
	})
	handle(s, "/generate", s.tgiGenerate)
}

func begun(text string) []int32 { return append([]int32{llmtest.BeginID}, parse(text)...) }

type tgiBody struct {
	Inputs     string
	Parameters struct {
		MaxTokens   int     `json:"max_new_tokens"`
		Temperature float64 `json:"temperature"`
		TopP        float64 `json:"top_p"`
		Seed        *int64  `json:"seed"`
		Prefill     bool    `json:"decoder_input_details"`
		Top         int     `json:"top_n_tokens"`
	}
}

func (s *Server) tgiGenerate(ctx context.Context, body tgiBody) (any, *failure) {
	ids := begun(body.Inputs)
	if most := s.most(5); body.Parameters.Top > most {
		return nil, &failure{422, object{"error": fmt.Sprintf("Input validation error: `top_n_tokens` must be >= 0 and <= %d", most), "error_type": "validation"}}
	}
	if failed := s.fits(len(ids) + body.Parameters.MaxTokens - 1); failed != nil {
		failed.status = 422
		return nil, failed
	}
	prompt := ids
	if len(ids) > 1 && ids[1] <= llmtest.EndOfTurnID { // a chat: the scripted model has none before its turns
		prompt = ids[1:]
	}
	details := object{"prefill": []object{}}
	if body.Parameters.Prefill && !s.lies.NoLogProbs {
		list, failed := s.promptValues(prompt, 0)
		if failed != nil {
			return nil, failed
		}
		var prefill []object
		if len(prompt) < len(ids) {
			prefill = append(prefill, object{"id": ids[0], "text": "<|begin|>", "logprob": nil})
		}
		for i, id := range prompt {
			var value any
			if m, ok := list[i].(object); ok {
				for _, one := range m {
					value = one.(object)["logprob"]
				}
			}
			prefill = append(prefill, object{"id": id, "text": decoded(id), "logprob": value})
		}
		details["prefill"] = prefill
	}
	g, failed := s.generate(ctx, prompt, llm.Decoding{MaxTokens: body.Parameters.MaxTokens, Temperature: body.Parameters.Temperature, TopP: body.Parameters.TopP}, body.Parameters.Seed)
	if failed != nil {
		return nil, failed
	}
	details["finish_reason"] = map[string]string{"length": "length", "stop": "eos_token"}[g.finish]
	var tokens []object
	var top [][]object
	for i := range g.values {
		text, heat := g.texts[i], body.Parameters.Temperature
		if g.ids[i] == llmtest.EndOfTurnID {
			text = llmtest.EndOfTurn
		}
		tokens = append(tokens, object{"id": g.ids[i], "text": text, "logprob": heated(g.values[i], heat), "special": g.ids[i] == llmtest.EndOfTurnID})
		top = append(top, s.tgiTokens(s.candidates(g.ids[i], text, g.raw[i], body.Parameters.Top), heat))
	}
	details["tokens"] = tokens
	if body.Parameters.Top > 0 && !s.lies.NoCandidates {
		details["top_tokens"] = top
	}
	answer := object{"generated_text": g.text, "details": details}
	if s.lies.NoText {
		answer["generated_text"] = nil
	}
	return answer, nil
}

// serveLlamaCppPython has OpenAI's routes, the older one with echo.
func (s *Server) serveLlamaCppPython() {
	s.serveModels("me")
	handle(s, "/v1/chat/completions", func(ctx context.Context, body chatBody) (any, *failure) {
		return s.chatReply(ctx, llm.Prompt{Messages: body.Messages}, body)
	})
	handle(s, "/v1/completions", func(ctx context.Context, body struct {
		chatBody
		Echo bool `json:"echo"`
	}) (any, *failure) {
		if !body.Echo || s.lies.IgnoreEcho {
			return s.chatReply(ctx, llm.Prompt{Text: body.Prompt}, body.chatBody)
		}
		if s.lies.NoLogProbs {
			return nil, &failure{500, object{"error": "logprobs is not supported for models created with logits_all=False"}}
		}
		prompt := append([]int32{llmtest.BeginID}, llmtest.IDs(body.Prompt)...)
		if failed := s.fits(len(prompt)); failed != nil {
			return nil, failed
		}
		list, failed := s.promptValues(prompt, 0)
		if failed != nil {
			return nil, failed
		}
		texts, values, offsets, at := []string{}, []any{}, []int{}, 0
		for i, v := range list[1:] {
			texts, offsets = append(texts, decoded(prompt[i+1])), append(offsets, at)
			at += utf8.RuneCountInString(decoded(prompt[i+1]))
			for _, one := range v.(object) {
				values = append(values, one.(object)["logprob"])
			}
		}
		texts, values, offsets = append(texts, "x"), append(values, -1.), append(offsets, at)
		return object{"choices": []object{{"text": body.Prompt + "x", "finish_reason": "length", "logprobs": object{"tokens": texts, "token_logprobs": values, "text_offset": offsets}}}}, nil
	})
}
