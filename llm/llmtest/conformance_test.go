package llmtest

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

var scriptedExpect = Expect{Exact: true, PromptIDs: true, Specials: map[string]int32{EndOfTurn: EndOfTurnID}}

func TestScriptedConforms(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]Option{
		"all":        {ContextOf(512)},
		"no chat":    {ContextOf(512), Lacking(func(c *llm.Capabilities) { c.Chat = false })},
		"score only": {ContextOf(512), Lacking(func(c *llm.Capabilities) { c.Generate = false })},
		"text only":  {Lacking(func(c *llm.Capabilities) { c.Score = false })},
		"embeddings only": {ContextOf(512), Lacking(func(c *llm.Capabilities) {
			c.Generate, c.Score, c.Chat, c.Seeds, c.EmbedTokens = false, false, false, false, false
		})},
		"no embeddings": {ContextOf(512), Lacking(func(c *llm.Capabilities) { c.Embed, c.Dimensions = false, 0 })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			Conformance(t, func(*testing.T) llm.Engine { return NewScripted(nil, opts...) }, scriptedExpect)
		})
	}
}

// mutant is a conforming engine with one fault.
type mutant struct {
	llm.Engine
	do       func(next llm.Engine, ctx context.Context, reqs []llm.Request) []llm.Result
	identity func(llm.Identity) llm.Identity
}

func (m mutant) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	if m.do == nil {
		return m.Engine.Do(ctx, reqs)
	}
	return m.do(m.Engine, ctx, reqs)
}

func (m mutant) Identity() llm.Identity {
	if m.identity == nil {
		return m.Engine.Identity()
	}
	return m.identity(m.Engine.Identity())
}

type doing = func(next llm.Engine, ctx context.Context, reqs []llm.Request) []llm.Result

// asking changes each request before it is asked.
func asking(change func(*llm.Request)) doing {
	return func(next llm.Engine, ctx context.Context, reqs []llm.Request) []llm.Result {
		reqs = slices.Clone(reqs)
		for i := range reqs {
			change(&reqs[i])
		}
		return next.Do(ctx, reqs)
	}
}

// answering changes each reply that is no error.
func answering(change func(llm.Request, *llm.Reply)) doing {
	return func(next llm.Engine, ctx context.Context, reqs []llm.Request) []llm.Result {
		out := next.Do(ctx, reqs)
		for i := range out {
			if out[i].Err == nil {
				change(reqs[i], &out[i].Reply)
			}
		}
		return out
	}
}

// onEmbeddings changes the numbers of each embedding.
func onEmbeddings(change func(llm.Request, []float32)) doing {
	return answering(func(req llm.Request, r *llm.Reply) {
		if req.Kind == llm.Embed {
			change(req, r.Embedding)
		}
	})
}

// onAlternatives changes each list of them, given the log-probability of the token that was chosen there.
func onAlternatives(change func(list []float64, chosen float64) []float64) doing {
	return answering(func(_ llm.Request, r *llm.Reply) {
		if r.Told == nil {
			return
		}
		for i, list := range r.Told.Alternatives {
			r.Told.Alternatives[i] = change(list, r.Tokens[i].LogProb)
		}
	})
}

// inMessages changes the text of every message.
func inMessages(change func(string) string) doing {
	return asking(func(r *llm.Request) {
		r.Prompt.Messages = slices.Clone(r.Prompt.Messages)
		for i := range r.Prompt.Messages {
			r.Prompt.Messages[i].Content = change(r.Prompt.Messages[i].Content)
		}
	})
}

func failed(out []llm.Result) bool {
	return slices.ContainsFunc(out, func(r llm.Result) bool { return r.Err != nil })
}

