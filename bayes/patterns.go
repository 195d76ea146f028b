package bayes

import (
	"encoding/binary"
	"maps"
	"slices"
)

// Items that people and judges labelled alike are alike to the judge model. A pattern is one way in
// which items were labelled, with the items that were.
type pattern struct {
	prior   Beta
	factors []factor // judges without judgements left out, in order
	items   []int
	total   int // judgements on each item
}

// factor is what one judge said of an item.
type factor struct {
	judge              int
	correct, incorrect int
}

// patternsOf groups the items of the data, in order of their first item.
func patternsOf(d JudgeData, p JudgePriors) []*pattern {
	type key struct {
		prior  Beta
		counts string
	}
	seen := map[key]*pattern{}
	var patterns []*pattern
	var buffer []byte
	for i := range d.People {
		buffer = buffer[:0]
		for _, j := range d.Judges {
			buffer = binary.AppendUvarint(buffer, uint64(j.Counts[i].Correct))
			buffer = binary.AppendUvarint(buffer, uint64(j.Counts[i].Incorrect))
		}
		k := key{d.prior(p, i), string(buffer)}
		if seen[k] == nil {
			seen[k] = newPattern(d, k.prior, i)
			patterns = append(patterns, seen[k])
		}
		seen[k].items = append(seen[k].items, i)
	}
	return patterns
}

func newPattern(d JudgeData, prior Beta, item int) *pattern {
	p := &pattern{prior: prior}
	for j, judge := range d.Judges {
		if c := judge.Counts[item]; c.total() > 0 {
			p.factors = append(p.factors, factor{j, c.Correct, c.Incorrect})
			p.total += c.total()
		}
	}
	return p
}

// byPrior groups patterns with equal priors, which share the nodes of their quadrature.
func byPrior(patterns []*pattern) [][]*pattern {
	groups := map[Beta][]*pattern{}
	for _, p := range patterns {
		groups[p.prior] = append(groups[p.prior], p)
	}
	order := slices.Collect(maps.Keys(groups))
	slices.SortFunc(order, func(a, b Beta) int {
		return groups[a][0].items[0] - groups[b][0].items[0]
	})
	var out [][]*pattern
	for _, b := range order {
		out = append(out, groups[b])
	}
	return out
}

// A block is a few neighbouring judges. Patterns differ more than what a few judges say of them, most
// of all if those are thresholds of one score: so what a block says is computed once for each row,
// and each pattern is put together from one row of each block.
type block struct {
	rows  [][]factor
	rowOf []int32 // the row of each pattern
}

// blocksOf cuts the judges into blocks so that rows and patterns together cost little. A judge joins
// the block before it if the rows grow by less than a block of its own would cost.
func blocksOf(patterns []*pattern, judges int) []block {
	columns := make([][]factor, judges) // of each judge, what it said of each pattern
	for j := range columns {
		columns[j] = make([]factor, len(patterns))
	}
	for i, p := range patterns {
		for _, f := range p.factors {
			columns[f.judge][i] = f
		}
	}
	var blocks []block
	width, cost := 0, 0
	for _, column := range columns {
		alone := extend(block{rows: [][]factor{nil}, rowOf: make([]int32, len(patterns))}, column)
		if n := len(blocks) - 1; n >= 0 {
			wider := extend(blocks[n], column)
			if grown := len(wider.rows) * (width + 1); grown-cost < len(patterns)+len(alone.rows) {
				blocks[n], width, cost = wider, width+1, grown
				continue
			}
		}
		blocks = append(blocks, alone)
		width, cost = 1, len(alone.rows)
	}
	return blocks
}

// extend returns the block with one more judge.
func extend(b block, column []factor) block {
	type key struct {
		row int32
		factor
	}
	seen := map[key]int32{}
	out := block{rowOf: make([]int32, len(column))}
	for i, f := range column {
		k := key{b.rowOf[i], f}
		row, ok := seen[k]
		if !ok {
			row = int32(len(out.rows))
			seen[k] = row
			factors := slices.Clip(b.rows[k.row])
			if f.correct+f.incorrect > 0 {
				factors = append(factors, f)
			}
			out.rows = append(out.rows, factors)
		}
		out.rowOf[i] = row
	}
	return out
}
