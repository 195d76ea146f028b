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

// State is how a check went.
type State string

const (
	// Good: what was checked holds.
	Good State = "good"
	// Doubtful: it holds with a limit that a reader should know.
	Doubtful State = "doubtful"
	// Bad: it does not hold; the analyses that Finding.Affects names must not be done with this server.
	Bad State = "bad"
	// Unknown: it could not be checked, and Finding.Found says why.
	Unknown State = "unknown"
)

// Finding is the outcome of one check of a server.
type Finding struct {
	// Check names it: stable, lower case.
	Check string `json:"check"`
	State State  `json:"state"`
	// Found is what was seen, with its numbers.
	Found string `json:"found"`
	// Means says what follows from a state that is not Good; empty otherwise.
	Means string `json:"means,omitempty"`
	// Affects are the kinds of analysis that are touched: "token confidence", "samples", "stated confidence".
	Affects []string `json:"affects,omitempty"`
}

// What a check touches.
const (
	tokenConfidence  = "token confidence"
	statedConfidence = "stated confidence"
	sampled          = "samples"
)

// Tolerances of the checks, in nats per token: numbers of 16 bits move by about a hundredth, what is wrong by
// more than a tenth.
const (
	checkTolerance = .05
	// clearlyBelow is how much less likely a token that nobody would say must be than one that was said.
	clearlyBelow = 1.
	hotter       = 1.7
	checkTokens  = 4
)

// Check finds out whether what a server says is true, by a few short calls. The engine may be any: what it
// cannot do is Unknown. The order of findings does not change. An error is that of ctx or of a server that
// does not answer.
func Check(ctx context.Context, e llm.Engine) ([]Finding, error) {
	p := &examination{ctx: ctx, engine: e, can: e.Capabilities()}
	if err := p.generate(); err != nil {
		return nil, err
	}
	findings := []Finding{p.text(), p.complete()}
	for _, check := range []func() (Finding, error){
		p.forcedEqualsGenerated, p.plausible, p.unlikely, p.temperature, p.prefix, p.repeat, p.seed,
	} {
		f, err := check()
		if err != nil {
			return nil, err
		}
		findings = append(findings, f)
	}
	return append(findings, p.beginning(), p.context()), nil
}

// examination is what the checks have asked so far.
type examination struct {
	ctx    context.Context
	engine llm.Engine
	can    llm.Capabilities
	greedy llm.Reply
	forced []record.Token // the greedy reply, scored
}

func (p *examination) prompt(text string) llm.Prompt {
	if p.can.Chat {
		return llm.Chat(text, "")
	}
	return llm.Prompt{Text: text}
}

const (
	checkQuestion = "Name the planets of the solar system, one after another."
	// checkSibling begins as checkQuestion does.
	checkSibling = "Name the planets of the solar system, one after another, and say for each how many moons it has."
	// neverSaid is an answer that no model gives to checkQuestion.
	neverSaid = " Xylophone quota"
)

// ask returns the reply to one request. An error that belongs to the request is told apart from one of a
// server that cannot be asked at all.
func (p *examination) ask(r llm.Request) (llm.Reply, string, error) {
	result := p.engine.Do(p.ctx, []llm.Request{r})[0]
	switch failed, ok := wire.AsError(result.Err); {
	case result.Err == nil:
		return result.Reply, "", nil
	case p.ctx.Err() != nil:
		return llm.Reply{}, "", p.ctx.Err()
	case ok && (failed.Kind == Unreachable || failed.Kind == Busy || failed.Kind == Unauthorised || failed.Kind == Exhausted):
		return llm.Reply{}, "", result.Err
	}
	return llm.Reply{}, result.Err.Error(), nil
}

func (p *examination) generation(text string, temperature float64, seed uint64) llm.Request {
	return llm.Request{Kind: llm.Generate, Prompt: p.prompt(text), Decoding: llm.Decoding{MaxTokens: checkTokens, Temperature: temperature}, Seed: seed}
}

