package llamacpp

import (
	"cmp"
	"math"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/credence-lab/credence/llm"
)

func chooserOf(d llm.Decoding, seed uint64, sample int, prompt ...int32) *chooser {
	return newChooser(llm.Request{Decoding: d, Seed: seed, Sample: sample}, prompt)
}

func TestGreedyTakesTheLowestOfEqualTokens(t *testing.T) {
	t.Parallel()
	var memory scratch
	logits := []float32{-1, 3, 2, 3, 3}
	for _, d := range []llm.Decoding{{}, {RepetitionPenalty: 1.5}, {Temperature: 1, TopK: 1}} {
		if got := chooserOf(d, 1, 1).choose(logits, &memory); got != 1 {
			t.Errorf("%+v: token %d, want 1", d, got)
		}
	}
}

func TestRepetitionPenaltyCountsATokenOnceAndKnowsThePrompt(t *testing.T) {
	t.Parallel()
	var memory scratch
	c := chooserOf(llm.Decoding{RepetitionPenalty: 2}, 0, 0, 0, 0, 0, 3)
	got := c.penalised([]float32{4, 3, 0, -1, -2}, &memory)
	if want := []float64{2, 3, 0, -2, -2}; !slices.Equal(got, want) {
		t.Errorf("logits %v, want %v", got, want)
	}
	// Token 1 leads now; once said, it is penalised too, and token 0 leads again.
	for i, want := range []int32{1, 0, 0} {
		if got := c.choose([]float32{4, 3, 0, -1, -2}, &memory); got != want {
			t.Errorf("token %d of the reply is %d, want %d", i, got, want)
		}
	}
}

// reference filters by sorting, as the papers describe it.
func reference(p []float64, d llm.Decoding) []int32 {
	ids := make([]int32, len(p))
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortStableFunc(ids, func(a, b int32) int { return cmp.Compare(p[b], p[a]) })
	if d.TopK > 0 && d.TopK < len(ids) {
		ids = ids[:d.TopK]
	}
	if d.TopP > 0 && d.TopP < 1 {
		total, mass := 0.0, 0.0
		for _, t := range ids {
			total += p[t]
		}
		for i, t := range ids {
			if mass += p[t]; mass >= d.TopP*total {
				ids = ids[:i+1]
				break
			}
		}
	}
	ids = slices.DeleteFunc(ids, func(t int32) bool { return p[t] < d.MinP })
	slices.Sort(ids)
	return ids
}

func TestFiltersKeepWhatThePapersKeep(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		// Weights in eighths, so that there are ties, and so that sums are exact in whatever order they are
		// taken: a nucleus that ends on its border ends there for both. The top one is 1.
		steps := rapid.SliceOfN(rapid.IntRange(0, 8), 1, 40).Draw(t, "weights")
		steps[rapid.IntRange(0, len(steps)-1).Draw(t, "top")] = 8
		p := make([]float64, len(steps))
		for i, s := range steps {
			p[i] = float64(s) / 8
		}
		d := llm.Decoding{
			TopK: rapid.IntRange(0, 12).Draw(t, "k"),
			TopP: float64(rapid.IntRange(0, 16).Draw(t, "p")) / 16,
			MinP: float64(rapid.IntRange(0, 8).Draw(t, "min")) / 8,
		}
		var memory scratch
		got := chooserOf(d, 0, 0).filter(p, &memory)
		want := reference(p, d)
		if got == nil && len(want) == len(p) {
			return
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%+v of %v (-want +got):\n%s", d, p, diff)
		}
	})
}

// Over many samples the shares are those of the softmax at the given temperature. The seeds are fixed, so
// this does not fail by chance; the bound is four standard errors.
func TestSamplesFollowTheDistribution(t *testing.T) {
	t.Parallel()
	logits := []float32{1, -2, 0.5, 2, -30}
	const n = 20_000
	for _, temperature := range []float64{.5, 1, 2} {
		total, p := 0.0, make([]float64, len(logits))
		for i, x := range logits {
			p[i] = math.Exp(float64(x) / temperature)
			total += p[i]
		}
		counts := make([]int, len(logits))
		var memory scratch
		for sample := range n {
			counts[chooserOf(llm.Decoding{Temperature: temperature}, 42, sample).choose(logits, &memory)]++
		}
		for i := range p {
			share, want := float64(counts[i])/n, p[i]/total
			if math.Abs(share-want) > 4*math.Sqrt(want*(1-want)/n)+1e-9 {
				t.Errorf("temperature %v: token %d was drawn %.4f of the time, want %.4f", temperature, i, share, want)
			}
		}
	}
}

func TestSamplesRepeatBySeedAndNumber(t *testing.T) {
	t.Parallel()
	logits := make([]float32, 1000)
	draw := func(seed uint64, sample int) [4]int32 {
		var memory scratch
		c := chooserOf(llm.Decoding{Temperature: 1}, seed, sample)
		var out [4]int32
		for i := range out {
			out[i] = c.choose(logits, &memory)
		}
		return out
	}
	if first, again := draw(7, 3), draw(7, 3); first != again {
		t.Error("equal seed and sample give different tokens")
	}
	seen := map[[4]int32]bool{}
	for seed := range uint64(10) {
		for sample := range 10 {
			seen[draw(seed, sample)] = true
		}
	}
	if len(seen) != 100 {
		t.Errorf("100 pairs of seed and sample gave %d different texts", len(seen))
	}
}

// A token whose probability is 0 is never drawn, and no setting makes a NaN.
func TestExtremeSettingsChooseAPossibleToken(t *testing.T) {
	t.Parallel()
	inf := float32(math.Inf(1))
	logits := []float32{-inf, -3, 88, -inf, 87, math.MaxFloat32 / 2}
	for _, d := range []llm.Decoding{
		{Temperature: math.SmallestNonzeroFloat64}, {Temperature: math.MaxFloat64}, {Temperature: 1, MinP: 1},
		{Temperature: 1e-3, RepetitionPenalty: math.MaxFloat64}, {Temperature: 1e3, RepetitionPenalty: math.SmallestNonzeroFloat64},
		{Temperature: 1, TopP: math.SmallestNonzeroFloat64}, {Temperature: 1, TopK: 1 << 40},
	} {
		var memory scratch
		for sample := range 50 {
			got := chooserOf(d, 5, sample, 0, 1, 2).choose(logits, &memory)
			if math.IsInf(float64(logits[got]), -1) {
				t.Errorf("%+v: drew token %d, which is impossible", d, got)
			}
		}
	}
}

func BenchmarkChoose(b *testing.B) {
	logits := make([]float32, 151_936)
	for i := range logits {
		logits[i] = float32(math.Sin(float64(i)*7)) * 9
	}
	for name, d := range map[string]llm.Decoding{
		"greedy": {}, "temperature": {Temperature: 1}, "top-k": {Temperature: 1, TopK: 20, TopP: .8},
		"top-p": {Temperature: 1, TopP: .95}, "min-p": {Temperature: 1, MinP: .05},
	} {
		b.Run(name, func(b *testing.B) {
			c := chooserOf(d, 1, 1)
			var memory scratch
			for b.Loop() {
				c.choose(logits, &memory)
			}
		})
	}
}
