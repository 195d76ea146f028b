package openai

import (
	"context"
	"fmt"
	"strings"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/internal/wire"
)

// ollama is asked by its own routes, since the compatible ones cannot say how long a context is held or
// that a long prompt is not to be cut. It tells no ids, and nothing of given tokens: it cannot score.
type ollama struct {
	client *client
	model  string
}

func (o *ollama) meet(ctx context.Context) (facts, error) {
	var version struct {
		Version string `json:"version"`
	}
	if err := o.client.Get(ctx, "/api/version", wire.Into(&version)); err != nil {
		return facts{}, err
	}
	var tags struct {
		Models []struct {
			Name   string `json:"name"`
			Digest string `json:"digest"`
		} `json:"models"`
	}
	if err := o.client.Get(ctx, "/api/tags", wire.Into(&tags)); err != nil {
		return facts{}, err
	}
	list, digests := make([]listed, len(tags.Models)), map[string]string{}
	for i, m := range tags.Models {
		list[i] = listed{ID: m.Name}
		digests[m.Name] = m.Digest
	}
	wanted := o.client.c.Model
	if wanted != "" && !strings.Contains(wanted, ":") {
		wanted += ":latest"
	}
	m, err := choose(list, wanted)
	if err != nil {
		return facts{}, err
	}
	o.model = m.ID
	var show struct {
		Template string         `json:"template"`
		Info     map[string]any `json:"model_info"`
	}
	if err := o.client.Post(ctx, "/api/show", 0, map[string]any{"model": m.ID}, wire.Into(&show)); err != nil {
		return facts{}, err
	}
	f := facts{model: m.ID, version: version.Version, chat: show.Template != "" && show.Template != "{{ .Prompt }}", settings: map[string]string{}}
	if d := digests[m.ID]; d != "" {
		f.settings["digest"] = wire.Line(d)
	}
	f.context = o.window(show.Info)
	f.settings["context_tokens"] = fmt.Sprint(f.context)
	return f, nil
}

// ollamaContext is asked for where the user names no context: Ollama's own default depends on its memory.
const ollamaContext = 4096

// window is the context that is asked for with every request: it is not more than the model's.
func (o *ollama) window(info map[string]any) int {
	want := o.client.c.ContextTokens
	if want == 0 {
		want = ollamaContext
	}
	for key, value := range info {
		if n, ok := value.(float64); ok && strings.HasSuffix(key, ".context_length") && n >= 1 {
			want = min(want, int(min(n, 1<<30)))
		}
	}
	o.client.c.ContextTokens = want
	return want
}

type ollamaAnswer struct {
	Message  *chatMessage `json:"message"`
	Response *string      `json:"response"`
	Thinking *string      `json:"thinking"`
	Done     bool         `json:"done"`
	Reason   string       `json:"done_reason"`
	LogProbs []chatToken  `json:"logprobs"`
}

func (o *ollama) complete(ctx context.Context, r llm.Request) (completion, error) {
	if r.Prompt.NoBOS {
		return completion{}, fmt.Errorf("a text without beginning-of-sequence token: %w: Ollama decides by the model", llm.ErrNotSupported)
	}
	d := r.Decoding
	options := map[string]any{
		"num_predict": d.MaxTokens, "num_ctx": o.client.c.ContextTokens, "temperature": d.Temperature, "top_k": d.TopK, "top_p": orOne(d.TopP),
		"min_p": d.MinP, "repeat_penalty": orOne(d.RepetitionPenalty), "repeat_last_n": o.client.c.ContextTokens, "stop": []string{},
	}
	if d.Temperature > 0 {
		options["seed"] = seedOf(r)
	}
	body := map[string]any{"model": o.model, "stream": false, "logprobs": true, "truncate": false, "shift": false, "options": options}
	if r.Details.Alternatives > 0 {
		body["top_logprobs"] = min(r.Details.Alternatives, mostTop)
	}
	path, size := "/api/chat", len(r.Prompt.Text)
	if r.Prompt.Text != "" {
		path, body["prompt"], body["raw"] = "/api/generate", r.Prompt.Text, true
	} else {
		messages := r.Prompt.Messages
		if r.Prompt.Opening != "" { // a last turn of the assistant is gone on with
			messages = append(messages[:len(messages):len(messages)], llm.Message{Role: llm.Assistant, Content: r.Prompt.Opening})
		}
		body["messages"], body["think"] = messages, o.client.c.Thinking == ThinkingOn
		for _, m := range messages {
			size += len(m.Content)
		}
	}
	var a ollamaAnswer
	var out completion
	err := o.client.Post(ctx, path, size/bytesPerToken+d.MaxTokens, body, wire.Checked(&a, func(a *ollamaAnswer) (err error) {
		out, err = a.completion()
		return err
	}))
	return out, err
}

func (a *ollamaAnswer) completion() (completion, error) {
	var out completion
	switch {
	case !a.Done:
		return out, wire.Malformedf("the reply is not done; does the server stream?")
	case a.Reason == "stop":
		out.finish = llm.FinishEnd
	case a.Reason == "length":
		out.finish = llm.FinishLength
	default:
		return out, wire.Malformedf("done reason %q", wire.Line(a.Reason))
	}
	message := chatMessage{Content: a.Response, Thinking: a.Thinking}
	if a.Message != nil {
		message = *a.Message
	}
	answer, thought := message.parts()
	if answer == "" && thought != "" {
		out.text, out.why = onlyThought(thought, out.finish), "the reply is reasoning without an answer"
		return out, nil
	}
	out.text = answer
	if a.LogProbs == nil && answer != "" {
		out.why = "the server gives no log-probabilities"
		return out, nil
	}
	var err error
	out.why, err = out.take(answer, a.LogProbs)
	return out, err
}
