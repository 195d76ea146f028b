package consistency

import (
	"slices"

	"github.com/credence-lab/credence/measure"
)

// StateCount is how far the items of one model on one benchmark have a C3.
type StateCount struct {
	Model     string    `json:"model"`
	Benchmark string    `json:"benchmark"`
	Source    string    `json:"source"`
	Kernel    Kernel    `json:"kernel"`
	Estimator Estimator `json:"estimator"`
	Items     int       `json:"items"`
	// Determined, Undetermined and Missing add up to Items; Significant of the determined ones have a permutation
	// p value below the design's Alpha, not adjusted for their number.
	Determined   int `json:"determined"`
	Undetermined int `json:"undetermined"`
	Missing      int `json:"missing"`
	Significant  int `json:"significant"`
	// Means over the items that have them: C3 unclipped and clipped, over determined items; agreements and
	// performance over all.
	C3              measure.Value `json:"c3"`
	Clipped         measure.Value `json:"c3_clipped"`
	WithinOriginal  measure.Value `json:"within_original"`
	WithinPerturbed measure.Value `json:"within_perturbed"`
	Cross           measure.Value `json:"cross"`
	Performance     measure.Value `json:"performance"`
}

// Main are the states under the first source, kernel and estimator of the design, one for each model on each
// benchmark.
func (s *Survey) Main() []StateCount {
	main := s.Design.main()
	return slices.DeleteFunc(slices.Clone(s.States), func(c StateCount) bool {
		return c.Source != s.Design.Sources[main.source] || c.Kernel != main.kernel || c.Estimator != main.estimator
	})
}

func (c *conduct) states() {
	keys, at := c.settings()
	for _, key := range keys {
		for v, of := range c.variants() {
			s := StateCount{Model: key[0], Benchmark: key[1], Source: c.Sources[of.source], Kernel: of.kernel, Estimator: of.estimator}
			m := means{resampling: c.resampling(c.Resamples, key[0], key[1], "means"), values: map[string][]float64{}, leftOut: map[string]map[string]int{}}
			for _, i := range at[key] {
				c.count(&s, &m, c.scored[i], v)
			}
			s.C3, s.Clipped = m.of("c3"), m.of("c3-clipped")
			s.WithinOriginal, s.WithinPerturbed, s.Cross, s.Performance = m.of("within-original"), m.of("within-perturbed"), m.of("cross"), m.of("performance")
			c.out.States = append(c.out.States, s)
		}
	}
}

func (c *conduct) count(s *StateCount, m *means, item Scored, v int) {
	r := item.Variants[v]
	s.Items++
	switch r.State {
	case Determined:
		s.Determined++
		if p, ok := r.P.Get(); ok && p < c.Alpha {
			s.Significant++
		}
	case Undetermined:
		s.Undetermined++
	default:
		s.Missing++
	}
	if r.State == Undetermined {
		m.leave("c3", string(Undetermined))
		m.leave("c3-clipped", string(Undetermined))
	} else {
		m.add("c3", r.C3)
		m.add("c3-clipped", r.Clipped)
	}
	m.add("within-original", r.Original)
	m.add("within-perturbed", r.Perturbed)
	m.add("cross", r.Cross)
	m.add("performance", item.Performance)
}

// means gathers values by name.
type means struct {
	resampling Resampling
	values     map[string][]float64
	leftOut    map[string]map[string]int
}

func (m *means) add(name string, v measure.Value) {
	if x, ok := v.Get(); ok {
		m.values[name] = append(m.values[name], x)
		return
	}
	m.leave(name, string(v.Reason()))
}

func (m *means) leave(name, why string) { m.leftOut[name] = merge(m.leftOut[name], why, 1) }

func (m *means) of(name string) measure.Value {
	return meanOfItems("mean."+name, m.values[name], m.resampling).Leaving(m.leftOut[name])
}
