package openai

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/internal/wire"
	"github.com/credence-lab/credence/record"
)

// Engine asks one model of one server. Its methods are safe for concurrent use.
type Engine struct {
	client   *client
	tokens   tokenServer // one of the two is nil
	text     textServer
	dialect  Dialect
	identity llm.Identity
	can      llm.Capabilities
	prompts  memo[int32]
	answers  memo[record.Token]
	// lanes are the requests that are worked on at once, each whole; nil is no bound but the client's.
	lanes  chan struct{}
	closed atomic.Bool
}

var _ llm.Engine = (*Engine)(nil)

// errClosed is what a closed engine answers.
var errClosed = errors.New("the engine is closed")

// server is what all dialects have in common.
type server interface {
	// meet asks the server what it is. It is called once, before all else.
	meet(ctx context.Context) (facts, error)
}

// tokenServer is asked in token ids.
type tokenServer interface {
	server
	// prompt renders and tokenises what comes before the model's words.
	prompt(ctx context.Context, p llm.Prompt) ([]int32, error)
	// answer tokenises a text apart from any other, without special tokens. Pieces are left nil where the
	// server does not tell them.
	answer(ctx context.Context, text string) ([]record.Token, error)
	// force fills the gaps of tokens, given the prompt and the tokens before each. It returns the tokens' texts
	// where answer left the pieces out.
	force(ctx context.Context, prompt []int32, g gaps) (texts []string, err error)
	// complete goes on after the prompt.
	complete(ctx context.Context, prompt []int32, r llm.Request) (completion, error)
}

// textServer is asked in text and tells no token ids.
type textServer interface {
	server
	// complete goes on after the prompt. Stop strings are not sent: servers differ in what they leave of
	// the tokens before one.
	complete(ctx context.Context, r llm.Request) (completion, error)
}

// textScorer is a server that is asked in text and scores a given answer.
type textScorer interface {
	textServer
	// score gives the answer's tokens with their values, and the ids before them where the server tells them.
	score(ctx context.Context, p llm.Prompt, answer string) (tokens []record.Token, prompt []int32, err error)
}

// facts are what a server says of itself and its model.
type facts struct {
	model, version string
	chat           bool
	context        int // 0 if unknown
	// lanes is how many requests the server keeps the beginning of; 0 if that does not matter.
	lanes int
	// mute says that the server does not score, though others of its kind do.
	mute bool
	// alternatives is how many of the most probable tokens it tells, at least 2 or 0; nil is as its dialect has it.
	alternatives *int
	settings     map[string]string
}

// completion is what a server generated.
type completion struct {
	// text is what the server gives as text.
	text string
	// tokens without the one that ended the turn; log-probabilities may be [untold]. Nil where the server
	// gives none that can be used, and why says so.
	tokens []record.Token
	why    string
	// top has for each of tokens the log-probabilities of the most probable ones in descending order, nil where
	// they are not known yet. end is the token that ended the turn, with the id endID; its value may be [untold].
	// Both nil where nothing is told.
	top   [][]float64
	end   *llm.EndOfTurn
	endID int32
	// finish is End or Length; or Stop where the server says that it met a stop string.
	finish llm.Finish
	// prompt are the ids before the text, from a server that is asked in text and tells them.
	prompt   []int32
	observed map[string]string
}

// Open asks the server what it is and returns an engine for the model. At most a few tokens are generated, to see
// what the server tells of them.
func Open(ctx context.Context, c Config) (*Engine, error) {
	client, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	e := &Engine{client: client}
	if err := e.meet(ctx); err != nil {
		e.client.Close()
		return nil, err
	}
	return e, nil
}

func (e *Engine) meet(ctx context.Context) (err error) {
	c := e.client
	if e.dialect = c.c.Dialect; e.dialect == "" {
		if e.dialect, err = detect(ctx, c); err != nil {
			return err
		}
	}
	e.speak()
	var s server = e.tokens
	if e.tokens == nil {
		s = e.text
	}
	f, err := s.meet(ctx)
	if err != nil {
		return fmt.Errorf("%s server: %w", e.dialect, err)
	}
	e.introduce(f)
	return nil
}

// speak chooses who knows the dialect.
func (e *Engine) speak() {
	switch c := e.client; e.dialect {
	case VLLM:
		e.tokens = &vllm{completions{client: c}}
	case SGLang:
		e.tokens = &sglang{client: c}
	case SGLangOpenAI:
		e.tokens = &sglangOpenAI{completions: completions{client: c}}
	case LlamaServer:
		e.tokens = &llamaServer{client: c}
	case Ollama:
		e.text = &ollama{client: c}
	case TGI:
		e.text = &tgi{client: c}
	case LlamaCppPython:
		e.text = &llamaCppPython{chat{client: c}}
	default:
		e.text = &chat{client: c, official: e.dialect == OpenAI}
	}
}

