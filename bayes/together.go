package bayes

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
)

// A Scope says which judges are fitted together. The model holds judges to be independent given the
// items, but thresholds of one score are not: fitted together, many of them agree and outvote people. So
// estimates differ between scopes, and are shown side by side.
type Scope string

const (
	// Alone fits each judge by itself.
	Alone Scope = "alone"
	// OnePerFamily fits one threshold of each family together, see [Representatives].
	OnePerFamily Scope = "one per family"
	// All fits all judges together.
	All Scope = "all"
)

// ScopeFits are the fits of the same judges in each scope.
type ScopeFits struct {
	// Alone has a fit for each judge.
	Alone []*JudgePosterior `json:"alone"`
	// Exact has the same by quadrature; an entry is nil if there is none.
	Exact []*ExactJudge `json:"exact"`
	// OnePerFamily and All have the judges that are fitted together in their Together.
	OnePerFamily *JudgePosterior `json:"one_per_family"`
	All          *JudgePosterior `json:"all"`
}

// ScopeRow is one quantity of one judge in each scope.
type ScopeRow struct {
	Judge string   `json:"judge"`
	Alone Estimate `json:"alone"`
	// Exact are the moments of Alone without Monte-Carlo error; nil for F1, Precision and NPV.
	Exact *Moments `json:"exact,omitempty"`
	// OnePerFamily is nil if another threshold stands for the family.
	OnePerFamily *Estimate `json:"one_per_family,omitempty"`
	All          Estimate  `json:"all"`
}

// Representatives returns the judges that stand for their families: of each family the one whose
// judgements have the highest F1 against the majority of people, the first of those that are equal; and
// every judge without a family. Items on which people have no majority are left out.
func Representatives(d JudgeData) []string {
	best := map[string]float64{}
	chosen := map[string]string{}
	for _, j := range d.Judges {
		f := pointF1(d.People, j)
		if have, ok := best[j.Family]; !ok || f > have {
			best[j.Family], chosen[j.Family] = f, j.Name
		}
	}
	var names []string
	for _, j := range d.Judges {
		if j.Family == "" || chosen[j.Family] == j.Name {
			names = append(names, j.Name)
		}
	}
	return names
}

// pointF1 is that of a judge against the majority of people; 0 if there are no true positives.
func pointF1(people []Votes, j Judge) float64 {
	var tp, fp, fn float64
	for i, c := range j.Counts {
		switch v := people[i]; {
		case v.Correct > v.Incorrect:
			tp += float64(c.Correct)
			fn += float64(c.Incorrect)
		case v.Correct < v.Incorrect:
			fp += float64(c.Correct)
		}
	}
	if tp == 0 {
		return 0
	}
	return 2 * tp / (2*tp + fp + fn)
}

// FitScopes fits the judges alone, one of each family, and all together. representatives names the
// judges of the second fit; nil means [Representatives].
//
// It is an error if a representative is no judge of the data, or if a fit is one, see [FitJudges].
func FitScopes(ctx context.Context, d JudgeData, priors JudgePriors, sampler Sampler, o Options, representatives []string) (*ScopeFits, error) {
	if representatives == nil {
		representatives = Representatives(d)
	}
	some, err := d.only(representatives)
	if err != nil {
		return nil, err
	}
	fits := &ScopeFits{}
	for _, j := range d.Judges {
		own := o
		own.Seed = seedOf(o.Seed, j.Name)
		p, err := FitJudges(ctx, JudgeData{d.People, []Judge{j}}, priors, sampler, own)
		if err != nil {
			return nil, err
		}
		p.Scope = Alone
		fits.Alone = append(fits.Alone, p)
		exact, err := FitExactly(d.People, j, priors)
		if err != nil {
			exact = nil // too many judgements for quadrature: the draws stand alone
		}
		fits.Exact = append(fits.Exact, exact)
	}
	if fits.OnePerFamily, err = FitJudges(ctx, some, priors, sampler, o); err != nil {
		return nil, err
	}
	if fits.All, err = FitJudges(ctx, d, priors, sampler, o); err != nil {
		return nil, err
	}
	fits.OnePerFamily.Scope, fits.All.Scope = OnePerFamily, All
	return fits, nil
}

// seedOf a judge depends on nothing but its name, so that a further judge changes no other.
func seedOf(seed uint64, name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return mix(seed ^ h.Sum64())
}

// only returns the data with the named judges, in the order of the data.
func (d JudgeData) only(names []string) (JudgeData, error) {
	out := JudgeData{People: d.People}
	for _, j := range d.Judges {
		if slices.Contains(names, j.Name) {
			out.Judges = append(out.Judges, j)
		}
	}
	for _, n := range names {
		if !slices.Contains(d.names(), n) {
			return out, fmt.Errorf("bayes: %q is to stand for its family, but is none of the judges", n)
		}
	}
	return out, nil
}

// Table shows one quantity of every judge in each scope side by side.
func (f *ScopeFits) Table(q Quantity) []ScopeRow {
	rows := make([]ScopeRow, len(f.All.Judges))
	for j, all := range f.All.Judges {
		rows[j] = ScopeRow{Judge: all.Name, Alone: f.Alone[j].Judges[0].Quantities[q], All: all.Quantities[q]}
		if e := f.Exact[j]; e != nil {
			if m, ok := e.Quantities[q]; ok {
				rows[j].Exact = &m
			}
		}
		if e, ok := f.OnePerFamily.By(all.Name, q); ok {
			rows[j].OnePerFamily = &e
		}
	}
	return rows
}
