package llamacpp

import (
	"cmp"
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/credence-lab/credence/llm"
)

// chooser picks the next token of one reply. It is a pure function of the logits, the request and the
// numbers drawn so far, so a reply repeats wherever its logits do.
type chooser struct {
	d   llm.Decoding
	rng *rand.Rand
	// seen holds each token of prompt and text so far once; kept only where a repetition penalty applies.
	seen map[int32]struct{}
}

// newChooser seeds a PCG generator by (seed, sample): each sample of a prompt has a stream of its own.
func newChooser(r llm.Request, prompt []int32) *chooser {
	c := &chooser{d: r.Decoding, rng: rand.New(rand.NewPCG(r.Seed, uint64(r.Sample)))}
	if c.penalises() {
		c.seen = make(map[int32]struct{}, len(prompt))
		for _, t := range prompt {
			c.seen[t] = struct{}{}
		}
	}
	return c
}

func (c *chooser) penalises() bool { return c.d.RepetitionPenalty != 0 && c.d.RepetitionPenalty != 1 }

// choose returns the next token. scratch is overwritten.
func (c *chooser) choose(logits []float32, scratch *scratch) int32 {
	var next int32
	switch {
	case c.d.Temperature == 0 && !c.penalises():
		next = int32(argmax(logits))
	case c.d.Temperature == 0:
		next = int32(argmax64(c.penalised(logits, scratch)))
	default:
		next = c.sample(c.penalised(logits, scratch), scratch)
	}
	if c.seen != nil {
		c.seen[next] = struct{}{}
	}
	return next
}

// penalised gives the logits after the repetition penalty (Keskar et al. 2019, section 4.1, with the sign
// rule of its implementations: positive logits are divided, negative ones multiplied).
func (c *chooser) penalised(logits []float32, scratch *scratch) []float64 {
	w := scratch.weights(len(logits))
	for i, x := range logits {
		w[i] = float64(x)
	}
	for t := range c.seen {
		x := w[t] * c.d.RepetitionPenalty
		if w[t] > 0 {
			x = w[t] / c.d.RepetitionPenalty
		}
		w[t] = max(-math.MaxFloat64, min(x, math.MaxFloat64))
	}
	return w
}

// sample draws from the softmax of w at the request's temperature, by the inverse distribution function
// in vocabulary order, after the filters. w becomes weights relative to the most probable token.
func (c *chooser) sample(w []float64, scratch *scratch) int32 {
	peak := w[argmax64(w)]
	for i, x := range w {
		if x = (x - peak) / c.d.Temperature; x < lowest {
			w[i] = 0
			continue
		}
		w[i] = exp(x)
	}
	u := c.rng.Float64()
	keep := c.filter(w, scratch)
	if keep == nil {
		return invert(w, u)
	}
	kept := scratch.kept(len(keep))
	for i, t := range keep {
		kept[i] = w[t]
	}
	return keep[invert(kept, u)]
}

// filter applies top-k, then top-p (Holtzman et al. 2020) to what top-k left, then min-p (Nguyen et al.
// 2024). It returns the kept tokens in vocabulary order, or nil where all are kept. The most probable
// token is always kept.
func (c *chooser) filter(w []float64, scratch *scratch) []int32 {
	keep := []int32(nil)
	nucleus := c.d.TopP > 0 && c.d.TopP < 1
	topK := c.d.TopK > 0 && c.d.TopK < len(w)
	switch {
	case topK:
		keep = largest(w, scratch, func(n int, _ float64) bool { return n >= c.d.TopK })
		if nucleus {
			keep = keep[:reach(w, keep, c.d.TopP)]
		}
	case nucleus:
		total := 0.0
		for _, p := range w {
			total += p
		}
		keep = largest(w, scratch, func(_ int, mass float64) bool { return mass >= c.d.TopP*total })
	}
	if c.d.MinP > 0 {
		keep = atLeast(w, keep, c.d.MinP)
	}
	slices.Sort(keep)
	return keep
}

// largest returns tokens by falling weight, the lower id first on a tie, until enough says so of their
// number and mass.
func largest(w []float64, scratch *scratch, enough func(n int, mass float64) bool) []int32 {
	h := byWeight{w, scratch.ids(len(w))}
	heap.Init(&h)
	var out []int32
	for mass := 0.0; h.Len() > 0 && !enough(len(out), mass); {
		t := heap.Pop(&h).(int32)
		mass += w[t]
		out = append(out, t)
	}
	return out
}

// reach is how many of ids, the heaviest first, it takes to reach the share p of their mass.
func reach(w []float64, ids []int32, p float64) int {
	total := 0.0
	for _, t := range ids {
		total += w[t]
	}
	mass := 0.0
	for i, t := range ids {
		if mass += w[t]; mass >= p*total {
			return i + 1
		}
	}
	return len(ids)
}

// atLeast keeps the tokens of ids (all if nil) whose weight is at least share; the top weight is 1.
func atLeast(w []float64, ids []int32, share float64) []int32 {
	if ids != nil {
		return slices.DeleteFunc(ids, func(t int32) bool { return w[t] < share })
	}
	out := []int32{}
	for t, p := range w {
		if p >= share {
			out = append(out, int32(t))
		}
	}
	return out
}

// invert is the first place at which the running sum of w passes the share u of the whole sum.
func invert(w []float64, u float64) int32 {
	total := 0.0
	for _, p := range w {
		total += p
	}
	mass, last := 0.0, 0
	for i, p := range w {
		if p == 0 {
			continue
		}
		last = i
		if mass += p; mass > u*total {
			break
		}
	}
	return int32(last)
}

func argmax64(w []float64) int {
	best := 0
	for i, x := range w {
		if x > w[best] {
			best = i
		}
	}
	return best
}

// byWeight is a heap of tokens, the heaviest on top.
type byWeight struct {
	w   []float64
	ids []int32
}

func (h *byWeight) Len() int      { return len(h.ids) }
func (h *byWeight) Swap(i, j int) { h.ids[i], h.ids[j] = h.ids[j], h.ids[i] }
func (h *byWeight) Push(any)      { panic("llamacpp: the heap only shrinks") }

func (h *byWeight) Less(i, j int) bool {
	a, b := h.ids[i], h.ids[j]
	return cmp.Or(cmp.Compare(h.w[b], h.w[a]), cmp.Compare(a, b)) < 0
}

func (h *byWeight) Pop() any {
	last := h.ids[len(h.ids)-1]
	h.ids = h.ids[:len(h.ids)-1]
	return last
}

// scratch is memory of one worker, reused from token to token.
type scratch struct {
	w, k []float64
	all  []int32
}

func (s *scratch) weights(n int) []float64 {
	s.w = slices.Grow(s.w[:0], n)[:n]
	return s.w
}

func (s *scratch) kept(n int) []float64 {
	s.k = slices.Grow(s.k[:0], n)[:n]
	return s.k
}

// ids returns the tokens 0 … n-1.
func (s *scratch) ids(n int) []int32 {
	s.all = slices.Grow(s.all[:0], n)[:n]
	for i := range s.all {
		s.all[i] = int32(i)
	}
	return s.all
}
