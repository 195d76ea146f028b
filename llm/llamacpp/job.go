package llamacpp

import "context"

// job is one request on its way through the scheduler, which owns all its fields but out and done.
type job struct {
	ctx context.Context
	// tokens are what the job's slot is to hold: the prompt, then the answer or what was generated so far.
	tokens []int32
	// first is the position from which on logits are wanted: that of the last token of the prompt.
	first int
	// left is how many wanted positions are still to be computed, where that is known before; a
	// generation ends when its consumer says so.
	left     int
	generate bool
	out      consumer

	// slot is where the job is decoded, or -1.
	slot int
	// sampling counts positions whose logits are with a worker.
	sampling int
	// ended says that err stands and done is closed.
	ended bool
	err   error
	done  chan struct{}
}

func newJob(ctx context.Context, tokens []int32, first int, out consumer, generate bool) *job {
	return &job{
		ctx: ctx, tokens: tokens, first: first, left: len(tokens) - first,
		generate: generate, out: out, slot: -1, done: make(chan struct{}),
	}
}

// common is the number of leading tokens that a and b share.
func common(a, b []int32) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
