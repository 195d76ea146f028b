package e2e

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/credence-lab/credence/collect"
	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llamacpp"
	"github.com/credence-lab/credence/llm/llmtest"
	"github.com/credence-lab/credence/prompt"
	"github.com/credence-lab/credence/quantify"
	"github.com/credence-lab/credence/record"
	"github.com/credence-lab/credence/weights"
)

// chooser is a language model that is asked for entailment as a study asks it.
type chooser struct{ llm.Engine }

// Entail gives the reasons for which a relation is missing as the errors that stand for them.
func (c chooser) Entail(ctx context.Context, pairs []llm.Pair) []llm.EntailmentResult {
	asked := make([]collect.Pair, len(pairs))
	for i, p := range pairs {
		asked[i] = collect.Pair{Premise: p.Premise, Hypothesis: p.Hypothesis}
	}
	refusals := &refusing{Engine: c.Engine}
	found, err := collect.Entailment{Form: prompt.Chat}.All(ctx, refusals, asked, collect.Pace{Open: 1})
	results := make([]llm.EntailmentResult, len(pairs))
	for i, p := range asked {
		switch relation, ok := found[p]; {
		case err != nil:
			results[i].Err = err
		case !ok:
			results[i].Err = errors.New("a pair without a relation")
		case relation.Missing == record.EmptyAnswer:
			results[i].Err = llm.ErrEmptyText
		case relation.Missing == record.ContextOverflow:
			results[i].Err = refusals.of(p)
		case relation.Missing != record.Present:
			results[i].Err = errors.New(string(relation.Missing))
		default:
			results[i].Entailment = relation.Entailment
		}
	}
	return results
}

// refusing keeps the errors of an engine, which a relation has only the reason of.
type refusing struct {
	llm.Engine
	mu   sync.Mutex
	seen map[string]error
}

func (r *refusing) Do(ctx context.Context, reqs []llm.Request) []llm.Result {
	results := r.Engine.Do(ctx, reqs)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, result := range results {
		if result.Err != nil {
			if r.seen == nil {
				r.seen = map[string]error{}
			}
			r.seen[reqs[i].Prompt.Messages[0].Content] = result.Err
		}
	}
	return results
}

func (r *refusing) of(p collect.Pair) error {
	for text, err := range r.seen {
		if strings.Contains(text, strings.TrimSpace(p.Premise)) && strings.Contains(text, strings.TrimSpace(p.Hypothesis)) {
			return err
		}
	}
	return errors.New("nobody refused it")
}

// words is the stand-in that compares words.
type words struct{}

func (words) Identity() llm.Identity {
	return llm.Identity{Engine: "words", Model: "quantify.LexicalRelation"}
}
func (words) Close() error { return nil }

func (words) Entail(_ context.Context, pairs []llm.Pair) []llm.EntailmentResult {
	results := make([]llm.EntailmentResult, len(pairs))
	for i, p := range pairs {
		switch r := quantify.LexicalRelation(p.Premise, p.Hypothesis); r.Missing {
		case record.Present:
			results[i].Entailment = llm.Entailment{Entails: r.Entails, Neither: r.Neither, Contradicts: r.Contradicts}
		case quantify.BadEntailment:
			results[i].Err = llm.ErrEmptyText
		default:
			results[i].Err = errors.New(string(r.Missing))
		}
	}
	return results
}

// TestEntailersConform holds what judges pairs in process to what a server of entailment is held to (llm/tei): a
// language model by forced choice, scripted and real, and the stand-in that compares words.
func TestEntailersConform(t *testing.T) {
	t.Run("scripted model", func(t *testing.T) {
		t.Parallel()
		llmtest.EntailmentConformance(t, func(*testing.T) llm.Entailer {
			return chooser{llmtest.NewScripted(nil, llmtest.ContextOf(2048))}
		}, llmtest.EntailExpect{Tokens: 2048})
	})
	t.Run("words", func(t *testing.T) {
		t.Parallel()
		llmtest.EntailmentConformance(t, func(*testing.T) llm.Entailer { return words{} }, llmtest.EntailExpect{Pure: true})
	})
	t.Run("embedded model", func(t *testing.T) {
		needEngine(t)
		cache, err := weights.Open(weights.Options{Offline: true})
		if err != nil {
			t.Fatal(err)
		}
		files, err := cache.Ensure(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		const tokens = 1024
		llmtest.EntailmentConformance(t, func(*testing.T) llm.Entailer {
			engine, err := llamacpp.New(llamacpp.Config{LibraryDir: files.Library, Weights: files.Weights, WeightsSHA256: files.SHA256, ContextTokens: tokens})
			if err != nil {
				t.Fatal(err)
			}
			return chooser{engine}
		}, llmtest.EntailExpect{Tokens: tokens, Slow: os.Getenv("CREDENCE_STRESS") == ""})
	})
}