// score returns the tokens of an answer, or why there are none.
func (p *examination) score(text, answer string) ([]record.Token, string, error) {
	if !p.can.Score {
		return nil, "the server gives no log-probabilities of a given answer", nil
	}
	reply, why, err := p.ask(llm.Request{Kind: llm.Score, Prompt: p.prompt(text), Answer: answer})
	return reply.Tokens, why, err
}

func (p *examination) generate() error {
	reply, why, err := p.ask(p.generation(checkQuestion, 0, 0))
	if err == nil && why != "" {
		return errors.New(why)
	}
	p.greedy = reply
	return err
}

// text looks for an answer at all.
func (p *examination) text() Finding {
	f := Finding{Check: "answers", Found: fmt.Sprintf("%q", p.greedy.Text), State: Good}
	switch {
	case strings.HasPrefix(p.greedy.Text, "<think>"):
		f.State, f.Affects = Bad, []string{statedConfidence, sampled}
		f.Means = "The model reasons before it answers, and short replies hold no answer. Switch thinking off, or allow it thousands of tokens."
	case strings.TrimSpace(p.greedy.Text) == "":
		f.State, f.Affects = Bad, []string{statedConfidence, sampled}
		f.Means = "The model says nothing to a plain question: the chat template may be wrong, or the model is a base model."
	}
	return f
}

// complete looks for a value for each generated token.
func (p *examination) complete() Finding {
	f := Finding{Check: "log-probabilities of generated tokens", State: Good, Found: tokensIn(len(p.greedy.Tokens)) + ", each with its value"}
	if len(p.greedy.Tokens) == 0 && p.greedy.Text != "" {
		f.State, f.Found, f.Affects = Bad, "none, or not one for each token", []string{sampled}
		f.Means = "Quantifiers that use the probabilities of sampled answers cannot be computed; those that compare texts can."
	}
	return f
}

// forcedEqualsGenerated scores what was generated (a).
func (p *examination) forcedEqualsGenerated() (Finding, error) {
	f := Finding{Check: "forced equals generated", Affects: []string{tokenConfidence},
		Means: "The score of a given answer is not the probability that the model gives it. Do not use its token confidence."}
	tokens, why, err := p.score(checkQuestion, string(joined(p.greedy.Tokens)))
	switch {
	case err != nil:
		return f, err
	case len(p.greedy.Tokens) == 0:
		return f.unknown("no generated tokens to compare with"), nil
	case why != "":
		return f.unscored(p.can, why), nil
	}
	p.forced = tokens
	return f.compare(p.greedy.Tokens, tokens), nil
}

// unknown makes the finding one that could not be had.
func (f Finding) unknown(why string) Finding {
	f.State, f.Found, f.Means, f.Affects = Unknown, wire.Line(why), "", nil
	return f
}

// unscored is for a score that failed: that is Bad where the server should be able to.
func (f Finding) unscored(can llm.Capabilities, why string) Finding {
	if !can.Score {
		return f.unknown(why)
	}
	f.State, f.Found = Bad, wire.Line(why)
	return f
}

func (f Finding) good(found string) Finding {
	f.State, f.Found, f.Means, f.Affects = Good, found, "", nil
	return f
}

// compare wants two lists of the same tokens with the same values.
func (f Finding) compare(a, b []record.Token) Finding {
	if !slices.Equal(idsOf(a), idsOf(b)) {
		return f.unknown("the text has other tokens when it is tokenised apart from the prompt")
	}
	if d := apart(a, b); d >= checkTolerance {
		f.State, f.Found = Bad, fmt.Sprintf("values differ by %.3g nats a token, at most %.2g is noise", d, checkTolerance)
		return f
	}
	return f.good(fmt.Sprintf("within %.2g nats over %s", apart(a, b), tokensIn(len(a))))
}

