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

// A block is a tree of what a few neighbouring judges say. Patterns differ more than what a few judges
// say of them, most of all if those are thresholds of one score: so a product over the judges of a
// block is computed once for all patterns on which they say the same, and from that of all but the last
// of them.
type block struct {
	nodes []node
	leaf  []int32 // the node of each pattern
}

// node is the product of the judgements of its parent and one factor. Parents come before children; the
// first node is the empty product, and its own parent.
type node struct {
	parent int
	factor
}

// blocksOf cuts the judges into blocks. A judge joins the block before it as long as that lowers the cost
// of a judge: a block costs as much as it has nodes and patterns.
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
	empty := block{nodes: make([]node, 1), leaf: make([]int32, len(patterns))}
	var blocks []block
	width := 0
	for _, column := range columns {
		if last := len(blocks) - 1; last >= 0 {
			b := blocks[last]
			wider := b.with(column)
			if added := len(wider.nodes) - len(b.nodes); added*width <= len(b.nodes)+len(patterns) {
				blocks[last] = wider
				width++
				continue
			}
		}
		blocks = append(blocks, empty.with(column))
		width = 1
	}
	return blocks
}

// with returns the block with one more judge.
func (b block) with(column []factor) block {
	type key struct {
		leaf int32
		factor
	}
	seen := map[key]int32{}
	out := block{nodes: slices.Clip(b.nodes), leaf: slices.Clone(b.leaf)}
	for i, f := range column {
		if f.correct+f.incorrect == 0 {
			continue
		}
		k := key{b.leaf[i], f}
		n, ok := seen[k]
		if !ok {
			n = int32(len(out.nodes))
			seen[k] = n
			out.nodes = append(out.nodes, node{int(k.leaf), f})
		}
		out.leaf[i] = n
	}
	return out
}
