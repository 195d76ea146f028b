package llamacpp

// slot is one of the decoder's texts.
type slot struct {
	// tokens are in the cells already.
	tokens []int32
	// job is what the slot works on; nil for a text that is only kept because others may begin like it.
	job *job
	// used is when the text was last worked on or copied from.
	used uint64
	// passed counts the batches that left out tokens this slot had ready.
	passed int
}

// pending is the number of tokens ready to be decoded.
func (s *slot) pending() int {
	if s.job == nil {
		return 0
	}
	return len(s.job.tokens) - len(s.tokens)
}

// shared is where a job's text begins already.
type shared struct {
	// slot holds n tokens of it now; -1 for none.
	slot, n int
	// coming is how many tokens of it a slot will hold that is being filled now.
	coming int
}

// findShared looks for the longest common beginning. The wanted positions have to be decoded anyway,
// so it ends before the first of them.
func findShared(slots []slot, j *job) shared {
	best := shared{slot: -1}
	for i := range slots {
		s := &slots[i]
		if n := min(common(s.tokens, j.tokens), j.first); n > best.n {
			best.slot, best.n = i, n
		}
		if s.pending() > 0 {
			best.coming = max(best.coming, min(common(s.job.tokens, j.tokens), j.first))
		}
	}
	return best
}

// worthWaiting is how many more tokens another slot must promise for a job to wait for them.
const worthWaiting = 4

// room picks the slot for a job that shares with from: the slot that holds just the beginning, else an
// empty one, else the least recently used; never one at work. It returns -1 where all are at work.
func room(slots []slot, from shared) int {
	if from.slot >= 0 && slots[from.slot].job == nil && len(slots[from.slot].tokens) == from.n {
		return from.slot
	}
	best := -1
	for i := range slots {
		s := &slots[i]
		switch {
		case s.job != nil:
		case len(s.tokens) == 0:
			return i
		case best < 0 || older(slots, i, best, from.slot):
			best = i
		}
	}
	return best
}

// older reports whether slot a is the better one to give up than slot b; the one to copy from comes last.
func older(slots []slot, a, b, source int) bool {
	if a == source || b == source {
		return b == source
	}
	return slots[a].used < slots[b].used
}
