package validation

import (
	"slices"

	"github.com/credence-lab/credence/measure"
)

// Place is the quantifier that people rank at one place, and what the judges of each group make of it:
// one third of a row of Tables 2 and 3.
type Place struct {
	// Name is "best", "medium" or "worst".
	Name string `json:"name"`
	// Place counts from 1. With 7 quantifiers the medium one is the 4th.
	Place      int    `json:"place"`
	Quantifier string `json:"quantifier"`
	// Actual is the AUROC under people.
	Actual measure.Value `json:"actual"`
	Groups []GroupMean   `json:"groups"`
}

// GroupMean is a mean over the judges of a group, each threshold counting as a judge.
type GroupMean struct {
	Group Group `json:"group"`
	// Rank and Difference are means; undefined without a judge, which the paper prints as a dash. Their N
	// is the number of judges, LeftOut counts judges without an AUROC.
	Rank       measure.Value `json:"rank"`
	Difference measure.Value `json:"difference"`
}

const noJudge measure.Reason = "no judge in the group"

// places are the best, the medium and the worst quantifier; nil where people have no ranking. Of equal
// quantifiers the one that stands first takes the better place.
func places(auroc Matrix, groups []Group) []Place {
	order := rankingOf(auroc.People)
	if order == nil {
		return nil
	}
	var list []Place
	for _, at := range []struct {
		name  string
		place int
	}{{"best", 1}, {"medium", (len(order) + 1) / 2}, {"worst", len(order)}} {
		q := order[at.place-1]
		p := Place{Name: at.name, Place: at.place, Quantifier: auroc.Quantifiers[q], Actual: auroc.People.Cells[q].Value}
		for _, g := range Groups {
			p.Groups = append(p.Groups, groupMean(auroc, groups, g, q))
		}
		list = append(list, p)
	}
	return list
}

// rankingOf orders the quantifiers of a complete row, best first.
func rankingOf(r Row) []int {
	if !r.Complete() {
		return nil
	}
	order := make([]int, len(r.Cells))
	for i := range order {
		order[i] = i
	}
	rank := func(q int) float64 { x, _ := r.Cells[q].Rank.Get(); return x }
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case rank(a) < rank(b):
			return -1
		case rank(a) > rank(b):
			return 1
		}
		return 0
	})
	return order
}

func groupMean(auroc Matrix, groups []Group, g Group, q int) GroupMean {
	var ranks, differences float64
	n, out := 0, map[string]int{}
	for j, row := range auroc.Judges {
		if groups[j] != g {
			continue
		}
		rank, ranked := row.Cells[q].Rank.Get()
		difference, differs := row.Cells[q].Difference.Get()
		if !ranked || !differs {
			out["judges: "+string(reasonOf(row.Cells[q]))]++
			continue
		}
		ranks += rank
		differences += difference
		n++
	}
	m := GroupMean{g, measure.Undefined("rank.mean", noJudge, 0), measure.Undefined("auroc.difference.mean", noJudge, 0)}
	if n > 0 {
		m.Rank = measure.Of("rank.mean", ranks/float64(n), n)
		m.Difference = measure.Of("auroc.difference.mean", differences/float64(n), n)
	}
	m.Rank, m.Difference = m.Rank.Leaving(out), m.Difference.Leaving(out)
	return m
}

func reasonOf(c Cell) measure.Reason {
	if r := c.Rank.Reason(); r != "" {
		return r
	}
	return c.Difference.Reason()
}
