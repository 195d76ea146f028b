package overlap

import "math/bits"

// A Counter compares sequences of numbers that a [Vocabulary] gave: small and without gaps. It keeps
// its memory from call to call. The zero Counter is ready. Not for concurrent use.
type Counter struct {
	counts []int32
	grams  numbering[[2]int32]
	a, b   []int32  // n-grams
	masks  []uint64 // for each number, where in b it stands
	places []int32  // the same for a long b
	row    []uint64
}

// NGram is the package's NGram of numbered words.
func (c *Counter) NGram(answer, reference []int32, n int) Score {
	c.grams.reset()
	c.a = c.Grams(c.a[:0], answer, n)
	c.b = c.Grams(c.b[:0], reference, n)
	return Of(c.Common(c.a, c.b), len(c.a), len(c.b))
}

// Grams appends to dst one number for each run of n of the sequence, equal for equal runs: the runs of
// sequences that are to be compared must come from the same counter, with no call of NGram between
// them. n is at least 1.
func (c *Counter) Grams(dst, sequence []int32, n int) []int32 {
	if n < 1 {
		panic("overlap: runs of less than one word")
	}
	if len(sequence) < n {
		return dst
	}
	from := len(dst)
	dst = append(dst, sequence...)
	for width := 2; width <= n; width++ {
		dst = dst[:len(dst)-1]
		// A run is its beginning, already one number, and its last word. Among runs of one width the
		// pair says which run it is.
		for i := range dst[from:] {
			dst[from+i] = c.grams.of([2]int32{dst[from+i], sequence[i+width-1]})
		}
	}
	return dst
}

// ResetGrams forgets the runs that [Counter.Grams] numbered.
func (c *Counter) ResetGrams() { c.grams.reset() }

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
