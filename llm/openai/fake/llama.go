package fake

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
)

// How this server's template writes the special tokens of the scripted model.
var written = map[string]int32{
	"<|begin|>": llmtest.BeginID, llmtest.EndOfTurn: llmtest.EndOfTurnID,
	"<|system|>": llmtest.Render(llm.Prompt{Messages: []llm.Message{{Role: llm.System}}})[0],
	"<|user|>":   llmtest.Render(llm.Prompt{Messages: []llm.Message{{Role: llm.User}}})[0], "<|assistant|>": llmtest.Render(llm.Prompt{Messages: []llm.Message{{Role: llm.Assistant}}})[0],
}

// parse reads special tokens in text.
func parse(text string) []int32 {
	var out []int32
	for text != "" {
		at, word := len(text), ""
		for w := range written {
			if k := strings.Index(text, w); k >= 0 && k < at {
				at, word = k, w
			}
		}
		out = append(out, llmtest.IDs(text[:at])...)
		if word == "" {
			break
		}
		out = append(out, written[word])
		text = text[at+len(word):]
	}
	return out
}

// vocabulary is how large the server says that its own is: so many candidates are all.
const vocabulary = 999

func (s *Server) serveLlama() {
	handle(s, "/props", func(context.Context, object) (any, *failure) {
		template := "{% for message in messages %}"
		if !s.model.Capabilities().Chat {
			template = ""
		}
		return object{"default_generation_settings": object{"n_ctx": s.context()}, "total_slots": 1, "model_path": "models/" + ModelName,
			"chat_template": template, "bos_token": "<|begin|>", "build_info": "b1-0000000"}, nil
	})
	handle(s, "/v1/models", func(context.Context, object) (any, *failure) {
		return object{"data": []object{{"id": ModelName, "owned_by": "llamacpp", "meta": object{"n_vocab": vocabulary}}}}, nil
	})
	handle(s, "/apply-template", func(_ context.Context, body struct{ Messages []llm.Message }) (any, *failure) {
		var b strings.Builder
		for _, m := range body.Messages {
			b.WriteString("<|" + string(m.Role) + "|>" + m.Content + llmtest.EndOfTurn)
		}
		return object{"prompt": b.String() + "<|assistant|>"}, nil
	})
	handle(s, "/tokenize", func(_ context.Context, body struct {
		Content string `json:"content"`
		Begin   bool   `json:"add_special"`
		Parse   bool   `json:"parse_special"`
		Pieces  bool   `json:"with_pieces"`
	}) (any, *failure) {
		list := llmtest.IDs(body.Content)
		if body.Parse {
			list = parse(body.Content)
		}
		if body.Begin && !strings.HasPrefix(body.Content, "<|") { // this vocabulary puts one before plain text only
			list = append([]int32{llmtest.BeginID}, list...)
		}
		if !body.Pieces {
			return object{"tokens": list}, nil
		}
		out := make([]object, len(list))
		for i, id := range list {
			out[i] = object{"id": id, "piece": llmtest.PieceOf(id)}
			if piece := llmtest.PieceOf(id); !utf8.ValidString(piece) {
				out[i]["piece"] = bytesOf(piece)
			}
		}
		return object{"tokens": out}, nil
	})
	handle(s, "/detokenize", func(_ context.Context, body struct{ Tokens []int32 }) (any, *failure) {
		return object{"content": llmtest.Spell(body.Tokens)}, nil
	})
	handle(s, "/completion", s.llamaCompletion)
}

type llamaBody struct {
	Prompt      []int32             `json:"prompt"`
	Predict     int                 `json:"n_predict"`
	Probs       int                 `json:"n_probs"`
	Temperature float64             `json:"temperature"`
	TopP        float64             `json:"top_p"`
	Penalty     float64             `json:"repeat_penalty"`
	Bias        [][]json.RawMessage `json:"logit_bias"`
	Seed        *int64              `json:"seed"`
	Stop        []string            `json:"stop"`
}

