package fake

import (
	"context"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
)

type chatBody struct {
	Messages    []llm.Message `json:"messages"`
	Prompt      string        `json:"prompt"`
	MaxTokens   int           `json:"max_tokens"`
	MaxNew      int           `json:"max_completion_tokens"`
	Temperature float64       `json:"temperature"`
	TopP        float64       `json:"top_p"`
	Seed        *int64        `json:"seed"`
	LogProbs    any           `json:"logprobs"`
	Top         int           `json:"top_logprobs"`
}

// serveEmbeddings is OpenAI's route. The vectors come in the reverse order, each with its index.
func (s *Server) serveEmbeddings() {
	handle(s, "/v1/embeddings", func(ctx context.Context, body struct{ Input []string }) (any, *failure) {
		vectors, failed := s.embed(ctx, body.Input)
		if failed != nil {
			return nil, failed
		}
		var data []object
		for i := len(vectors) - 1; i >= 0; i-- {
			data = append(data, object{"object": "embedding", "index": i, "embedding": vectors[i]})
		}
		return object{"object": "list", "data": data}, nil
	})
}

func (s *Server) embed(ctx context.Context, texts []string) ([][]float32, *failure) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if failed := s.fits(len(llmtest.IDs(text))); failed != nil {
			return nil, failed
		}
		result := s.model.Do(ctx, []llm.Request{{Kind: llm.Embed, Prompt: llm.Prompt{Text: text}}})[0]
		if result.Err != nil {
			return nil, refuse("%v", result.Err)
		}
		out[i] = result.Reply.Embedding
	}
	return out, nil
}

func (s *Server) serveOpenAI() {
	s.serveModels("system")
	s.serveEmbeddings()
	handle(s, "/v1/chat/completions", func(ctx context.Context, body chatBody) (any, *failure) {
		return s.chatReply(ctx, llm.Prompt{Messages: body.Messages}, body)
	})
	handle(s, "/v1/completions", func(ctx context.Context, body chatBody) (any, *failure) {
		return s.chatReply(ctx, llm.Prompt{Text: body.Prompt}, body)
	})
}

func (s *Server) chatReply(ctx context.Context, p llm.Prompt, body chatBody) (any, *failure) {
	wanted := body.LogProbs != nil && body.LogProbs != false
	if wanted && s.lies.Refuses {
		return nil, refuse("logprobs are not supported with reasoning models")
	}
	d := llm.Decoding{MaxTokens: max(body.MaxTokens, body.MaxNew), Temperature: body.Temperature, TopP: body.TopP}
	before := llmtest.Render(p)
	if failed := s.fits(len(before) + d.MaxTokens); failed != nil {
		return nil, failed
	}
	said, failed := s.speak(ctx, p, before, d, body.Seed)
	if failed != nil {
		return nil, failed
	}
	finish := "stop"
	if said.Finish == llm.FinishLength {
		finish = "length"
	}
	one := object{"index": 0, "finish_reason": finish}
	message := object{"role": "assistant", "content": said.Text}
	if s.lies.Reasoning != "" {
		message["reasoning_content"] = s.lies.Reasoning
	}
	if s.lies.NoAnswer {
		message["content"] = nil
	}
	if p.Text != "" {
		one["text"] = said.Text
	} else {
		one["message"] = message
	}
	if wanted && !s.lies.NoLogProbs {
		one["logprobs"] = object{"content": s.chatTokens(said, body.Top)}
	}
	return object{"id": "1", "model": ModelName, "system_fingerprint": "fp_1", "choices": []object{one}, "usage": usage(before, ids(said.Tokens))}, nil
}

// chatCandidates is how OpenAI's chat route writes them.
func (s *Server) chatCandidates(id int32, x float64, n int) []object {
	list := []object{}
	for _, c := range s.candidates(id, decoded(id), x, n) {
		list = append(list, object{"token": c.text, "logprob": s.lp(c.x)})
	}
	return list
}

func (s *Server) chatTokens(said spoken, top int) []object {
	list := []object{}
	for i, t := range said.Tokens {
		list = append(list, object{"token": decoded(t.ID), "bytes": bytesOf(string(t.Piece)), "logprob": s.lp(said.values[i]), "top_logprobs": s.chatCandidates(t.ID, said.values[i], top)})
	}
	if s.lies.CutLogProbs && len(list) > 1 {
		list = list[:1]
	}
	return list
}

