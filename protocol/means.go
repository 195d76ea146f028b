package protocol

import (
	"github.com/credence-lab/credence/measure"
	"github.com/credence-lab/credence/resample"
)

// means accumulates means over settings under keys, in the order in which the keys first came.
type means[K comparable] struct {
	keys []K
	by   map[K]*resample.Mean
}

func (m *means[K]) add(key K, q resample.Quantity) error {
	mean, ok := m.by[key]
	if !ok {
		if m.by == nil {
			m.by = map[K]*resample.Mean{}
		}
		mean = &resample.Mean{}
		m.by[key], m.keys = mean, append(m.keys, key)
	}
	return mean.Add(q)
}

// value is the mean under a key, named id.
func (m *means[K]) value(key K, id string, level float64) measure.Value {
	mean, ok := m.by[key]
	if !ok {
		return measure.Undefined(id, measure.NoItems, 0)
	}
	return mean.Value(id, level)
}

// largest is the greatest absolute value of any setting under a key.
func (m *means[K]) largest(key K) float64 {
	if mean, ok := m.by[key]; ok {
		return mean.Largest()
	}
	return 0
}

func (m *means[K]) settings(key K) int {
	if mean, ok := m.by[key]; ok {
		return mean.Settings()
	}
	return 0
}
