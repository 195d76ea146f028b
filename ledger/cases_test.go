package ledger_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/credence-lab/credence/llm"
	"github.com/credence-lab/credence/llm/llmtest"
)

// Thirty samples of one prompt come back as the same thirty, in their order, and not as one of them thirty times
// (R01); another temperature or another seed is another call (R02).
func TestSamplesAreToldApart(t *testing.T) {
	t.Parallel()
	l := open(t, t.TempDir()+"/ledger.db")
	samples := func(temperature float64, seed uint64) []llm.Request {
		reqs := make([]llm.Request, 30)
		for i := range reqs {
			reqs[i] = llm.Request{Kind: llm.Generate, Prompt: llm.Chat("Name a colour.", ""), Decoding: llm.Decoding{MaxTokens: 20, Temperature: temperature}, Seed: seed, Sample: i}
		}
		return reqs
	}
	first := texts(l.Through(llmtest.NewScripted(nil)).Do(t.Context(), samples(1, 7)))
	distinct := map[string]bool{}
	for _, text := range first {
		distinct[text] = true
	}
	if len(distinct) != 30 {
		t.Errorf("%d different texts of 30", len(distinct))
	}
	again := l.Through(llmtest.NewScripted(nil))
	if d := cmp.Diff(first, texts(again.Do(t.Context(), samples(1, 7)))); d != "" {
		t.Error(d)
	}
	expectCounts(t, again, 30, 0, 0)
	for made, other := range map[int64][]llm.Request{30: samples(1, 8), 1: samples(0, 7)} {
		a := l.Through(llmtest.NewScripted(nil))
		a.Do(t.Context(), other)
		if got := a.Counts().Made; got != made {
			t.Error(fmt.Sprint(other[0].Decoding, other[0].Seed), "made", got, "calls, want", made)
		}
	}
}