// introduce makes identity and capabilities of what the server said.
func (e *Engine) introduce(f facts) {
	c := e.client.c
	settings := maps.Clone(f.settings)
	if settings == nil {
		settings = map[string]string{}
	}
	settings["thinking"] = string(c.Thinking)
	if strategy, ok := strategies[e.dialect]; ok && !f.mute {
		settings["scoring"] = strategy
	}
	e.identity = llm.Identity{Engine: string(e.dialect), Version: f.version, Model: f.model, Settings: settings}
	e.can = e.dialect.Capabilities()
	e.can.Chat, e.can.ContextTokens = f.chat, f.context
	e.can.Score = e.can.Score && !f.mute
	if f.alternatives != nil {
		e.can.Details.Alternatives = *f.alternatives
	}
	if c.ContextTokens > 0 && (f.context == 0 || c.ContextTokens < f.context) {
		e.can.ContextTokens = c.ContextTokens
	}
	if f.lanes > 0 {
		e.lanes = make(chan struct{}, min(f.lanes, maxLanes))
	}
}

// maxLanes is more than any server has slots.
const maxLanes = 1024

// strategies say how an answer is scored; it is part of the identity. A dialect that is not here cannot.
var strategies = map[Dialect]string{
	VLLM: "prompt log-probabilities", SGLang: "prompt log-probabilities", SGLangOpenAI: "echo", LlamaServer: "forced step",
	TGI: "prefill", LlamaCppPython: "echo",
}

// tells is what the dialects tell of generated tokens besides their log-probabilities. OpenAI's route seldom has
// the end of the turn. What vLLM and TGI tell was capped by whoever started them: these are their own caps, and a
// server is tried when it is met.
var tells = map[Dialect]llm.Details{
	OpenAI: {Alternatives: mostTop}, Plain: {Alternatives: mostTop}, Ollama: {Alternatives: mostTop},
	VLLM: {Alternatives: mostTop, End: true}, TGI: {Alternatives: mostTGI, End: true},
	LlamaServer: {Alternatives: llm.MaxAlternatives, End: true},
	SGLang:      {Alternatives: llm.MaxAlternatives, End: true}, SGLangOpenAI: {Alternatives: llm.MaxAlternatives, End: true},
}

// mostOf finds how many alternatives a server tells, from its dialect's own cap down: told asks for n of them and
// says how many came.
func mostOf(cap int, told func(n int) (int, error)) (*int, error) {
	most := 0
	for n := cap; n >= 2; n /= 2 {
		found, err := told(n)
		if failed, ok := wire.AsError(err); ok && failed.Kind == Refused {
			continue
		}
		if found >= 2 {
			most = min(n, found)
		}
		return &most, err
	}
	return &most, nil
}

// seeded dialects honour a seed in each request.
var seeded = map[Dialect]bool{VLLM: true, LlamaServer: true, Ollama: true, TGI: true, LlamaCppPython: true}

// Capabilities is what servers of a dialect can do, as far as that does not depend on the model.
func (d Dialect) Capabilities() llm.Capabilities {
	_, scores := strategies[d]
	return llm.Capabilities{Generate: true, Score: scores, Seeds: seeded[d], Details: tells[d]}
}

// Dialect is the dialect in use: the one that was asked for, or that the server was found to speak.
func (e *Engine) Dialect() Dialect { return e.dialect }

// Identity is the kind of server with its version, and the served name of the model. See [llm.Engine].
func (e *Engine) Identity() llm.Identity {
	id := e.identity
	id.Settings = maps.Clone(id.Settings)
	return id
}

// Capabilities is what the dialect and the server can do. See [llm.Engine].
func (e *Engine) Capabilities() llm.Capabilities { return e.can }

// Do sends all requests beside each other, as many at once as the server takes; see [llm.Engine]. Errors
// that a server or the way to it caused are an [*Error].
func (e *Engine) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	results := make([]llm.Result, len(reqs))
	var group sync.WaitGroup
	for i, r := range reqs {
		if results[i].Err = e.enter(llm.Stop(ctx)); results[i].Err != nil {
			continue
		}
		work := group.Go
		if len(reqs) == 1 {
			work = func(f func()) { f() } // nothing to be beside
		}
		work(func() {
			defer e.leave()
			ctx, counter := wire.Counting(llm.AtRequest(ctx, i))
			reply, err := e.one(ctx, r)
			if err != nil {
				results[i] = llm.Result{Err: counted(err, e.can.ContextTokens)}
				return
			}
			reply.Usage = counter.Used()
			results[i] = llm.Result{Reply: reply}
		})
	}
	group.Wait()
	return results
}