func tokensIn(n int) string {
	if n == 1 {
		return "1 token"
	}
	return fmt.Sprintf("%d tokens", n)
}

// apart is the largest difference of a token's value.
func apart(a, b []record.Token) float64 {
	most := 0.
	for i := range a {
		most = max(most, math.Abs(a[i].LogProb-b[i].LogProb))
	}
	return most
}

// plausible looks at the values as such (b): a server that makes them up has 0 everywhere.
func (p *examination) plausible() (Finding, error) {
	f := Finding{Check: "values are log-probabilities", Affects: []string{tokenConfidence, sampled}}
	tokens := slices.Concat(p.greedy.Tokens, p.forced)
	if len(tokens) == 0 {
		return f.unknown("no values"), nil
	}
	zeros := 0
	for _, t := range tokens {
		if t.LogProb == 0 {
			zeros++
		}
	}
	if zeros == len(tokens) {
		f.State, f.Found = Bad, fmt.Sprintf("%d of %d are exactly 0", zeros, len(tokens))
		f.Means = "The server states certainty for every token: it drafts tokens without computing their values, or reports them after forcing. Switch speculative decoding off."
		return f, nil
	}
	return f.good(fmt.Sprintf("%d of %d values below 0", len(tokens)-zeros, len(tokens))), nil
}

// unlikely forces what nobody would say (c): where the bias that forces it counts, it seems certain.
func (p *examination) unlikely() (Finding, error) {
	f := Finding{Check: "an unlikely answer scores low", Affects: []string{tokenConfidence},
		Means: "Values are taken after the answer was forced, so every answer seems certain. Do not use its token confidence."}
	tokens, why, err := p.score(checkQuestion, neverSaid)
	switch {
	case err != nil:
		return f, err
	case why != "":
		return f.unscored(p.can, why), nil
	case len(p.forced) == 0:
		return f.unknown("no likely answer to compare with"), nil
	}
	low, high := meanOf(tokens), meanOf(p.forced)
	if low > high-clearlyBelow {
		f.State, f.Found = Bad, fmt.Sprintf("%.3g nats a token, the model's own answer %.3g", low, high)
		return f, nil
	}
	return f.good(fmt.Sprintf("%.3g nats a token, the model's own answer %.3g", low, high)), nil
}

func meanOf(tokens []record.Token) float64 {
	sum := 0.
	for _, t := range tokens {
		sum += t.LogProb
	}
	return sum / float64(len(tokens))
}

// temperature samples at a high one and scores what came (d): raw values do not know of it.
func (p *examination) temperature() (Finding, error) {
	f := Finding{Check: "values are raw", Affects: []string{sampled},
		Means: "Log-probabilities of sampled tokens are those after temperature and filters. Score the samples instead, or start the server with raw values."}
	reply, why, err := p.ask(p.generation(checkQuestion, hotter, 1))
	switch {
	case err != nil:
		return f, err
	case why != "" || len(reply.Tokens) == 0:
		return f.unknown("no generated tokens with values at temperature 1.7"), nil
	}
	tokens, why, err := p.score(checkQuestion, string(joined(reply.Tokens)))
	if err != nil || why != "" {
		return f.unknown(why), err
	}
	return f.compare(reply.Tokens, tokens), nil
}

// prefix scores the same answer before and after another prompt that begins alike (e).
func (p *examination) prefix() (Finding, error) {
	f := Finding{Check: "values do not depend on what was asked before", Affects: []string{tokenConfidence},
		Means: "A cache of common beginnings gives stale values. Switch prefix caching off on the server."}
	const answer = " Mercury"
	first, why, err := p.score(checkQuestion, answer)
	if err != nil || why != "" {
		return f.unscoredOr(p.can, why), err
	}
	if _, _, err := p.score(checkSibling, answer); err != nil {
		return f, err
	}
	again, why, err := p.score(checkQuestion, answer)
	if err != nil || why != "" {
		return f.unscoredOr(p.can, why), err
	}
	return f.compare(first, again), nil
}