func (s *Server) llamaCompletion(ctx context.Context, body llamaBody) (any, *failure) {
	prompt := s.received(body.Prompt)
	if failed := s.fits(len(prompt) + body.Predict - 1); failed != nil {
		return nil, failed
	}
	if len(body.Bias) == 1 && !s.lies.IgnoreBias {
		return s.llamaForced(prompt, body)
	}
	p, err := llmtest.PromptOf(prompt)
	if err != nil {
		return nil, refuse("%v", err)
	}
	d := llm.Decoding{MaxTokens: body.Predict, Temperature: body.Temperature, TopP: body.TopP, RepetitionPenalty: body.Penalty, Stop: body.Stop}
	said, failed := s.speak(ctx, p, prompt, d, body.Seed)
	if failed != nil {
		return nil, failed
	}
	list := ids(said.Tokens)
	var values []object
	for i, id := range list {
		if i == 0 || !s.lies.Zero {
			values = append(values, s.llamaValues(id, said.values[i], body.Probs)...)
		} else {
			values = append(values, object{"id": id, "token": decoded(id), "bytes": bytesOf(llmtest.PieceOf(id)), "logprob": 0, "top_logprobs": []object{}})
		}
	}
	if s.lies.CutLogProbs && len(values) > 1 {
		values = values[:1]
	}
	stop := map[llm.Finish]string{llm.FinishEnd: "eos", llm.FinishLength: "limit", llm.FinishStop: "word"}[said.Finish]
	if stop == "eos" {
		list = append(list, llmtest.EndOfTurnID)
		values = append(values, s.llamaValues(llmtest.EndOfTurnID, llmtest.EndLogProb, body.Probs)...)
	}
	out := object{"content": said.Text, "tokens": list, "stop_type": stop, "truncated": false, "tokens_evaluated": len(prompt), "tokens_predicted": len(list)}
	if !s.lies.NoLogProbs {
		out["completion_probabilities"] = values
	}
	return out, nil
}

// llamaForced answers with the token that the bias forces; an id outside the vocabulary is dropped.
func (s *Server) llamaForced(prompt []int32, body llamaBody) (any, *failure) {
	var id int32
	if err := json.Unmarshal(body.Bias[0][0], &id); err != nil {
		return nil, refuse("%v", err)
	}
	x, failed := s.values(prompt, []int32{id}, 0)
	if failed != nil {
		return nil, failed
	}
	if s.lies.Processed {
		x[0] = 0
	}
	values := s.llamaValues(id, x[0], body.Probs)
	if body.Probs >= vocabulary && len(values) == 1 { // as if all of the vocabulary: here, all first bytes of a character
		values[0]["top_logprobs"] = s.everything(prompt)
	}
	out := object{"content": decoded(id), "tokens": []int32{id}, "stop_type": "limit", "truncated": false, "tokens_evaluated": len(prompt), "tokens_predicted": 1}
	if !s.lies.NoLogProbs && len(values) > 0 {
		out["completion_probabilities"] = values
	}
	return out, nil
}

// llamaValues is the entry of a token; none for one that ends inside a character.
func (s *Server) llamaValues(id int32, x float64, top int) []object {
	piece := llmtest.PieceOf(id)
	if !utf8.ValidString(piece) {
		return nil
	}
	one := object{"id": id, "token": piece, "bytes": bytesOf(piece), "logprob": s.lp(x)}
	one["top_logprobs"] = s.llamaCandidates(id, x, max(1, top))
	return []object{one}
}

// llamaCandidates is how llama-server writes them.
func (s *Server) llamaCandidates(id int32, x float64, n int) []object {
	list := []object{}
	for _, c := range s.candidates(id, decoded(id), x, n) {
		list = append(list, object{"id": c.id, "token": c.text, "bytes": bytesOf(c.text), "logprob": s.lp(c.x)})
	}
	return list
}

// everything lists the candidates that end inside a character. The true vocabulary of the scripted model is
// too large to be written, so a test names the tokens that it will ask for.
func (s *Server) everything(prompt []int32) []object {
	var out []object
	for _, text := range Fragments {
		for _, id := range llmtest.IDs(text) {
			if !utf8.ValidString(llmtest.PieceOf(id)) {
				if x, failed := s.values(prompt, []int32{id}, 0); failed == nil {
					out = append(out, object{"id": id, "logprob": s.lp(x[0])})
				}
			}
		}
	}
	return out
}

// Fragments are texts whose tokens end inside characters, for a server that looks them up in its vocabulary.
var Fragments = []string{"👩‍👩‍👧‍👦🌍", "🌊", " 🌊", "Ünïcödé", "naïve", " naïve", "東京は日本の首都", "東京", " 東京", "القدس", "e\u0301a\u0300\u0323", "\u200bzero\u200dwidth"}
