package llmtest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

const talkative = "Write a long list of words that come to mind."

func checkGenerated(p *probe) {
	p.all(p.generate(talkative, 12), p.generate("Say hello in Chinese, with an emoji.", 12))
}

func checkLimit(p *probe) {
	replies, ok := p.all(p.generate(talkative, 1), p.generate(talkative, 4))
	if !ok {
		return
	}
	for i, limit := range []int{1, 4} {
		if r := replies[i]; len(r.Tokens) != limit || r.Finish != llm.FinishLength {
			p.faultf("limit %d: %d tokens, finish %q", limit, len(r.Tokens), r.Finish)
		}
	}
	if replies[0].Reproducible && replies[1].Reproducible && replies[0].Tokens[0].ID != replies[1].Tokens[0].ID {
		p.faultf("the first token depends on the limit")
	}
}

// checkDetails asks for all details that the engine says it can tell: the reply is the same with them, and they
// are distributions. What a server leaves out is no fault.
func checkDetails(p *probe) {
	plain := p.generate(talkative, 6)
	detailed := plain
	if detailed.Details = p.can.Details; detailed.Details == (llm.Details{}) {
		return
	}
	detailed.Details.Alternatives = min(detailed.Details.Alternatives, 5)
	ending := detailed
	ending.Prompt, ending.Decoding.MaxTokens = p.prompt("Is the sky blue? Answer yes or no."), 40
	few := detailed // so few that what was chosen is seldom one of them
	few.Details.Alternatives = min(detailed.Details.Alternatives, 2)
	few.Decoding.Temperature, few.Seed = 1.5, 7
	reqs := []llm.Request{detailed, ending, few}
	replies, ok := p.all(append(reqs, plain)...)
	if !ok {
		return
	}
	if undetailed := replies[len(reqs)]; undetailed.Told != nil {
		p.faultf("details that nobody asked for: %+v", undetailed.Told)
	} else if undetailed.Reproducible && replies[0].Reproducible && replies[0].Text != undetailed.Text {
		p.faultf("details change the text: %q, %q", undetailed.Text, replies[0].Text)
	}
	for i, req := range reqs {
		p.told(req.Details, replies[i])
	}
}

// told holds what was told of a reply to what was asked for.
func (p *probe) told(wanted llm.Details, r llm.Reply) {
	if r.Told == nil {
		return
	}
	if err := r.Told.Check(len(r.Tokens)); err != nil {
		p.faultf("details: %v", err)
		return
	}
	for i, list := range r.Told.Alternatives {
		p.mostProbable(fmt.Sprintf("alternatives at position %d", i), wanted.Alternatives, list, r.Tokens[i].LogProb)
	}
	for i, h := range r.Told.Entropies {
		if h < 0 {
			p.faultf("entropy at position %d: %v", i, h)
		}
	}
	if end := r.Told.End; end != nil {
		if r.Finish != llm.FinishEnd || !(end.LogProb <= 0) || end.Entropy < 0 {
			p.faultf("end of a turn with finish %q: %+v", r.Finish, *end)
		}
		p.mostProbable("alternatives to the end of turn", wanted.Alternatives, end.Alternatives, end.LogProb)
	}
}

// mostProbable wants a list that is not empty to have the n most probable tokens of a distribution in descending
// order: what was chosen is one of them, once, or less probable than all.
func (p *probe) mostProbable(what string, n int, list []float64, chosen float64) {
	if len(list) == 0 {
		return
	}
	last := list[len(list)-1]
	among := slices.ContainsFunc(list, func(x float64) bool { return math.Abs(x-chosen) <= 1e-6 })
	switch {
	case len(list) != n:
		p.faultf("%s: %d, asked for %d", what, len(list), n)
	case !isDescending(list) || mass(list) > 1+1e-6:
		p.faultf("%s, of mass %v: %v", what, mass(list), list)
	case !among && chosen > last:
		p.faultf("%s: %v lack the token that was chosen, of %v", what, list, chosen)
	case !among && mass(list)+math.Exp(chosen) > 1+1e-6:
		p.faultf("%s, with the token that was chosen, of %v, have a mass above 1: %v", what, chosen, list)
	}
}

func isDescending(list []float64) bool {
	return slices.IsSortedFunc(list, func(a, b float64) int { return cmp.Compare(b, a) })
}

func mass(logProbs []float64) float64 {
	sum := 0.
	for _, x := range logProbs {
		sum += math.Exp(x)
	}
	return sum
}

// checkStop takes its stop strings from what the model says without any: one across the border of two
// tokens, one that is the first token (so that nothing is left), and one that never comes.
func checkStop(p *probe) {
	req := p.generate(talkative, 10)
	free, ok := p.one(req)
	if !ok {
		return
	}
	stopping := func(stops ...string) llm.Request {
		r := req
		r.Decoding.Stop = stops
		return r
	}
	border, first := acrossBorder(free.Tokens), firstCharacter(free.Text)
	if border == "" || first == "" {
		p.faultf("no stop string to be had from %q", free.Text)
		return
	}
	never := "\x01never said\x02"
	for _, stops := range [][]string{{border}, {never, border}, {border, first}, {never}} {
		stopped, ok := p.one(stopping(stops...))
		if !ok || !free.Reproducible || !stopped.Reproducible {
			continue
		}
		text, finish := free.Text, free.Finish
		if at := firstStop([]byte(free.Text), stops); at >= 0 {
			text, finish = free.Text[:at], llm.FinishStop
		}
		if stopped.Text != text || stopped.Finish != finish {
			p.faultf("%q stopped at %q is %q, finish %q; want %q, finish %q",
				free.Text, stops, stopped.Text, stopped.Finish, text, finish)
		}
		if n := len(stopped.Tokens); finish == llm.FinishStop && n > 0 && containsAny(joined(stopped.Tokens[:n-1]), stops) {
			p.faultf("went on after the stop string: %q", joined(stopped.Tokens))
		}
	}
}

