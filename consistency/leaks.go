package consistency

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/resample"
)

// Effect says what a perturbation does to performance.
type Effect string

const (
	// Leaks: answers after it are correct more often than chance allows, as if it gave them away.
	Leaks Effect = "leaks"
	// Misleads: they are correct less often.
	Misleads Effect = "misleads"
	// NoEffect: nothing was shown, which with few uses is no proof of neutrality.
	NoEffect Effect = "nothing shown"
	// NotTested: there are no other trials of its items to compare with.
	NotTested Effect = "not tested"
)

// Influence is one perturbation against all other trials of the items that it was used on.
type Influence struct {
	Perturbation string `json:"perturbation"`
	Effect       Effect `json:"effect"`
	// Uses is the number of judged trials after it, Correct those that are correct, and Expected how many
	// would be if it did nothing: the sum of p over its uses.
	Uses     int     `json:"uses"`
	Correct  int     `json:"correct"`
	Expected float64 `json:"expected"`
	// Rate is Correct/Uses minus Expected/Uses, in [-1,1]; positive where it helps.
	Rate measure.Value `json:"rate"`
	// Without is the mean Δ over models and items when it is left out of the perturbed trials; Shift is the
	// mean Δ with it minus Without: how much of the whole effect is its own.
	Without measure.Value `json:"without"`
	Shift   measure.Value `json:"shift"`
	// HelpsP and HurtsP are one-sided p values, those of all perturbations adjusted together by Holm.
	HelpsP measure.Value `json:"helps_p"`
	HurtsP measure.Value `json:"hurts_p"`
}

// FindLeaks leaves each perturbation out in turn, to find those that give answers away or mislead at the
// significance alpha in (0,1) (Wu, Jiang and Aragam 2026, appendix A.3, taken to single perturbations). The
// result is sorted by HelpsP, the likeliest leak first.
//
// A use in an item with a model counts as correct with probability p = (k + 1/2)/(n + 1), where k of the n
// other trials of that item with that model, original and perturbed, are correct. The number of correct uses
// is then a sum of independent trials, whose tail is computed exactly. p is an estimate, so that the test is
// exact only up to its error; a perturbation used once, by one model, can hardly be found out.
func FindLeaks(trials []Trial, alpha float64) ([]Influence, error) {
	if !(alpha > 0 && alpha < 1) {
		return nil, fmt.Errorf("consistency: significance %v is not in (0,1)", alpha)
	}
	cells, _, err := tally(trials)
	if err != nil {
		return nil, err
	}
	uses := map[string]map[[2]string]*tallied{}
	for _, t := range trials {
		quality, ok := t.Correct.Get()
		if !ok || t.Perturbation == "" {
			continue
		}
		if uses[t.Perturbation] == nil {
			uses[t.Perturbation] = map[[2]string]*tallied{}
		}
		at := [2]string{t.Model, t.Item}
		if uses[t.Perturbation][at] == nil {
			uses[t.Perturbation][at] = &tallied{}
		}
		uses[t.Perturbation][at].add(quality)
	}
	total := deltasOf(cells)
	found := make([]Influence, 0, len(uses))
	var helps, hurts []float64
	for _, name := range sortedKeys(uses) {
		in, up, down := influence(name, uses[name], cells, total)
		found, helps, hurts = append(found, in), append(helps, up), append(hurts, down)
	}
	adjusted := resample.Holm(append(slices.Clone(helps), hurts...))
	for i := range found {
		found[i].conclude(adjusted[i], adjusted[len(found)+i], alpha)
	}
	slices.SortStableFunc(found, func(a, b Influence) int {
		x, _ := a.HelpsP.Get()
		y, _ := b.HelpsP.Get()
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(b.Correct, a.Correct), cmp.Compare(a.Perturbation, b.Perturbation))
	})
	return found, nil
}