// enter waits for a lane. A server with few slots keeps the beginning of as many texts: requests that are
// worked on one whole after another, in the order in which they came, find theirs.
func (e *Engine) enter(ctx context.Context) error {
	if e.lanes == nil {
		return nil
	}
	select {
	case e.lanes <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *Engine) leave() {
	if e.lanes != nil {
		<-e.lanes
	}
}

// counted gives a server's refusal of what is too long the numbers that package llm promises; have is what the
// model takes, 0 if unknown. A server that names none leaves only that at least one token was too many.
func counted(err error, have int) error {
	var numbered *llm.OverflowError
	failed, refused := wire.AsError(err)
	if !refused || !errors.Is(err, llm.ErrContextOverflow) || errors.As(err, &numbered) || have == 0 {
		return err
	}
	over := &llm.OverflowError{Need: have + 1, Have: have}
	for _, word := range strings.FieldsFunc(failed.What, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(word); err == nil {
			over.Need = max(over.Need, n)
		}
	}
	return over
}

// Retries is how often a request was sent again so far.
func (e *Engine) Retries() int64 { return e.client.Retries() }

// Close closes idle connections. Requests that are under way end as they would.
func (e *Engine) Close() error {
	e.closed.Store(true)
	e.client.Close()
	return nil
}

func (e *Engine) one(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if err := e.admit(ctx, r); err != nil {
		return llm.Reply{}, err
	}
	r.Details.Alternatives = min(r.Details.Alternatives, e.can.Details.Alternatives)
	if scorer, ok := e.text.(textScorer); ok && r.Kind == llm.Score {
		tokens, prompt, err := scorer.score(ctx, r.Prompt, r.Answer)
		if err != nil {
			return llm.Reply{}, err
		}
		if len(tokens) == 0 {
			return llm.Reply{}, llm.ErrEmptyAnswer
		}
		return llm.Reply{Tokens: tokens, PromptIDs: prompt, Finish: llm.FinishScored}, nil
	}
	if e.text != nil {
		said, err := e.text.complete(ctx, r)
		if err != nil {
			return llm.Reply{}, err
		}
		return e.finish(r, said, said.prompt)
	}
	prompt, err := e.promptIDs(ctx, r.Prompt)
	if err != nil {
		return llm.Reply{}, err
	}
	if r.Kind == llm.Score {
		return e.score(ctx, prompt, r.Answer)
	}
	return e.generate(ctx, prompt, r)
}

// admit says whether r can be asked at all.
func (e *Engine) admit(ctx context.Context, r llm.Request) error {
	if err := llm.Stop(ctx).Err(); err != nil {
		return err
	}
	if e.closed.Load() {
		return errClosed
	}
	if err := r.Validate(); err != nil {
		return err
	}
	if err := e.can.Check(r.Kind); err != nil {
		return fmt.Errorf("%w: a server asked as %q cannot", err, e.dialect)
	}
	if len(r.Prompt.Messages) > 0 && !e.can.Chat {
		return fmt.Errorf("chat: %w: %s has no chat template", llm.ErrNotSupported, e.identity.Model)
	}
	for _, m := range r.Prompt.Messages {
		if m.Role != llm.System && m.Role != llm.User && m.Role != llm.Assistant {
			return fmt.Errorf("prompt: role %q is none of system, user, assistant", m.Role)
		}
	}
	return sendable(r)
}

// sendable refuses text that JSON would change on its way, or that a server in C would cut.
func sendable(r llm.Request) error {
	texts := append([]string{r.Prompt.Text, r.Prompt.Opening, r.Answer}, r.Decoding.Stop...)
	for _, m := range r.Prompt.Messages {
		texts = append(texts, m.Content)
	}
	for _, t := range texts {
		switch {
		case !utf8.ValidString(t):
			return errors.New("prompt or answer is not valid UTF-8")
		case strings.IndexByte(t, 0) >= 0:
			return errors.New("prompt or answer holds a NUL character")
		}
	}
	return nil
}

// promptIDs tokenises a prompt once for all that is asked after it.
func (e *Engine) promptIDs(ctx context.Context, p llm.Prompt) ([]int32, error) {
	key := promptKey(p)
	if ids, ok := e.prompts.get(key); ok {
		return ids, nil
	}
	ids, err := e.tokens.prompt(ctx, p)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, errors.New("prompt: it has no token, so nothing says what comes first")
	}
	e.prompts.put(key, ids)
	return ids, nil
}

// answerTokens tokenises an answer once for all contexts that it is scored in.
func (e *Engine) answerTokens(ctx context.Context, answer string) ([]record.Token, error) {
	if tokens, ok := e.answers.get(answer); ok {
		return tokens, nil
	}
	tokens, err := e.tokens.answer(ctx, answer)
	if err != nil {
		return nil, err
	}
	e.answers.put(answer, tokens)
	return tokens, nil
}

