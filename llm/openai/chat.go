package openai

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/internal/wire"
	"github.com/credence-lab/credence/record"
)

// chat is OpenAI's chat route, and the older one for plain text, as any compatible server has them. Tokens
// come with their texts and bytes; their ids stay with the server.
type chat struct {
	client *client
	// official is OpenAI itself, which knows newer names of fields and has no route for plain text.
	official bool
	model    string
	// silent is set once the server has refused to give log-probabilities; it is then not asked for them.
	silent atomic.Bool
}

func (c *chat) meet(ctx context.Context) (facts, error) {
	list, err := models(ctx, c.client)
	if err != nil {
		return facts{}, err
	}
	m, err := choose(list, c.client.c.Model)
	if err != nil {
		return facts{}, err
	}
	c.model = m.ID
	return facts{model: m.ID, context: m.MaxLen, chat: true, settings: map[string]string{}}, nil
}

type chatToken struct {
	Text    string          `json:"token"`
	Bytes   piece           `json:"bytes"`
	LogProb *float64        `json:"logprob"`
	Top     []chatCandidate `json:"top_logprobs"`
}

type chatCandidate struct {
	LogProb *float64 `json:"logprob"`
}

// mostTop is how many alternatives OpenAI's routes tell.
const mostTop = 20

// top are the log-probabilities of the alternatives, as of [descending].
func (t chatToken) top() []float64 {
	return descendingOf(t.Top, func(c chatCandidate) *float64 { return c.LogProb })
}

// chatMessage is what a model said. Servers name the field of the reasoning differently.
type chatMessage struct {
	Content   *string `json:"content"`
	Refusal   *string `json:"refusal"`
	Reasoning *string `json:"reasoning_content"`
	Thoughts  *string `json:"reasoning"`
	Thinking  *string `json:"thinking"`
}

type chatAnswer struct {
	Choices []struct {
		Message  chatMessage `json:"message"`
		Text     *string     `json:"text"`
		Finish   string      `json:"finish_reason"`
		LogProbs *struct {
			Content []chatToken `json:"content"`
			// The older route has lists beside each other.
			Tokens []string   `json:"tokens"`
			Values []*float64 `json:"token_logprobs"`
		} `json:"logprobs"`
	} `json:"choices"`
	Fingerprint string `json:"system_fingerprint"`
	Model       string `json:"model"`
}

func (c *chat) complete(ctx context.Context, r llm.Request) (completion, error) {
	if err := c.can(r); err != nil {
		return completion{}, err
	}
	out, err := c.once(ctx, r, !c.silent.Load())
	if failed, ok := wire.AsError(err); ok && failed.Kind == Refused && strings.Contains(strings.ToLower(failed.What), "logprob") {
		c.silent.Store(true)
		return c.once(ctx, r, false)
	}
	return out, err
}

// can says what of a request these routes have no field for. A field that a server might ignore in silence
// is none.
func (c *chat) can(r llm.Request) error {
	d := r.Decoding
	for _, lack := range []struct {
		wanted bool
		what   string
	}{
		{r.Prompt.Opening != "", "an opened assistant turn"},
		{r.Prompt.NoBOS, "a text without beginning-of-sequence token"},
		{d.TopK != 0, "top-k"},
		{d.MinP != 0, "min-p"},
		{orOne(d.RepetitionPenalty) != 1, "a repetition penalty"},
		{c.official && r.Prompt.Text != "", "plain text"},
	} {
		if lack.wanted {
			return fmt.Errorf("%s: %w: OpenAI's routes have no field for it", lack.what, llm.ErrNotSupported)
		}
	}
	return nil
}

// chatRequest has the fields of both routes.
type chatRequest struct {
	Model       string        `json:"model"`
	Prompt      string        `json:"prompt,omitempty"`
	Messages    []llm.Message `json:"messages,omitempty"`
	Temperature float64       `json:"temperature"`
	TopP        float64       `json:"top_p"`
	Seed        *int64        `json:"seed,omitempty"`
	// The second is the newer name of the first.
	MaxTokens           *int `json:"max_tokens,omitempty"`
	MaxCompletionTokens *int `json:"max_completion_tokens,omitempty"`
	// LogProbs is whether they are wanted, or how many, by route.
	LogProbs any  `json:"logprobs,omitempty"`
	Top      int  `json:"top_logprobs,omitempty"`
	Stream   bool `json:"stream"`
}

func (c *chat) once(ctx context.Context, r llm.Request, values bool) (completion, error) {
	d := r.Decoding
	body := chatRequest{Model: c.model, Temperature: d.Temperature, TopP: orOne(d.TopP)}
	if d.Temperature > 0 {
		seed := seedOf(r)
		body.Seed = &seed
	}
	path := "/v1/chat/completions"
	if c.official {
		body.MaxCompletionTokens = &d.MaxTokens
	} else {
		body.MaxTokens = &d.MaxTokens
	}
	size := len(r.Prompt.Text)
	if r.Prompt.Text != "" {
		path, body.Prompt = completionsPath, r.Prompt.Text
		if values {
			body.LogProbs = 1
		}
	} else {
		body.Messages = r.Prompt.Messages
		if values {
			body.LogProbs = true
			body.Top = min(r.Details.Alternatives, mostTop)
		}
		for _, m := range r.Prompt.Messages {
			size += len(m.Content)
		}
	}
	var a chatAnswer
	var out completion
	err := c.client.Post(ctx, path, size/bytesPerToken+d.MaxTokens, body, wire.Checked(&a, func(a *chatAnswer) (err error) {
		out, err = a.completion()
		return err
	}))
	return out, err
}