func (f Finding) unscoredOr(can llm.Capabilities, why string) Finding {
	if why == "" {
		return f
	}
	return f.unscored(can, why)
}

// repeat asks greedily again.
func (p *examination) repeat() (Finding, error) {
	f := Finding{Check: "greedy answers repeat"}
	reply, why, err := p.ask(p.generation(checkQuestion, 0, 0))
	switch {
	case err != nil:
		return f, err
	case why != "":
		return f.unknown(why), nil
	case reply.Text != p.greedy.Text:
		f.State, f.Found = Doubtful, fmt.Sprintf("%q, then %q", p.greedy.Text, reply.Text)
		f.Means, f.Affects = "Values depend on what the server computes beside them. Results repeat from the ledger, not from asking again.", []string{tokenConfidence, statedConfidence, sampled}
		return f, nil
	case len(reply.Tokens) == len(p.greedy.Tokens) && apart(reply.Tokens, p.greedy.Tokens) > 0:
		f.State, f.Found = Doubtful, fmt.Sprintf("the same text, values within %.2g nats", apart(reply.Tokens, p.greedy.Tokens))
		f.Means, f.Affects = "Values move a little with what the server computes beside them. Results repeat from the ledger, not from asking again.", []string{tokenConfidence}
		return f, nil
	}
	return f.good("the same text and values"), nil
}

// seed samples with three seeds, twice with each.
func (p *examination) seed() (Finding, error) {
	f := Finding{Check: "seeds are honoured"}
	var texts []string
	for _, seed := range []uint64{1, 1, 2, 2, 3, 3} {
		reply, why, err := p.ask(p.generation(checkQuestion, hotter, seed))
		if err != nil || why != "" {
			return f.unknown(why), err
		}
		texts = append(texts, reply.Text)
	}
	again := texts[0] == texts[1] && texts[2] == texts[3] && texts[4] == texts[5]
	switch {
	case again && texts[0] == texts[2] && texts[0] == texts[4]:
		f.State, f.Found, f.Affects = Bad, fmt.Sprintf("three seeds at temperature %g give %q", hotter, texts[0]), []string{sampled}
		f.Means = "Samples do not differ: the server has a seed of its own, or ignores the temperature. Their agreement says nothing of confidence."
	case !again:
		f.State, f.Found, f.Affects = Doubtful, "one seed gives two texts", []string{sampled}
		f.Means = "Samples cannot be drawn again. Results repeat from the ledger only."
	default:
		f = f.good("one seed gives one text, others give others")
	}
	return f, nil
}

// beginning looks for two beginning-of-sequence tokens: a template prints one, and the tokeniser adds another.
func (p *examination) beginning() Finding {
	f := Finding{Check: "one beginning of the sequence"}
	ids := p.greedy.PromptIDs
	switch {
	case len(ids) < 2:
		return f.unknown("the server tells no ids of the prompt")
	case ids[0] == ids[1]:
		f.State, f.Found, f.Affects = Bad, fmt.Sprintf("the prompt begins with token %d twice", ids[0]), []string{tokenConfidence, statedConfidence, sampled}
		f.Means = "The template prints the token that begins a text, and the server adds it again; the model was not trained on that. Correct the server's template or its tokeniser's settings."
		return f
	}
	return f.good(fmt.Sprintf("the prompt begins with tokens %d, %d", ids[0], ids[1]))
}

// context is how long a text may be.
func (p *examination) context() Finding {
	f := Finding{Check: "context length"}
	if n := p.can.ContextTokens; n > 0 {
		return f.good(fmt.Sprintf("%d tokens", n))
	}
	f.State, f.Found, f.Affects = Doubtful, "the server does not say", []string{tokenConfidence, statedConfidence, sampled}
	f.Means = "A prompt that is too long may be cut in silence. Give context_tokens."
	return f
}
