// Package llmtest tests engines and what stands on them: [Conformance] is the suite that every
// [llm.Engine] passes, [EntailmentConformance] that of every [llm.Entailer], and [Scripted] is an engine without weights whose behaviour a test plants.
//
// [NewQuiz] with [Confident] is the usual way to one: a model that answers given items rightly or
// wrongly, and is as sure of it, in words and in each context, as the test says.
package llmtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/record"
)

// ErrClosed is what a scripted model answers after Close.
var ErrClosed = errors.New("scripted model is closed")

// Scripted is a deterministic engine that needs no weights. What it says and how sure it is of it
// comes from a [Script]; where the script is silent it babbles, from a hash of the prompt. Equal
// requests have equal replies, a token has the same log-probability generated and forced, and
// samples repeat for equal (seed, sample). Its token probabilities need not add up to 1.
//
// Top-k, top-p, min-p and the repetition penalty are accepted and change nothing.
//
// Texts that share words have near embeddings, whatever their meaning.
type Scripted struct {
	script   Script
	identity llm.Identity
	can      llm.Capabilities
	before   []Before
	observed map[string]string
	chancy   bool

	mu     sync.Mutex
	closed bool
	calls  []llm.Request
	sizes  []int
}

// Before is called for each request before it is answered; n counts the requests of the model's life
// from 1. An error takes the place of the reply. It may block, and must then heed ctx.
type Before func(ctx context.Context, n int, req llm.Request) error

// Option changes a scripted model.
type Option func(*Scripted)

// Named sets the model's name. Models that behave differently and share a ledger need different
// names: the name is what their identities differ in.
func Named(name string) Option {
	return func(s *Scripted) {
		sum := sha256.Sum256([]byte("scripted model " + name))
		s.identity.Model, s.identity.Weights = name, hex.EncodeToString(sum[:])
	}
}

// ContextOf limits prompt and answer (or prompt and token limit) to n tokens together.
func ContextOf(n int) Option { return func(s *Scripted) { s.can.ContextTokens = n } }

// Lacking takes capabilities away: f is handed those of the full model.
func Lacking(f func(*llm.Capabilities)) Option { return func(s *Scripted) { f(&s.can) } }

// Observing adds what a server would say of itself with each reply.
func Observing(observed map[string]string) Option {
	return func(s *Scripted) { s.observed = observed }
}

// NotReproducible marks every reply as not reproducible. The replies stay as they are.
func NotReproducible() Option { return func(s *Scripted) { s.chancy = true } }

// Interrupted adds f to what is called before each request.
func Interrupted(f Before) Option { return func(s *Scripted) { s.before = append(s.before, f) } }

// FailOn makes the n-th request (from 1) fail with err. Asked again it succeeds.
func FailOn(n int, err error) Option {
	return Interrupted(func(_ context.Context, call int, _ llm.Request) error {
		if call == n {
			return err
		}
		return nil
	})
}

// FailWhere makes every request for which match holds fail with err.
func FailWhere(match func(llm.Request) bool, err error) Option {
	return Interrupted(func(_ context.Context, _ int, req llm.Request) error {
		if match(req) {
			return err
		}
		return nil
	})
}

// NewScripted returns a model that follows script; nil babbles.
func NewScripted(script Script, opts ...Option) *Scripted {
	if script == nil {
		script = Babble{}
	}
	s := &Scripted{
		script:   script,
		identity: llm.Identity{Engine: "scripted", Version: "1", Mode: "exact"},
		can: llm.Capabilities{Generate: true, Score: true, Chat: true, Seeds: true,
			Embed: true, EmbedTokens: true, Dimensions: embeddingSize,
			Details: llm.Details{Alternatives: llm.MaxAlternatives, Entropy: true, End: true}},
	}
	Named("script")(s)
	for _, o := range opts {
		o(s)
	}
	return s
}

// Identity is the model's name; it says nothing of the script (see [Named]).
func (s *Scripted) Identity() llm.Identity { return s.identity }