// acrossBorder is the last character of one token with the first of the next; empty if there is none.
func acrossBorder(tokens []record.Token) string {
	for i := 1; i < len(tokens); i++ {
		left, right := string(tokens[i-1].Piece), string(tokens[i].Piece)
		if left == "" || right == "" || !utf8.ValidString(left) || !utf8.ValidString(right) {
			continue
		}
		_, last := utf8.DecodeLastRuneInString(left)
		return left[len(left)-last:] + firstCharacter(right)
	}
	return ""
}

func firstCharacter(text string) string {
	_, n := utf8.DecodeRuneInString(text)
	return text[:n]
}

func checkGreedy(p *probe) {
	req := p.generate(talkative, 8)
	seeded := req
	seeded.Seed, seeded.Sample = 99, 5
	replies, ok := p.all(req, req, seeded)
	if !ok {
		return
	}
	p.repeats(req, replies[0], replies[1], "asked twice in one call")
	p.repeats(req, replies[0], replies[2], "greedy with another seed")
	if again, ok := p.one(req); ok {
		p.repeats(req, replies[0], again, "asked again")
	}
}

func checkSamples(p *probe) {
	sample := func(seed uint64, n int) llm.Request {
		r := p.generate(talkative, 8)
		r.Decoding.Temperature, r.Seed, r.Sample = 1, seed, n
		return r
	}
	const n = 5
	var reqs []llm.Request
	for i := range n {
		reqs = append(reqs, sample(7, i))
	}
	together, ok := p.all(reqs...)
	if !ok {
		return
	}
	texts := map[string]bool{}
	for i, req := range reqs {
		alone, ok := p.one(req)
		if !ok {
			return
		}
		if d := sameText(together[i], alone); d != "" {
			p.faultf("sample %d together and alone: %s", i, d)
		}
		p.repeats(req, together[i], alone, "sampled together and alone")
		texts[alone.Text] = true
	}
	if len(texts) == 1 {
		p.faultf("%d samples at temperature 1 are all %q", n, together[0].Text)
	}
	other, ok := p.all(sample(8, 0), sample(8, 1), sample(8, 2), sample(8, 3), sample(8, 4))
	if !ok {
		return
	}
	equal := 0
	for i := range other {
		if sameText(together[i], other[i]) == "" {
			equal++
		}
	}
	if equal == n {
		p.faultf("two seeds give the same %d samples", n)
	}
}

// checkForced scores what was generated, in the same place. Where the answer alone has the tokens that
// were generated, their log-probabilities are the same: raw ones, whatever the decoding.
func checkForced(p *probe) {
	warm := p.generate(talkative, 6)
	warm.Decoding.Temperature, warm.Decoding.TopP, warm.Seed = 1.5, .95, 3
	penalised := p.generate(talkative, 6)
	penalised.Decoding.RepetitionPenalty = 1.3
	reqs := []llm.Request{p.generate(talkative, 6), p.generate("Is the sky blue?", 6), warm, penalised}
	compared := 0
	for _, req := range reqs {
		said, ok := p.one(req)
		if !ok {
			return
		}
		compared += p.compareForced(req.Prompt, said, 0)
		if p.can.Chat && len(said.Tokens) > 2 {
			compared += p.compareForced(req.Prompt, said, 2)
		}
	}
	if compared == 0 {
		p.faultf("no generated text has the same tokens when it is forced")
	}
}

// compareForced scores the tokens of said after the first ones, which open the turn. It returns 1 if
// the tokens were the same, so that there was something to compare.
func (p *probe) compareForced(prompt llm.Prompt, said llm.Reply, opening int) int {
	prompt.Opening += joined(said.Tokens[:opening])
	rest := said.Tokens[opening:]
	answer := joined(rest)
	if answer == "" || !utf8.ValidString(answer) || !utf8.ValidString(prompt.Opening) {
		return 0
	}
	forced, ok := p.one(llm.Request{Kind: llm.Score, Prompt: prompt, Answer: answer})
	if !ok || !samePlace(said, forced, opening) {
		return 0
	}
	a, b := logProbs(rest), logProbs(forced.Tokens)
	switch d := nats(a, b); {
	case p.expect.Exact && d != 0:
		p.faultf("%q: generated %v, forced %v", answer, a, b)
	case p.expect.Tolerance > 0 && d > p.expect.Tolerance:
		p.faultf("%q: generated and forced differ by %v nats", answer, d)
	}
	return 1
}

// samePlace reports whether forced has the ids of said, split after the opening.
func samePlace(said, forced llm.Reply, opening int) bool {
	ids := func(r llm.Reply) []int32 { return slices.Concat(r.PromptIDs, tokenIDs(r.Tokens)) }
	return slices.Equal(ids(said), ids(forced)) && len(said.Tokens)-opening == len(forced.Tokens)
}

func logProbs(tokens []record.Token) []float64 {
	out := make([]float64, len(tokens))
	for i, t := range tokens {
		out[i] = t.LogProb
	}
	return out
}

// nats is the largest difference between two equally long lists of tokens.
func nats(a, b []float64) float64 {
	most := 0.
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i]))
	}
	return most
}
