package llmtest

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/credence-lab/credence/llm"
)

func (p *probe) embed(text string) llm.Request {
	return llm.Request{Kind: llm.Embed, Prompt: llm.Prompt{Text: text}}
}

func (p *probe) embedAll(texts ...string) []llm.Request {
	reqs := make([]llm.Request, len(texts))
	for i, t := range texts {
		reqs[i] = p.embed(t)
	}
	return reqs
}

func (p *probe) embeddedForm(req llm.Request, r llm.Reply) {
	if r.Finish != llm.FinishEmbedded || r.Text != "" || len(r.Tokens) > 0 {
		p.faultf("%s: finish %q, text %q, %d tokens", describe(req), r.Finish, r.Text, len(r.Tokens))
	}
	if len(r.Embedding) != p.can.Dimensions || len(r.Embedding) == 0 {
		p.faultf("%s: %d numbers, the engine states %d", describe(req), len(r.Embedding), p.can.Dimensions)
	}
	if n := math.Sqrt(cosine(r.Embedding, r.Embedding)); !(math.Abs(n-1) <= 1e-6) { // NaN does not pass
		p.faultf("%s: an embedding of length %v", describe(req), n)
	}
}

func (p *probe) embedTokens(text string) llm.Request {
	return llm.Request{Kind: llm.EmbedTokens, Prompt: llm.Prompt{Text: text}}
}

func (p *probe) tokensForm(req llm.Request, r llm.Reply) {
	vectors, err := llm.TokenVectors(r)
	if err != nil || r.Finish != llm.FinishEmbedded || r.Text != "" {
		p.faultf("%s: %v, finish %q, text %q", describe(req), err, r.Finish, r.Text)
	}
	for i, v := range vectors {
		if n := math.Sqrt(cosine(v, v)); !(math.Abs(n-1) <= 1e-6) {
			p.faultf("%s: token %d has a vector of length %v", describe(req), i, n)
		}
	}
}

// checkTokenVectors wants more tokens of a longer text, the same whatever stands beside it, and refusals one by one.
func checkTokenVectors(p *probe) {
	short, long := p.embedTokens("A red house."), p.embedTokens("A red house stands by the lake, and nobody lives there.")
	reqs := []llm.Request{short, p.embedTokens(" "), long, p.embedTokens(""), short}
	if p.can.ContextTokens > 0 {
		reqs = append(reqs, p.embedTokens(strings.Repeat("go ", p.can.ContextTokens+8)), short)
	}
	results := p.do(p.ctx, reqs...)
	for i, r := range results {
		switch {
		case i%2 == 0 && r.Err != nil:
			p.faultf("%s: %v", describe(reqs[i]), r.Err)
			return
		case i == 5 && !errors.Is(r.Err, llm.ErrContextOverflow), (i == 1 || i == 3) && !errors.Is(r.Err, llm.ErrEmptyText):
			p.faultf("%s: error %v", describe(reqs[i]), r.Err)
		}
	}
	if few, many := len(results[0].Reply.Tokens), len(results[2].Reply.Tokens); few >= many {
		p.faultf("%d tokens of a text and %d of one that goes on", few, many)
	}
	p.repeats(short, results[0].Reply, results[4].Reply, "twice in one call")
	for _, i := range []int{0, 2} {
		if alone, ok := p.one(reqs[i]); ok {
			p.repeats(reqs[i], alone, results[i].Reply, "alone and together")
		}
	}
}

// cosine is that of vectors of length 1.
func cosine(a, b []float32) float64 {
	sum := 0.
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func checkEmbedded(p *probe) {
	p.all(p.embedAll(slices.Concat([]string{"a", "yes", "Is water wet?"}, scripts)...)...)
}

func checkEmptyText(p *probe) {
	for i, r := range p.do(p.ctx, p.embedAll("", "water", " \n\t ", "water")...) {
		switch blank := i%2 == 0; {
		case blank && !errors.Is(r.Err, llm.ErrEmptyText):
			p.faultf("a text without a token: error %v, want one that is ErrEmptyText", r.Err)
		case !blank && r.Err != nil:
			p.faultf("the request beside a text without a token failed: %v", r.Err)
		}
	}
}

// checkEmbedCompany embeds texts of several lengths together, in another order, and one by one.
func checkEmbedCompany(p *probe) {
	var reqs []llm.Request
	for _, n := range []int{1, 3, 7, 8, 17, 40} {
		reqs = append(reqs, p.embed("Where is it?"+strings.Repeat(" There.", n)))
	}
	reqs = append(reqs, reqs[0])
	together, ok := p.all(reqs...)
	if !ok {
		return
	}
	turned := slices.Clone(reqs)
	slices.Reverse(turned)
	reversed, ok := p.all(turned...)
	if !ok {
		return
	}
	slices.Reverse(reversed)
	for i, req := range reqs {
		p.sameEmbedding(req, together[i], reversed[i], "in another order")
		if alone, ok := p.one(req); ok {
			p.sameEmbedding(req, together[i], alone, "together and alone")
		}
	}
}

// sameEmbedding holds two embeddings of one text to what their engine says of them; those that are not
// reproducible must still mean the same.
func (p *probe) sameEmbedding(req llm.Request, a, b llm.Reply, how string) {
	p.repeats(req, a, b, how)
	if c := cosine(a.Embedding, b.Embedding); c < .999 {
		p.faultf("%s, %s: the cosine of its two embeddings is %v", describe(req), how, c)
	}
}

// checkMeaning wants texts that say alike nearer than those that do not, by a wide margin.
func checkMeaning(p *probe) {
	groups := [][2]string{
		{"The cat sleeps on the warm mat.", "A cat is sleeping on a warm mat."},
		{"Copper melts at a high temperature.", "The temperature at which copper melts is high."},
		{"She plays the violin every evening.", "Every evening she plays her violin."},
	}
	var reqs []llm.Request
	for _, g := range groups {
		reqs = append(reqs, p.embedAll(g[0], g[1])...)
	}
	replies, ok := p.all(reqs...)
	if !ok {
		return
	}
	for i, a := range replies {
		alike := cosine(a.Embedding, replies[i^1].Embedding)
		for j, b := range replies {
			if j/2 != i/2 && cosine(a.Embedding, b.Embedding) >= alike-.1 {
				p.faultf("%s is as near to %s as to %s", describe(reqs[i]), describe(reqs[j]), describe(reqs[i^1]))
			}
		}
	}
}

// checkWhole changes the end of texts, long ones too: an end that does not reach the model is one that
// was cut off in silence.
func checkWhole(p *probe) {
	fill := 40
	if p.can.ContextTokens > 0 {
		fill = min(p.can.ContextTokens/2, 2000)
	}
	for _, text := range slices.Concat(hostile, []string{"go" + strings.Repeat(" go", fill)}) {
		res := p.do(p.ctx, p.embedAll(text+" sun", text+" iron")...)
		if res[0].Err != nil || res[1].Err != nil {
			continue // refused aloud
		}
		if slices.Equal(res[0].Reply.Embedding, res[1].Reply.Embedding) {
			p.faultf("%s: its end does not reach the model", p.short(text))
		}
	}
}

func (p *probe) short(text string) string { return describe(p.embed(text)) }

func checkEmbedConcurrent(p *probe) {
	p.concurrently(p.embedAll("one", "two and three", "four", strings.Repeat("five ", 9)))
}