// Capabilities is everything, unless an option took it away.
func (s *Scripted) Capabilities() llm.Capabilities { return s.can }

// Close makes every later request fail with [ErrClosed].
func (s *Scripted) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// Calls returns the valid requests that arrived so far, in order of arrival, failed ones included.
func (s *Scripted) Calls() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Count returns the number of valid requests of one kind that arrived so far.
func (s *Scripted) Count(kind llm.Kind) int {
	n := 0
	for _, c := range s.Calls() {
		if c.Kind == kind {
			n++
		}
	}
	return n
}

// Batches returns the number of requests of each Do so far.
func (s *Scripted) Batches() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sizes)
}

// Do answers the requests one after another.
func (s *Scripted) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	s.mu.Lock()
	s.sizes = append(s.sizes, len(reqs))
	s.mu.Unlock()
	out := make([]llm.Result, len(reqs))
	for i, r := range reqs {
		reply, err := s.one(ctx, r)
		if err != nil {
			out[i].Err = err
			continue
		}
		out[i].Reply = reply
	}
	return out
}

func (s *Scripted) one(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, err
	}
	if err := s.admit(r); err != nil {
		return llm.Reply{}, err
	}
	n, err := s.arrive(r)
	if err != nil {
		return llm.Reply{}, err
	}
	for _, f := range s.before {
		if err := f(ctx, n, r); err != nil {
			return llm.Reply{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, err
	}
	return s.answer(r)
}

// admit says whether r can be asked at all.
func (s *Scripted) admit(r llm.Request) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if err := s.can.Check(r.Kind); err != nil {
		return err
	}
	if len(r.Prompt.Messages) > 0 && !s.can.Chat {
		return fmt.Errorf("chat: %w", llm.ErrNotSupported)
	}
	return nil
}

func (s *Scripted) arrive(r llm.Request) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, ErrClosed
	}
	s.calls = append(s.calls, r)
	return len(s.calls), nil
}

func (s *Scripted) answer(r llm.Request) (llm.Reply, error) {
	reply := llm.Reply{PromptIDs: promptIDs(r.Prompt), Reproducible: !s.chancy, Observed: maps.Clone(s.observed)}
	need := len(reply.PromptIDs)
	switch r.Kind {
	case llm.Score:
		need += len(Tokenise(r.Answer))
	case llm.Generate:
		need += r.Decoding.MaxTokens
	}
	if have := s.can.ContextTokens; have > 0 && need > have {
		return llm.Reply{}, &llm.OverflowError{Need: need, Have: have}
	}
	switch r.Kind {
	case llm.Score:
		reply.Tokens, reply.Finish = s.tokens(r.Prompt, Tokenise(r.Answer)), llm.FinishScored
		return reply, nil
	case llm.EmbedTokens:
		words, err := tokenEmbeddings(r.Prompt.Text)
		if err != nil {
			return llm.Reply{}, err
		}
		words.PromptIDs, words.Reproducible, words.Observed = reply.PromptIDs, reply.Reproducible, reply.Observed
		return words, nil
	case llm.Embed:
		var err error
		if reply.Embedding, err = embedding(r.Prompt.Text); err != nil {
			return llm.Reply{}, err
		}
		reply.Finish = llm.FinishEmbedded
		return reply, nil
	}
	said := s.choose(r)
	pieces, cut, finish := end(said, r.Decoding)
	reply.Tokens, reply.Text, reply.Finish = s.tokens(r.Prompt, pieces), cut, finish
	reply.Told = told(r.Details, reply.Tokens, finish)
	return reply, nil
}

// end applies the stop strings and the token limit: the tokens up to the end, the text, the reason.
func end(said Choice, d llm.Decoding) (pieces []string, text string, why llm.Finish) {
	all := Tokenise(said.Text)
	var raw []byte
	for i, p := range all {
		raw = append(raw, p...)
		if at := firstStop(raw, d.Stop); at >= 0 {
			return all[:i+1], validText(raw[:at]), llm.FinishStop
		}
		if i+1 == d.MaxTokens {
			return all[:i+1], validText(raw), llm.FinishLength
		}
	}
	why = said.Finish
	if why == "" {
		why = llm.FinishEnd
	}
	return all, validText(raw), why
}

