package openai

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/internal/wire"
	"github.com/credence-lab/credence/record"
)

// mostTGI is how many alternatives the server tells if nobody raised or lowered it.
const mostTGI = 5

// tgi takes text and tells ids. The values of the prompt come with its prefill, if the server was started to
// give them. Context and answer go as one text, so a token may span their border: such an answer cannot be
// scored there, and is said to be so.
type tgi struct{ client *client }

func (s *tgi) meet(ctx context.Context) (facts, error) {
	var info struct {
		Model   string `json:"model_id"`
		SHA     string `json:"model_sha"`
		Version string `json:"version"`
		Total   int    `json:"max_total_tokens"`
	}
	if err := s.client.Get(ctx, "/info", wire.Into(&info)); err != nil {
		return facts{}, err
	}
	if want := s.client.c.Model; want != "" && want != info.Model {
		return facts{}, &ConfigError{What: fmt.Sprintf("the server has the model %s, not %q", wire.Line(info.Model), want)}
	}
	f := facts{model: wire.Line(info.Model), version: wire.Line(info.Version), context: info.Total, settings: map[string]string{}}
	if info.SHA != "" {
		f.settings["revision"] = wire.Line(info.SHA)
	}
	_, err := s.text(ctx, llm.Chat("Hello?", ""))
	if f.chat, err = hasChat(nil, err); err != nil {
		return f, err
	}
	var list []tgiToken
	f.alternatives, err = mostOf(mostTGI, func(n int) (int, error) {
		a, err := s.ask(ctx, "a b", n)
		if err != nil {
			return 0, err
		}
		list = a.Details.Prefill
		return len(slices.Concat(a.Details.Top...)), nil
	})
	if err == nil && list == nil {
		list, err = s.prefill(ctx, "a b")
	}
	f.mute = err == nil && !slices.ContainsFunc(list, func(t tgiToken) bool { return t.LogProb != nil })
	return f, err
}

type tgiToken struct {
	ID      int32    `json:"id"`
	Text    string   `json:"text"`
	LogProb *float64 `json:"logprob"`
	Special bool     `json:"special"`
}

type tgiAnswer struct {
	Text    *string `json:"generated_text"`
	Details *struct {
		Finish  string       `json:"finish_reason"`
		Prefill []tgiToken   `json:"prefill"`
		Tokens  []tgiToken   `json:"tokens"`
		Top     [][]tgiToken `json:"top_tokens"`
	} `json:"details"`
}

func (a *tgiAnswer) detailed() error {
	if a.Details == nil {
		return wire.Malformedf("no details")
	}
	return nil
}

// prefill is the tokens of a text with their values; the first has none.
func (s *tgi) prefill(ctx context.Context, text string) ([]tgiToken, error) {
	a, err := s.ask(ctx, text, 0)
	if err != nil {
		return nil, err
	}
	return a.Details.Prefill, nil
}

// ask generates one token greedily, with what is told of the text before it, and so many alternatives.
func (s *tgi) ask(ctx context.Context, text string, top int) (*tgiAnswer, error) {
	with := map[string]any{"max_new_tokens": 1, "details": true, "decoder_input_details": true}
	if top > 0 {
		with["top_n_tokens"] = top
	}
	var a tgiAnswer
	err := s.client.Post(ctx, "/generate", len(text)/bytesPerToken+1, map[string]any{"inputs": text, "parameters": with}, wire.Checked(&a, (*tgiAnswer).detailed))
	return &a, err
}

// text renders a prompt. The server puts a beginning-of-sequence token before every text, so that of a
// template is taken off.
func (s *tgi) text(ctx context.Context, p llm.Prompt) (string, error) {
	if p.NoBOS {
		return "", fmt.Errorf("a text without beginning-of-sequence token: %w: the server always puts one", llm.ErrNotSupported)
	}
	if p.Text != "" {
		return p.Text, nil
	}
	var chat struct {
		Text string `json:"templated_text"`
	}
	body := map[string]any{"model": "tgi", "messages": p.Messages}
	if s.client.c.Thinking == ThinkingOff {
		body["chat_template_kwargs"] = map[string]any{"enable_thinking": false}
	}
	if err := s.client.Post(ctx, "/chat_tokenize", 0, body, wire.Having("templated_text", &chat)); err != nil {
		return "", err
	}
	list, err := s.tokenise(ctx, chat.Text)
	if err == nil && len(list) > 1 && list[0].ID == list[1].ID {
		chat.Text = strings.TrimPrefix(chat.Text, list[1].Text)
	}
	return chat.Text + p.Opening, err
}

func (s *tgi) tokenise(ctx context.Context, text string) ([]tgiToken, error) {
	var list []tgiToken
	err := s.client.Post(ctx, "/tokenize", 0, map[string]any{"inputs": text}, wire.Checked(&list, func(list *[]tgiToken) error {
		if *list == nil {
			return wire.Malformedf("the answer is no list of tokens")
		}
		return nil
	}))
	return list, err
}

