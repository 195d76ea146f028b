package llmtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/credence-lab/credence/llm"
)

// Expect is what an engine under test promises beyond its [llm.Capabilities].
type Expect struct {
	// Exact says that a token has the same log-probability to the last bit whether it is generated or
	// forced, alone or in company. Replies then are Reproducible.
	Exact bool
	// Tolerance is the largest difference between a generated and a forced token, in nats, of an
	// engine that is not exact; 0 leaves it unchecked.
	Tolerance float64
	// PromptIDs says that replies tell the ids before their tokens.
	PromptIDs bool
	// TextOnly says that generated text comes without its tokens.
	TextOnly bool
	// Specials are special tokens as they are written, such as "<|im_end|>", with their ids. Written
	// in a question or an answer they must stay text.
	Specials map[string]int32
}

// Conformance holds an engine to what package llm promises of every engine. Open returns a new engine
// of one and the same model; the suite closes it. It asks for about a thousand tokens in all. What an
// engine is not capable of is skipped with the reason.
func Conformance(t *testing.T, open func(t *testing.T) llm.Engine, expect Expect) {
	t.Helper()
	shared := open(t)
	t.Cleanup(func() {
		if err := shared.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			p := &probe{ctx: t.Context(), engine: shared, can: shared.Capabilities(), expect: expect}
			if why := c.skip(p); why != "" {
				t.Skip(why)
			}
			if c.alone {
				p.engine = open(t)
			}
			c.run(p)
			for _, f := range p.faults {
				t.Error(f)
			}
		})
	}
}

// check is one promise. It collects faults instead of failing a test, so that the suite can itself be
// tested on engines that break the promise.
type check struct {
	name  string
	needs need
	// alone checks get an engine of their own, and may close it.
	alone bool
	run   func(*probe)
}

// need is what a check needs of an engine.
type need struct{ generate, score, embed, embedTokens, chat, seeds, context, promptIDs, tokens bool }

func (c check) skip(p *probe) string {
	for _, n := range []struct {
		needed, have bool
		what         string
	}{
		{c.needs.generate, p.can.Generate, "generate"},
		{c.needs.score, p.can.Score, "score"},
		{c.needs.embed, p.can.Embed, "embed"},
		{c.needs.embedTokens, p.can.EmbedTokens, "embed tokens"},
		{c.needs.chat, p.can.Chat, "chat"},
		{c.needs.seeds, p.can.Seeds, "repeat samples"},
		{c.needs.context, p.can.ContextTokens > 0, "say how long its context is"},
		{c.needs.promptIDs, p.expect.PromptIDs, "tell prompt ids"},
		{c.needs.tokens, !p.expect.TextOnly, "tell the tokens of its text"},
	} {
		if n.needed && !n.have {
			return "the engine does not " + n.what
		}
	}
	return ""
}

