package consistency

import (
	"cmp"
	"slices"
)

// Pair is two different texts, the lesser first: the judge is asked about them once, in this order.
type Pair struct{ A, B string }

// PairOf orders two texts.
func PairOf(a, b string) Pair {
	if b < a {
		a, b = b, a
	}
	return Pair{a, b}
}

// Verdicts keeps what a judge says of pairs of texts: whether they are the same answer. It is symmetric, and
// a text is the same as itself without being asked. The zero Verdicts is empty and ready to use.
type Verdicts struct {
	same   map[Pair]bool
	closed bool
}

// Set keeps a verdict on a and b.
func (v *Verdicts) Set(a, b string, same bool) {
	if v.same == nil {
		v.same = map[Pair]bool{}
	}
	if a != b {
		v.same[PairOf(a, b)] = same
	}
}

// Same returns the verdict on a and b, and whether there is one.
func (v *Verdicts) Same(a, b string) (same, known bool) {
	if a == b {
		return true, true
	}
	same, known = v.same[PairOf(a, b)]
	return same, known
}

// N is the number of verdicts kept: the calls that were needed.
func (v *Verdicts) N() int { return len(v.same) }

// Unasked lists the pairs of different texts among those given that have no verdict yet, sorted, each once:
// what is left to ask, however often a text occurs.
func (v *Verdicts) Unasked(texts []string) []Pair {
	unique := slices.Clone(texts)
	slices.Sort(unique)
	unique = slices.Compact(unique)
	var pairs []Pair
	for i, a := range unique {
		for _, b := range unique[i+1:] {
			if _, known := v.Same(a, b); !known {
				pairs = append(pairs, Pair{a, b})
			}
		}
	}
	return pairs
}

// Closed closes the verdicts under transitivity: the same as the same is the same, whatever the judge says of
// the two. Every pair of the given texts gets a verdict; those that nothing joins are different. Kept
// verdicts on other texts join too.
func (v *Verdicts) Closed(texts []string) *Verdicts {
	root := map[string]string{}
	var find func(string) string
	find = func(t string) string {
		up, known := root[t]
		if !known || up == t {
			root[t] = t
			return t
		}
		top := find(up)
		root[t] = top
		return top
	}
	for pair, same := range v.same {
		if same {
			root[find(pair.A)] = find(pair.B)
		}
	}
	closed := &Verdicts{closed: true}
	for i, a := range texts {
		for _, b := range texts[:i] {
			closed.Set(a, b, find(a) == find(b))
		}
	}
	return closed
}

// Cluster asks only what clusters need: each new text, the most frequent first, is shown with the first text
// of each cluster, largest cluster first, until one is the same. c clusters of u different texts take at most
// u·c calls instead of u(u − 1)/2. The result is closed; calls is how often same was called. An error of
// same ends it.
func Cluster(texts []string, same func(Pair) (bool, error)) (v *Verdicts, calls int, err error) {
	type group struct {
		first string
		size  int
	}
	var groups []group
	v = &Verdicts{}
	for _, t := range byFrequency(texts) {
		joined := false
		for g := range groups {
			calls++
			if joined, err = same(PairOf(t.text, groups[g].first)); err != nil {
				return nil, calls, err
			}
			v.Set(t.text, groups[g].first, joined)
			if joined {
				groups[g].size += t.n
				break
			}
		}
		if !joined {
			groups = append(groups, group{t.text, t.n})
		}
		slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(b.size, a.size) })
	}
	return v.Closed(texts), calls, nil
}

type frequent struct {
	text string
	n    int
}

// byFrequency is the distinct texts, most frequent first, equal ones in the order of the texts.
func byFrequency(texts []string) []frequent {
	counts := map[string]int{}
	for _, t := range texts {
		counts[t]++
	}
	list := make([]frequent, 0, len(counts))
	for t, n := range counts {
		list = append(list, frequent{t, n})
	}
	slices.SortFunc(list, func(a, b frequent) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.text, b.text))
	})
	return list
}
