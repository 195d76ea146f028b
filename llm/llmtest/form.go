package llmtest

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// form checks what holds for every result whatever was asked.
func (p *probe) form(req llm.Request, r llm.Result) {
	if r.Err != nil {
		if !reflect.DeepEqual(r.Reply, llm.Reply{}) {
			p.faultf("%s: a reply beside the error %v: %+v", describe(req), r.Err, r.Reply)
		}
		return
	}
	for i, t := range r.Reply.Tokens {
		if math.IsNaN(t.LogProb) || math.IsInf(t.LogProb, 0) || t.LogProb > 0 {
			p.faultf("%s: token %d has log-probability %v", describe(req), i, t.LogProb)
		}
	}
	if p.expect.PromptIDs && r.Reply.PromptIDs == nil {
		p.faultf("%s: no prompt ids", describe(req))
	}
	if p.expect.Exact && !r.Reply.Reproducible {
		p.faultf("%s: an exact engine gave a reply that is not reproducible", describe(req))
	}
	if req.Kind != llm.Embed && req.Kind != llm.EmbedTokens && r.Reply.Embedding != nil {
		p.faultf("%s: an embedding that was not asked for", describe(req))
	}
	switch req.Kind {
	case llm.Score:
		p.scoredForm(req, r.Reply)
	case llm.Embed:
		p.embeddedForm(req, r.Reply)
	case llm.EmbedTokens:
		p.tokensForm(req, r.Reply)
	default:
		p.generatedForm(req, r.Reply)
	}
}

func (p *probe) scoredForm(req llm.Request, r llm.Reply) {
	if r.Finish != llm.FinishScored || r.Text != "" {
		p.faultf("%s: finish %q, text %q", describe(req), r.Finish, r.Text)
	}
	if got := joined(r.Tokens); got != req.Answer {
		p.faultf("%s: tokens join to %q", describe(req), got)
	}
	if len(r.Tokens) == 0 {
		p.faultf("%s: no token and no error", describe(req))
	}
}

func (p *probe) generatedForm(req llm.Request, r llm.Reply) {
	if !utf8.ValidString(r.Text) {
		p.faultf("%s: text is not UTF-8: %q", describe(req), r.Text)
	}
	if p.expect.TextOnly {
		if len(r.Tokens) > 0 {
			p.faultf("%s: %d tokens of an engine that tells none", describe(req), len(r.Tokens))
		}
		return
	}
	uncut := joined(r.Tokens)
	switch n, limit := len(r.Tokens), req.Decoding.MaxTokens; {
	case n > limit:
		p.faultf("%s: %d tokens, limit %d", describe(req), n, limit)
	case r.Finish == llm.FinishLength && n != limit:
		p.faultf("%s: finish %q after %d of %d tokens", describe(req), r.Finish, n, limit)
	}
	switch r.Finish {
	case llm.FinishEnd, llm.FinishLength:
		if sound(uncut) != sound(r.Text) {
			p.faultf("%s: tokens join to %q, text is %q", describe(req), uncut, r.Text)
		}
	case llm.FinishStop:
		if !strings.HasPrefix(sound(uncut), sound(r.Text)) || !containsAny(uncut, req.Decoding.Stop) {
			p.faultf("%s: stopped, tokens join to %q, text is %q", describe(req), uncut, r.Text)
		}
	default:
		p.faultf("%s: finish %q", describe(req), r.Finish)
	}
	if containsAny(r.Text, req.Decoding.Stop) {
		p.faultf("%s: stop string in %q", describe(req), r.Text)
	}
}

// sound leaves out what is no character: how many U+FFFD stand for broken bytes is left open.
func sound(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\uFFFD", "")
}

func containsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(s string) bool { return strings.Contains(text, s) })
}

func joined(tokens []record.Token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.Write(t.Piece)
	}
	return b.String()
}

func tokenIDs(tokens []record.Token) []int32 {
	out := make([]int32, len(tokens))
	for i, t := range tokens {
		out[i] = t.ID
	}
	return out
}

// sameText says what differs between two replies, log-probabilities aside; empty if nothing does.
func sameText(a, b llm.Reply) string {
	switch {
	case a.Text != b.Text:
		return fmt.Sprintf("texts %q and %q", a.Text, b.Text)
	case a.Finish != b.Finish:
		return fmt.Sprintf("finish %q and %q", a.Finish, b.Finish)
	case !slices.Equal(tokenIDs(a.Tokens), tokenIDs(b.Tokens)):
		return fmt.Sprintf("tokens %v and %v", tokenIDs(a.Tokens), tokenIDs(b.Tokens))
	}
	return ""
}

// sameBits says what differs between two replies to the last bit; empty if nothing does.
func sameBits(a, b llm.Reply) string {
	if d := sameText(a, b); d != "" {
		return d
	}
	for i := range a.Tokens {
		if x, y := a.Tokens[i].LogProb, b.Tokens[i].LogProb; math.Float64bits(x) != math.Float64bits(y) {
			return fmt.Sprintf("token %d has log-probabilities %v and %v", i, x, y)
		}
	}
	if len(a.Embedding) != len(b.Embedding) {
		return fmt.Sprintf("embeddings of %d and %d numbers", len(a.Embedding), len(b.Embedding))
	}
	for i := range a.Embedding {
		if x, y := a.Embedding[i], b.Embedding[i]; math.Float32bits(x) != math.Float32bits(y) {
			return fmt.Sprintf("number %d of the embedding is %v and %v", i, x, y)
		}
	}
	return ""
}

// repeats holds two replies to one request to what their engine says of them.
func (p *probe) repeats(req llm.Request, a, b llm.Reply, how string) {
	if a.Reproducible != b.Reproducible {
		p.faultf("%s: reproducible %t and %t", describe(req), a.Reproducible, b.Reproducible)
	}
	if !a.Reproducible || !b.Reproducible {
		return
	}
	if d := sameBits(a, b); d != "" {
		p.faultf("%s, %s: %s", describe(req), how, d)
	}
}

func describe(r llm.Request) string {
	text := r.Prompt.Text
	if n := len(r.Prompt.Messages); n > 0 {
		text = r.Prompt.Messages[n-1].Content
	}
	const most = 40
	if len(text) > most {
		text = text[:most] + "…"
	}
	if r.Kind == llm.Score {
		answer := r.Answer
		if len(answer) > most {
			answer = answer[:most] + "…"
		}
		return fmt.Sprintf("score %q after %q", answer, text)
	}
	return fmt.Sprintf("%s after %q", r.Kind, text)
}
