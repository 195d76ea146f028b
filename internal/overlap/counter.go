package overlap

import "math/bits"

// A Counter compares sequences of numbers that a [Vocabulary] gave: small and without gaps. It keeps
// its memory from call to call. The zero Counter is ready. Not for concurrent use.
type Counter struct {
	counts []int32
	limits []int32
	runs   numbering[[2]int32]
	a, b   []int32  // runs of n words
	masks  []uint64 // for each number, where in b it stands
	places []int32  // the same for a long b
	row    []uint64
}

// NGram is the package's NGram of numbered words.
func (c *Counter) NGram(answer, reference []int32, n int) Score {
	if n < 1 {
		panic("overlap: runs of less than one word")
	}
	c.ForgetRuns()
	c.a, c.b = append(c.a[:0], answer...), append(c.b[:0], reference...)
	for width := 2; width <= n; width++ {
		c.a, c.b = c.Widen(c.a, answer, width), c.Widen(c.b, reference, width)
	}
	return Of(c.Common(c.a, c.b), len(c.a), len(c.b))
}

// Widen makes of the runs of width-1 of a sequence, in place, those of width, at least 2: one number for each,
// equal for equal runs. The runs of width 1 are the sequence itself. Sequences that are to be compared
// are widened by the same counter, with no call of NGram or ForgetRuns between them.
func (c *Counter) Widen(runs, sequence []int32, width int) []int32 {
	if len(sequence) < width {
		return runs[:0]
	}
	runs = runs[:len(sequence)-width+1]
	// A run is its beginning, already one number, and its last word. Among runs of one width the pair
	// says which run it is.
	for i, beginning := range runs {
		runs[i] = c.runs.of([2]int32{beginning, sequence[i+width-1]})
	}
	return runs
}

// ForgetRuns makes room for the runs of other sequences.
func (c *Counter) ForgetRuns() { c.runs.reset() }

// Clipped returns how many numbers of a are found in the lists, each as often as in the list that has
// it most often: the numerator of BLEU's modified precision (Papineni et al., "BLEU: a Method for
// Automatic Evaluation of Machine Translation", 2002, section 2.1).
func (c *Counter) Clipped(a []int32, lists [][]int32) int {
	if len(lists) == 1 {
		return c.Common(a, lists[0])
	}
	most := room(a, nil)
	for _, list := range lists {
		most = max(most, room(list, nil))
	}
	c.counts, c.limits = zeroed(c.counts, most), zeroed(c.limits, most)
	for _, list := range lists {
		for _, x := range list {
			c.counts[x]++
			c.limits[x] = max(c.limits[x], c.counts[x])
		}
		for _, x := range list {
			c.counts[x] = 0
		}
	}
	clipped := 0
	for _, x := range a {
		if c.limits[x] > 0 {
			c.limits[x]--
			clipped++
		}
	}
	return clipped
}

// Common returns how many numbers a and b share, each counted as often as it occurs in both.
func (c *Counter) Common(a, b []int32) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	c.count(b, a)
	common := 0
	for _, x := range a {
		if c.counts[x] > 0 {
			c.counts[x]--
			common++
		}
	}
	return common
}

// Jaccard is the package's Jaccard of numbered words.
func (c *Counter) Jaccard(a, b []int32) float64 {
	c.count(b, a)
	distinct := 0
	for _, x := range b {
		if c.counts[x] > 0 {
			c.counts[x] = -1 // Seen in b.
			distinct++
		}
	}
	both := 0
	for _, x := range a {
		switch c.counts[x] {
		case -1:
			both++
			c.counts[x] = -2
		case 0:
			distinct++
			c.counts[x] = -2
		}
	}
	if distinct == 0 {
		return 0
	}
	return float64(both) / float64(distinct)
}

// count fills counts with those of a, with room for the numbers of b.
func (c *Counter) count(a, b []int32) {
	c.counts = zeroed(c.counts, room(a, b))
	for _, x := range a {
		c.counts[x]++
	}
}

// LCS returns the length of the longest common subsequence. It takes len(a) × len(b)/64 steps and
// memory for one number a word
// (bit-parallel: Hyyrö, "Bit-Parallel LCS-length Computation Revisited", 2004).
func (c *Counter) LCS(a, b []int32) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(b) <= 64 {
		return c.shortLCS(a, b)
	}
	return c.longLCS(a, b)
}

// shortLCS keeps the row of the table in one word. A bit of row is 0 where the table grows by one.
func (c *Counter) shortLCS(a, b []int32) int {
	c.masks = zeroed(c.masks, room(a, b))
	for i, x := range b {
		c.masks[x] |= 1 << i
	}
	row := ^uint64(0)
	for _, x := range a {
		match := row & c.masks[x]
		row = row + match | row&^match
	}
	return bits.OnesCount64(^row << (64 - len(b)))
}

func (c *Counter) longLCS(a, b []int32) int {
	c.place(a, b)
	c.row = zeroed(c.row, (len(b)+63)/64)
	for i := range c.row {
		c.row[i] = ^uint64(0)
	}
	for _, x := range a {
		at := c.places[c.counts[x]:c.counts[x+1]]
		carry := uint64(0)
		for i, row := range c.row {
			mask := uint64(0)
			for ; len(at) > 0 && int(at[0])/64 == i; at = at[1:] {
				mask |= 1 << (at[0] % 64)
			}
			var sum uint64
			match := row & mask
			sum, carry = bits.Add64(row, match, carry)
			c.row[i] = sum | row&^match
		}
	}
	length := 0
	for i, row := range c.row {
		if rest := len(b) - 64*i; rest < 64 {
			row |= ^uint64(0) << rest
		}
		length += bits.OnesCount64(^row)
	}
	return length
}

// place lists where in b each number stands: places[counts[x]:counts[x+1]], in rising order.
func (c *Counter) place(a, b []int32) {
	c.counts = zeroed(c.counts, room(a, b)+2)
	for _, x := range b {
		c.counts[x+2]++
	}
	for i := 1; i < len(c.counts); i++ {
		c.counts[i] += c.counts[i-1]
	}
	c.places = zeroed(c.places, len(b))
	for i, x := range b {
		c.places[c.counts[x+1]] = int32(i)
		c.counts[x+1]++
	}
}

// room is one more than the largest number of a and b.
func room(a, b []int32) int {
	most := int32(-1)
	for _, x := range a {
		most = max(most, x)
	}
	for _, x := range b {
		most = max(most, x)
	}
	return int(most) + 1
}

// zeroed returns n zeros, in s where they fit.
func zeroed[T int32 | uint64](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}
