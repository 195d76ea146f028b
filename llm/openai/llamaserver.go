package openai

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/internal/wire"
	"github.com/credence-lab/credence/record"
)

// llamaServer has no log-probabilities of a prompt. It tells the raw one of the token that it chose, so one
// token a request is forced by a bias that outweighs everything, and the answer must be about that token.
type llamaServer struct {
	client *client
	vocab  int
	bos    string
	// window is the context of a slot: a repetition penalty looks back over all of it.
	window int
}

func (l *llamaServer) meet(ctx context.Context) (facts, error) {
	var f facts
	var props struct {
		Defaults struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Path     string `json:"model_path"`
		Template string `json:"chat_template"`
		BOS      string `json:"bos_token"`
		Build    string `json:"build_info"`
		Slots    int    `json:"total_slots"`
	}
	if err := l.client.Get(ctx, "/props", wire.Into(&props)); err != nil {
		return f, err
	}
	list, err := models(ctx, l.client)
	if err != nil {
		return f, err
	}
	m, err := choose(list, l.client.c.Model)
	if err != nil {
		return f, err
	}
	l.vocab, l.bos, l.window = m.Meta.Vocabulary, props.BOS, props.Defaults.Context
	f = facts{model: path.Base(strings.ReplaceAll(m.ID, `\`, "/")), version: props.Build, context: props.Defaults.Context,
		chat: props.Template != "", lanes: max(1, props.Slots), settings: map[string]string{"slots": strconv.Itoa(props.Slots), "cache": "on"}}
	if props.Template != "" {
		sum := sha256.Sum256([]byte(props.Template))
		f.settings["template"] = hex.EncodeToString(sum[:8])
	}
	if m.Meta.Parameters > 0 {
		f.settings["parameters"], f.settings["bytes"] = strconv.FormatInt(m.Meta.Parameters, 10), strconv.FormatInt(m.Meta.Size, 10)
	}
	return f, nil
}

// prompt renders the template and tokenises its text. Where a message spells a control token, template and
// messages are tokenised apart, so that it stays text.
func (l *llamaServer) prompt(ctx context.Context, p llm.Prompt) ([]int32, error) {
	if p.Text != "" {
		return l.ids(ctx, p.Text, !p.NoBOS, false)
	}
	text, err := l.render(ctx, p.Messages)
	if err != nil {
		return nil, err
	}
	control, err := l.spellsControl(ctx, p)
	if err != nil {
		return nil, err
	}
	begin := l.bos == "" || !strings.HasPrefix(text, l.bos)
	if !control {
		return l.ids(ctx, text+p.Opening, begin, true)
	}
	return l.apart(ctx, p, text, begin)
}

func (l *llamaServer) render(ctx context.Context, messages []llm.Message) (string, error) {
	body := map[string]any{"messages": messages, "add_generation_prompt": true}
	if l.client.c.Thinking == ThinkingOff {
		body["chat_template_kwargs"] = map[string]any{"enable_thinking": false}
	}
	var out struct {
		Prompt string `json:"prompt"`
	}
	err := l.client.Post(ctx, "/apply-template", 0, body, wire.Having("prompt", &out))
	return out.Prompt, err
}

// spellsControl reports whether any text of the request reads otherwise when control tokens are looked for.
func (l *llamaServer) spellsControl(ctx context.Context, p llm.Prompt) (bool, error) {
	var all strings.Builder
	for _, m := range p.Messages {
		all.WriteString(m.Content + "\n")
	}
	all.WriteString(p.Opening)
	if !strings.ContainsAny(all.String(), "<[|") { // what control tokens are written with
		return false, nil
	}
	parsed, err := l.ids(ctx, all.String(), false, true)
	if err != nil {
		return false, err
	}
	plain, err := l.ids(ctx, all.String(), false, false)
	return !slices.Equal(parsed, plain), err
}

// apart tokenises the template's words, where control tokens count, and the request's, where they do not.
func (l *llamaServer) apart(ctx context.Context, p llm.Prompt, text string, begin bool) ([]int32, error) {
	marked := slices.Clone(p.Messages)
	for i := range marked {
		marked[i].Content = fmt.Sprintf("\uE0FA%d\uE0FB", i) // for private use: they occur in no template
	}
	skeleton, err := l.render(ctx, marked)
	if err != nil {
		return nil, err
	}
	var ids []int32
	var whole strings.Builder
	add := func(s string, words bool) error {
		if s == "" {
			return nil
		}
		whole.WriteString(s)
		more, err := l.ids(ctx, s, begin && len(ids) == 0, words)
		ids = append(ids, more...)
		return err
	}
	for i, m := range p.Messages {
		before, rest, found := strings.Cut(skeleton, marked[i].Content)
		if !found {
			return nil, fmt.Errorf("prompt: %w: the chat template leaves a message out or changes their order, so the text of a control token in it cannot be kept apart", llm.ErrNotSupported)
		}
		content := m.Content
		if !strings.Contains(text, before+content) {
			content = strings.TrimSpace(content) // many templates do
		}
		if err := add(before, true); err != nil {
			return nil, err
		}
		if err := add(content, false); err != nil {
			return nil, err
		}
		skeleton = rest
	}
	if err := add(skeleton, true); err != nil {
		return nil, err
	}
	if whole.String() != text {
		return nil, fmt.Errorf("prompt: %w: the chat template changes its messages, so the text of a control token in them cannot be kept apart", llm.ErrNotSupported)
	}
	return ids, add(p.Opening, false)
}

func (l *llamaServer) ids(ctx context.Context, text string, begin, control bool) ([]int32, error) {
	var out struct {
		Tokens []int32 `json:"tokens"`
	}
	err := l.client.Post(ctx, "/tokenize", 0, map[string]any{"content": text, "add_special": begin, "parse_special": control}, wire.Having("tokens", &out))
	return out.Tokens, err
}

// piece is the bytes of a token: text, or a list of bytes where those are no text.
type piece []byte

// UnmarshalJSON reads either form.
func (p *piece) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*p = piece(text)
		return nil
	}
	var list []uint16
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("a token's piece is neither text nor bytes")
	}
	*p = make(piece, len(list))
	for i, b := range list {
		if b > math.MaxUint8 {
			return fmt.Errorf("a token's piece holds %d, which is no byte", b)
		}
		(*p)[i] = byte(b)
	}
	return nil
}

func (l *llamaServer) answer(ctx context.Context, text string) ([]record.Token, error) {
	tokens, err := l.pieces(ctx, text)
	if err != nil || string(joined(tokens)) == text {
		return tokens, err
	}
	// The vocabulary puts a blank before a text that stands alone.
	before, err := l.pieces(ctx, anchor)
	if err != nil {
		return nil, err
	}
	after, err := l.pieces(ctx, anchor+text)
	if err != nil {
		return nil, err
	}
	if n := len(before); len(after) > n && slices.Equal(idsOf(before), idsOf(after[:n])) && string(joined(after[n:])) == text {
		return after[n:], nil
	}
	return nil, fmt.Errorf("answer %q: %w: it is not the text of its own tokens", wire.Line(text), llm.ErrNotSupported)
}

func (l *llamaServer) pieces(ctx context.Context, text string) ([]record.Token, error) {
	var out struct {
		Tokens []struct {
			ID    int32 `json:"id"`
			Piece piece `json:"piece"`
		} `json:"tokens"`
	}
	body := map[string]any{"content": text, "add_special": false, "parse_special": false, "with_pieces": true}
	err := l.client.Post(ctx, "/tokenize", 0, body, wire.Having("tokens", &out))
	tokens := make([]record.Token, len(out.Tokens))
	for i, t := range out.Tokens {
		tokens[i] = record.Token{ID: t.ID, Piece: t.Piece}
	}
	return tokens, err
}

type llamaAnswer struct {
	Content   string           `json:"content"`
	Tokens    []int32          `json:"tokens"`
	StopType  string           `json:"stop_type"`
	Truncated bool             `json:"truncated"`
	Evaluated *int             `json:"tokens_evaluated"`
	Values    []llamaCandidate `json:"completion_probabilities"`
}

type llamaCandidate struct {
	ID      int32            `json:"id"`
	Text    string           `json:"token"`
	Bytes   piece            `json:"bytes"`
	LogProb *float64         `json:"logprob"`
	Top     []llamaCandidate `json:"top_logprobs"`
}

// top are the log-probabilities of the likeliest tokens, as of [descending].
func (c llamaCandidate) top() []float64 {
	return descendingOf(c.Top, func(c llamaCandidate) *float64 { return c.LogProb })
}

// of checks that an answer is about a whole prompt of n tokens.
func (a *llamaAnswer) of(n int) error {
	switch {
	case a.Truncated:
		return &Error{Kind: Refused, What: "the server cut the prompt", Cause: llm.ErrContextOverflow}
	case a.Evaluated != nil && *a.Evaluated != n:
		return &Error{Kind: Malformed, Final: true, What: fmt.Sprintf("%d token ids were sent, the answer is about %d", n, *a.Evaluated)}
	}
	return nil
}

// certain is a bias that no logit outweighs.
const certain = 10_000

// force makes a request for each token of which something is not known.
func (l *llamaServer) force(ctx context.Context, prompt []int32, g gaps) ([]string, error) {
	ids := append(prompt[:len(prompt):len(prompt)], idsOf(g.tokens)...)
	for i, t := range g.tokens {
		if !math.IsNaN(t.LogProb) && (g.k == 0 || g.top[i] != nil) {
			continue
		}
		x, top, err := l.step(ctx, ids[:len(prompt)+i], t, g.k)
		if err != nil {
			if failed, ok := wire.AsError(err); ok && failed.Cause == llm.ErrNoLogProb {
				return nil, atToken(err, i, len(g.tokens))
			}
			return nil, err
		}
		g.fill(i, x, top)
	}
	return nil, nil
}

// step is the log-probability of one token after ids, and those of the k most probable ones there. The latter are
// not had with a token that ends inside a character.
func (l *llamaServer) step(ctx context.Context, ids []int32, token record.Token, k int) (float64, []float64, error) {
	if len(token.Piece) == 0 || !utf8.Valid(token.Piece) {
		x, err := l.lookUp(ctx, ids, token.ID)
		return x, nil, err
	}
	var x *float64
	var top []float64
	err := l.forced(ctx, ids, token.ID, max(1, k), func(a *llamaAnswer) error {
		if len(a.Values) == 0 && slices.Equal(a.Tokens, []int32{token.ID}) {
			return nil // it ends inside a character after all
		}
		if len(a.Values) != 1 || a.Values[0].ID != token.ID {
			return wire.Malformedf("token %d was forced, the answer is about another; does the server know logit_bias?", token.ID)
		}
		x, top = a.Values[0].LogProb, a.Values[0].top()
		_, err := logProb(x)
		return err
	})
	if err == nil && x == nil {
		value, err := l.lookUp(ctx, ids, token.ID)
		return value, nil, err
	}
	value, err := settled(x, err)
	return value, top, err
}

// someCandidates are enough to find most tokens among; the whole vocabulary is megabytes.
const someCandidates = 1000

// lookUp is for tokens that end inside a character: the server says nothing of such a one, or fails, as it
// waits for the rest of the character. Another token is forced, and the value found among the candidates.
func (l *llamaServer) lookUp(ctx context.Context, ids []int32, token int32) (float64, error) {
	if l.vocab == 0 {
		return 0, &Error{Kind: Refused, Op: "POST /completion", What: fmt.Sprintf("token %d ends inside a character, and the server does not say how large its vocabulary is", token), Cause: llm.ErrNoLogProb}
	}
	var x *float64
	for _, n := range []int{min(someCandidates, l.vocab), l.vocab} {
		err := l.forced(ctx, ids, l.whole(ctx), n, func(a *llamaAnswer) error {
			if len(a.Values) != 1 {
				return wire.Malformedf("%d positions, one was asked for", len(a.Values))
			}
			for _, c := range a.Values[0].Top {
				if c.ID == token {
					x = c.LogProb
					_, err := logProb(x)
					return err
				}
			}
			if n == l.vocab {
				return wire.Malformedf("token %d is not among %d candidates", token, len(a.Values[0].Top))
			}
			return nil
		})
		if err != nil || x != nil {
			return settled(x, err)
		}
	}
	return 0, wire.Malformedf("token %d has no value", token)
}

func settled(x *float64, err error) (float64, error) {
	if err != nil {
		return 0, err
	}
	return logProb(x)
}

// whole is a token that ends no character too early.
func (l *llamaServer) whole(ctx context.Context) int32 {
	if ids, err := l.ids(ctx, "a", false, false); err == nil && len(ids) == 1 {
		return ids[0]
	}
	return 0
}

// forced asks for one token after ids, which is the one given, with the values of the n likeliest.
func (l *llamaServer) forced(ctx context.Context, ids []int32, token int32, n int, read func(*llamaAnswer) error) error {
	body := map[string]any{
		"prompt": ids, "n_predict": 1, "n_probs": n, "temperature": 0, "logit_bias": [][2]int32{{token, certain}},
		"cache_prompt": true, "return_tokens": true, "post_sampling_probs": false, "stream": false, "ignore_eos": false,
	}
	var a llamaAnswer
	return l.client.Post(ctx, "/completion", len(ids)+1, body, wire.Checked(&a, func(a *llamaAnswer) error {
		if err := a.of(len(ids)); err != nil {
			return err
		}
		err := read(a)
		if err == nil {
			return nil
		}
		if failed, ok := wire.AsError(err); ok {
			return failed
		}
		return &Error{Kind: Refused, What: err.Error(), Cause: llm.ErrNoLogProb}
	}))
}

func (l *llamaServer) complete(ctx context.Context, prompt []int32, r llm.Request) (completion, error) {
	d := r.Decoding
	body := map[string]any{
		"prompt": prompt, "n_predict": d.MaxTokens, "n_probs": max(1, r.Details.Alternatives), "temperature": d.Temperature, "top_k": d.TopK, "top_p": orOne(d.TopP),
		"min_p": d.MinP, "repeat_penalty": orOne(d.RepetitionPenalty), "repeat_last_n": l.window, "presence_penalty": 0, "frequency_penalty": 0,
		"typical_p": 1, "dry_multiplier": 0, "xtc_probability": 0, "mirostat": 0, "dynatemp_range": 0,
		"cache_prompt": true, "return_tokens": true, "post_sampling_probs": false, "stream": false,
	}
	if len(d.Stop) > 0 {
		body["stop"] = d.Stop
	}
	if d.Temperature > 0 {
		body["seed"] = seedOf(r)
	}
	var a llamaAnswer
	err := l.client.Post(ctx, "/completion", len(prompt)+d.MaxTokens, body, wire.Checked(&a, func(a *llamaAnswer) error {
		if _, known := llamaStops[a.StopType]; !known {
			return wire.Malformedf("stop type %q", wire.Line(a.StopType))
		}
		return a.of(len(prompt))
	}))
	if err != nil {
		return completion{}, err
	}
	return l.completion(ctx, &a)
}

// llamaStops are why a reply ended.
var llamaStops = map[string]llm.Finish{"limit": llm.FinishLength, "word": llm.FinishStop, "eos": llm.FinishEnd}

// completion joins tokens and values. Tokens that end inside a character have no value, nor have those of
// a stop string; their pieces are what the text has between the others.
func (l *llamaServer) completion(ctx context.Context, a *llamaAnswer) (completion, error) {
	out := completion{text: a.Content, finish: llamaStops[a.StopType]}
	ids := a.Tokens
	if out.finish == llm.FinishEnd && len(ids) > 0 { // the token that ends the turn is no part of the reply
		ids = ids[:len(ids)-1]
	}
	values := a.Values
	texts := make([]string, len(ids))
	out.tokens, out.top = make([]record.Token, len(ids)), make([][]float64, len(ids))
	for i, id := range ids {
		out.tokens[i] = record.Token{ID: id, LogProb: untold}
		if len(values) == 0 || values[0].ID != id {
			continue
		}
		texts[i] = string(values[0].Bytes)
		if x, err := logProb(values[0].LogProb); err == nil && len(values[0].Top) > 0 { // none: the speculative path, whose values are made up
			out.tokens[i].LogProb = x
			out.top[i] = values[0].top()
		}
		values = values[1:]
	}
	if n := len(a.Tokens); out.finish == llm.FinishEnd && n > 0 && len(values) == 1 && values[0].ID == a.Tokens[n-1] && len(values[0].Top) > 0 {
		if x, err := logProb(values[0].LogProb); err == nil {
			out.end = &llm.EndOfTurn{LogProb: x, Alternatives: values[0].top()}
		}
	}
	whole, err := l.text(ctx, ids)
	if err != nil {
		return out, err
	}
	pieces, ok := align(whole, texts)
	if !ok {
		out.tokens, out.why = nil, "the tokens are not those of the text"
		return out, nil
	}
	for i := range pieces {
		out.tokens[i].Piece = pieces[i]
	}
	return out, nil
}

// text spells ids. What the server gives as content may be cut before a stop string.
func (l *llamaServer) text(ctx context.Context, ids []int32) (string, error) {
	if len(ids) == 0 {
		return "", nil
	}
	var out struct {
		Content string `json:"content"`
	}
	err := l.client.Post(ctx, "/detokenize", 0, map[string]any{"tokens": ids}, wire.Having("content", &out))
	return out.Content, err
}
