package llmtest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/credence-lab/credence/llm"
)

// byLength is a sound entailer: what it says is by the lengths of the texts, of up to 100 words.
type byLength struct{ closed *atomic.Bool }

func newByLength() byLength { return byLength{new(atomic.Bool)} }

func (byLength) Identity() llm.Identity { return llm.Identity{Engine: "test", Model: "by length"} }

func (b byLength) Close() error {
	b.closed.Store(true)
	return nil
}

func (b byLength) Entail(ctx context.Context, pairs []llm.Pair) []llm.EntailmentResult {
	out := make([]llm.EntailmentResult, len(pairs))
	for i, p := range pairs {
		n, m := float64(len(p.Premise)), float64(len(p.Hypothesis))
		switch words := len(strings.Fields(p.Premise + " " + p.Hypothesis)); {
		case ctx.Err() != nil:
			out[i].Err = ctx.Err()
		case b.closed.Load():
			out[i].Err = ErrClosed
		case strings.TrimSpace(p.Premise) == "" || strings.TrimSpace(p.Hypothesis) == "":
			out[i].Err = llm.ErrEmptyText
		case words > 100:
			out[i].Err = &llm.OverflowError{Need: words, Have: 100}
		default:
			out[i].Entailment = llm.Entailment{Entails: n / (n + m + 1), Neither: m / (n + m + 1), Contradicts: 1 / (n + m + 1)}
		}
	}
	return out
}

// entailing is an entailer with one fault.
type entailing struct {
	llm.Entailer
	entail func(next llm.Entailer, ctx context.Context, pairs []llm.Pair) []llm.EntailmentResult
}

func (e entailing) Entail(ctx context.Context, pairs []llm.Pair) []llm.EntailmentResult {
	return e.entail(e.Entailer, ctx, pairs)
}

func TestAnEntailerConforms(t *testing.T) {
	t.Parallel()
	EntailmentConformance(t, func(*testing.T) llm.Entailer { return newByLength() }, EntailExpect{Tokens: 100})
}

// TestEntailmentConformanceFindsFaults breaks a sound entailer in the ways that such things are broken in, and wants
// the check that is about it to say so.
func TestEntailmentConformanceFindsFaults(t *testing.T) {
	t.Parallel()
	each := func(change func(p llm.Pair, r *llm.EntailmentResult)) func(llm.Entailer, context.Context, []llm.Pair) []llm.EntailmentResult {
		return func(next llm.Entailer, ctx context.Context, pairs []llm.Pair) []llm.EntailmentResult {
			out := next.Entail(ctx, pairs)
			for i := range out {
				change(pairs[i], &out[i])
			}
			return out
		}
	}
	var asked atomic.Int64
	for _, c := range []struct {
		fault, check string
		entail       func(llm.Entailer, context.Context, []llm.Pair) []llm.EntailmentResult
	}{
		{"logits in the place of probabilities", "distribution", each(func(_ llm.Pair, r *llm.EntailmentResult) { r.Entailment.Entails *= 3 })},
		{"a score that is none", "distribution", each(func(_ llm.Pair, r *llm.EntailmentResult) { r.Entailment.Neither = math.NaN() })},
		{"the texts are sorted", "not the same", func(next llm.Entailer, ctx context.Context, pairs []llm.Pair) []llm.EntailmentResult {
			sorted := slices.Clone(pairs)
			for i, p := range sorted {
				if p.Hypothesis < p.Premise {
					sorted[i] = turned(p)
				}
			}
			return next.Entail(ctx, sorted)
		}},
		{"results are sorted", "order", func(next llm.Entailer, ctx context.Context, pairs []llm.Pair) []llm.EntailmentResult {
			out := next.Entail(ctx, pairs)
			slices.SortFunc(out, func(a, b llm.EntailmentResult) int {
				if a.Entailment.Entails < b.Entailment.Entails {
					return -1
				}
				return 1
			})
			return out
		}},
		{"equal pairs are answered once", "equal pairs", func(next llm.Entailer, ctx context.Context, pairs []llm.Pair) []llm.EntailmentResult {
			var once []llm.Pair
			for _, p := range pairs {
				if !slices.Contains(once, p) {
					once = append(once, p)
				}
			}
			return next.Entail(ctx, once)
		}},
		{"values move", "equal pairs", each(func(_ llm.Pair, r *llm.EntailmentResult) {
			if asked.Add(1)%2 == 0 && r.Err == nil {
				r.Entailment.Entails, r.Entailment.Neither = r.Entailment.Neither, r.Entailment.Entails
			}
		})},
		{"blank texts are judged", "without a word", each(func(_ llm.Pair, r *llm.EntailmentResult) {
			if errors.Is(r.Err, llm.ErrEmptyText) {
				*r = llm.EntailmentResult{Entailment: llm.Entailment{Neither: 1}}
			}
		})},
		{"a long premise is cut", "does not fit", func(next llm.Entailer, ctx context.Context, pairs []llm.Pair) []llm.EntailmentResult {
			cut := slices.Clone(pairs)
			for i := range cut {
				cut[i].Premise = cut[i].Premise[:min(len(cut[i].Premise), 200)]
			}
			return next.Entail(ctx, cut)
		}},
		{"a refusal has no numbers", "does not fit", each(func(_ llm.Pair, r *llm.EntailmentResult) {
			if errors.Is(r.Err, llm.ErrContextOverflow) {
				r.Err = llm.ErrContextOverflow
			}
		})},
		{"one that does not fit fails its company", "does not fit", func(next llm.Entailer, ctx context.Context, pairs []llm.Pair) []llm.EntailmentResult {
			out := next.Entail(ctx, pairs)
			for _, r := range out {
				if errors.Is(r.Err, llm.ErrContextOverflow) {
					for i := range out {
						out[i] = llm.EntailmentResult{Err: r.Err}
					}
				}
			}
			return out
		}},
		{"the context is not looked at", "cancelled context", func(next llm.Entailer, _ context.Context, pairs []llm.Pair) []llm.EntailmentResult {
			return next.Entail(context.Background(), pairs)
		}},
		{"results are left out", "without a word", func(next llm.Entailer, ctx context.Context, pairs []llm.Pair) []llm.EntailmentResult {
			return slices.DeleteFunc(next.Entail(ctx, pairs), func(r llm.EntailmentResult) bool { return r.Err != nil })
		}},
		{"answers after close", "after close", func(llm.Entailer, context.Context, []llm.Pair) []llm.EntailmentResult {
			return []llm.EntailmentResult{{Entailment: llm.Entailment{Neither: 1}}, {Entailment: llm.Entailment{Neither: 1}}}
		}},
	} {
		found := false
		for _, check := range entailChecks {
			if !strings.Contains(check.name, c.check) {
				continue
			}
			p := &entailProbe{ctx: t.Context(), entailer: entailing{newByLength(), c.entail}, expect: EntailExpect{Tokens: 100}}
			check.run(p)
			found = found || len(p.faults) > 0
		}
		if !found {
			t.Errorf("%s: no check that is about %q says so", c.fault, c.check)
		}
	}
}