// firstStop is the earliest place of any stop string, or -1.
func firstStop(text []byte, stops []string) int {
	first := -1
	for _, s := range stops {
		if at := bytes.Index(text, []byte(s)); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// tokens gives each piece its id and its log-probability after p.
func (s *Scripted) tokens(p llm.Prompt, pieces []string) []record.Token {
	at := start(p)
	out := make([]record.Token, len(pieces))
	for i, piece := range pieces {
		at.Piece = piece
		lp, planted := s.script.LogProb(at)
		if !planted {
			lp = noise(at)
		}
		out[i] = record.Token{ID: pieceID(piece), Piece: []byte(piece), LogProb: lp}
		at.Before += piece
	}
	return out
}

// choose draws what is said from the script's distribution, or babbles.
func (s *Scripted) choose(r llm.Request) Choice {
	choices := s.script.Replies(r.Prompt)
	place := hash(start(r.Prompt))
	rng := rand.New(rand.NewPCG(place, 0))
	sampled := r.Decoding.Temperature > 0
	if sampled {
		rng = rand.New(rand.NewPCG(place^mix(r.Seed), uint64(r.Sample)+1))
	}
	switch {
	case len(choices) == 0:
		return Choice{Text: babble(rng)}
	case sampled:
		return draw(choices, r.Decoding.Temperature, rng)
	}
	return heaviest(choices)
}

// weights are the choices' relative frequencies: as planted, or equal if none is planted.
func weights(choices []Choice) []float64 {
	out := make([]float64, len(choices))
	planted := false
	for i, c := range choices {
		out[i] = c.Weight
		planted = planted || c.Weight > 0
	}
	if !planted {
		for i := range out {
			out[i] = 1
		}
	}
	return out
}

func heaviest(choices []Choice) Choice {
	w := weights(choices)
	best := 0
	for i := range w {
		if w[i] > w[best] {
			best = i
		}
	}
	return choices[best]
}

// draw picks a choice with probability proportional to weight^(1/temperature).
func draw(choices []Choice, temperature float64, rng *rand.Rand) Choice {
	w := weights(choices)
	top := slices.Max(w)
	sum := 0.
	for i := range w {
		sum += math.Pow(w[i]/top, 1/temperature) // over the top: no overflow when cold
		w[i] = sum
	}
	u := rng.Float64() * sum
	for i := range choices {
		if u < w[i] {
			return choices[i]
		}
	}
	return choices[len(choices)-1]
}

var words = strings.Fields("amber brook cedar dune ember fjord grove heath inlet juniper kelp lichen moor nettle " +
	"opal pine quartz reed sorrel thyme umber vale willow yarrow naïve 東京 🌊 7 42 0.5")

// babble returns six to thirteen words.
func babble(rng *rand.Rand) string {
	said := make([]string, 6+rng.IntN(8))
	for i := range said {
		said[i] = words[rng.IntN(len(words))]
	}
	return strings.Join(said, " ")
}

// noise is the log of a hashed uniform number in (0,1): exponential with mean 1, negated.
func noise(at Position) float64 {
	u := (float64(hash(at)>>11) + 0.5) / (1 << 53)
	return math.Log(u)
}

func hash(at Position) uint64 {
	h := fnv.New64a()
	for _, m := range at.Messages {
		fmt.Fprintf(h, "%d:%s%d:%s", len(m.Role), m.Role, len(m.Content), m.Content)
	}
	fmt.Fprintf(h, "|%t|%d:%s%s", at.NoBOS, len(at.Before), at.Before, at.Piece)
	return mix(h.Sum64())
}

// mix spreads x over all bits (the finaliser of SplitMix64, Steele et al. 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