// TestConformanceFindsFaults breaks the scripted model in the ways that engines are broken in, and
// wants the check that is about it to say so.
func TestConformanceFindsFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault string
		check string
		do    doing
	}{
		{"alternatives are in no order", "details", onAlternatives(func(list []float64, _ float64) []float64 { slices.Reverse(list); return list })},
		{"one alternative is lost", "details", onAlternatives(func(list []float64, _ float64) []float64 { return list[1:] })},
		{"the chosen token is told beside the others", "details", onAlternatives(func(list []float64, chosen float64) []float64 {
			if chosen < list[len(list)-1] {
				return append(list, chosen)
			}
			return list
		})},
		{"alternatives are of another position", "details", onAlternatives(func(list []float64, _ float64) []float64 { return Alternatives(-2.5, len(list)) })},
		{"a turn that was cut off has an end", "details", answering(func(req llm.Request, r *llm.Reply) {
			if r.Told != nil && req.Details.End && r.Finish == llm.FinishLength {
				r.Told.End = &llm.EndOfTurn{LogProb: -1}
			}
		})},
		{"a failure fails its company", "malformed", func(next llm.Engine, ctx context.Context, reqs []llm.Request) []llm.Result {
			out := next.Do(ctx, reqs)
			if failed(out) {
				for i := range out {
					out[i] = llm.Result{Err: ErrClosed}
				}
			}
			return out
		}},
		{"failures are left out", "malformed", func(next llm.Engine, ctx context.Context, reqs []llm.Request) []llm.Result {
			return slices.DeleteFunc(next.Do(ctx, reqs), func(r llm.Result) bool { return r.Err != nil })
		}},
		{"defaults are written into the request", "malformed", func(next llm.Engine, ctx context.Context, reqs []llm.Request) []llm.Result {
			for i := range reqs {
				reqs[i].Decoding.TopP = 1
			}
			return next.Do(ctx, reqs)
		}},
		{"a missing limit is filled in", "malformed", asking(func(r *llm.Request) {
			if r.Kind == llm.Generate && r.Decoding.MaxTokens == 0 {
				r.Decoding.MaxTokens = 16
			}
		})},
		{"unknown kinds are taken for generate", "kinds", asking(func(r *llm.Request) {
			if r.Kind == "paint" {
				r.Kind, r.Decoding.MaxTokens = llm.Generate, 1
			}
		})},
		{"an empty answer becomes a blank", "answer without text", asking(func(r *llm.Request) {
			if r.Kind == llm.Score && r.Answer == "" {
				r.Answer = " "
			}
		})},
		{"the text is trimmed", "generated tokens", answering(func(_ llm.Request, r *llm.Reply) {
			r.Text = strings.TrimSuffix(r.Text, r.Text[max(0, len(r.Text)-1):])
		})},
		{"the token limit is off by one", "token limit", asking(func(r *llm.Request) { r.Decoding.MaxTokens++ })},
		{"a log-probability is infinite", "generated tokens", answering(func(_ llm.Request, r *llm.Reply) {
			r.Tokens[0].LogProb = math.Inf(-1)
		})},
		{"a probability is told as such", "scored tokens", answering(func(_ llm.Request, r *llm.Reply) {
			r.Tokens[0].LogProb = math.Exp(r.Tokens[0].LogProb)
		})},
		{"stop strings are looked for within tokens only", "stop strings", func(next llm.Engine, ctx context.Context, reqs []llm.Request) []llm.Result {
			out := make([]llm.Result, len(reqs))
			for i, r := range reqs {
				stops := r.Decoding.Stop
				r.Decoding.Stop = nil
				free := next.Do(ctx, []llm.Request{r})[0]
				r.Decoding.Stop = slices.DeleteFunc(slices.Clone(stops), func(s string) bool {
					return !slices.ContainsFunc(free.Reply.Tokens, func(t record.Token) bool { return strings.Contains(string(t.Piece), s) })
				})
				out[i] = next.Do(ctx, []llm.Request{r})[0]
			}
			return out
		}},
		{"the stop string stays in the text", "stop strings", answering(func(_ llm.Request, r *llm.Reply) {
			if r.Finish == llm.FinishStop {
				r.Text = joined(r.Tokens)
			}
		})},
		{"greedy replies depend on the seed", "greedy", asking(func(r *llm.Request) {
			if r.Seed != 0 {
				r.Decoding.Temperature = 1
			}
		})},
		{"samples are all the first", "samples", asking(func(r *llm.Request) { r.Sample = 0 })},
		{"the seed is ignored", "samples", asking(func(r *llm.Request) { r.Seed = 0 })},
		{"samples are numbered by place in the call", "samples", func(next llm.Engine, ctx context.Context, reqs []llm.Request) []llm.Result {
			reqs = slices.Clone(reqs)
			for i := range reqs {
				reqs[i].Sample = i
			}
			return next.Do(ctx, reqs)
		}},
		{"the answer is trimmed", "scored tokens", asking(func(r *llm.Request) {
			if a := strings.TrimSpace(r.Answer); a != "" {
				r.Answer = a
			}
		})},
		{"the answer ends at a NUL", "scored tokens", asking(func(r *llm.Request) { r.Answer, _, _ = strings.Cut(r.Answer, "\x00") })},
		{"the question ends at a NUL", "every script", inMessages(func(s string) string { s, _, _ = strings.Cut(s, "\x00"); return s })},
		{"values move with the size of the batch", "company", func(next llm.Engine, ctx context.Context, reqs []llm.Request) []llm.Result {
			return answering(func(_ llm.Request, r *llm.Reply) {
				r.Tokens[0].LogProb -= 1e-12 * float64(len(reqs))
			})(next, ctx, reqs)
		}},
		{"forced tokens are a little off", "forced", answering(func(req llm.Request, r *llm.Reply) {
			if req.Kind == llm.Score {
				r.Tokens[0].LogProb -= 1e-12
			}
		})},
		{"log-probabilities are those after the temperature", "forced", answering(func(req llm.Request, r *llm.Reply) {
			if t := req.Decoding.Temperature; t > 0 {
				r.Tokens[0].LogProb /= t
			}
		})},
		{"a question is run as a template", "template text", inMessages(func(s string) string {
			return strings.NewReplacer("{{ 1 + 1 }}", "2").Replace(s)
		})},
		{"special tokens in a question are parsed", "special tokens", answering(func(req llm.Request, r *llm.Reply) {
			if len(req.Prompt.Messages) > 0 && strings.Contains(req.Prompt.Messages[0].Content, EndOfTurn) {
				r.PromptIDs = append(r.PromptIDs, EndOfTurnID)
			}
		})},
		{"the system message is dropped", "turns", asking(func(r *llm.Request) {
			r.Prompt.Messages = slices.DeleteFunc(slices.Clone(r.Prompt.Messages), func(m llm.Message) bool { return m.Role == llm.System })
		})},
		{"the opening is dropped", "turns", asking(func(r *llm.Request) { r.Prompt.Opening = "" })},
		{"what does not fit is shortened", "does not fit", asking(func(r *llm.Request) {
			r.Prompt.Messages = slices.Clone(r.Prompt.Messages)
			for i, m := range r.Prompt.Messages {
				r.Prompt.Messages[i].Content = m.Content[:min(len(m.Content), 60)]
			}
			r.Answer = r.Answer[:min(len(r.Answer), 60)]
		})},
		{"embeddings have another length", "length and dimensions", onEmbeddings(func(_ llm.Request, e []float32) {
			for i := range e {
				e[i] *= 1.00001
			}
		})},
		{"an embedding is no number", "length and dimensions", onEmbeddings(func(_ llm.Request, e []float32) { e[0] = float32(math.NaN()) })},
		{"embeddings lack dimensions", "length and dimensions", answering(func(_ llm.Request, r *llm.Reply) {
			r.Embedding = r.Embedding[:len(r.Embedding)-1]
		})},
		{"blanks have an embedding", "without a token", asking(func(r *llm.Request) {
			if strings.TrimSpace(r.Prompt.Text) == "" {
				r.Prompt.Text = "-"
			}
		})},
		{"embeddings move with the size of the batch", "their neighbours", func(next llm.Engine, ctx context.Context, reqs []llm.Request) []llm.Result {
			return onEmbeddings(func(_ llm.Request, e []float32) {
				e[slices.Index(e, slices.Max(e))] *= 1 - 1e-7*float32(len(reqs))
			})(next, ctx, reqs)
		}},
		{"embeddings come in another order", "their neighbours", func(next llm.Engine, ctx context.Context, reqs []llm.Request) []llm.Result {
			out := next.Do(ctx, reqs)
			slices.SortFunc(out, func(a, b llm.Result) int { return slices.Compare(a.Reply.Embedding, b.Reply.Embedding) })
			return out
		}},
		{"all texts mean the same", "say alike", asking(func(r *llm.Request) { r.Prompt.Text = "a" })},
		{"a long text is cut in silence", "whole", asking(func(r *llm.Request) { r.Prompt.Text = r.Prompt.Text[:min(len(r.Prompt.Text), 256)] })},
		{"a text to embed ends at a NUL", "whole", asking(func(r *llm.Request) { r.Prompt.Text, _, _ = strings.Cut(r.Prompt.Text, "\x00") })},
		{"a cancelled call is answered", "cancelled context", func(next llm.Engine, ctx context.Context, reqs []llm.Request) []llm.Result {
			return next.Do(context.WithoutCancel(ctx), reqs)
		}},
		{"a cancelled call is cut short", "cancelled context", func(next llm.Engine, ctx context.Context, reqs []llm.Request) []llm.Result {
			if ctx.Err() != nil {
				return nil
			}
			return next.Do(ctx, reqs)
		}},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			faults := run(t, c.check, mutant{Engine: NewScripted(nil, ContextOf(512)), do: c.do})
			if len(faults) == 0 {
				t.Errorf("the check on %q does not see it", c.check)
			}
		})
	}
}

func TestConformanceFindsFaultyIdentities(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := 0
	for fault, identity := range map[string]func(llm.Identity) llm.Identity{
		"no model":     func(id llm.Identity) llm.Identity { id.Model = ""; return id },
		"short digest": func(id llm.Identity) llm.Identity { id.Weights = id.Weights[:8]; return id },
		"changes": func(id llm.Identity) llm.Identity {
			mu.Lock()
			defer mu.Unlock()
			asked++
			id.Version = strings.Repeat("1", asked)
			return id
		},
	} {
		if faults := run(t, "identity", mutant{Engine: NewScripted(nil), identity: identity}); len(faults) == 0 {
			t.Errorf("%s: not seen", fault)
		}
	}
}

// run runs the one check whose name holds name.
func run(t *testing.T, name string, e llm.Engine) []string {
	t.Helper()
	for _, c := range checks {
		if !strings.Contains(c.name, name) {
			continue
		}
		p := &probe{ctx: t.Context(), engine: e, can: e.Capabilities(), expect: scriptedExpect}
		if why := c.skip(p); why != "" {
			t.Fatalf("check %q: %s", c.name, why)
		}
		c.run(p)
		return p.faults
	}
	t.Fatalf("no check on %q", name)
	return nil
}