// bytesPerToken estimates tokens where the server does not count them beforehand.
const bytesPerToken = 4

func (a *chatAnswer) completion() (completion, error) {
	if len(a.Choices) != 1 {
		return completion{}, wire.Malformedf("%d choices, one was asked for", len(a.Choices))
	}
	c := a.Choices[0]
	out := completion{observed: observed(a.Fingerprint)}
	switch c.Finish {
	case "stop", "eos", "end_turn":
		out.finish = llm.FinishEnd
	case "length", "max_tokens":
		out.finish = llm.FinishLength
	case "content_filter":
		return out, &Error{Kind: Refused, What: "the server's filter cut the reply"}
	default:
		return out, wire.Malformedf("finish reason %q", wire.Line(c.Finish))
	}
	answer, thought := c.Message.parts()
	if c.Text != nil {
		answer = *c.Text
	}
	if answer == "" && thought != "" {
		out.text, out.why = onlyThought(thought, out.finish), "the reply is reasoning without an answer"
		return out, nil
	}
	out.text = answer
	if c.LogProbs == nil {
		out.why = "the server gives no log-probabilities"
		return out, nil
	}
	tokens := c.LogProbs.Content
	if tokens == nil && len(c.LogProbs.Tokens) == len(c.LogProbs.Values) {
		for i, t := range c.LogProbs.Tokens {
			tokens = append(tokens, chatToken{Text: t, LogProb: c.LogProbs.Values[i]})
		}
	}
	var err error
	out.why, err = out.take(answer, tokens)
	return out, err
}

// parts are the answer and the reasoning of a message, whatever the server calls them.
func (m chatMessage) parts() (answer, thought string) {
	for _, s := range []*string{m.Content, m.Refusal} {
		if s != nil && *s != "" {
			answer = *s
			break
		}
	}
	for _, s := range []*string{m.Reasoning, m.Thoughts, m.Thinking} {
		if s != nil && *s != "" {
			thought = *s
			break
		}
	}
	return answer, thought
}

// onlyThought puts a server's separated reasoning back between the tags that parsers of replies know: a
// reply that ended inside it has none to close it, so that it is read as such and not as an answer.
func onlyThought(thought string, finish llm.Finish) string {
	if finish == llm.FinishLength {
		return "<think>" + thought
	}
	return "<think>" + thought + "</think>"
}

// take gives a completion the tokens of an answer. Reasoning may come first among them; the token that ended the
// turn may be the last. What does not add up to the answer is none, and why.
func (c *completion) take(answer string, list []chatToken) (why string, err error) {
	for len(list) > 0 && list[len(list)-1].text() == "" { // it ended the turn
		last := list[len(list)-1]
		if x, err := logProb(last.LogProb); err == nil {
			c.end = &llm.EndOfTurn{LogProb: x, Alternatives: last.top()}
		}
		list = list[:len(list)-1]
	}
	for first := range list {
		rest := list[first:]
		texts := make([]string, len(rest))
		for i, t := range rest {
			texts[i] = t.text()
		}
		if pieces, ok := align(answer, texts); ok {
			rest = rest[:within(answer, texts, pieces)]
			for _, t := range rest {
				c.top = append(c.top, t.top())
			}
			c.tokens, why, err = valued(rest, pieces)
			return why, err
		}
	}
	if answer == "" {
		return "", nil
	}
	return fmt.Sprintf("%d tokens do not add up to the text", len(list)), nil
}

// text is the token's bytes where they are text, or else what the server writes for it.
func (t chatToken) text() string {
	if s := string(t.Bytes); s != "" && !brokenText(validText(t.Bytes)) {
		return s
	}
	return t.Text
}

func valued(list []chatToken, pieces [][]byte) ([]record.Token, string, error) {
	tokens := make([]record.Token, len(list))
	for i, t := range list {
		x, err := logProb(t.LogProb)
		if errors.Is(err, llm.ErrNoLogProb) {
			return nil, err.Error(), nil
		}
		if err != nil {
			return nil, "", err
		}
		tokens[i] = record.Token{ID: llm.NoID, Piece: pieces[i], LogProb: x}
	}
	return tokens, "", nil
}

// within is how many of the tokens belong to the answer: special ones beyond its end do not.
func within(answer string, texts []string, pieces [][]byte) int {
	size := 0
	for i, p := range pieces {
		if size >= len(answer) && !brokenText(texts[i]) {
			return i
		}
		size += len(p)
	}
	return len(pieces)
}
