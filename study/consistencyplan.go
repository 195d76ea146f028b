package study

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/credence-lab/credence/ledger"
	"github.com/credence-lab/credence/llm"
)

// planCross plans what consistency asks of models. How often a sampler is asked is a guess: as often as one that
// never repeats itself.
func (r *runner) planCross(ctx context.Context, plan *Plan, known *ledger.Ledger, planner Planner) error {
	if r.file.Consistency == nil {
		return nil
	}
	r.consistent.embed = strangers{}
	if err := r.perturbFromTexts(ctx); err != nil {
		return err
	}
	for _, p := range r.file.crossPasses() {
		m := r.file.Models[p.model]
		if p.stage != StageConsistency {
			m.Limit = r.file.largestLimit()
		}
		if err := r.planModel(ctx, plan, known, planner, m, p.stage); err != nil {
			return fmt.Errorf("model %s: %w", m.Name, err)
		}
	}
	return nil
}

// strangers stands for the model of embeddings in a plan: no two texts are near.
type strangers struct{}

// strangerDimensions is enough for the cosines of hundreds of random directions to stay small.
const strangerDimensions = 256

func (strangers) Do(_ context.Context, reqs []llm.Request) []llm.Result {
	results := make([]llm.Result, len(reqs))
	for i, r := range reqs {
		h := fnv.New64a()
		_, _ = h.Write([]byte(r.Prompt.Text))
		random := rand.New(rand.NewPCG(h.Sum64(), 0))
		v := make([]float32, strangerDimensions)
		for k := range v {
			v[k] = float32(random.NormFloat64())
		}
		results[i].Reply = llm.Reply{Embedding: v}
	}
	return results
}