// checks run in this order on one engine; the first sees it before any call.
var checks = []check{
	{name: "identity is complete before the first call and stays", run: checkIdentity},
	{name: "no request, no result", run: checkNothing},
	{name: "malformed requests are refused one by one", run: checkMalformed},
	{name: "kinds it lacks are not supported", run: checkUnsupported},
	{name: "an answer without text has no token", needs: need{score: true}, run: checkEmptyAnswer},
	{name: "generated tokens join to the text", needs: need{generate: true}, run: checkGenerated},
	{name: "the token limit is kept", needs: need{generate: true, tokens: true}, run: checkLimit},
	{name: "details change nothing else and fit the tokens", needs: need{generate: true, tokens: true}, run: checkDetails},
	{name: "stop strings cut the text", needs: need{generate: true, tokens: true}, run: checkStop},
	{name: "greedy replies repeat and ignore the seed", needs: need{generate: true}, run: checkGreedy},
	{name: "samples repeat, one by one and together", needs: need{generate: true, seeds: true}, run: checkSamples},
	{name: "scored tokens join to the answer", needs: need{score: true}, run: checkScored},
	{name: "scores do not depend on company", needs: need{score: true}, run: checkCompany},
	{name: "forced tokens equal generated ones", needs: need{generate: true, score: true, promptIDs: true}, run: checkForced},
	{name: "concurrent calls", needs: need{score: true}, run: checkConcurrent},
	{name: "embeddings have their length and dimensions", needs: need{embed: true}, run: checkEmbedded},
	{name: "a text without a token has no embedding", needs: need{embed: true}, run: checkEmptyText},
	{name: "embeddings do not depend on their neighbours", needs: need{embed: true}, run: checkEmbedCompany},
	{name: "embeddings are near where texts say alike", needs: need{embed: true}, run: checkMeaning},
	{name: "a text is embedded whole", needs: need{embed: true}, run: checkWhole},
	{name: "embeddings of concurrent callers", needs: need{embed: true}, run: checkEmbedConcurrent},
	{name: "a vector for each token of a text", needs: need{embedTokens: true}, run: checkTokenVectors},
	{name: "questions of every script", run: checkScripts},
	{name: "template text in a question is text", needs: need{chat: true, promptIDs: true}, run: checkTemplateText},
	{name: "special tokens in a text are text", needs: need{score: true, promptIDs: true}, run: checkSpecialText},
	{name: "turns, system message and opening reach the model", needs: need{chat: true, promptIDs: true}, run: checkTurns},
	{name: "what does not fit is refused with numbers", needs: need{context: true}, run: checkOverflow},
	{name: "a cancelled context ends the call", run: checkCancelled},
	{name: "a call cancelled in flight has whole replies or its error", run: checkCancelledInFlight},
	{name: "after close there are errors", alone: true, run: checkClosed},
}

// probe asks one engine and collects what is wrong with it.
type probe struct {
	ctx    context.Context
	engine llm.Engine
	can    llm.Capabilities
	expect Expect
	faults []string
}

func (p *probe) faultf(format string, args ...any) {
	p.faults = append(p.faults, fmt.Sprintf(format, args...))
}

// prompt puts text to the model in the form that it knows.
func (p *probe) prompt(text string) llm.Prompt {
	if p.can.Chat {
		return llm.Chat(text, "")
	}
	return llm.Prompt{Text: text}
}

func (p *probe) generate(text string, tokens int) llm.Request {
	return llm.Request{Kind: llm.Generate, Prompt: p.prompt(text), Decoding: llm.Decoding{MaxTokens: tokens}}
}

func (p *probe) score(text, answer string) llm.Request {
	return llm.Request{Kind: llm.Score, Prompt: p.prompt(text), Answer: answer}
}

// any asks something short of text, whatever the engine can do.
func (p *probe) any(prompt llm.Prompt) llm.Request {
	if p.can.Score {
		return llm.Request{Kind: llm.Score, Prompt: prompt, Answer: " yes"}
	}
	if !p.can.Generate {
		return llm.Request{Kind: llm.Embed, Prompt: prompt}
	}
	return llm.Request{Kind: llm.Generate, Prompt: prompt, Decoding: llm.Decoding{MaxTokens: 1}}
}

// writes says that the engine takes prompts and answers, not only texts to embed.
func (p *probe) writes() bool { return p.can.Generate || p.can.Score }

// do asks and checks the form of what comes back. The number of results is right when it returns.
func (p *probe) do(ctx context.Context, reqs ...llm.Request) []llm.Result {
	results := p.engine.Do(ctx, reqs)
	if len(results) != len(reqs) {
		p.faultf("%d requests have %d results", len(reqs), len(results))
		padded := make([]llm.Result, len(reqs))
		for i := copy(padded, results); i < len(padded); i++ {
			padded[i].Err = fmt.Errorf("no result")
		}
		results = padded
	}
	for i, r := range results {
		p.form(reqs[i], r)
	}
	return results
}

// all asks what must not fail; ok is false if something did.
func (p *probe) all(reqs ...llm.Request) (replies []llm.Reply, ok bool) {
	ok = true
	for i, r := range p.do(p.ctx, reqs...) {
		if r.Err != nil {
			p.faultf("request %d (%s): %v", i, describe(reqs[i]), r.Err)
			ok = false
		}
		replies = append(replies, r.Reply)
	}
	return replies, ok
}

func (p *probe) one(req llm.Request) (llm.Reply, bool) {
	replies, ok := p.all(req)
	return replies[0], ok
}