func (e *Engine) score(ctx context.Context, prompt []int32, answer string) (llm.Reply, error) {
	tokens, err := e.answerTokens(ctx, answer)
	if err != nil {
		return llm.Reply{}, err
	}
	if len(tokens) == 0 {
		return llm.Reply{}, llm.ErrEmptyAnswer
	}
	if err := e.fits(len(prompt) + len(tokens)); err != nil {
		return llm.Reply{}, err
	}
	for i := range tokens {
		tokens[i].LogProb = untold
	}
	texts, err := e.tokens.force(ctx, prompt, gaps{tokens: tokens})
	if err != nil {
		return llm.Reply{}, err
	}
	spell(tokens, answer, texts)
	return llm.Reply{Tokens: tokens, PromptIDs: prompt, Finish: llm.FinishScored}, nil
}

// spell gives the tokens of an answer their pieces. Where the server's texts do not add up to the answer
// (a blank that the vocabulary puts before a text, say), the first token has them all: a score needs the
// tokens' order, not their borders.
func spell(tokens []record.Token, answer string, texts []string) {
	if string(joined(tokens)) == answer {
		return
	}
	pieces, ok := [][]byte(nil), false
	if len(texts) == len(tokens) {
		pieces, ok = align(answer, texts)
	}
	for i := range tokens {
		switch {
		case ok:
			tokens[i].Piece = pieces[i]
		case i == 0:
			tokens[i].Piece = []byte(answer)
		default:
			tokens[i].Piece = nil
		}
	}
}

func (e *Engine) fits(need int) error {
	if have := e.can.ContextTokens; have > 0 && need > have {
		return &llm.OverflowError{Need: need, Have: have}
	}
	return nil
}

func (e *Engine) generate(ctx context.Context, prompt []int32, r llm.Request) (llm.Reply, error) {
	if err := e.fits(len(prompt) + r.Decoding.MaxTokens); err != nil {
		return llm.Reply{}, err
	}
	said, err := e.tokens.complete(ctx, prompt, r)
	if err != nil {
		return llm.Reply{}, err
	}
	if err := e.complete(ctx, prompt, &said, r.Details); err != nil {
		return llm.Reply{}, err
	}
	return e.finish(r, said, prompt)
}

// finish cuts at a stop string and makes the reply.
func (e *Engine) finish(r llm.Request, said completion, prompt []int32) (llm.Reply, error) {
	reply := llm.Reply{Text: validText([]byte(said.text)), PromptIDs: prompt, Finish: said.finish, Observed: said.observed}
	if said.why == "" && len(said.tokens) > 0 {
		reply.Tokens = said.tokens
		reply.Text = validText(joined(said.tokens))
	}
	cut(&reply, r.Decoding.Stop)
	reply.Told = said.told(r.Details, &reply)
	if reply.Finish == llm.FinishLength && len(reply.Tokens) > 0 && len(reply.Tokens) < r.Decoding.MaxTokens {
		return llm.Reply{}, fmt.Errorf("%w: the server ended after %d of %d tokens", llm.ErrContextOverflow, len(reply.Tokens), r.Decoding.MaxTokens)
	}
	return reply, nil
}

// told are the details that were asked for and that the server told of a reply.
func (c *completion) told(wanted llm.Details, reply *llm.Reply) *llm.Told {
	var t llm.Told
	if n := len(reply.Tokens); wanted.Alternatives > 0 && n > 0 && n <= len(c.top) {
		known := false
		for _, list := range c.top[:n] {
			if len(list) == 0 {
				list = nil
			}
			t.Alternatives = append(t.Alternatives, list[:min(len(list), wanted.Alternatives)])
			known = known || list != nil
		}
		if !known {
			t.Alternatives = nil
		}
	}
	if wanted.End && reply.Finish == llm.FinishEnd && c.end != nil && !math.IsNaN(c.end.LogProb) {
		end := *c.end
		end.Alternatives = end.Alternatives[:min(len(end.Alternatives), wanted.Alternatives)]
		t.End = &end
	}
	if t.Alternatives == nil && t.End == nil {
		return nil
	}
	return &t
}

// cut ends a reply at the first stop string: the text before it, the tokens up to the one that completes it.
func cut(reply *llm.Reply, stops []string) {
	if len(reply.Tokens) == 0 {
		if at := firstStop([]byte(reply.Text), stops); at >= 0 {
			reply.Text, reply.Finish = reply.Text[:at], llm.FinishStop
		}
		return
	}
	var text []byte
	for i, t := range reply.Tokens {
		text = append(text, t.Piece...)
		if at := firstStop(text, stops); at >= 0 {
			reply.Text, reply.Finish, reply.Tokens = validText(text[:at]), llm.FinishStop, reply.Tokens[:i+1]
			return
		}
	}
	if reply.Finish == llm.FinishStop { // the server says so, but its tokens do not show it
		reply.Tokens = nil
	}
}
