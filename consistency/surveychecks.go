package consistency

import (
	"cmp"
	"context"
	"slices"
)

// SourceNeutrality is the neutrality of the perturbations of one source on one benchmark.
type SourceNeutrality struct {
	Source    string `json:"source"`
	Benchmark string `json:"benchmark"`
	*Neutrality
}

// SourceInfluences are the perturbations of one source that leak or mislead, and as many again that come
// nearest to it; the others are counted.
type SourceInfluences struct {
	Source string `json:"source"`
	// Perturbations is how many there are, Effects how many have each effect.
	Perturbations int            `json:"perturbations"`
	Effects       map[Effect]int `json:"effects"`
	Shown         []Influence    `json:"shown"`
}

// NamedConvergence is how the main C3 of a model settles on a benchmark.
type NamedConvergence struct {
	Model     string `json:"model"`
	Benchmark string `json:"benchmark"`
	Convergence
}

func (c *conduct) checks(context.Context) error {
	var benchmarks []string
	for _, a := range c.list {
		if !slices.Contains(benchmarks, a.Benchmark) {
			benchmarks = append(benchmarks, a.Benchmark)
		}
	}
	for s, source := range c.Sources {
		for _, b := range benchmarks {
			n, err := CheckNeutrality(c.trialsOf(s, b), c.resampling(c.Resamples, "", b, "neutrality."+source))
			if err != nil {
				return err
			}
			c.out.Neutrality = append(c.out.Neutrality, SourceNeutrality{source, b, n})
		}
		found, err := FindLeaks(c.trialsOf(s, ""), c.Alpha)
		if err != nil {
			return err
		}
		c.out.Influences = append(c.out.Influences, shownOf(source, found))
	}
	return nil
}

// trialsOf are the judged answers to the items of a benchmark, all benchmarks where it is empty, with and
// without the perturbations of a source.
func (c *conduct) trialsOf(source int, benchmark string) []Trial {
	var list []Trial
	for _, a := range c.list {
		if benchmark != "" && a.Benchmark != benchmark {
			continue
		}
		for _, of := range [][]Answer{a.Original, a.Perturbed[source]} {
			for _, x := range of {
				list = append(list, Trial{Model: a.Model, Item: a.Benchmark + "/" + a.Item, Perturbation: x.Perturbation, Correct: x.Correct})
			}
		}
	}
	return list
}

// mostShown bounds the perturbations of a source that a survey lists although nothing is shown of them.
const mostShown = 10

// shownOf keeps what leaks or misleads and the next nearest to it.
func shownOf(source string, found []Influence) SourceInfluences {
	out := SourceInfluences{Source: source, Perturbations: len(found), Effects: map[Effect]int{}}
	nearest := slices.Clone(found)
	least := func(in Influence) float64 {
		x, _ := in.HelpsP.Get()
		y, _ := in.HurtsP.Get()
		return min(x, y)
	}
	slices.SortStableFunc(nearest, func(a, b Influence) int { return cmp.Compare(least(a), least(b)) })
	other := 0
	for _, in := range nearest {
		out.Effects[in.Effect]++
		if in.Effect != Leaks && in.Effect != Misleads {
			if other++; other > mostShown {
				continue
			}
		}
		out.Shown = append(out.Shown, in)
	}
	return out
}

func (c *conduct) converge(context.Context) error {
	if len(c.Trials) < 2 {
		return nil
	}
	keys, at := c.settings()
	for _, key := range keys {
		var items []*Comparison
		for _, i := range at[key] {
			items = append(items, c.mains[i])
		}
		found, err := ConvergeC3(items, c.options(c.main()), c.Trials, c.Tolerance, c.resampling(max(1, c.Resamples), key[0], key[1], "convergence"))
		if err != nil {
			return err
		}
		c.out.Convergence = append(c.out.Convergence, NamedConvergence{key[0], key[1], found})
	}
	return nil
}