func (s *tgi) score(ctx context.Context, p llm.Prompt, answer string) ([]record.Token, []int32, error) {
	before, err := s.text(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	list, err := s.tokenise(ctx, before)
	if err != nil {
		return nil, nil, err
	}
	prompt := tgiIDs(list)
	whole, err := s.prefill(ctx, before+answer)
	if err != nil {
		return nil, nil, err
	}
	if len(whole) <= len(prompt) || !slices.Equal(tgiIDs(whole[:len(prompt)]), prompt) {
		return nil, nil, fmt.Errorf("answer %q: %w: a token spans the border of context and answer, or the server gives no prefill", wire.Line(answer), llm.ErrNotSupported)
	}
	rest := whole[len(prompt):]
	tokens, texts := make([]record.Token, len(rest)), make([]string, len(rest))
	for i, t := range rest {
		x, err := logProb(t.LogProb)
		if err != nil {
			return nil, nil, atToken(err, i, len(rest))
		}
		tokens[i], texts[i] = record.Token{ID: t.ID, LogProb: x}, t.Text
	}
	spell(tokens, answer, texts)
	return tokens, prompt, nil
}

func tgiIDs(list []tgiToken) []int32 {
	ids := make([]int32, len(list))
	for i, t := range list {
		ids[i] = t.ID
	}
	return ids
}

func (s *tgi) complete(ctx context.Context, r llm.Request) (completion, error) {
	d := r.Decoding
	if d.MinP != 0 {
		return completion{}, fmt.Errorf("min-p: %w: the server has no field for it", llm.ErrNotSupported)
	}
	text, err := s.text(ctx, r.Prompt)
	if err != nil {
		return completion{}, err
	}
	// Fields that would change nothing are left out: the server refuses 0 and 1.
	with := map[string]any{"max_new_tokens": d.MaxTokens, "details": true, "do_sample": d.Temperature > 0}
	if d.Temperature > 0 {
		with["temperature"], with["seed"] = d.Temperature, seedOf(r)
	}
	if d.TopP > 0 && d.TopP < 1 {
		with["top_p"] = d.TopP
	}
	if d.TopK > 0 {
		with["top_k"] = d.TopK
	}
	if orOne(d.RepetitionPenalty) != 1 {
		with["repetition_penalty"] = d.RepetitionPenalty
	}
	raw := plainDecoding(d) && d.TopK == 0
	if raw && r.Details.Alternatives > 0 { // others are told after temperature and filters, and nobody tells them again
		with["top_n_tokens"] = r.Details.Alternatives
	}
	var a tgiAnswer
	var out completion
	err = s.client.Post(ctx, "/generate", len(text)/bytesPerToken+d.MaxTokens, map[string]any{"inputs": text, "parameters": with}, wire.Checked(&a, func(a *tgiAnswer) (err error) {
		if err = a.detailed(); err != nil {
			return err
		}
		out, err = a.completion(raw)
		return err
	}))
	if err != nil {
		return out, err
	}
	end := ""
	if n := len(a.Details.Tokens); r.Details.End && out.end != nil {
		end = a.Details.Tokens[n-1].Text
	}
	return s.placed(ctx, text, out, end)
}

// placed adds the prompt's ids to a completion, and the values of sampled tokens, which the server tells after
// temperature and filters: those are read off the prefill of the whole text, if it has the same tokens there. So is
// that of the token that ended the turn, where its text is given.
func (s *tgi) placed(ctx context.Context, text string, out completion, end string) (completion, error) {
	list, err := s.tokenise(ctx, text)
	if err != nil {
		return out, err
	}
	out.prompt = tgiIDs(list)
	if out.why != "" || !anyUntold(out.tokens) && (end == "" || !math.IsNaN(out.end.LogProb)) {
		return out, nil
	}
	want := append(tgiIDs(list), idsOf(out.tokens)...)
	var whole []tgiToken
	for _, tail := range slices.Compact([]string{end, ""}) {
		if whole, err = s.prefill(ctx, text+string(joined(out.tokens))+tail); err != nil {
			return out, err
		}
		if ids := tgiIDs(whole); tail == "" && slices.Equal(ids, want) || tail != "" && slices.Equal(ids, append(want, out.endID)) {
			break
		}
		whole = nil
	}
	if whole == nil {
		out.tokens, out.why = nil, "the text has other tokens when it is given"
		return out, nil
	}
	for i := range out.tokens {
		if out.tokens[i].LogProb, err = logProb(whole[len(list)+i].LogProb); err != nil {
			out.tokens, out.why = nil, err.Error()
			return out, nil
		}
	}
	if len(whole) > len(want) {
		if x, err := logProb(whole[len(want)].LogProb); err == nil {
			out.end.LogProb = x
		}
	}
	return out, nil
}

// completion reads a generated answer; values that are not the model's own are left untold.
func (a *tgiAnswer) completion(raw bool) (completion, error) {
	if a.Text == nil {
		return completion{}, wire.Malformedf("an answer without a text")
	}
	out := completion{text: *a.Text}
	list := make([]told, len(a.Details.Tokens))
	for i, t := range a.Details.Tokens {
		list[i] = told{id: t.ID, text: t.Text, value: t.LogProb}
		if len(a.Details.Top) == len(list) {
			list[i].top = tgiTop(a.Details.Top[i])
		}
	}
	ended := false
	switch n := len(list); a.Details.Finish {
	case "length":
		out.finish = llm.FinishLength
	case "eos_token", "stop_sequence":
		out.finish = llm.FinishEnd
		ended = n > 0 && a.Details.Tokens[n-1].Special
	default:
		return out, wire.Malformedf("finish reason %q", wire.Line(a.Details.Finish))
	}
	err := out.takeTold(list, raw, ended)
	return out, err
}

// tgiTop are the values of the most probable tokens, as of [triples.top].
func tgiTop(list []tgiToken) []float64 {
	out := make(triples, len(list))
	for i, t := range list {
		out[i] = triple{value: t.LogProb, id: t.ID}
	}
	return out.top()
}

// llamaCppPython is the server of the Python package, which has OpenAI's older route with echo where it was
// started to keep all logits. It renders chats only to go on with them, so answers are scored in plain text.
type llamaCppPython struct{ chat }

func (s *llamaCppPython) meet(ctx context.Context) (facts, error) {
	f, err := s.chat.meet(ctx)
	if err != nil {
		return f, err
	}
	f.model = wire.Line(f.model)
	_, err = s.echo(ctx, "a b", 0)
	if failed, ok := wire.AsError(err); ok && (failed.Kind == wire.Refused || failed.Kind == wire.Malformed || failed.Kind == wire.Failing) || errors.Is(err, llm.ErrNotSupported) {
		f.mute, err = true, nil
	}
	f.chat = f.mute
	return f, err
}

// echo is the values of a text's tokens from the one on that begins at character from.
func (s *llamaCppPython) echo(ctx context.Context, text string, from int) ([]chatToken, error) {
	body := map[string]any{"model": s.model, "prompt": text, "max_tokens": 1, "temperature": 0, "logprobs": 1, "echo": true, "stream": false}
	var a struct {
		Choices []struct {
			LogProbs *struct {
				Tokens  []string   `json:"tokens"`
				Values  []*float64 `json:"token_logprobs"`
				Offsets []int      `json:"text_offset"`
			} `json:"logprobs"`
		} `json:"choices"`
	}
	var out []chatToken
	err := s.client.Post(ctx, completionsPath, len(text)/bytesPerToken+1, body, func(answer []byte) error {
		if err := wire.Into(&a)(answer); err != nil {
			return err
		}
		if len(a.Choices) != 1 || a.Choices[0].LogProbs == nil {
			return wire.Malformedf("no log-probabilities of the prompt; was the server started with logits_all?")
		}
		l := a.Choices[0].LogProbs
		if n := len(l.Tokens); n < 3 || len(l.Values) != n || len(l.Offsets) != n {
			return wire.Malformedf("%d tokens, %d values, %d offsets", n, len(l.Values), len(l.Offsets))
		}
		out = nil
		first := slices.Index(l.Offsets, from)
		if first < 0 {
			return &Error{Kind: Refused, What: "a token spans the border of context and answer", Cause: llm.ErrNotSupported}
		}
		for i := first; i < len(l.Tokens)-1; i++ { // the last was generated
			out = append(out, chatToken{Text: l.Tokens[i], LogProb: l.Values[i]})
		}
		return nil
	})
	return out, err
}

func (s *llamaCppPython) score(ctx context.Context, p llm.Prompt, answer string) ([]record.Token, []int32, error) {
	if p.NoBOS || p.Text == "" {
		return nil, nil, fmt.Errorf("a chat, or a text without beginning-of-sequence token: %w: the server scores plain text", llm.ErrNotSupported)
	}
	list, err := s.echo(ctx, p.Text+answer, len([]rune(p.Text)))
	if err != nil {
		return nil, nil, err
	}
	tokens, texts := make([]record.Token, len(list)), make([]string, len(list))
	for i, t := range list {
		x, err := logProb(t.LogProb)
		if err != nil {
			return nil, nil, atToken(err, i, len(list))
		}
		tokens[i], texts[i] = record.Token{ID: llm.NoID, LogProb: x}, t.Text
	}
	spell(tokens, answer, texts)
	return tokens, nil, nil
}