type ollamaBody struct {
	Messages []llm.Message `json:"messages"`
	Prompt   string        `json:"prompt"`
	Think    *bool         `json:"think"`
	LogProbs bool          `json:"logprobs"`
	Top      int           `json:"top_logprobs"`
	Options  struct {
		Predict     int     `json:"num_predict"`
		Context     int     `json:"num_ctx"`
		Temperature float64 `json:"temperature"`
		TopP        float64 `json:"top_p"`
		Penalty     float64 `json:"repeat_penalty"`
		Seed        *int64  `json:"seed"`
	} `json:"options"`
}

func (s *Server) serveOllama() {
	handle(s, "/v1/models", func(context.Context, object) (any, *failure) {
		return object{"data": []object{{"id": "scripted:latest", "owned_by": "library"}}}, nil
	})
	handle(s, "/api/embed", func(ctx context.Context, body struct {
		Input    []string
		Truncate *bool
	}) (any, *failure) {
		if body.Truncate == nil || *body.Truncate {
			return nil, refuse("the test wants texts whole")
		}
		vectors, failed := s.embed(ctx, body.Input)
		return object{"embeddings": vectors}, failed
	})
	handle(s, "/api/version", func(context.Context, object) (any, *failure) { return object{"version": "0.30.1"}, nil })
	handle(s, "/api/tags", func(context.Context, object) (any, *failure) {
		return object{"models": []object{{"name": "scripted:latest", "digest": "00ff"}}}, nil
	})
	handle(s, "/api/show", func(context.Context, object) (any, *failure) {
		template := "{{ .System }}{{ .Prompt }}"
		if !s.model.Capabilities().Chat {
			template = "{{ .Prompt }}"
		}
		return object{"template": template, "model_info": object{"scripted.context_length": s.context()}}, nil
	})
	handle(s, "/api/chat", func(ctx context.Context, body ollamaBody) (any, *failure) {
		p := llm.Prompt{Messages: body.Messages}
		if n := len(p.Messages); n > 1 && p.Messages[n-1].Role == llm.Assistant { // it goes on with that turn
			p.Messages, p.Opening = p.Messages[:n-1], p.Messages[n-1].Content
		}
		return s.ollamaReply(ctx, p, body)
	})
	handle(s, "/api/generate", func(ctx context.Context, body ollamaBody) (any, *failure) {
		return s.ollamaReply(ctx, llm.Prompt{Text: body.Prompt}, body)
	})
}

func (s *Server) ollamaReply(ctx context.Context, p llm.Prompt, body ollamaBody) (any, *failure) {
	o := body.Options
	before := llmtest.Render(p)
	if n := len(before) + o.Predict; o.Context > 0 && n > o.Context {
		return nil, &failure{400, object{"error": "the input length exceeds the context length"}}
	}
	said, failed := s.speak(ctx, p, before, llm.Decoding{MaxTokens: o.Predict, Temperature: o.Temperature, TopP: o.TopP, RepetitionPenalty: o.Penalty}, o.Seed)
	if failed != nil {
		return nil, failed
	}
	reason := "stop"
	if said.Finish == llm.FinishLength {
		reason = "length"
	}
	out := object{"model": "scripted:latest", "done": true, "done_reason": reason, "eval_count": len(said.Tokens)}
	message := object{"role": "assistant", "content": said.Text}
	if s.lies.Reasoning != "" {
		message["thinking"] = s.lies.Reasoning
	}
	if s.lies.NoAnswer {
		message["content"] = ""
	}
	if p.Text != "" {
		out["response"] = said.Text
	} else {
		out["message"] = message
	}
	if body.LogProbs && !s.lies.NoLogProbs {
		var list []object // the field of bytes is not filled
		for i, t := range said.Tokens {
			list = append(list, object{"token": decoded(t.ID), "logprob": s.lp(said.values[i]), "top_logprobs": s.chatCandidates(t.ID, said.values[i], body.Top)})
		}
		if s.lies.CutLogProbs && len(list) > 1 {
			list = list[:1]
		}
		out["logprobs"] = list
	}
	return out, nil
}