func (in *Influence) conclude(helps, hurts, alpha float64) {
	in.HelpsP, in.HurtsP = measure.Of("p.leave-one-out.helps.holm", helps, in.Uses), measure.Of("p.leave-one-out.hurts.holm", hurts, in.Uses)
	switch {
	case in.Effect == NotTested:
	case helps < alpha:
		in.Effect = Leaks
	case hurts < alpha:
		in.Effect = Misleads
	}
}

// influence gives the unadjusted p values beside the influence; 1 where nothing can be tested.
func influence(name string, uses map[[2]string]*tallied, cells map[string]map[string]*cell, total deltas) (in Influence, helps, hurts float64) {
	in = Influence{Perturbation: name, Effect: NotTested}
	var chances []float64
	rest := total
	for _, at := range sortedPairs(uses) {
		u, c := uses[at], cells[at[0]][at[1]]
		rest = rest.without(c, u)
		n, k := c.original.n+c.perturbed.n-u.n, c.original.correct+c.perturbed.correct-u.correct
		if n == 0 {
			continue
		}
		p := (float64(k) + .5) / (float64(n) + 1)
		for range u.n {
			chances = append(chances, p)
		}
		in.Uses += u.n
		in.Correct += u.correct
		in.Expected += p * float64(u.n)
	}
	in.Without = rest.mean("neutrality.delta.without")
	in.Shift = difference("neutrality.delta.shift", total.mean(""), in.Without)
	if in.Uses == 0 {
		in.Rate = measure.Undefined("leave-one-out.rate", measure.NoItems, 0)
		return in, 1, 1
	}
	in.Effect = NoEffect
	in.Rate = measure.Of("leave-one-out.rate", (float64(in.Correct)-in.Expected)/float64(in.Uses), in.Uses)
	helps, hurts = tails(chances, in.Correct)
	return in, helps, hurts
}

// tails are P(S >= k) and P(S <= k) for the sum S of independent trials with the given chances: the exact
// Poisson binomial distribution, built trial by trial.
func tails(chances []float64, k int) (upper, lower float64) {
	mass := make([]float64, len(chances)+1)
	mass[0] = 1
	for i, p := range chances {
		for s := i + 1; s > 0; s-- {
			mass[s] = mass[s]*(1-p) + mass[s-1]*p
		}
		mass[0] *= 1 - p
	}
	for s, m := range mass {
		if s >= k {
			upper += m
		}
		if s <= k {
			lower += m
		}
	}
	return min(upper, 1), min(lower, 1)
}

// deltas sums Δ over the cells that have trials of both kinds.
type deltas struct {
	sum float64
	n   int
}

func deltasOf(cells map[string]map[string]*cell) deltas {
	var d deltas
	for _, model := range sortedKeys(cells) {
		for _, item := range sortedKeys(cells[model]) {
			d = d.plus(cells[model][item], 1)
		}
	}
	return d
}

func (d deltas) plus(c *cell, sign int) deltas {
	if c.original.n > 0 && c.perturbed.n > 0 {
		d.sum += float64(sign) * c.delta("").Share
		d.n += sign
	}
	return d
}

// without takes some perturbed trials out of one cell.
func (d deltas) without(c *cell, uses *tallied) deltas {
	less := *c
	less.perturbed.n -= uses.n
	less.perturbed.correct -= uses.correct
	less.perturbed.quality -= uses.quality
	return d.plus(c, -1).plus(&less, 1)
}

func (d deltas) mean(id string) measure.Value {
	if d.n == 0 {
		return measure.Undefined(id, measure.NoItems, 0)
	}
	return measure.Of(id, d.sum/float64(d.n), d.n)
}

func difference(id string, a, b measure.Value) measure.Value {
	x, known := a.Get()
	y, too := b.Get()
	if !known || !too {
		return measure.Undefined(id, measure.NoItems, 0)
	}
	return measure.Of(id, x-y, b.N)
}

func sortedPairs[V any](m map[[2]string]V) [][2]string {
	keys := make([][2]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return keys
}
