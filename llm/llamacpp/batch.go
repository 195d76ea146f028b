package llamacpp

// The decoder computes a batch at once only if it has the same number of rows for each of a run of
// neighbouring slots; llama.cpp would split any other batch into such pieces. So batches are built in
// that shape, and a slot within the run that has nothing ready lends a row that is thrown away.

// batch is a run of slots, each with the same number of rows.
type batch struct {
	from, to int // slots from … to-1
	each     int
	// useful is the number of rows that are no filling.
	useful int
}

// fixedCost is what a batch costs besides its rows, in rows: reading the weights.
const fixedCost = 4

// patience is how many batches may pass a slot over before one has to take it along.
const patience = 12

// planBatch chooses the batch with the most useful rows for its cost.
func planBatch(slots []slot, lim limits) batch {
	must := -1
	for i := range slots {
		if slots[i].pending() > 0 && slots[i].passed >= patience && (must < 0 || slots[i].passed > slots[must].passed) {
			must = i
		}
	}
	var best batch
	for from := range slots {
		if slots[from].pending() > 0 && (must < 0 || from <= must) {
			best = bestRun(slots, lim, from, must, best)
		}
	}
	return best
}

// bestRun returns the best of best and the runs that begin at from and take must along.
func bestRun(slots []slot, lim limits, from, must int, best batch) batch {
	real, each, holes := 0, lim.rows, false
	for to := from; to < len(slots) && to-from < lim.rows; to++ {
		n := slots[to].pending()
		if n == 0 {
			if len(slots[to].tokens) >= lim.cells {
				return best
			}
			holes = true
			continue
		}
		real++
		each = min(each, n)
		b := batch{from: from, to: to + 1, each: min(each, lim.rows/(to+1-from))}
		if holes {
			b.each = 1
		}
		b.useful = real * b.each
		if to >= must && b.better(best) {
			best = b
		}
	}
	return best
}

func (b batch) rows() int { return (b.to - b.from) * b.each }

// better reports whether b has more useful rows for its cost than c. Cross-multiplied, so exact.
func (b batch) better(c batch) bool {
	return b.useful*(fixedCost+c.rows()) > c.useful*(fixedCost+b.rows())
}
