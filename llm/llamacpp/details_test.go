package llamacpp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/credence-lab/credence/llm"
)

// Probabilities 1/2, 1/4, 1/8, 1/8: the entropy is 1/2·ln 2 + 1/4·2 ln 2 + 2·1/8·3 ln 2 = 1.75 ln 2.
func TestDetailsByHand(t *testing.T) {
	t.Parallel()
	ln2 := math.Ln2
	logits := []float32{float32(-3 * ln2), float32(-ln2), float32(-2 * ln2), float32(-3 * ln2)}
	sum, err := logSumExp(logits)
	if err != nil {
		t.Fatal(err)
	}
	near := cmpopts.EquateApprox(0, 1e-6)
	if diff := cmp.Diff([]float64{-ln2, -2 * ln2, -3 * ln2}, mostProbable(logits, sum, 3), near); diff != "" {
		t.Errorf("alternatives (-want +got):\n%s", diff)
	}
	if n := len(mostProbable(logits, sum, 9)); n != 4 {
		t.Errorf("%d alternatives of 4 tokens", n)
	}
	if h := entropy(logits, sum); math.Abs(h-1.75*ln2) > 1e-6 {
		t.Errorf("entropy %v, want %v", h, 1.75*ln2)
	}
}

func TestMostProbableIsASort(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		logits := make([]float32, 200)
		for i := range logits {
			logits[i] = float32(rng.IntN(40)) // with ties
		}
		sorted := slices.Clone(logits)
		slices.SortFunc(sorted, func(a, b float32) int { return int(b - a) })
		for i, x := range mostProbable(logits, 100, 15) {
			if x != float64(sorted[i])-100 {
				t.Fatalf("place %d: %v, want %v", i, x, float64(sorted[i])-100)
			}
		}
	}
}

func TestDetailsAreToldWhereTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	v := pieces{"a", "b", "<end>"}
	var memory scratch
	say := func(wanted llm.Details) llm.Reply {
		g := newGeneration(llm.Request{Decoding: llm.Decoding{MaxTokens: 9}, Details: wanted}, []int32{0}, v)
		for k, logits := range [][]float32{{9, 0, 0}, {0, 9, 0}, {0, 0, 9}} {
			if _, _, err := g.take(k, logits, &memory); err != nil {
				t.Fatal(err)
			}
		}
		return g.reply()
	}
	if r := say(llm.Details{}); r.Told != nil {
		t.Errorf("told unasked: %+v", r.Told)
	}
	r := say(llm.Details{Alternatives: 2, Entropy: true, End: true})
	if err := r.Told.Check(2); err != nil || len(r.Told.Entropies) != 2 || len(r.Told.Alternatives[1]) != 2 {
		t.Errorf("%+v, %v", r.Told, err)
	}
	for i, token := range r.Tokens {
		if r.Told.Alternatives[i][0] != token.LogProb {
			t.Errorf("token %d: the most probable has %v, the chosen one %v", i, r.Told.Alternatives[i][0], token.LogProb)
		}
	}
	if end := r.Told.End; end == nil || end.LogProb != end.Alternatives[0] || end.Entropy != r.Told.Entropies[0] {
		t.Errorf("end of turn %+v", end)
	}
}
